#include "engine/lone_moves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kempe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class T>
void LoneMoves<T>::Scratch::prepare(int k) {
    open.clear();
    bounded.clear();
    squared.resize(k);
    ratio.resize(k);
}

template <class T>
LoneMoves<T>::LoneMoves(const Instance& instance, const Partition<T>& partition, int k)
    : instance_(instance),
      partition_(partition),
      k_(k),
      d_(instance.dimension),
      many_features_(d_ > kManyFeatures),
      error_(distance_error<T>(d_)),
      unit_(std::ldexp(1.0, -std::ilogb(partition.table_scale()) / 2)),
      centroids_(std::size_t(k) * d_),
      tiles_(k, d_),
      rounding_(k),
      separation_(k),
      leaving_(k),
      entering_(k),
      scratch_(instance.pool->threads()),
      found_(instance.blocks(instance.size).count()) {
    const std::size_t n = instance.size;
    bounds_.upper.resize(n);
    bounds_.lower.resize(n);
    if (many_features_) bounds_.each.resize(n * k);
    bounds_.drift.resize(k);
    bounds_.seen.resize(std::size_t(k) * d_);
    typical_ = 2 * std::accumulate(instance.weight, instance.weight + n, 0.0) / n;
    forget_all();
}

template <class T>
void LoneMoves<T>::forget_all() {
    std::fill(bounds_.upper.begin(), bounds_.upper.end(), kInfinity);
    std::fill(bounds_.lower.begin(), bounds_.lower.end(), -kInfinity);
    std::fill(bounds_.drift.begin(), bounds_.drift.end(), 0.0);
    bounds_.largest_drift = 0.0;
}

// Bounds for every centroid hold whatever the cluster of a vertex.
template <class T>
void LoneMoves<T>::forget(Vertex v) {
    bounds_.upper[v] = many_features_ ? std::numeric_limits<double>::max() : kInfinity;
    bounds_.lower[v] = -kInfinity;
}

template <class T>
void LoneMoves<T>::accept(const Proposal& proposal) {
    bounds_.upper[proposal.vertex] = proposal.upper;
    bounds_.lower[proposal.vertex] = proposal.lower;
}

template <class T>
void LoneMoves<T>::begin_trial() {
    saved_ = bounds_;
}

template <class T>
void LoneMoves<T>::undo_trial() {
    std::swap(bounds_, saved_);
}

template <class T>
const std::vector<Proposal>& LoneMoves<T>::find(Objective objective, std::vector<char>& blocked,
                                                Stopper& stopper) {
    blocked_ = &blocked;
    follow_centroids();
    weigh_clusters(objective);
    measure_separation();
    const Blocks blocks = instance_.blocks(instance_.size);
    instance_.pool->run(blocks.count(), [&](int block, int worker) {
        found_[block].clear();
        // Signals are looked at in the caller's thread alone.
        if (worker == 0 ? stopper.look() : stopper.stopped()) return;
        look(blocks.begin(block), blocks.end(block), scratch_[worker], found_[block]);
    });
    proposals_.clear();
    for (const Found& found : found_)
        proposals_.insert(proposals_.end(), found.begin(), found.end());
    return proposals_;
}

template <class T>
void LoneMoves<T>::follow_centroids() {
    double largest = 0.0;
    for (Colour c = 0; c < k_; ++c) {
        const double* now = partition_.centroid(c);
        double* seen = bounds_.seen.data() + std::size_t(c) * d_;
        // Rounding of the step itself must not make it too short.
        const double step = std::sqrt(squared_distance(seen, now, d_)) * (1 + 1e-9);
        bounds_.drift[c] += step;
        largest = std::max(largest, step);
        std::copy_n(now, d_, seen);
        T* rounded = centroids_.data() + std::size_t(c) * d_;
        for (int f = 0; f < d_; ++f) rounded[f] = static_cast<T>(now[f]);
        tiles_.place(c, now);
        rounding_[c] = std::sqrt(squared_distance(rounded, now, d_)) * (1 + 1e-9);
    }
    largest_rounding_ = *std::max_element(rounding_.begin(), rounding_.end());
    bounds_.largest_drift += largest;
}

// With the centroids following, leaving a cluster gains W / (W - w) times the squared distance, and
// entering one costs W / (W + w) times it. A lighter vertex is less eager to move.
template <class T>
void LoneMoves<T>::weigh_clusters(Objective objective) {
    objective_ = objective;
    for (Scratch& scratch : scratch_) scratch.weight = -1.0;
    for (Colour c = 0; c < k_; ++c) {
        leaving_[c] = leaving_factor(c, typical_);
        entering_[c] = entering_factor(c, typical_);
    }
    const double* weights = partition_.cluster_weights();
    lightest_ = static_cast<Colour>(std::min_element(weights, weights + k_) - weights);
}

