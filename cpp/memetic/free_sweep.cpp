#include "memetic/free_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kempe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class T>
void FreeSweep<T>::Scratch::prepare(int k) {
    open.clear();
    bounded.clear();
    tile.resize(std::size_t(kTilePoints) * padded(k));
    squared.resize(k);
    ratio.resize(k);
}

template <class T>
FreeSweep<T>::FreeSweep(const Instance& instance, const Partition<T>& partition, int k)
    : instance_(instance),
      partition_(partition),
      k_(k),
      d_(instance.dimension),
      many_features_(d_ > kManyFeatures),
      error_(distance_error<T>(d_)),
      centroids_(std::size_t(k) * d_),
      by_feature_(std::size_t(padded(k)) * d_),
      rounding_(k),
      separation_(k),
      reach_(k),
      scratch_(instance.pool->threads()),
      found_(instance.blocks(instance.free_vertices.size()).count()) {
    const std::size_t n = instance.free_vertices.size();
    bounds_.upper.resize(n);
    bounds_.lower.resize(n);
    if (many_features_) bounds_.each.resize(n * k);
    bounds_.drift.resize(k);
    bounds_.seen.resize(std::size_t(k) * d_);
    for (Vertex v : instance.free_vertices) heaviest_ = std::max(heaviest_, instance.weight[v]);
    forget_all();
}

template <class T>
void FreeSweep<T>::forget_all() {
    std::fill(bounds_.upper.begin(), bounds_.upper.end(), kInfinity);
    std::fill(bounds_.drift.begin(), bounds_.drift.end(), 0.0);
    bounds_.largest_drift = 0.0;
}

template <class T>
void FreeSweep<T>::forget(std::size_t position) {
    bounds_.upper[position] = kInfinity;
}

template <class T>
void FreeSweep<T>::accept(const Proposal& proposal) {
    bounds_.upper[proposal.position] = proposal.upper;
    bounds_.lower[proposal.position] = proposal.lower;
}

template <class T>
void FreeSweep<T>::begin_trial() {
    saved_ = bounds_;
}

template <class T>
void FreeSweep<T>::undo_trial() {
    std::swap(bounds_, saved_);
}

template <class T>
const std::vector<Proposal>& FreeSweep<T>::find(Objective objective, Stopper& stopper) {
    follow_centroids();
    weigh_clusters(objective);
    measure_separation();
    const Blocks blocks = instance_.blocks(instance_.free_vertices.size());
    instance_.pool->run(blocks.count(), [&](int block, int worker) {
        found_[block].clear();
        // Signals are looked at in the caller's thread alone.
        if (worker == 0 ? stopper.look() : stopper.stopped()) return;
        look(blocks.begin(block), blocks.end(block), scratch_[worker], found_[block]);
    });
    proposals_.clear();
    for (const auto& found : found_)
        proposals_.insert(proposals_.end(), found.begin(), found.end());
    return proposals_;
}

template <class T>
void FreeSweep<T>::follow_centroids() {
    double largest = 0.0;
    const int stride = padded(k_);
    for (Colour c = 0; c < k_; ++c) {
        const double* now = partition_.centroid(c);
        double* seen = bounds_.seen.data() + std::size_t(c) * d_;
        // Rounding of the step itself must not make it too short.
        const double step = std::sqrt(squared_distance(seen, now, d_)) * (1 + 1e-9);
        bounds_.drift[c] += step;
        largest = std::max(largest, step);
        std::copy_n(now, d_, seen);
        T* rounded = centroids_.data() + std::size_t(c) * d_;
        for (int f = 0; f < d_; ++f)
            by_feature_[std::size_t(f) * stride + c] = rounded[f] = static_cast<T>(now[f]);
        rounding_[c] = std::sqrt(squared_distance(rounded, now, d_)) * (1 + 1e-9);
    }
    largest_rounding_ = *std::max_element(rounding_.begin(), rounding_.end());
    bounds_.largest_drift += largest;
}

