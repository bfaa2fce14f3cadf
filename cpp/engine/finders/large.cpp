#include "engine/finders/large.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kempe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class Rules>
void LargeSweep<Rules>::Scratch::prepare(int k) {
    open.clear();
    bounded.clear();
    squared.resize(k);
    ratio.resize(k);
}

template <class Rules>
LargeSweep<Rules>::LargeSweep(Ledger<Rules>& ledger, SmallSweep<Rules>& singles)
    : ledger_(ledger),
      singles_(singles),
      instance_(ledger.instance),
      state_(ledger.state),
      k_(ledger.k),
      d_(instance_.dimension),
      many_features_(instance_.has_many_features()),
      error_(distance_error<T>(d_)),
      unit_(std::ldexp(1.0, -std::ilogb(state_.table_scale()) / 2)),
      rounded_(k_, d_),
      factors_{0.0, std::vector<double>(k_), std::vector<double>(k_)},
      separation_(k_),
      scratch_(instance_.pool->threads()),
      found_(instance_.blocks(instance_.size).count()) {
    const std::size_t n = instance_.size;
    bounds_.upper.resize(n);
    bounds_.lower.resize(n);
    if (many_features_) bounds_.each.resize(n * k_);
    bounds_.drift.resize(k_);
    bounds_.seen.resize(std::size_t(k_) * d_);
    factors_.weight = 2 * std::accumulate(instance_.weight, instance_.weight + n, 0.0) / n;
    forget_all();
    ledger.large_bounds = &bounds_;
}

template <class Rules>
void LargeSweep<Rules>::sweep(Stopper& stopper) {
    ledger_.bounds.begin_sweep(state_.cluster_weights());
    const Proposals& proposals = find(stopper);
    const std::size_t many = instance_.size / kVerticesPerMove;
    // Vertices that are tied to each other at a price might all regret what they do at once.
    if (Rules::Ties::kPriced || proposals.size() <= many || !move_together(proposals))
        move_in_turn(proposals, stopper);
}

// A step of k-means: whoever lies nearer to another centroid moves, then the centroids follow, and
// neither raises the inertia. Returns whether any moved.
template <class Rules>
bool LargeSweep<Rules>::move_together(const Proposals& proposals) {
    Clock& clock = ledger_.clock;
    const Time before = clock.now();
    bool any = false;
    for (const Proposal& proposal : proposals) {
        const Colour from = state_.colour(proposal.vertex);
        if (!proposal.nearer || !ledger_.state.move_alone(proposal.vertex, proposal.to)) continue;
        if (!any) clock.advance();
        any = true;
        for (Colour c : {from, proposal.to}) {
            if (clock.changed(c) != clock.now()) clock.touch(c);
            clock.recolour(c);
        }
        accept(proposal);
    }
    if (!any) return false;
    ledger_.state.follow_moves();
    if (ledger_.reference == Reference::means) ledger_.follow_means(before);
    return true;
}

// Each by the exact change of the objective as it comes. Where none improves it, which rounding may
// have concealed, they look at all clusters again, so that the end is a local optimum.
template <class Rules>
void LargeSweep<Rules>::move_in_turn(const Proposals& proposals, Stopper& stopper) {
    const Time before = ledger_.clock.now();
    for (const Proposal& proposal : proposals) {
        if (stopper.should_stop()) return;
        if (!improves(proposal)) continue;
        ledger_.apply(ledger_.state.single(proposal.vertex, proposal.to));
        accept(proposal);
    }
    if (ledger_.clock.now() != before) return;
    for (const Proposal& proposal : proposals) {
        if (stopper.should_stop()) return;
        singles_.look_at_all(proposal.vertex);
    }
}

template <class Rules>
inline bool LargeSweep<Rules>::improves(const SingleMove& move) const {
    const auto& [v, to] = move;
    if (!state_.moves_alone(v, to)) return false;
    const Reference reference = ledger_.reference;
    const double gain = state_.leaving_gain(v, state_.distance(v, state_.colour(v)), reference);
    const double cost = state_.entering_cost(v, to, state_.distance(v, to), reference);
    return cost < ledger_.bar(gain);
}

template <class Rules>
void LargeSweep<Rules>::accept(const Proposal& proposal) {
    bounds_.upper[proposal.vertex] = proposal.upper;
    bounds_.lower[proposal.vertex] = proposal.lower;
}

