#include "engine/trial.h"

#include <algorithm>
#include <cmath>

namespace kempe {

template <class Rules>
Trial<Rules>::Trial(Ledger<Rules>& ledger)
    : ledger_(ledger), neighbourhood_(ledger.instance, ledger.k) {}

template <class Rules>
void Trial<Rules>::begin() {
    note_optimum();
    ledger_.state.begin_trial();
    ledger_.in_trial = true;
    start_ = ledger_.state.objective();
    ledger_.clock.settle();
    ledger_.bounds.begin_trial();
}

template <class Rules>
void Trial<Rules>::end(bool keep) {
    ledger_.state.end_trial(keep);
    ledger_.in_trial = false;
    start_ = std::numeric_limits<double>::infinity();
    if (keep) {
        // Large data has bounds of its own.
        if (!ledger_.large_bounds) keep_bounds();
        forget_optimum();
        return;
    }
    ledger_.clock.advance();
    ledger_.clock.change_again(ledger_.clock.settled(),
                               [&](Colour c) { ledger_.state.use_mean(c); });
    ledger_.bounds.undo_trial();
}

template <class Rules>
void Trial<Rules>::note_optimum() {
    if (!noted_) neighbourhood_.note(ledger_.state);
    noted_ = true;
}

template <class Rules>
void Trial<Rules>::release_centroids() {
    Clock& clock = ledger_.clock;
    clock.advance();
    for (Colour c = 0; c < ledger_.k; ++c) {
        if (clock.altered(c) <= clock.settled()) continue;
        ledger_.state.use_mean(c);
        clock.touch(c);
    }
    ledger_.bounds.distrust_remembered();
}

// Vertices of untouched clusters need not have looked at the others in the end. What those ask for
// is not less than what leaving would gain, though, or the vertex would have been visited.
template <class Rules>
void Trial<Rules>::keep_bounds() {
    const Clock& clock = ledger_.clock;
    for (Colour c = 0; c < ledger_.k; ++c) {
        if (clock.changed(c) > clock.settled()) continue;
        for (const auto& [v, radius] : neighbourhood_.members(c)) {
            const double gain = ledger_.state.leaving_gain(v, radius * radius, Reference::means);
            ledger_.bounds.lower_floor(v, gain);
            if (!clock.has_looked_in_trial(v)) ledger_.bounds.forget_nearest(v);
        }
    }
}

template <class Rules>
void Trial<Rules>::gather_visits() {
    visits_.clear();
    for (Colour c = 0; c < ledger_.k; ++c) {
        const bool untouched = ledger_.clock.changed(c) <= ledger_.clock.settled();
        const double radius = untouched ? safe_radius(c) : -1.0;
        if constexpr (Rules::Ties::kPriced) {
            // Distance is no protection for those that others pull.
            for (const auto& member : neighbourhood_.members(c))
                if (member.radius > radius || ledger_.state.ties().is_soft(member.vertex))
                    visits_.push_back(member.vertex);
        } else {
            neighbourhood_.for_members_beyond(
                c, radius, [&](const auto& member) { visits_.push_back(member.vertex); });
        }
    }
}

// Members of an untouched cluster up to this distance from its centroid gain nothing in a cluster
// that has changed: by the triangle inequality its centroid is too far away.
template <class Rules>
double Trial<Rules>::safe_radius(Colour c) const {
    const auto& state = ledger_.state;
    double safe = std::numeric_limits<double>::infinity();
    ledger_.clock.for_changed_since(ledger_.clock.settled(), [&](Colour other) {
        const double apart =
            squared_distance(state.centroid(c), state.centroid(other), ledger_.instance.dimension);
        safe = std::min(safe, std::sqrt(apart) / (1 + stretch(c, other)));
    });
    return safe * (1 - kLengthRounding);
}

// A member gains in another cluster only if that centroid is nearer than so many times its own.
template <class Rules>
double Trial<Rules>::stretch(Colour own, Colour other) const {
    if (ledger_.reference != Reference::means) return 1.0;
    const double w = neighbourhood_.heaviest(own);
    const double from = ledger_.state.cluster_weight(own), to = ledger_.state.cluster_weight(other);
    return std::sqrt(from * (to + w) / (std::max(from - w, 0.0) * to));
}

KEMPE_FOR_ALL_RULES(Trial);

}  // namespace kempe
