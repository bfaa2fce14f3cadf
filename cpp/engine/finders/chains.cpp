#include "engine/finders/chains.h"

#include <algorithm>
#include <limits>

namespace kempe {

template <class Rules>
ChainSwaps<Rules>::ChainSwaps(Ledger<Rules>& ledger, SmallSweep<Rules>& singles)
    : ledger_(ledger),
      singles_(singles),
      failed_(ledger.instance.constrained_vertices.size() * ledger.k),
      distance_(ledger.k) {}

template <class Rules>
void ChainSwaps<Rules>::forget() {
    std::fill(failed_.begin(), failed_.end(), 0);
}

template <class Rules>
void ChainSwaps<Rules>::sweep(const std::vector<Vertex>& vertices, Stopper& stopper) {
    const auto unblock = [&](Vertex v, Colour c) { return try_chain(v, c) || try_ejection(v, c); };
    for (Vertex v : vertices)
        if (ledger_.blocked[v] && !stopper.should_stop()) singles_.look_again(v, unblock);
}

template <class Rules>
inline bool ChainSwaps<Rules>::try_chain(Vertex v, Colour to) {
    if (!is_tied(v) || failed_before(v, to)) return false;
    const ChainMove chain = ledger_.state.collect(v, to);
    if (ledger_.state.change(chain, ledger_.reference) < -ledger_.tolerance) {
        ledger_.apply(chain);
        return true;
    }
    remember_failure(chain);
    return false;
}

// Limits stop vertices, too, that are tied to nobody.
template <class Rules>
inline bool ChainSwaps<Rules>::is_tied(Vertex v) const {
    if constexpr (State<Rules>::kCountsRows)
        return ledger_.instance.graph.degree(v) > 0;
    else
        return true;
}

// A chain depends on its two clusters alone.
template <class Rules>
inline bool ChainSwaps<Rules>::failed_before(Vertex v, Colour other) const {
    const Time failed = failed_[ledger_.state.ties().slot(v) * ledger_.k + other];
    return failed >= ledger_.clock.altered(other) &&
           failed >= ledger_.clock.altered(ledger_.state.colour(v));
}

template <class Rules>
inline void ChainSwaps<Rules>::remember_failure(const ChainMove& chain) {
    const auto& state = ledger_.state;
    for (Vertex u : state.chain()) {
        const Colour other = state.colour(u) == chain.from ? chain.to : chain.from;
        failed_[state.ties().slot(u) * ledger_.k + other] = ledger_.clock.now();
    }
}

// A single neighbour that keeps a vertex out of a cluster may leave it for a third one, where a
// Kempe chain would have it take the place of that vertex. Means that follow make this pay more
// often, and costs at fixed centroids are not the goal, so it is left to the descent.
template <class Rules>
bool ChainSwaps<Rules>::try_ejection(Vertex v, Colour to) {
    if (ledger_.reference != Reference::means || !is_tied(v)) return false;
    auto& state = ledger_.state;
    const Vertex blocker = state.only_neighbour(v, to);
    const Colour own = state.colour(v);
    if (blocker < 0 || state.cluster_size(own) == 1 || state.cluster_size(to) == 1) return false;
    if (!has_room_for_ejection(v, blocker)) return false;
    const auto [cost, refuge] = cheapest_refuge(blocker, own);
    const double gain = state.leaving_gain(v, state.distance(v, own), ledger_.reference) +
                        state.leaving_gain(blocker, state.distance(blocker, to), ledger_.reference);
    if (cost + state.entering_cost_without(v, to, blocker) >= ledger_.bar(gain)) return false;
    ledger_.apply(state.single(blocker, refuge));
    ledger_.apply(state.single(v, to));
    return true;
}

// Whether the limits on rows let v take the place of another, which finds a refuge.
template <class Rules>
bool ChainSwaps<Rules>::has_room_for_ejection(Vertex v, Vertex blocker) const {
    if constexpr (State<Rules>::kCountsRows) {
        const auto& state = ledger_.state;
        const auto& limits = state.limits();
        const Colour own = state.colour(v), to = state.colour(blocker);
        const int rows = state.cluster_rows(to) + limits.rows(v) - limits.rows(blocker);
        return limits.spare(own, state.cluster_rows(own)) >= limits.rows(v) &&
               limits.holds(to, rows);
    } else {
        return true;
    }
}

// What it costs to put v where it can go alone, one cluster left aside.
template <class Rules>
std::pair<double, Colour> ChainSwaps<Rules>::cheapest_refuge(Vertex v, Colour forbidden) {
    const auto& state = ledger_.state;
    state.distances(v, distance_.data());
    std::pair<double, Colour> best{std::numeric_limits<double>::infinity(), forbidden};
    for (Colour c = 0; c < ledger_.k; ++c) {
        if (c == forbidden || c == state.colour(v) || !can_flee(v, c)) continue;
        best = std::min(best, {state.entering_cost(v, c, distance_[c], ledger_.reference), c});
    }
    return best;
}

KEMPE_FOR_ALL_RULES(ChainSwaps);

}  // namespace kempe
