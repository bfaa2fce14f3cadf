// Moves of single vertices, looked for one vertex after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "basics/least.h"
#include "basics/stopper.h"
#include "engine/ledger.h"

namespace kempe {

// A vertex looks at the clusters that may have become better than its own since it last looked, and
// goes to the best at once. Where others stand in its way, the caller says what then: `unblock`
// gets the vertex and the cluster, and returns whether it has moved anything.
//
// `inline` marks what becomes part of the loop over vertices. Members of an instantiated class are
// functions of their own otherwise, which costs the descent eight per cent more instructions.
template <class Rules>
class SmallSweep {
 public:
    explicit SmallSweep(Ledger<Rules>& ledger)
        : ledger_(ledger), distance_(ledger.k), entering_(ledger.k) {
        candidates_.reserve(ledger.k);
    }

    // All for whom something has changed.
    void sweep(const std::vector<Vertex>& vertices, Stopper& stopper);
    // Those that were blocked: where centroids stand still, nothing has changed for others.
    void sweep_blocked(const std::vector<Vertex>& vertices, Stopper& stopper);

    // Look again whatever is known; first only at what has changed in this trial, if that is
    // enough.
    template <class Unblock>
    void look_again(Vertex v, Unblock&& unblock);
    void look_at_all(Vertex v) { look_at_all(v, leave_blocked); }

 private:
    // Chains are tried later.
    static bool leave_blocked(Vertex, Colour) { return false; }

    void visit(Vertex v);
    template <class Unblock>
    void look_at_all(Vertex v, Unblock&& unblock);
    template <class Unblock>
    bool look_at_changed(Vertex v, double gain, Time since, Unblock&& unblock);
    void consider(Vertex v, Colour c, double gain);
    template <class Unblock>
    void try_candidates(Vertex v, Unblock&& unblock);
    double own_gain(Vertex v) const {
        const auto& state = ledger_.state;
        return state.leaving_gain(v, state.distance(v, state.colour(v)), ledger_.reference);
    }