template <class Rules>
const typename LargeSweep<Rules>::Proposals& LargeSweep<Rules>::find(Stopper& stopper) {
    follow_centroids();
    weigh_clusters();
    measure_separation();
    const Blocks blocks = instance_.blocks(instance_.size);
    instance_.pool->run(blocks.count(), [&](int block, int worker) {
        found_[block].clear();
        // Signals are looked at in the caller's thread alone.
        if (worker == 0 ? stopper.look() : stopper.stopped()) return;
        look(blocks.begin(block), blocks.end(block), scratch_[worker], found_[block]);
    });
    proposals_.clear();
    for (const Proposals& found : found_)
        proposals_.insert(proposals_.end(), found.begin(), found.end());
    return proposals_;
}

template <class Rules>
void LargeSweep<Rules>::follow_centroids() {
    double largest = 0.0;
    for (Colour c = 0; c < k_; ++c) {
        const double* now = state_.centroid(c);
        double* seen = bounds_.seen.data() + std::size_t(c) * d_;
        // Rounding of the step itself must not make it too short.
        const double step = std::sqrt(squared_distance(seen, now, d_)) * (1 + kLengthRounding);
        bounds_.drift[c] += step;
        largest = std::max(largest, step);
        std::copy_n(now, d_, seen);
        T* rounded = rounded_.centroids.data() + std::size_t(c) * d_;
        for (int f = 0; f < d_; ++f) rounded[f] = static_cast<T>(now[f]);
        rounded_.tiles.place(c, now);
        rounded_.error[c] = std::sqrt(squared_distance(rounded, now, d_)) * (1 + kLengthRounding);
    }
    rounded_.largest_error = *std::max_element(rounded_.error.begin(), rounded_.error.end());
    bounds_.largest_drift += largest;
}

// A lighter vertex is less eager to move than a typical one.
template <class Rules>
void LargeSweep<Rules>::weigh_clusters() {
    for (Scratch& scratch : scratch_) scratch.weight = -1.0;
    for (Colour c = 0; c < k_; ++c) {
        factors_.leaving[c] = leaving_factor(c, factors_.weight);
        factors_.entering[c] = entering_factor(c, factors_.weight);
    }
    const double* weights = state_.cluster_weights();
    factors_.lightest = static_cast<Colour>(std::min_element(weights, weights + k_) - weights);
}

template <class Rules>
double LargeSweep<Rules>::leaving_factor(Colour c, double w) const {
    if (ledger_.reference != Reference::means) return 1.0;
    const double weight = state_.cluster_weight(c);
    return weight > w ? std::sqrt(leaving_ratio(weight, w)) : kInfinity;
}

template <class Rules>
double LargeSweep<Rules>::entering_factor(Colour c, double w) const {
    if (ledger_.reference != Reference::means) return 1.0;
    const double weight = state_.cluster_weight(c);
    return weight > 0 ? std::sqrt(entering_ratio(weight, w)) : 0.0;
}

// Not worth the time for very many clusters.
template <class Rules>
void LargeSweep<Rules>::measure_separation() {
    std::fill(separation_.begin(), separation_.end(), kInfinity);
    const bool many = double(k_) * k_ > double(instance_.size);
    for (Colour a = 0; a < k_; ++a)
        for (Colour b = 0; b < a; ++b) {
            const double squared =
                many ? 0.0 : squared_distance(state_.centroid(a), state_.centroid(b), d_);
            const double apart = std::sqrt(squared) * (1 - kLengthRounding);
            separation_[a] = std::min(separation_[a], apart);
            separation_[b] = std::min(separation_[b], apart);
        }
}

// Whether bounds alone show that a vertex stays. First those that need no look at its point.
template <class Rules>
inline bool LargeSweep<Rules>::passes(Vertex v) {
    if constexpr (Rules::Ties::kPriced)
        if (state_.ties().is_soft(v)) return passes_in_spite_of_pulls(v);
    const Colour own = state_.colour(v);
    const double w = instance_.weight[v];
    const bool light = w <= factors_.weight;
    const double leaving = light ? factors_.leaving[own] : leaving_factor(own, w);
    const double entering =
        light ? factors_.entering[factors_.lightest] : entering_factor(factors_.lightest, w);
    double& stored = bounds_.upper[v];
    const double upper = stored + bounds_.drift[own];
    const double lower =
        std::max(bounds_.lower[v] - bounds_.largest_drift, separation_[own] - upper);
    if (upper * leaving <= entering * lower) return true;
    if (stored == LargeBounds::kUnknown) return false;
    Entry entry{entering * lower, kInfinity};
    if (many_features_ && light) entry = least_entry(v, own);
    if (stays(v, upper * leaving, entry)) return true;
    const double measured = std::sqrt(state_.distance(v, own)) * (1 + kLengthRounding);
    stored = measured - bounds_.drift[own];
    return stays(v, measured * leaving, entry);
}

