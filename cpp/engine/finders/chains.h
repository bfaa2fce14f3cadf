// Moves of several vertices at once: Kempe chains, and one that makes room for another.
#pragma once

#include <utility>
#include <vector>

#include "basics/stopper.h"
#include "engine/finders/small.h"
#include "engine/ledger.h"

namespace kempe {

// Chains are expensive to collect, so this is for when no vertex can move alone any more.
template <class Rules>
class ChainSwaps {
 public:
    ChainSwaps(Ledger<Rules>& ledger, SmallSweep<Rules>& singles);

    // Vertices that are blocked look again, and swap the first chain that pays.
    void sweep(const std::vector<Vertex>& vertices, Stopper& stopper);
    // Which chains did not pay.
    void forget();

 private:
    bool try_chain(Vertex v, Colour to);
    bool failed_before(Vertex v, Colour other) const;
    void remember_failure(const ChainMove& chain);
    bool try_ejection(Vertex v, Colour to);
    bool is_tied(Vertex v) const;
    bool has_room_for_ejection(Vertex v, Vertex blocker) const;
    // Whether v can go to a cluster alone, if another takes its place where it is.
    bool can_flee(Vertex v, Colour to) const {
        const auto& state = ledger_.state;
        if constexpr (State<Rules>::kCountsRows)
            if (state.limits().room(to, state.cluster_rows(to)) < state.limits().rows(v))
                return false;
        return state.ties().admit(v, to);
    }
    std::pair<double, Colour> cheapest_refuge(Vertex v, Colour forbidden);

    Ledger<Rules>& ledger_;
    SmallSweep<Rules>& singles_;
    std::vector<Time> failed_;  // per tied vertex and other colour: when their chain was last found
                                // not to improve
    std::vector<double> distance_;  // of one vertex, per cluster
};

KEMPE_DECLARE_FOR_ALL_RULES(ChainSwaps);

}  // namespace kempe
