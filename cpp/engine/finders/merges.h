// Moves that make one cluster of two, and another of a single vertex.
#pragma once

#include <vector>

#include "engine/ledger.h"

namespace kempe {

// What soft pairs want together may be two clusters as a whole, and what they want apart one: then
// merging pays only because it leaves a cluster free for somebody else, and a vertex alone in a
// cluster cannot leave it before that. Looks at all clusters at once, by sums between them, which
// costs about as much as one pass over the vertices. Rules without prices have no such moves.
template <class Rules>
class Merges {
 public:
    explicit Merges(Ledger<Rules>& ledger) : ledger_(ledger) {}

    // Apply the best of them, if it lowers the objective.
    void sweep();

 private:
    struct Best {
        double change = 0.0;
        Colour into = 0, from = 0;
        Vertex alone = -1;
    };

    void sum_ties();
    Best find() const;
    void offer(Best& best, double merging, Colour a, Colour b, Vertex v, double leaving) const;
    double leaving_merged(Vertex v, Colour a, Colour b) const;
    double leaving(Vertex v) const {
        const auto& state = ledger_.state;
        return state.leaving_gain(v, state.distance(v, state.colour(v)), Reference::means);
    }

    Ledger<Rules>& ledger_;
    std::vector<double> between_;  // per two clusters: what pairs pull them together by
    std::vector<char> apart_;      // per two clusters: whether a hard pair keeps them apart
    std::vector<SingleMove> moves_;
};

KEMPE_DECLARE_FOR_ALL_RULES(Merges);

}  // namespace kempe