template <class T>
double LoneMoves<T>::leaving_factor(Colour c, double w) const {
    if (objective_ == Objective::fixed_centroids) return 1.0;
    const double weight = partition_.cluster_weight(c);
    return weight > w ? std::sqrt(weight / (weight - w)) : kInfinity;
}

template <class T>
double LoneMoves<T>::entering_factor(Colour c, double w) const {
    if (objective_ == Objective::fixed_centroids) return 1.0;
    const double weight = partition_.cluster_weight(c);
    return weight > 0 ? std::sqrt(weight / (weight + w)) : 0.0;
}

// Not worth the time for very many clusters.
template <class T>
void LoneMoves<T>::measure_separation() {
    std::fill(separation_.begin(), separation_.end(), kInfinity);
    const bool many = double(k_) * k_ > double(instance_.size);
    for (Colour a = 0; a < k_; ++a)
        for (Colour b = 0; b < a; ++b) {
            const double squared =
                many ? 0.0 : squared_distance(partition_.centroid(a), partition_.centroid(b), d_);
            const double apart = std::sqrt(squared) * (1 - 1e-9);
            separation_[a] = std::min(separation_[a], apart);
            separation_[b] = std::min(separation_[b], apart);
        }
}

// Whether bounds alone show that a vertex stays. First those that need no look at its point.
template <class T>
inline bool LoneMoves<T>::passes(Vertex v) {
    const Colour own = partition_.colour(v);
    const double w = instance_.weight[v];
    const bool light = w <= typical_;
    const double leaving = light ? leaving_[own] : leaving_factor(own, w);
    const double entering = light ? entering_[lightest_] : entering_factor(lightest_, w);
    double& stored = bounds_.upper[v];
    const double upper = stored + bounds_.drift[own];
    const double lower =
        std::max(bounds_.lower[v] - bounds_.largest_drift, separation_[own] - upper);
    if (upper * leaving <= entering * lower) return true;
    if (stored == kInfinity) return false;
    Entry entry{entering * lower, kInfinity};
    if (many_features_ && light) entry = least_entry(v, own);
    if (stays(v, upper * leaving, entry)) return true;
    const double measured = std::sqrt(partition_.distance(v, own)) * (1 + 1e-9);
    stored = measured - bounds_.drift[own];
    return stays(v, measured * leaving, entry);
}

// Whether no cluster that v can enter alone is worth leaving the own one.
template <class T>
inline bool LoneMoves<T>::stays(Vertex v, double leaving, const Entry& entry) {
    if (!(leaving <= entry.alone)) return false;
    if (!(leaving <= entry.blocked)) (*blocked_)[v] = true;
    return true;
}

// By the bounds for every centroid.
template <class T>
typename LoneMoves<T>::Entry LoneMoves<T>::least_entry(Vertex v, Colour own) {
    const float* each = bounds_.each.data() + std::size_t(v) * k_;
    Entry entry{kInfinity, kInfinity};
    double lower = kInfinity;
    for (Colour c = 0; c < k_; ++c) {
        if (c == own) continue;
        const double bound = unit_ * each[c] - bounds_.drift[c];
        lower = std::min(lower, bound);
        double& least = partition_.moves_alone(v, c) ? entry.alone : entry.blocked;
        least = std::min(least, entering_[c] * bound);
    }
    bounds_.lower[v] = lower + bounds_.largest_drift;
    return entry;
}

template <class T>
void LoneMoves<T>::look(std::size_t begin, std::size_t end, Scratch& scratch, Found& found) {
    scratch.prepare(k_);
    for (auto v = static_cast<Vertex>(begin); v < static_cast<Vertex>(end); ++v) {
        if (passes(v) || instance_.weight[v] <= 0 || !partition_.may_leave(v)) continue;
        const bool known = bounds_.upper[v] != kInfinity;
        (many_features_ && known ? scratch.bounded : scratch.open).push_back(v);
    }
    look_at_open(scratch, found);
    for (Vertex v : scratch.bounded) look_at_bounded(v, scratch, found);
    std::sort(found.begin(), found.end(),
              [](const Proposal& one, const Proposal& other) { return one.vertex < other.vertex; });
}

