// What vertices cost at centroids: the weighted squared distance.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "problem/instance.h"
#include "problem/means.h"

namespace kempe {

// Costs of all vertices in all clusters, in a table: what small data has.
class CostTable {
 public:
    CostTable(const Instance& instance, int k)
        : instance_(&instance), k_(k), cost_(static_cast<std::size_t>(instance.size) * k, 0.0) {}
    // Of costs that somebody else has computed.
    CostTable(std::vector<double> cost, int k) : k_(k), cost_(std::move(cost)) {}

    // What v costs in any cluster, and in its own.
    double at(Vertex v, Colour c) const { return costs_of(v)[c]; }
    double at_home(Vertex v, Colour own) const { return at(v, own); }
    // The least and the most that it may cost, as far as is known without a look at its point.
    static constexpr bool kKnowsAll = true;
    double least_at(Vertex v, Colour c) const { return at(v, c); }
    double most_at_home(Vertex v, Colour own) const { return at(v, own); }
    // Calls use(c, cost there, cost now) for each cluster in which v would cost less than in its
    // own.
    template <class Use>
    void for_cheaper(Vertex v, Colour own, Use&& use) const {
        const double* cost = costs_of(v);
        const double now = cost[own];
        for (Colour c = 0; c < k_; ++c)
            if (cost[c] < now) use(c, cost[c], now);
    }
    // The same for each in which it may cost less.
    template <class Use>
    void for_perhaps_cheaper(Vertex v, Colour own, Use&& use) const {
        for_cheaper(v, own, use);
    }
    // Whether all vertices together cost less than when this was asked last, or than when all
    // centroids were placed.
    bool have_fallen(const std::vector<Colour>& colours);
    // Whether all centroids must be placed anew before anybody asks again.
    static constexpr bool are_worn() { return false; }

    // All centroids are here now.
    void place(const double* centroids, const std::vector<Colour>& colours);
    // Those of some clusters are here now: at the mean of its members, or anywhere if it has none.
    void move(const double* centroids, std::span<const Colour> clusters);
    Means means(const std::vector<Colour>& colours) const;
    void recolour(Vertex, Colour, Colour) {}

 private:
    const double* costs_of(Vertex v) const { return &cost_[static_cast<std::size_t>(v) * k_]; }
    double total(const std::vector<Colour>& colours) const;

    const Instance* instance_ = nullptr;
    int k_;
    std::vector<double> cost_;
    double total_ = 0.0;  // when it was computed last
};

}  // namespace kempe