// The same where pulls count as well as distances.
template <class Rules>
bool LargeSweep<Rules>::passes_in_spite_of_pulls(Vertex v)
    requires Rules::Ties::kPriced
{
    if (!bounds_.knows(v)) return false;
    const Colour own = state_.colour(v);
    const double w = instance_.weight[v], drift = bounds_.drift[own];
    const double preferred = state_.ties().pull(v, own) - state_.ties().strongest_pull(v, own);
    const double leaving = leaving_factor(own, w), entering = entering_factor(factors_.lightest, w);
    const auto stays_within = [&](double upper) {
        const double lower =
            std::max({bounds_.lower[v] - bounds_.largest_drift, separation_[own] - upper, 0.0});
        const double out = leaving * upper, in = entering * lower;
        return w * (out * out - in * in) <= preferred;
    };
    if (stays_within(bounds_.upper[v] + drift)) return true;
    const double measured = std::sqrt(state_.distance(v, own)) * (1 + kLengthRounding);
    bounds_.upper[v] = measured - drift;
    return stays_within(measured);
}

// Whether no cluster that v can enter alone is worth leaving the own one.
template <class Rules>
inline bool LargeSweep<Rules>::stays(Vertex v, double leaving, const Entry& entry) {
    if (!(leaving <= entry.alone)) return false;
    if (!(leaving <= entry.blocked)) ledger_.blocked[v] = true;
    return true;
}

// By the bounds for every centroid.
template <class Rules>
typename LargeSweep<Rules>::Entry LargeSweep<Rules>::least_entry(Vertex v, Colour own) {
    const float* each = bounds_.each.data() + std::size_t(v) * k_;
    Entry entry{kInfinity, kInfinity};
    double lower = kInfinity;
    for (Colour c = 0; c < k_; ++c) {
        if (c == own) continue;
        const double bound = unit_ * each[c] - bounds_.drift[c];
        lower = std::min(lower, bound);
        double& least = state_.moves_alone(v, c) ? entry.alone : entry.blocked;
        least = std::min(least, factors_.entering[c] * bound);
    }
    bounds_.lower[v] = lower + bounds_.largest_drift;
    return entry;
}

template <class Rules>
void LargeSweep<Rules>::look(std::size_t begin, std::size_t end, Scratch& scratch,
                             Proposals& found) {
    scratch.prepare(k_);
    for (auto v = static_cast<Vertex>(begin); v < static_cast<Vertex>(end); ++v) {
        if (passes(v) || instance_.weight[v] <= 0 || !state_.may_leave(v)) continue;
        const bool known = bounds_.knows(v);
        (many_features_ && known ? scratch.bounded : scratch.open).push_back(v);
    }
    look_at_open(scratch, found);
    for (Vertex v : scratch.bounded) look_at_bounded(v, scratch, found);
    std::sort(found.begin(), found.end(),
              [](const Proposal& one, const Proposal& other) { return one.vertex < other.vertex; });
}

// Vertices of which nothing is known, or all distances are cheap: several at a time.
template <class Rules>
void LargeSweep<Rules>::look_at_open(Scratch& scratch, Proposals& found) {
    rounded_.tiles.measure(state_.points(), scratch.open, [&](std::size_t i, const T* squared) {
        const Vertex v = scratch.open[i];
        std::copy_n(squared, k_, scratch.squared.begin());
        float* each = bounds_.each.data() + std::size_t(v) * k_;
        for (Colour c = 0; many_features_ && c < k_; ++c) each[c] = stored_bound(c, squared[c]);
        judge(v, scratch, found);
    });
}

