#include "engine/descent.h"

#include <algorithm>

namespace kempe {

template <class Rules>
Descent<Rules>::Descent(const Instance& instance, const Points<T>& points, int k)
    : instance_(instance),
      ledger_(instance, points, k),
      small_(ledger_),
      chains_(ledger_, small_),
      table_(ledger_),
      sized_(ledger_),
      groups_(ledger_),
      merges_(ledger_),
      trial_(ledger_),
      uses_table_(!kSized && !Rules::Ties::kPriced && instance.has_many_features() &&
                  double(instance.size) * instance.dimension > kManyValues) {
    // Squares of float32 data must fit into its own precision.
    const bool fits = sizeof(T) == sizeof(double) || state().table_scale() == 1.0;
    if (!kSized && instance.is_large() && fits) large_.emplace(ledger_, small_);
}

template <class Rules>
void Descent<Rules>::load(const Colour* colours) {
    ledger_.state.load(colours);
    ledger_.tolerance = smallest_change();
    trial_.forget_optimum();
    restart();
    if (large_) large_->forget_all();
}

template <class Rules>
void Descent<Rules>::restart() {
    ledger_.restart();
    chains_.forget();
    if constexpr (kSized) {
        sized_.exchanges.forget();
        sized_.balanced.forget();
    }
    groups_.forget();
}

// Improvements below rounding error would never end; an average vertex sets the scale.
template <class Rules>
double Descent<Rules>::smallest_change() const {
    return kSmallestShare * std::max(state().objective(), 0.0) / instance_.size;
}

template <class Rules>
void Descent<Rules>::place_centroid(Colour c, const double* position) {
    ledger_.state.place_centroid(c, position);
    ledger_.clock.advance();
    ledger_.clock.touch(c);
    ledger_.bounds.distrust_distances();
}

// A start far above what it leads to, with groups mixed that lie very far apart, sets a scale at
// which the last steps down are not seen. They are taken at the scale that was reached. Each turn
// divides the scale by a thousand at least, so a hundred are the most that a double can take.
template <class Rules>
void Descent<Rules>::descend(Stopper& stopper) {
    groups_.begin_descent();
    run(Reference::means, stopper);
    for (double finer;
         !stopper.stopped() && (finer = smallest_change()) < kFarBelow * ledger_.tolerance;) {
        ledger_.tolerance = finer;
        restart();
        run(Reference::means, stopper);
    }
}

// Chains of several vertices are expensive to collect, so they are tried only when no vertex can
// move alone any more.
template <class Rules>
void Descent<Rules>::run(Reference reference, Stopper& stopper) {
    ledger_.reference = reference;
    passes_ = 0;
    last_objective_ = last_round_ = std::numeric_limits<double>::infinity();
    const Clock& clock = ledger_.clock;
    Time before;
    do {
        do {
            before = clock.now();
            move_singles(stopper);
        } while (clock.now() != before && !stopper.stopped() && goes_down());
        move_chains(stopper);
        exchange(stopper);
        if (clock.now() == before) move_groups(stopper);
    } while (clock.now() != before && !stopper.stopped() && goes_down() && !is_lost());
}

// In a trial, vertices that it cannot concern are left aside. Where limits let nobody move alone,
// only those with neighbours look, who may do so as a chain.
template <class Rules>
void Descent<Rules>::move_singles(Stopper& stopper) {
    const bool alone = anybody_moves_alone();
    if (!alone && instance_.constrained_vertices.empty()) return;
    if (large_) {
        large_->sweep(stopper);
    } else if (!ledger_.in_trial) {
        if (alone) small_.sweep(instance_.free_vertices, stopper);
        small_.sweep(instance_.constrained_vertices, stopper);
    } else if (ledger_.reference == Reference::standing && passes_ > 0) {
        small_.sweep_blocked(trial_.visits(), stopper);
    } else {
        trial_.gather_visits();
        small_.sweep(trial_.visits(), stopper);
    }
}

// Whether some cluster has room for the fewest rows that a vertex has, and some can spare them.
// Soft pairs are asked for by finders that rely on what vertices have looked at.
template <class Rules>
bool Descent<Rules>::anybody_moves_alone() const {
    if constexpr (kSized && !Rules::Ties::kPriced) {
        const auto& limits = state().limits();
        int room = 0, spare = 0;
        for (Colour c = 0; c < ledger_.k; ++c) {
            room = std::max(room, limits.room(c, state().cluster_rows(c)));
            spare = std::max(spare, limits.spare(c, state().cluster_rows(c)));
        }
        return std::min(room, spare) >= limits.fewest_rows();
    }
    return true;
}

template <class Rules>
void Descent<Rules>::move_chains(Stopper& stopper) {
    if (uses_table_)
        table_.sweep(is_worth_a_thorough_look(), stopper);
    else
        chains_.sweep(
            ledger_.in_trial && !large_ ? trial_.visits() : instance_.constrained_vertices,
            stopper);
}

template <class Rules>
void Descent<Rules>::exchange(Stopper& stopper) {
    if constexpr (kSized) {
        const Time before = ledger_.clock.now();
        sized_.exchanges.sweep(stopper);
        // What looks at more is for when nothing else pays.
        if (ledger_.clock.now() == before) sized_.balanced.sweep(stopper);
    }
}

template <class Rules>
int Descent<Rules>::repair(Stopper& stopper) {
    if constexpr (kSized)
        return sized_.exchanges.repair(stopper);
    else
        return 0;
}

// Groups that are tied together are expensive to find, so that is for what is nearly the best
// already: within twice what it usually gains, and for a share of the work of a descent. There are
// none on large data.
template <class Rules>
void Descent<Rules>::move_groups(Stopper& stopper) {
    if constexpr (Rules::Ties::kPriced) {
        if (ledger_.reference != Reference::means || large_) return;
        const double before = state().objective();
        if (before * (1 - 2 * usual_gain_) >= trial_.start()) return;
        const Time now = ledger_.clock.now();
        groups_.sweep(stopper);
        if (ledger_.clock.now() == now && !stopper.stopped()) merges_.sweep();
        const double gain = before > 0 ? 1 - state().objective() / before : 0.0;
        usual_gain_ += kRecent * (gain - usual_gain_);
    }
}

// A thorough search takes as long as several sweeps, and what it gains is little.
template <class Rules>
bool Descent<Rules>::is_worth_a_thorough_look() const {
    return ledger_.reference == Reference::means &&
           (!ledger_.in_trial || state().objective() < trial_.start() * (1 + kNearlyAsLow));
}

// Whether to trust that passes which change something come to an end. A pass looks at each vertex
// once, and each swap lowers the objective by more than the rounding of its own terms. But means
// that follow lie a hair beside the true ones, so where points tie and groups lie far apart, passes
// might undo each other for ever. Nothing that works takes very many passes: after those, each must
// end below all before it, as measured anew. Both loops of `run` ask here whether to go on, so one
// of them goes on only with a number that is lower than the last, and no number falls for ever.
template <class Rules>
bool Descent<Rules>::goes_down() {
    if (is_hopeless()) return false;
    if (++passes_ < kTrustedPasses) return true;
    const double measured = state().measured_objective();
    if (passes_ > kTrustedPasses && !(measured < lowest_)) return false;
    lowest_ = measured;
    return true;
}

// Whether a trial on large data lies so far above its start that at the present rate it would take
// very many passes to get below. Chains may lower the inertia by more than single vertices do, but
// not by that much. Most trials fail, and most of their time goes into the last small steps.
template <class Rules>
bool Descent<Rules>::is_hopeless() {
    if (!large_ || ledger_.reference != Reference::means) return false;
    const double objective = state().objective(), step = last_objective_ - objective;
    last_objective_ = objective;
    const double above = objective - trial_.start();
    return above > kHopelessShare * trial_.start() && above > kHopelessPasses * step;
}

// Whether a trial of clusters of limited sizes lies farther above its start than a few rounds of
// all finders would bring it down, if they did as much as the last. Steps become smaller, and
// rounds of exchanges take long.
template <class Rules>
bool Descent<Rules>::is_lost() {
    if constexpr (!kSized) return false;
    if (!ledger_.in_trial || ledger_.reference != Reference::means) return false;
    const double objective = state().objective(), step = last_round_ - objective;
    last_round_ = objective;
    const double above = objective - trial_.start();
    return above > kHopelessShare * trial_.start() && above > kLostRounds * step;
}

template <class Rules>
void Descent<Rules>::assign_by_table(bool thorough, Stopper& stopper) {
    ledger_.reference = Reference::placed;
    std::fill(ledger_.blocked.begin(), ledger_.blocked.end(), true);
    table_.sweep(thorough, stopper);
}

template <class Rules>
void Descent<Rules>::begin_trial() {
    if (ledger_.clock.is_late()) restart();
    trial_.begin();
    if (large_) large_->begin_trial();
}

template <class Rules>
void Descent<Rules>::relocate(Colour c, Vertex onto, Stopper& stopper) {
    ledger_.state.place_centroid_on(c, onto);
    ledger_.clock.advance();
    ledger_.clock.touch(c);
    ledger_.bounds.distrust_remembered();
    groups_.begin_descent();
    // A vertex that moves pulls others after it, so they must look again.
    run(Rules::Ties::kPriced ? Reference::placed : Reference::standing, stopper);
    trial_.release_centroids();
    run(Reference::means, stopper);
}

template <class Rules>
void Descent<Rules>::end_trial(bool keep) {
    trial_.end(keep);
    if (!keep && large_) large_->undo_trial();
}

KEMPE_FOR_ALL_RULES(Descent);

}  // namespace kempe
