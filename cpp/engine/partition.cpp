#include "engine/partition.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "problem/means.h"
#include "problem/tiles.h"

namespace kempe {

template <class T>
Partition<T>::Partition(const Instance& instance, const Points<T>& points, int k)
    : instance_(instance),
      points_(points),
      k_(k),
      d_(instance.dimension),
      colour_(instance.size),
      neighbours_(instance.graph,
                  ConstrainedVertices(instance.graph, instance.constrained_vertices), k),
      mean_(std::size_t(k) * d_),
      centroid_(std::size_t(k) * d_),
      by_feature_(d_ <= kCentroidParallel ? centroid_.size() : 0),
      weight_(k),
      size_(k),
      origin_(d_),
      shift_(d_),
      point_(d_),
      chain_(instance.size) {
    measure_spread();
}

template <class T>
void Partition<T>::load(const Colour* colours) {
    std::copy_n(colours, instance_.size, colour_.begin());
    neighbours_.count(colour_.data());
    compute_means();
    for (Colour c = 0; c < k_; ++c) use_mean(c);
    log_.clear();
}

// Sum of the weighted squared distances of all vertices to something.
template <class T>
template <class Distance>
double Partition<T>::add_up(Distance&& distance_of) const {
    return sum_blocks(*instance_.pool, instance_.blocks(instance_.size),
                      [&](std::size_t begin, std::size_t end) {
                          double total = 0.0;
                          for (std::size_t v = begin; v < end; ++v)
                              total += instance_.weight[v] * distance_of(static_cast<Vertex>(v));
                          return total;
                      });
}

// Total spread less what the means explain, which needs no look at the points. Of groups far apart
// the means explain nearly everything, and what is left is nothing but rounding error.
template <class T>
double Partition<T>::inertia() const {
    constexpr double trusted = 1e-5;
    double explained = 0.0;
    for (Colour c = 0; c < k_; ++c)
        explained += weight_[c] * squared_distance(mean(c), origin_.data(), d_);
    const double rest = spread_ - explained;
    return rest < trusted * spread_ ? measured_inertia() : rest;
}

template <class T>
double Partition<T>::measured_inertia() const {
    return add_up([&](Vertex v) { return squared_distance(points_[v], mean(colour_[v]), d_); });
}

template <class T>
double Partition<T>::measured_cost() const {
    return add_up([&](Vertex v) { return distance(v, colour_[v]); });
}

template <class T>
void Partition<T>::place_centroid(Colour c, const double* position) {
    std::copy_n(position, d_, centroid_.data() + std::size_t(c) * d_);
    copy_by_feature(c);
}

template <class T>
void Partition<T>::place_centroid_on(Colour c, Vertex v) {
    std::copy_n(points_[v], d_, centroid_.data() + std::size_t(c) * d_);
    copy_by_feature(c);
}

template <class T>
Chain Partition<T>::single(Vertex v, Colour to) {
    const Colour from = colour_[v];
    const double w = instance_.weight[v];
    chain_.collect_alone(v);
    const T* position = points_[v];
    const double* origin = centroid(from);
    for (int f = 0; f < d_; ++f) shift_[f] = -w * (position[f] - origin[f]);
    return {from, to, -w, -1};
}

template <class T>
Chain Partition<T>::collect(Vertex v, Colour to) {
    std::fill(shift_.begin(), shift_.end(), 0.0);
    const double* origin = centroid(colour_[v]);
    return walk(v, to, [&](Vertex u, double w) { add_to_shift(u, w, origin); });
}

template <class T>
bool Partition<T>::collect_up_to(Vertex v, Colour to, std::size_t longest) {
    return chain_.collect(neighbours_, colour_.data(), v, to,
                          [&](Vertex, Colour) { return chain_.vertices().size() <= longest; });
}

template <class T>
double Partition<T>::distance_to_mean(Colour c) const {
    return std::sqrt(squared_distance(centroid(c), mean(c), d_));
}

// With t = shift_, m = weight that enters `from`, g = centroid(to) - centroid(from): at fixed
// centroids the swap costs 2 t.g - m |g|^2; letting the centroids follow saves
// |t|^2 / (W_from + m) and |t - m g|^2 / (W_to - m) on top.
template <class T>
double Partition<T>::change(const Chain& chain, Objective objective) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (empties(chain)) return never;
    const double* a = centroid(chain.from);
    const double* b = centroid(chain.to);
    const double m = chain.weight;
    double tg = 0.0, gg = 0.0, tt = 0.0, rest = 0.0;
    for (int f = 0; f < d_; ++f) {
        const double g = b[f] - a[f], t = shift_[f], r = t - m * g;
        tg += t * g;
        gg += g * g;
        tt += t * t;
        rest += r * r;
    }
    const double fixed = 2 * tg - m * gg;
    if (objective == Objective::fixed_centroids) return fixed;
    const double saved = tt / (weight_[chain.from] + m) + rest / (weight_[chain.to] - m);
    // What is left must exceed the rounding error of what cancels.
    return fixed - saved + 1e-12 * (2 * std::abs(tg) + std::abs(m) * gg + saved);
}

