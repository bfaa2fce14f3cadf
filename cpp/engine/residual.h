// Clusters as nodes of a graph whose arcs are moves: what it costs to send rows from one to
// another.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "basics/types.h"

namespace kempe {

// One more node stands for all room that limits leave: an arc to it where a cluster has room for
// more, an arc from it where a cluster has some to spare. A cycle of negative cost is a set of
// moves that pays and keeps all limits.
class Residual {
 public:
    static constexpr double kNoArc = std::numeric_limits<double>::infinity();

    explicit Residual(int k);

    Colour slack() const { return nodes_ - 1; }
    double arc(Colour from, Colour to) const { return arc_[index(from, to)]; }
    void set_arc(Colour from, Colour to, double cost) { arc_[index(from, to)] = cost; }

    void forget_arcs() { std::fill(arc_.begin(), arc_.end(), kNoArc); }

    // A cycle whose arcs add up to less than `bar`, each node followed by the next, or nothing. By
    // Bellman and Ford.
    std::span<const Colour> cycle_below(double bar);
    // The cheapest way from one cluster to another, through the room of others if need be.
    std::span<const Colour> route(Colour from, Colour to);
    // The cheapest path between two clusters, given what it costs to begin and to end in each;
    // nothing if there is none, or if a cycle of negative cost is in the way.
    std::span<const Colour> cheapest_path(std::span<const double> begin,
                                          std::span<const double> end);

 private:
    std::size_t index(Colour from, Colour to) const {
        return static_cast<std::size_t>(from) * nodes_ + to;
    }
    std::span<const Colour> path_to(Colour last);
    bool relax(int nodes);
    void relax_from(Colour from, int nodes);
    bool find_cycle(int nodes);
    double cost_of_cycle() const;

    const int nodes_;
    std::vector<double> arc_;  // nodes x nodes
    std::vector<double> distance_;
    std::vector<Colour> parent_;
    std::vector<char> nearer_;  // nodes that became nearer since others were looked at from there
    std::vector<int> seen_;
    std::vector<Colour> found_;
};

}  // namespace kempe