// With the centroids following, leaving a cluster gains W / (W - w) times the squared distance, and
// entering one costs W / (W + w) times it. The heaviest vertex is the most eager to move.
template <class T>
void FreeSweep<T>::weigh_clusters(Objective objective) {
    objective_ = objective;
    for (Scratch& scratch : scratch_) scratch.weight = -1.0;
    const double* weights = partition_.cluster_weights();
    const double lightest = *std::min_element(weights, weights + k_);
    for (Colour c = 0; c < k_; ++c) {
        const double rest = weights[c] - heaviest_;
        if (objective == Objective::fixed_centroids)
            reach_[c] = 1.0;
        else if (rest <= 0 || lightest <= 0)
            reach_[c] = kInfinity;
        else
            reach_[c] = std::sqrt(weights[c] / rest * (1 + heaviest_ / lightest));
    }
}

// Not worth the time for very many clusters.
template <class T>
void FreeSweep<T>::measure_separation() {
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

template <class T>
inline bool FreeSweep<T>::stays(Colour own, double upper, double lower) const {
    return upper * reach_[own] <= std::max(lower, separation_[own] - upper);
}

// Whether bounds alone show that a vertex stays. First those that need no look at its point.
template <class T>
inline bool FreeSweep<T>::passes(std::size_t position) {
    const Vertex v = instance_.free_vertices[position];
    const Colour own = partition_.colour(v);
    double& stored = bounds_.upper[position];
    const double upper = stored + bounds_.drift[own];
    if (stays(own, upper, bounds_.lower[position] - bounds_.largest_drift)) return true;
    if (stored == kInfinity) return false;
    if (many_features_ && stays(own, upper, tightened_lower(position, own))) return true;
    const double measured = std::sqrt(partition_.distance(v, own)) * (1 + 1e-9);
    stored = measured - bounds_.drift[own];
    return stays(own, measured, bounds_.lower[position] - bounds_.largest_drift);
}

// The least of the bounds for every other centroid.
template <class T>
double FreeSweep<T>::tightened_lower(std::size_t position, Colour own) {
    const float* each = bounds_.each.data() + position * k_;
    double lower = kInfinity;
    for (Colour c = 0; c < k_; ++c)
        if (c != own) lower = std::min(lower, each[c] - bounds_.drift[c]);
    bounds_.lower[position] = lower + bounds_.largest_drift;
    return lower;
}

template <class T>
void FreeSweep<T>::look(std::size_t begin, std::size_t end, Scratch& scratch,
                        std::vector<Proposal>& found) {
    scratch.prepare(k_);
    for (std::size_t position = begin; position < end; ++position) {
        if (passes(position)) continue;
        const Vertex v = instance_.free_vertices[position];
        if (instance_.weight[v] <= 0 || !partition_.may_leave(v)) continue;
        const bool known = bounds_.upper[position] != kInfinity;
        (many_features_ && known ? scratch.bounded : scratch.open).push_back(position);
    }
    look_at_open(scratch, found);
    for (std::size_t position : scratch.bounded) look_at_bounded(position, scratch, found);
    std::sort(found.begin(), found.end(), [](const Proposal& one, const Proposal& other) {
        return one.position < other.position;
    });
}

// Vertices of which nothing is known, or all distances are cheap: several at a time.
template <class T>
void FreeSweep<T>::look_at_open(Scratch& scratch, std::vector<Proposal>& found) {
    const auto& open = scratch.open;
    for (std::size_t first = 0; first < open.size(); first += kTilePoints) {
        const T* points[kTilePoints];
        // Where there are too few, the last is measured several times.
        for (std::size_t i = 0; i < kTilePoints; ++i)
            points[i] = partition_.point(
                instance_.free_vertices[open[std::min(first + i, open.size() - 1)]]);
        tiled_distances(points, by_feature_.data(), k_, d_, scratch.tile.data());
        for (std::size_t i = 0; i < kTilePoints && first + i < open.size(); ++i) {
            const T* row = scratch.tile.data() + i * padded(k_);
            std::copy_n(row, k_, scratch.squared.begin());
            if (many_features_) remember_each(open[first + i], row);
            judge(open[first + i], scratch, found);
        }
    }
}

template <class T>
void FreeSweep<T>::remember_each(std::size_t position, const T* squared) {
    float* each = bounds_.each.data() + position * k_;
    for (Colour c = 0; c < k_; ++c) each[c] = stored_bound(c, squared[c]);
}

// Bounds spare distances to centroids that are too far to matter; those stand in for them.
template <class T>
void FreeSweep<T>::look_at_bounded(std::size_t position, Scratch& scratch,
                                   std::vector<Proposal>& found) {
    const Vertex v = instance_.free_vertices[position];
    const Colour own = partition_.colour(v);
    const T* point = partition_.point(v);
    float* each = bounds_.each.data() + position * k_;
    const auto& ratio = insertion_ratios(v, scratch);
    const double upper = bounds_.upper[position] + bounds_.drift[own];
    double best = leaving_ratio(v) * upper * upper;
    for (Colour c = 0; c < k_; ++c) {
        const double bound = std::max(0.0, each[c] - bounds_.drift[c]);
        scratch.squared[c] = bound * bound;
        if (c != own && ratio[c] * bound * bound >= best) continue;
        scratch.squared[c] =
            rough_squared_distance(point, centroids_.data() + std::size_t(c) * d_, d_);
        each[c] = stored_bound(c, scratch.squared[c]);
        if (c != own) best = std::min(best, ratio[c] * scratch.squared[c]);
    }
    judge(position, scratch, found);
}

template <class T>
void FreeSweep<T>::judge(std::size_t position, Scratch& scratch, std::vector<Proposal>& found) {
    const Vertex v = instance_.free_vertices[position];
    const Colour own = partition_.colour(v);
    const auto& ratio = insertion_ratios(v, scratch);
    const auto& squared = scratch.squared;
    double nearest = kInfinity, least = kInfinity;
    Colour to = own;
    for (Colour c = 0; c < k_; ++c) {
        if (c == own) continue;
        nearest = std::min(nearest, squared[c]);
        if (ratio[c] * squared[c] < least) {
            least = ratio[c] * squared[c];
            to = c;
        }
    }
    const double upper = at_most(own, squared[own]);
    bounds_.upper[position] = upper - bounds_.drift[own];
    bounds_.lower[position] = at_least(nearest) + bounds_.largest_drift;
    const double entered = at_least(squared[to]);
    if (to == own || ratio[to] * entered * entered >= leaving_ratio(v) * upper * upper) return;
    double others = squared[own];
    for (Colour c = 0; c < k_; ++c)
        if (c != to) others = std::min(others, squared[c]);
    const double reached = at_most(to, squared[to]);
    found.push_back({position, v, to, reached < at_least(squared[own]), reached - bounds_.drift[to],
                     at_least(others) + bounds_.largest_drift});
}

template <class T>
double FreeSweep<T>::leaving_ratio(Vertex v) const {
    if (objective_ == Objective::fixed_centroids) return 1.0;
    const double weight = partition_.cluster_weight(partition_.colour(v));
    return weight / (weight - instance_.weight[v]);
}

// Most vertices weigh the same, so they are rarely computed.
template <class T>
const std::vector<double>& FreeSweep<T>::insertion_ratios(Vertex v, Scratch& scratch) const {
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
double FreeSweep<T>::at_least(double squared) const {
    return std::max(0.0, std::sqrt(squared) * (1 - error_) - largest_rounding_);
}

template <class T>
double FreeSweep<T>::at_most(Colour c, double squared) const {
    return std::sqrt(squared) * (1 + error_) + rounding_[c];
}

// As single precision, not rounded up.
template <class T>
float FreeSweep<T>::stored_bound(Colour c, double squared) const {
    return static_cast<float>((at_least(squared) + bounds_.drift[c]) * (1 - 2e-7));
}

template class FreeSweep<float>;
template class FreeSweep<double>;

}  // namespace kempe
