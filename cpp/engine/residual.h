// Clusters as nodes of a graph whose arcs are moves: what it costs to send rows from one to
// another.
#pragma once

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

    // With a table of all arcs, or with lists of those that there are.
    Residual(int k, bool in_table);

    Colour slack() const { return nodes_ - 1; }
    double arc(Colour from, Colour to) const {
        return in_table_ ? arc_[index(from, to)] : listed_arc(from, to);
    }
    void set_arc(Colour from, Colour to, double cost) {
        if (in_table_)
            arc_[index(from, to)] = cost;
        else
            list_arc(from, to, cost);
    }
    void forget_arcs();
    // Add the absolute costs of all arcs between clusters.
    double add_costs(double sum) const;

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
    struct Arc {
        Colour to;
        double cost;
    };

    double listed_arc(Colour from, Colour to) const;
    void list_arc(Colour from, Colour to, double cost);
    std::span<const Colour> path_to(Colour last);
    bool relax(int nodes);
    void relax_from(Colour from, int nodes);
    void relax_arc(Colour from, Colour to, double cost);
    bool find_cycle(int nodes);
    double cost_of_cycle() const;

    const int nodes_;
    const bool in_table_;
    std::vector<double> arc_;             // nodes x nodes
    std::vector<std::vector<Arc>> arcs_;  // of each node, in order of where they lead
    std::vector<double> distance_;
    std::vector<Colour> parent_;
    std::vector<char> nearer_;  // nodes that became nearer since others were looked at from there
    std::vector<int> seen_;
    std::vector<Colour> found_;
};

}  // namespace kempe