template <class T>
void Partition<T>::swap(const Chain& chain, Objective objective) {
    move_means(chain);
    for (Vertex u : chain_.vertices()) {
        if (logging_) log_.emplace_back(u, colour_[u]);
        recolour(u, colour_[u] == chain.from ? chain.to : chain.from);
    }
    weight_[chain.from] += chain.weight;
    weight_[chain.to] -= chain.weight;
    size_[chain.from] += chain.vertices;
    size_[chain.to] -= chain.vertices;
    if (objective == Objective::inertia) {
        use_mean(chain.from);
        use_mean(chain.to);
    }
}

template <class T>
bool Partition<T>::move_alone(Vertex v, Colour to) {
    const Colour from = colour_[v];
    if (!may_leave(v) || !moves_alone(v, to)) return false;
    if (logging_) log_.emplace_back(v, from);
    recolour(v, to);
    weight_[from] -= instance_.weight[v];
    weight_[to] += instance_.weight[v];
    --size_[from];
    ++size_[to];
    moved_.push_back({v, from});
    return true;
}

// Sums are about the old means, which keeps digits.
template <class T>
void Partition<T>::follow_moves() {
    std::vector<double> shift(mean_.size());
    add_by_cluster(instance_, points_, moved_.size(), k_, mean_.data(), shift.data(),
                   [&](std::size_t i, auto&& add) {
                       const auto [v, from] = moved_[i];
                       add(v, from, -instance_.weight[v]);
                       add(v, colour_[v], instance_.weight[v]);
                   });
    for (Colour c = 0; c < k_; ++c)
        for (int f = 0; weight_[c] > 0 && f < d_; ++f)
            mean(c)[f] += shift[std::size_t(c) * d_ + f] / weight_[c];
    moved_.clear();
}

template <class T>
void Partition<T>::begin_trial() {
    logging_ = true;
    log_.clear();
    saved_mean_ = mean_;
    saved_weight_ = weight_;
    saved_size_ = size_;
}

template <class T>
void Partition<T>::end_trial(bool keep) {
    logging_ = false;
    if (keep) return;
    for (auto entry = log_.rbegin(); entry != log_.rend(); ++entry)
        recolour(entry->first, entry->second);
    mean_.swap(saved_mean_);
    weight_.swap(saved_weight_);
    size_.swap(saved_size_);
}

template <class T>
void Partition<T>::fill_table(std::vector<float>& table) const {
    const auto& vertices = instance_.constrained_vertices;
    table.resize(vertices.size() * k_);
    CentroidTiles<T> tiles(k_, d_);
    tiles.place_all(centroid_.data());
    const auto fill = [&](std::size_t begin, std::size_t end, int) {
        tiles.measure(points_, std::span(vertices).subspan(begin, end - begin),
                      [&](std::size_t i, const T* squared) {
                          float* row = table.data() + (begin + i) * k_;
                          for (Colour c = 0; c < k_; ++c)
                              row[c] = static_cast<float>(
                                  table_scale_ == 1.0
                                      ? squared[c]
                                      : table_scale_ * distance(vertices[begin + i], c));
                      });
    };
    for_blocks(*instance_.pool, instance_.blocks(vertices.size()), fill);
}

