// What ties a vertex to others, per cluster: who keeps it out of there, and at what price.
#pragma once

#include <cstddef>

#include "graph/neighbour_counts.h"
#include "problem/instance.h"

namespace kempe {

// Cannot-link pairs that always hold: how many neighbours of a tied vertex are in each cluster.
// Nobody enters a cluster with a neighbour in it, so there is nothing to pay.
class HardTies {
 public:
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

}  // namespace kempe