// Bounds spare distances to centroids that are too far to matter; those stand in for them.
template <class Rules>
void LargeSweep<Rules>::look_at_bounded(Vertex v, Scratch& scratch, Proposals& found) {
    const Colour own = state_.colour(v);
    float* each = bounds_.each.data() + std::size_t(v) * k_;
    const auto& ratio = entering_ratios(v, scratch);
    const double upper = bounds_.upper[v] + bounds_.drift[own];
    const double bar = own_leaving_ratio(v) * upper * upper - pull_per_weight(v, own);
    for (Colour c = 0; c < k_; ++c) {
        const double bound = std::max(0.0, unit_ * each[c] - bounds_.drift[c]);
        double& squared = scratch.squared[c] = c == own ? upper * upper : bound * bound;
        if (c == own || ratio[c] * squared - pull_per_weight(v, c) >= bar) continue;
        squared = rough_squared_distance(state_.point(v),
                                         rounded_.centroids.data() + std::size_t(c) * d_, d_);
        each[c] = stored_bound(c, squared);
    }
    judge(v, scratch, found);
}

template <class Rules>
void LargeSweep<Rules>::judge(Vertex v, Scratch& scratch, Proposals& found) {
    const Colour own = state_.colour(v);
    const auto& squared = scratch.squared;
    const double upper = at_most(own, squared[own]);
    const auto nearest_but = [&](Colour but) {
        double nearest = kInfinity;
        for (Colour c = 0; c < k_; ++c)
            if (c != but) nearest = std::min(nearest, squared[c]);
        return at_least(nearest) + bounds_.largest_drift;
    };
    bounds_.upper[v] = upper - bounds_.drift[own];
    bounds_.lower[v] = nearest_but(own);
    entering_ratios(v, scratch);
    const double bar = own_leaving_ratio(v) * upper * upper - pull_per_weight(v, own);
    const Colour to = best_entered(v, scratch, bar);
    if (to == own) return;
    const double reached = at_most(to, squared[to]);
    const bool nearer = reached < at_least(squared[own]);
    found.push_back({{v, to}, nearer, reached - bounds_.drift[to], nearest_but(to)});
}

// The cluster that v enters alone at the least cost below the bar, or its own. Rounding has the
// benefit of the doubt.
template <class Rules>
Colour LargeSweep<Rules>::best_entered(Vertex v, const Scratch& scratch, double bar) {
    const Colour own = state_.colour(v);
    const double smallest = *std::min_element(scratch.ratio.begin(), scratch.ratio.end());
    const double most = std::max(0.0, bar + strongest_pull_per_weight(v));
    const double limit = (std::sqrt(most / smallest) + rounded_.largest_error) / (1 - error_);
    Colour best = own;
    double least = bar;
    bool blocked = false;
    for (Colour c = 0; c < k_; ++c) {
        if (c == own || scratch.squared[c] >= limit * limit) continue;
        const double distance = at_least(scratch.squared[c]);
        const double cost = scratch.ratio[c] * distance * distance - pull_per_weight(v, c);
        if (cost >= bar) continue;
        if (!state_.moves_alone(v, c)) {
            blocked = true;
        } else if (cost < least) {
            least = cost;
            best = c;
        }
    }
    ledger_.blocked[v] = blocked;
    return best;
}

template <class Rules>
double LargeSweep<Rules>::own_leaving_ratio(Vertex v) const {
    if (ledger_.reference != Reference::means) return 1.0;
    const double weight = state_.cluster_weight(state_.colour(v));
    return leaving_ratio(weight, instance_.weight[v]);
}

// Most vertices weigh the same, so they are rarely computed.
template <class Rules>
const std::vector<double>& LargeSweep<Rules>::entering_ratios(Vertex v, Scratch& scratch) const {
    const double w = instance_.weight[v];
    if (scratch.weight == w) return scratch.ratio;
    scratch.weight = w;
    for (Colour c = 0; c < k_; ++c) {
        const double weight = state_.cluster_weight(c);
        scratch.ratio[c] = ledger_.reference != Reference::means ? 1.0 : entering_ratio(weight, w);
    }
    return scratch.ratio;
}

// Distances of which the squares were measured from rounded centroids.
template <class Rules>
double LargeSweep<Rules>::at_least(double squared) const {
    return std::max(0.0, std::sqrt(squared) * (1 - error_) - rounded_.largest_error);
}

template <class Rules>
double LargeSweep<Rules>::at_most(Colour c, double squared) const {
    return std::sqrt(squared) * (1 + error_) + rounded_.error[c];
}

// As single precision, not rounded up.
template <class Rules>
float LargeSweep<Rules>::stored_bound(Colour c, double squared) const {
    return static_cast<float>((at_least(squared) + bounds_.drift[c]) / unit_ * (1 - 2e-7));
}

KEMPE_FOR_ALL_RULES(LargeSweep);

}  // namespace kempe