    Ledger<Rules>& ledger_;
    std::vector<double> distance_, entering_;            // of one vertex, per cluster
    std::vector<std::pair<double, Colour>> candidates_;  // what they change for it alone
};

template <class Rules>
void SmallSweep<Rules>::sweep(const std::vector<Vertex>& vertices, Stopper& stopper) {
    ledger_.bounds.begin_sweep(ledger_.state.cluster_weights());
    for (Vertex v : vertices) {
        if (!ledger_.clock.has_news_for(v)) continue;
        if (stopper.should_stop()) return;
        if (ledger_.in_trial && !ledger_.clock.has_looked_in_trial(v)) ledger_.bounds.remember(v);
        visit(v);
    }
}

template <class Rules>
void SmallSweep<Rules>::sweep_blocked(const std::vector<Vertex>& vertices, Stopper& stopper) {
    ledger_.bounds.begin_sweep(ledger_.state.cluster_weights());
    for (Vertex v : vertices)
        if (ledger_.blocked[v] && !stopper.should_stop()) look_again(v, leave_blocked);
}

template <class Rules>
inline void SmallSweep<Rules>::visit(Vertex v) {
    Clock& clock = ledger_.clock;
    Bounds& bounds = ledger_.bounds;
    if (ledger_.instance.weight[v] <= 0) return clock.look(v);
    ledger_.count_work(ledger_.instance.dimension);
    const Time since = clock.looked(v);
    if (since > 0) {
        const double gain = own_gain(v);
        const double least = ledger_.state.least_entering_cost(v, bounds.least_entering(v));
        if (gain <= least) {
            bounds.set_floor(v, least);
            return clock.look(v);
        }
        const bool settled =
            clock.changed(ledger_.state.colour(v)) <= since || gain <= bounds.floor(v);
        if (settled && look_at_changed(v, gain, since, leave_blocked)) return;
    }
    look_at_all(v);
}

// Where the cluster of v is what it was before the trial, moves to others of which the same is true
// have failed then.
template <class Rules>
template <class Unblock>
inline void SmallSweep<Rules>::look_again(Vertex v, Unblock&& unblock) {
    const Clock& clock = ledger_.clock;
    if (ledger_.in_trial && clock.altered(ledger_.state.colour(v)) <= clock.settled() &&
        look_at_changed(v, own_gain(v), clock.settled(), unblock))
        return;
    look_at_all(v, unblock);
}

// Look only at clusters that changed. Returns false, having done nothing, if they are many.
template <class Rules>
template <class Unblock>
inline bool SmallSweep<Rules>::look_at_changed(Vertex v, double gain, Time since,
                                               Unblock&& unblock) {
    const int few = 2 + ledger_.k / 8;
    const int count = ledger_.clock.count_changed_since(since, few);
    if (count > few) return false;
    candidates_.clear();
    const Colour own = ledger_.state.colour(v);
    for (int position = 0; position < count; ++position) {
        const Colour c = ledger_.clock.recent(position);
        if (c != own) consider(v, c, gain);
    }
    ledger_.clock.look(v);
    try_candidates(v, unblock);
    return true;
}

// Entering costs no more where the means follow, so that is what bounds are made of.
template <class Rules>
inline void SmallSweep<Rules>::consider(Vertex v, Colour c, double gain) {
    const auto& state = ledger_.state;
    const double squared = state.distance(v, c);
    const double following = state.entering_cost(v, c, squared, Reference::means);
    ledger_.bounds.lower_floor(v, following);
    const double cost = ledger_.reference == Reference::means
                            ? following
                            : state.entering_cost(v, c, squared, ledger_.reference);
    if (cost < ledger_.bar(gain)) candidates_.emplace_back(cost - gain, c);
}

template <class Rules>
template <class Unblock>
inline void SmallSweep<Rules>::look_at_all(Vertex v, Unblock&& unblock) {
    const auto& state = ledger_.state;
    const int k = ledger_.k;
    const Colour own = state.colour(v);
    const double w = ledger_.instance.weight[v];
    ledger_.count_work(std::size_t(k) * ledger_.instance.dimension);
    state.distances(v, distance_.data());
    entering_costs(distance_.data(), state.cluster_weights(), w, k, entering_.data());
    const double gain = state.leaving_gain(v, distance_[own], ledger_.reference);
    const bool following = ledger_.reference == Reference::means;
    distance_[own] = entering_[own] = std::numeric_limits<double>::infinity();
    ledger_.bounds.set_nearest(v, std::sqrt(least_of(distance_.data(), k)));
    if constexpr (Rules::Ties::kPriced) {
        state.ties().take_off(v, entering_.data());
        for (Colour c = 0; !following && c < k; ++c) distance_[c] *= w;
        if (!following) state.ties().take_off(v, distance_.data());
    }
    const double floor = least_of(entering_.data(), k);
    ledger_.bounds.set_floor(v, floor);
    ledger_.blocked[v] = false;
    candidates_.clear();
    const double bar = ledger_.bar(gain);
    if (floor < bar)
        for (Colour c = 0; c < k; ++c) {
            const double cost = following              ? entering_[c]
                                : Rules::Ties::kPriced ? distance_[c]
                                                       : w * distance_[c];
            if (cost < bar) candidates_.emplace_back(cost - gain, c);
        }
    ledger_.clock.look(v);
    try_candidates(v, unblock);
}

// Take the first cluster, best for v alone first, that it can have.
template <class Rules>
template <class Unblock>
inline void SmallSweep<Rules>::try_candidates(Vertex v, Unblock&& unblock) {
    if (candidates_.size() > 1) std::sort(candidates_.begin(), candidates_.end());
    for (const auto& [change, c] : candidates_) {
        if (ledger_.state.moves_alone(v, c)) return ledger_.apply(ledger_.state.single(v, c));
        ledger_.blocked[v] = true;
        if (unblock(v, c)) return;
    }
}

KEMPE_DECLARE_FOR_ALL_RULES(SmallSweep);

}  // namespace kempe
