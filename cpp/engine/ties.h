// What ties a vertex to others, per cluster: who keeps it out of there, and at what price.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/move.h"
#include "graph/kempe_chain.h"
#include "graph/neighbour_counts.h"
#include "problem/instance.h"
#include "problem/pulls.h"

namespace kempe {

// Cannot-link pairs that always hold: how many neighbours of a tied vertex are in each cluster.
// Nobody enters a cluster with a neighbour in it, so there is nothing to pay.
class HardTies {
 public:
    // Whether ties have prices, that is whether some of them may be broken.
    static constexpr bool kPriced = false;

    HardTies(const Instance& instance, int k)
        : counts_(instance.graph,
                  ConstrainedVertices(instance.graph, instance.constrained_vertices), k) {}

    // Count from scratch.
    void load(const Colour* colours) { counts_.count(colours); }
    void recolour(Vertex v, Colour from, Colour to) { counts_.recolour(v, from, to); }

    // Position of a tied vertex among them.
    std::size_t slot(Vertex v) const { return counts_.rows()[v]; }
    // Neighbours of a tied vertex in each cluster.
    const std::int32_t* operator[](Vertex v) const { return counts_[v]; }
    const NeighbourCounts<ConstrainedVertices>& counts() const { return counts_; }

    // Whether moving v to a cluster needs no other vertex to move.
    bool admit(Vertex v, Colour to) const {
        return !counts_.rows().contains(v) || counts_[v][to] == 0;
    }

    // What all broken pairs cost.
    static constexpr double total_price() { return 0.0; }

 private:
    NeighbourCounts<ConstrainedVertices> counts_;
};

// The same, and soft pairs, whose price is counted by what pulls a vertex into each cluster.
class SoftTies : public HardTies {
 public:
    static constexpr bool kPriced = true;

    SoftTies(const Instance& instance, int k)
        : HardTies(instance, k),
          pulls_(*instance.soft, k),
          k_(k),
          target_(instance.size, kUncoloured) {}

    void load(const Colour* colours) {
        HardTies::load(colours);
        pulls_.load(colours);
    }
    void recolour(Vertex v, Colour from, Colour to) {
        HardTies::recolour(v, from, to);
        pulls_.recolour(v, from, to);
    }

    bool is_soft(Vertex v) const { return pulls_.contains(v); }
    // What pulls v into a cluster; into the one that pulls most, its own left aside.
    double pull(Vertex v, Colour c) const { return is_soft(v) ? pulls_[v][c] : 0.0; }
    double strongest_pull(Vertex v, Colour own) const;
    // Less what pulls into each cluster.
    void take_off(Vertex v, double* costs) const {
        if (!is_soft(v)) return;
        const double* row = pulls_[v];
        for (Colour c = 0; c < k_; ++c) costs[c] -= row[c];
    }

    // Price of the broken pairs of a vertex.
    double price(Vertex v, Colour own) const;
    double total_price() const { return pairs().together() - pulls_.satisfied(); }
    // What the price rises by when the two colours of a chain are exchanged on it.
    double change(const KempeChain& chain, const Colour* colours, Colour from, Colour to) const;
    // The same of vertices that move together, each once.
    double change(std::span<const SingleMove> moves, const Colour* colours);

    const SoftPairs& pairs() const { return pulls_.pairs(); }

 private:
    Pulls pulls_;
    const int k_;
    std::vector<Colour> target_;  // per vertex, while moves are priced
};

}  // namespace kempe