// Vertices of which nothing is known, or all distances are cheap: several at a time.
template <class T>
void LoneMoves<T>::look_at_open(Scratch& scratch, Found& found) {
    tiles_.measure(partition_.points(), scratch.open, [&](std::size_t i, const T* squared) {
        const Vertex v = scratch.open[i];
        std::copy_n(squared, k_, scratch.squared.begin());
        float* each = bounds_.each.data() + std::size_t(v) * k_;
        for (Colour c = 0; many_features_ && c < k_; ++c) each[c] = stored_bound(c, squared[c]);
        judge(v, scratch, found);
    });
}

// Bounds spare distances to centroids that are too far to matter; those stand in for them.
template <class T>
void LoneMoves<T>::look_at_bounded(Vertex v, Scratch& scratch, Found& found) {
    const Colour own = partition_.colour(v);
    float* each = bounds_.each.data() + std::size_t(v) * k_;
    const auto& ratio = insertion_ratios(v, scratch);
    const double upper = bounds_.upper[v] + bounds_.drift[own];
    const double bar = leaving_ratio(v) * upper * upper;
    for (Colour c = 0; c < k_; ++c) {
        const double bound = std::max(0.0, unit_ * each[c] - bounds_.drift[c]);
        double& squared = scratch.squared[c] = c == own ? upper * upper : bound * bound;
        if (c == own || ratio[c] * squared >= bar) continue;
        squared = rough_squared_distance(partition_.point(v),
                                         centroids_.data() + std::size_t(c) * d_, d_);
        each[c] = stored_bound(c, squared);
    }
    judge(v, scratch, found);
}

template <class T>
void LoneMoves<T>::judge(Vertex v, Scratch& scratch, Found& found) {
    const Colour own = partition_.colour(v);
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
    insertion_ratios(v, scratch);
    const Colour to = best_entered(v, scratch, leaving_ratio(v) * upper * upper);
    if (to == own) return;
    const double reached = at_most(to, squared[to]);
    const bool nearer = reached < at_least(squared[own]);
    found.push_back({v, to, nearer, reached - bounds_.drift[to], nearest_but(to)});
}

// The cluster that v enters alone at the least cost below the bar, or its own. Rounding has the
// benefit of the doubt.
template <class T>
Colour LoneMoves<T>::best_entered(Vertex v, const Scratch& scratch, double bar) {
    const Colour own = partition_.colour(v);
    const double smallest = *std::min_element(scratch.ratio.begin(), scratch.ratio.end());
    const double limit = (std::sqrt(bar / smallest) + largest_rounding_) / (1 - error_);
    Colour best = own;
    double least = bar;
    bool blocked = false;
    for (Colour c = 0; c < k_; ++c) {
        if (c == own || scratch.squared[c] >= limit * limit) continue;
        const double distance = at_least(scratch.squared[c]);
        const double cost = scratch.ratio[c] * distance * distance;
        if (cost >= bar) continue;
        if (!partition_.moves_alone(v, c)) {
            blocked = true;
        } else if (cost < least) {
            least = cost;
            best = c;
        }
    }
    (*blocked_)[v] = blocked;
    return best;
}

template <class T>
double LoneMoves<T>::leaving_ratio(Vertex v) const {
    if (objective_ == Objective::fixed_centroids) return 1.0;
    const double weight = partition_.cluster_weight(partition_.colour(v));
    return weight / (weight - instance_.weight[v]);
}

// Most vertices weigh the same, so they are rarely computed.
template <class T>
const std::vector<double>& LoneMoves<T>::insertion_ratios(Vertex v, Scratch& scratch) const {
    const double w = instance_.weight[v];
    if (scratch.weight == w) return scratch.ratio;
    scratch.weight = w;
    for (Colour c = 0; c < k_; ++c) {
        const double weight = partition_.cluster_weight(c);
        scratch.ratio[c] = objective_ == Objective::fixed_centroids ? 1.0 : weight / (weight + w);
    }
    return scratch.ratio;
}

// Distances of which the squares were measured from rounded centroids.
template <class T>
double LoneMoves<T>::at_least(double squared) const {
    return std::max(0.0, std::sqrt(squared) * (1 - error_) - largest_rounding_);
}

template <class T>
double LoneMoves<T>::at_most(Colour c, double squared) const {
    return std::sqrt(squared) * (1 + error_) + rounding_[c];
}

// As single precision, not rounded up.
template <class T>
float LoneMoves<T>::stored_bound(Colour c, double squared) const {
    return static_cast<float>((at_least(squared) + bounds_.drift[c]) / unit_ * (1 - 2e-7));
}

template class LoneMoves<float>;
template class LoneMoves<double>;

}  // namespace kempe