template <class T>
void Partition<T>::add_to_shift(Vertex u, double w, const double* origin) {
    const T* position = points_[u];
    for (int f = 0; f < d_; ++f) shift_[f] += w * (position[f] - origin[f]);
}

// `add` sees each vertex of the chain with its weight, negative if it leaves `from`.
template <class T>
template <class Add>
Chain Partition<T>::walk(Vertex v, Colour to, Add&& add) {
    Chain chain{colour_[v], to, 0.0, 0};
    chain_.collect(neighbours_, colour_.data(), v, to, [&](Vertex u, Colour wanted) {
        const bool leaves = wanted == to;
        const double w = leaves ? -instance_.weight[u] : instance_.weight[u];
        chain.weight += w;
        chain.vertices += leaves ? -1 : 1;
        add(u, w);
        return true;
    });
    return chain;
}

template <class T>
void Partition<T>::recolour(Vertex v, Colour to) {
    neighbours_.recolour(v, colour_[v], to);
    colour_[v] = to;
}

// shift_ is relative to the reference of `from`, which need not be its mean.
template <class T>
void Partition<T>::move_means(const Chain& chain) {
    double* a = mean(chain.from);
    double* b = mean(chain.to);
    const double* origin = centroid(chain.from);
    const double m = chain.weight;
    const double into_from = 1.0 / (weight_[chain.from] + m);
    const double into_to = 1.0 / (weight_[chain.to] - m);
    double square_a = 0.0, square_b = 0.0;
    for (int f = 0; f < d_; ++f) {
        const double t = shift_[f] + m * origin[f];  // weighted sum that enters `from`
        const double step_a = (t - m * a[f]) * into_from;
        const double step_b = (m * b[f] - t) * into_to;
        a[f] += step_a;
        b[f] += step_b;
        square_a += step_a * step_a;
        square_b += step_b * step_b;
    }
    step_from_ = std::sqrt(square_a);
    step_to_ = std::sqrt(square_b);
}

// Into the memory that is there already, unlike cluster_means: searches load very often.
template <class T>
void Partition<T>::compute_means() {
    std::fill(mean_.begin(), mean_.end(), 0.0);
    std::fill(weight_.begin(), weight_.end(), 0.0);
    std::fill(size_.begin(), size_.end(), 0);
    for (Vertex v = 0; v < instance_.size; ++v) {
        weight_[colour_[v]] += instance_.weight[v];
        ++size_[colour_[v]];
    }
    add_by_cluster(instance_, points_, instance_.size, k_, nullptr, mean_.data(),
                   [&](std::size_t v, auto&& add) {
                       add(static_cast<Vertex>(v), colour_[v], instance_.weight[v]);
                   });
    for (Colour c = 0; c < k_; ++c) {
        const double scale = weight_[c] > 0 ? 1.0 / weight_[c] : 0.0;
        for (int f = 0; f < d_; ++f) mean(c)[f] *= scale;
    }
}

template <class T>
void Partition<T>::copy_by_feature(Colour c) {
    if (by_feature_.empty()) return;
    for (int f = 0; f < d_; ++f) by_feature_[std::size_t(f) * k_ + c] = centroid(c)[f];
}

// Weighted mean of all points, and the inertia about it: the inertia of one cluster.
template <class T>
void Partition<T>::measure_spread() {
    double total = 0.0;
    for (Vertex v = 0; v < instance_.size; ++v) total += instance_.weight[v];
    add_by_cluster(
        instance_, points_, instance_.size, 1, nullptr, origin_.data(),
        [&](std::size_t v, auto&& add) { add(static_cast<Vertex>(v), 0, instance_.weight[v]); });
    for (double& x : origin_) x /= total;
    spread_ = add_up([&](Vertex v) { return squared_distance(points_[v], origin_.data(), d_); });
    // Squares of what is very large or very small have no place in a float.
    constexpr int ordinary = 40;
    const int digits = std::ilogb(spread_ / total);
    if (spread_ > 0 && std::abs(digits) > ordinary) table_scale_ = std::ldexp(1.0, -digits);
}

template class Partition<float>;
template class Partition<double>;

}  // namespace kempe
