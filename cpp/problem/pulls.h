// What pulls vertices into each cluster: the prices of their soft pairs with its members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "basics/types.h"
#include "problem/soft_pairs.h"

namespace kempe {

// Positive for those that a vertex belongs together with, negative for those it does not. Leaving a
// cluster costs what pulls into it, and entering one gains that.
class Pulls {
 public:
    static constexpr bool kPriced = true;

    Pulls(const SoftPairs& pairs, int k)
        : pairs_(pairs), k_(k), row_(pairs.size(), kNone), pull_(pairs.tied().size() * k) {
        std::int32_t next = 0;
        for (Vertex v : pairs.tied()) row_[v] = next++;
    }

    const SoftPairs& pairs() const { return pairs_; }

    // Add up from scratch.
    void load(const Colour* colours) {
        std::fill(pull_.begin(), pull_.end(), 0.0);
        double twice = 0.0;
        for (Vertex v : pairs_.tied()) {
            double* row = row_of(v);
            for (const auto& [u, price] : pairs_.of(v)) row[colours[u]] += price;
            twice += row[colours[v]];
        }
        satisfied_ = twice / 2;
    }
    void recolour(Vertex v, Colour from, Colour to) {
        if (!contains(v)) return;
        satisfied_ += (*this)[v][to] - (*this)[v][from];
        for (const auto& [u, price] : pairs_.of(v)) {
            double* row = row_of(u);
            row[from] -= price;
            row[to] += price;
        }
    }

    // Whether a vertex has soft pairs; then what pulls it into each cluster.
    bool contains(Vertex v) const { return row_[v] != kNone; }
    const double* operator[](Vertex v) const { return &pull_[std::size_t(row_[v]) * k_]; }
    double gain(Vertex v, Colour from, Colour to) const {
        return contains(v) ? (*this)[v][to] - (*this)[v][from] : 0.0;
    }
    // Prices of all pairs within clusters.
    double satisfied() const { return satisfied_; }

 private:
    static constexpr std::int32_t kNone = -1;

    double* row_of(Vertex v) { return &pull_[std::size_t(row_[v]) * k_]; }

    const SoftPairs& pairs_;
    const int k_;
    std::vector<std::int32_t> row_;
    std::vector<double> pull_;  // per vertex with soft pairs, and cluster
    double satisfied_ = 0.0;
};

// The same where there are no soft pairs.
struct NoPulls {
    static constexpr bool kPriced = false;

    static void load(const Colour*) {}
    static void recolour(Vertex, Colour, Colour) {}
    static constexpr double satisfied() { return 0.0; }
};

}  // namespace kempe
