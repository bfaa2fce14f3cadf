// Moves of groups that soft pairs tie together, which none of their vertices would make alone.
#pragma once

#include <vector>

#include "basics/stopper.h"
#include "engine/ledger.h"
#include "graph/max_flow.h"

namespace kempe {

// Of two clusters some vertices change sides, each to the other one. They are found in two ways:
// from one vertex on, taking along whoever is cheapest to take along, and for two clusters as a
// whole by a cheapest cut. Rules without prices tie nobody, and have no such groups.
template <class Rules>
class GroupMoves {
 public:
    explicit GroupMoves(Ledger<Rules>& ledger);

    void sweep(Stopper& stopper);
    // From here on all work counts anew.
    void begin_descent();
    // Which groups did not pay.
    void forget();
    // Steps of inner loops since a descent began: of single vertices, and for groups.
    std::size_t work_of_singles() const { return ledger_.work - work_before_; }
    std::size_t work() const { return grown_.work + cut_up_.work; }

 private:
    // Groups larger than this, or that have not become cheaper with so many more, are given up.
    static constexpr std::size_t kLargestGroup = 64, kMostInVain = 12;

    // Either way of finding groups may take so many steps in any descent, and as many more as
    // single vertices have taken, times a share. Steps are those of inner loops, not seconds, so
    // that what is found depends on neither the machine nor what runs beside it.
    static constexpr std::size_t kFreeSteps = 1'000'000;
    static constexpr double kShare = 0.05;

    // What one way has taken, and where it goes on after it has had to wait.
    struct Spent {
        std::size_t work = 0, next = 0;
    };

    using Vertices = std::vector<Vertex>;

    // Whether a vertex is in the group, and whether its ties are in the price.
    enum class Taken : char { no, yes, counted };

    void grow_groups(Stopper& stopper);
    void grow_all_from(Vertex v);
    bool grow_from(Vertex v, Colour to);
    bool is_worth_growing(Vertex v, Colour to) const;
    void take_along(Vertex v);
    void count(Vertex u);
    void reach(Vertex x);
    Vertex cheapest_to_take() const;
    void cut_clusters(Stopper& stopper);
    bool cut(Colour a, Colour b);
    std::size_t left(const Spent& spent) const;
    void join_pairs(Vertex v);
    double switching_cost(Vertex v, Colour to) const;
    bool apply_if_better(const Vertices& group, Colour a, Colour b);

    Colour other_side(Vertex v) const { return ledger_.state.colour(v) == from_ ? to_ : from_; }
    bool is_on_a_side(Vertex v) const {
        const Colour c = ledger_.state.colour(v);
        return c == from_ || c == to_;
    }

    Ledger<Rules>& ledger_;
    Colour from_ = 0, to_ = 0;
    Vertices group_;
    ChainMove move_;                // of the group
    double price_ = 0.0;            // what that costs in ties
    std::vector<Taken> taken_;      // per vertex
    Vertices reach_;                // tied to it, and on either side
    std::vector<double> marginal_;  // per vertex in reach: what taking it along costs
    std::vector<char> reached_;     // per vertex: whether it is in reach
    std::vector<Time> failed_;      // per vertex and cluster: when growing was last in vain
    std::vector<Time> cut_;         // per two clusters: when cutting was last in vain
    std::size_t work_before_ = 0;   // of single vertices, before this descent
    Spent grown_, cut_up_;
    MaxFlow flow_;
    std::vector<int> node_;     // per vertex: its node in the flow
    std::vector<double> cost_;  // per node: what it costs to change sides, alone
};

KEMPE_DECLARE_FOR_ALL_RULES(GroupMoves);

}  // namespace kempe
