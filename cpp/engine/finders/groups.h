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
    // Which groups did not pay.
    void forget();

 private:
    // Groups larger than this, or that have not become cheaper with so many more, are given up.
    static constexpr std::size_t kLargestGroup = 64, kMostInVain = 12;

    using Vertices = std::vector<Vertex>;

    void grow_groups(Stopper& stopper);
    bool grow_from(Vertex v, Colour to);
    bool is_worth_growing(Vertex v, Colour to) const;
    void take_along(Vertex v);
    Vertex cheapest_to_take() const;
    void cut_clusters(Stopper& stopper);
    bool cut(Colour a, Colour b);
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
    std::vector<char> taken_;       // per vertex: whether it is in the group
    Vertices reach_;                // tied to it, and on either side
    std::vector<double> marginal_;  // per vertex in reach: what taking it along costs
    std::vector<char> reached_;     // per vertex: whether it is in reach
    std::vector<Time> failed_;      // per vertex and cluster: when growing was last in vain
    std::vector<Time> cut_;         // per two clusters: when cutting was last in vain
    MaxFlow flow_;
    std::vector<int> node_;     // per vertex: its node in the flow
    std::vector<double> cost_;  // per node: what it costs to change sides, alone
};

KEMPE_DECLARE_FOR_ALL_RULES(GroupMoves);

}  // namespace kempe
