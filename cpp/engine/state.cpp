#include "engine/state.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "problem/means.h"

namespace kempe {

template <class Rules>
State<Rules>::State(const Instance& instance, const Points<T>& points, int k)
    : instance_(instance),
      points_(points),
      k_(k),
      d_(instance.dimension),
      limits_(instance),
      colour_(instance.size),
      ties_(instance, k),
      clusters_{std::vector<double>(std::size_t(k) * d_), std::vector<double>(k),
                std::vector<int>(k), std::vector<int>(kCountsRows ? k : 0)},
      centroid_(std::size_t(k) * d_),
      by_feature_(instance.has_many_features() ? 0 : centroid_.size()),
      origin_(d_),
      chain_(instance.size),
      shift_(d_),
      point_(d_) {
    if (kCountsRows || Ties::kPriced)
        pull_ = {std::vector<double>(centroid_.size()),
                 std::vector<double>(k),
                 std::vector<int>(k),
                 std::vector<int>(k),
                 {}};
    measure_spread();
}

template <class Rules>
void State<Rules>::load(const Colour* colours) {
    std::copy_n(colours, instance_.size, colour_.begin());
    ties_.load(colour_.data());
    compute_means();
    for (Colour c = 0; c < k_; ++c) use_mean(c);
    log_.clear();
}

// Sum of the weighted squared distances of all vertices to something.
template <class Rules>
template <class Distance>
double State<Rules>::add_up(Distance&& distance_of) const {
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
template <class Rules>
double State<Rules>::inertia() const {
    constexpr double trusted = 1e-5;
    double explained = 0.0;
    for (Colour c = 0; c < k_; ++c)
        explained += clusters_.weight[c] * squared_distance(mean(c), origin_.data(), d_);
    const double rest = spread_ - explained;
    return rest < trusted * spread_ ? measured_inertia() : rest;
}

template <class Rules>
double State<Rules>::measured_inertia() const {
    return add_up([&](Vertex v) { return squared_distance(points_[v], mean(colour_[v]), d_); });
}

template <class Rules>
double State<Rules>::measured_cost() const {
    return add_up([&](Vertex v) { return distance(v, colour_[v]); });
}

template <class Rules>
void State<Rules>::place_centroid(Colour c, const double* position) {
    std::copy_n(position, d_, centroid_.data() + std::size_t(c) * d_);
    copy_by_feature(c);
}

template <class Rules>
void State<Rules>::place_centroid_on(Colour c, Vertex v) {
    std::copy_n(points_[v], d_, centroid_.data() + std::size_t(c) * d_);
    copy_by_feature(c);
}

template <class Rules>
ChainMove State<Rules>::single(Vertex v, Colour to) {
    const Colour from = colour_[v];
    const double w = instance_.weight[v];
    chain_.collect_alone(v);
    const T* position = points_[v];
    const double* origin = centroid(from);
    for (int f = 0; f < d_; ++f) shift_[f] = -w * (position[f] - origin[f]);
    ChainMove move{from, to, -w, -1};
    if constexpr (kCountsRows) move.rows = -limits_.rows(v);
    return move;
}

template <class Rules>
ChainMove State<Rules>::collect(Vertex v, Colour to) {
    ChainMove chain{colour_[v], to};
    std::fill(shift_.begin(), shift_.end(), 0.0);
    const double* origin = centroid(chain.from);
    chain_.collect(ties_.counts(), colour_.data(), v, to, [&](Vertex u, Colour) {
        add_to_chain(chain, u, origin);
        return true;
    });
    return chain;
}

template <class Rules>
ChainMove State<Rules>::collect_these(const std::vector<Vertex>& vertices, Colour from, Colour to) {
    ChainMove chain = begin_group(from, to);
    chain_.collect_these(vertices);
    for (Vertex v : vertices) join_group(chain, v);
    return chain;
}

template <class Rules>
inline void State<Rules>::add_to_chain(ChainMove& chain, Vertex v, const double* origin) {
    const bool leaves = colour_[v] == chain.from;
    const double w = leaves ? -instance_.weight[v] : instance_.weight[v];
    chain.weight += w;
    chain.vertices += leaves ? -1 : 1;
    if constexpr (kCountsRows) chain.rows += leaves ? -limits_.rows(v) : limits_.rows(v);
    const T* position = points_[v];
    for (int f = 0; f < d_; ++f) shift_[f] += w * (position[f] - origin[f]);
}

template <class Rules>
bool State<Rules>::collect_up_to(Vertex v, Colour to, std::size_t longest) {
    return chain_.collect(ties_.counts(), colour_.data(), v, to,
                          [&](Vertex, Colour) { return chain_.vertices().size() <= longest; });
}

template <class Rules>
Vertex State<Rules>::only_neighbour(Vertex v, Colour c) const {
    if (ties_[v][c] != 1) return -1;
    Vertex found = -1;
    ties_.counts().for_neighbours_in(v, c, colour_.data(), [&](Vertex u) {
        found = u;
        return false;
    });
    return found;
}

template <class Rules>
bool State<Rules>::admits(const ChainMove& chain) const {
    const auto& [mean, weight, size, rows] = clusters_;
    if constexpr (kCountsRows)
        if (!limits_.holds(chain.from, rows[chain.from] + chain.rows) ||
            !limits_.holds(chain.to, rows[chain.to] - chain.rows))
            return false;
    return limits_.allows(size[chain.from] + chain.vertices, weight[chain.from] + chain.weight) &&
           limits_.allows(size[chain.to] - chain.vertices, weight[chain.to] - chain.weight);
}

// With t = shift_, m = weight that enters `from`, g = centroid(to) - centroid(from): at fixed
// centroids the swap costs 2 t.g - m |g|^2; letting the centroids follow saves
// |t|^2 / (W_from + m) and |t - m g|^2 / (W_to - m) on top.
template <class Rules>
double State<Rules>::change(const ChainMove& chain, Reference reference) const {
    double price = 0.0;
    if constexpr (Ties::kPriced) price = ties_.change(chain_, colour_.data(), chain.from, chain.to);
    return change(chain, price, reference);
}

template <class Rules>
inline double State<Rules>::change(const ChainMove& chain, double price,
                                   Reference reference) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (!admits(chain)) return never;
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
    if (reference != Reference::means) {
        if constexpr (Ties::kPriced) return fixed + price;
        return fixed;
    }
    const double saved =
        tt / (clusters_.weight[chain.from] + m) + rest / (clusters_.weight[chain.to] - m);
    // What is left must exceed the rounding error of what cancels.
    const double inertia =
        fixed - saved + kCostRounding * (2 * std::abs(tg) + std::abs(m) * gg + saved);
    if constexpr (Ties::kPriced) return inertia + price + kCostRounding * std::abs(price);
    return inertia;
}

// At fixed centroids each vertex costs what it costs alone, but for pairs that broke or mend.
template <class Rules>
typename State<Rules>::Change State<Rules>::in_place(std::span<const SingleMove> moves) {
    Change total{0.0, 0.0};
    for (const auto& [v, to] : moves) {
        const double w = instance_.weight[v];
        const double enters = w * distance(v, to), leaves = w * distance(v, colour_[v]);
        total.change += enters - leaves;
        total.size += enters + leaves;
    }
    if constexpr (Ties::kPriced) {
        const double price = ties_.change(moves, colour_.data());
        total.change += price;
        total.size += std::abs(price);
    }
    return total;
}

// With t what enters a cluster about its centroid, and m its weight, the mean that follows saves
// |t|^2 / (W + m) in that cluster.
template <class Rules>
double State<Rules>::change(std::span<const SingleMove> moves, Reference reference) {
    constexpr double never = std::numeric_limits<double>::infinity();
    double saved = 0.0;
    for (const auto& [v, to] : moves) {
        pull(v, to, 1, centroid(to));
        pull(v, colour_[v], -1, centroid(colour_[v]));
    }
    for (Colour c : pull_.touched) {
        const double weight = clusters_.weight[c] + pull_.weight[c];
        const double* shift = &pull_.shift[std::size_t(c) * d_];
        double square = 0.0;
        for (int f = 0; f < d_; ++f) square += shift[f] * shift[f];
        bool allowed = limits_.allows(clusters_.size[c] + pull_.vertices[c], weight) &&
                       weight > kCostRounding * clusters_.weight[c];
        if constexpr (kCountsRows)
            allowed = allowed && limits_.holds(c, clusters_.rows[c] + pull_.rows[c]);
        saved += allowed ? square / weight : -never;
        forget_pull(c);
    }
    pull_.touched.clear();
    if (saved == -never) return never;
    const auto [fixed, size] = in_place(moves);
    if (reference != Reference::means) return fixed + kCostRounding * size;
    return fixed - saved + kCostRounding * (size + saved);
}

template <class Rules>
void State<Rules>::pull(Vertex v, Colour c, int sign, const double* origin) {
    if (std::find(pull_.touched.begin(), pull_.touched.end(), c) == pull_.touched.end())
        pull_.touched.push_back(c);
    const double w = sign * instance_.weight[v];
    pull_.weight[c] += w;
    pull_.vertices[c] += sign;
    if constexpr (kCountsRows) pull_.rows[c] += sign * limits_.rows(v);
    double* shift = &pull_.shift[std::size_t(c) * d_];
    const T* position = points_[v];
    for (int f = 0; f < d_; ++f) shift[f] += w * (position[f] - origin[f]);
}

// Let a cluster have what was pulled into it about its mean; how far that moves the mean.
template <class Rules>
double State<Rules>::follow_pull(Colour c) {
    clusters_.weight[c] += pull_.weight[c];
    clusters_.size[c] += pull_.vertices[c];
    if constexpr (kCountsRows) clusters_.rows[c] += pull_.rows[c];
    const double share = clusters_.weight[c] > 0 ? 1.0 / clusters_.weight[c] : 0.0;
    double square = 0.0;
    for (int f = 0; f < d_; ++f) {
        const double step = pull_.shift[std::size_t(c) * d_ + f] * share;
        mean(c)[f] += step;
        square += step * step;
    }
    forget_pull(c);
    return std::sqrt(square);
}

template <class Rules>
void State<Rules>::forget_pull(Colour c) {
    std::fill_n(pull_.shift.begin() + std::size_t(c) * d_, d_, 0.0);
    pull_.weight[c] = 0.0;
    pull_.vertices[c] = 0;
    if constexpr (kCountsRows) pull_.rows[c] = 0;
}

// What is left of a cluster without weight has no mean that v could be far from.
template <class Rules>
double State<Rules>::entering_cost_without(Vertex v, Colour c, Vertex gone) const {
    const double leaves = instance_.weight[gone], rest = clusters_.weight[c] - leaves;
    double price = 0.0;
    if constexpr (Ties::kPriced) price = ties_.pull(v, c);
    if (rest <= kCostRounding * leaves) return -price;
    double square = 0.0;
    for (int f = 0; f < d_; ++f) {
        const double mean = centroid(c)[f];
        const double moved = mean - leaves / rest * (points_[gone][f] - mean);
        square += (points_[v][f] - moved) * (points_[v][f] - moved);
    }
    return kempe::entering_cost(rest, instance_.weight[v], square) - price;
}

template <class Rules>
void State<Rules>::apply(const ChainMove& chain, Reference reference) {
    move_means(chain);
    for (Vertex u : chain_.vertices()) {
        if (logging_) log_.push_back({u, colour_[u]});
        recolour(u, colour_[u] == chain.from ? chain.to : chain.from);
    }
    clusters_.weight[chain.from] += chain.weight;
    clusters_.weight[chain.to] -= chain.weight;
    clusters_.size[chain.from] += chain.vertices;
    clusters_.size[chain.to] -= chain.vertices;
    if constexpr (kCountsRows) {
        clusters_.rows[chain.from] += chain.rows;
        clusters_.rows[chain.to] -= chain.rows;
    }
    if (reference == Reference::means) {
        use_mean(chain.from);
        use_mean(chain.to);
    }
}

template <class Rules>
bool State<Rules>::move_alone(Vertex v, Colour to) {
    const Colour from = colour_[v];
    if (!may_leave(v) || !moves_alone(v, to)) return false;
    if (logging_) log_.push_back({v, from});
    recolour(v, to);
    clusters_.weight[from] -= instance_.weight[v];
    clusters_.weight[to] += instance_.weight[v];
    --clusters_.size[from];
    ++clusters_.size[to];
    if constexpr (kCountsRows) {
        clusters_.rows[from] -= limits_.rows(v);
        clusters_.rows[to] += limits_.rows(v);
    }
    waiting_.push_back({v, from});
    return true;
}

// Sums are about the old means, which keeps digits.
template <class Rules>
void State<Rules>::follow_moves() {
    std::vector<double> shift(clusters_.mean.size());
    add_by_cluster(instance_, points_, waiting_.size(), k_, clusters_.mean.data(), shift.data(),
                   [&](std::size_t i, auto&& add) {
                       const auto [v, from] = waiting_[i];
                       add(v, from, -instance_.weight[v]);
                       add(v, colour_[v], instance_.weight[v]);
                   });
    for (Colour c = 0; c < k_; ++c)
        for (int f = 0; clusters_.weight[c] > 0 && f < d_; ++f)
            mean(c)[f] += shift[std::size_t(c) * d_ + f] / clusters_.weight[c];
    waiting_.clear();
}

template <class Rules>
void State<Rules>::begin_trial() {
    logging_ = true;
    log_.clear();
    saved_ = clusters_;
}

template <class Rules>
void State<Rules>::end_trial(bool keep) {
    logging_ = false;
    if (keep) return;
    for (auto entry = log_.rbegin(); entry != log_.rend(); ++entry)
        recolour(entry->vertex, entry->from);
    std::swap(clusters_, saved_);
}

// shift_ is relative to the reference of `from`, which need not be its mean.
template <class Rules>
void State<Rules>::move_means(const ChainMove& chain) {
    double* a = mean(chain.from);
    double* b = mean(chain.to);
    const double* origin = centroid(chain.from);
    const double m = chain.weight;
    const double into_from = 1.0 / (clusters_.weight[chain.from] + m);
    const double into_to = 1.0 / (clusters_.weight[chain.to] - m);
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
template <class Rules>
void State<Rules>::compute_means() {
    std::fill(clusters_.mean.begin(), clusters_.mean.end(), 0.0);
    std::fill(clusters_.weight.begin(), clusters_.weight.end(), 0.0);
    std::fill(clusters_.size.begin(), clusters_.size.end(), 0);
    for (Vertex v = 0; v < instance_.size; ++v) {
        clusters_.weight[colour_[v]] += instance_.weight[v];
        ++clusters_.size[colour_[v]];
    }
    if constexpr (kCountsRows) {
        std::fill(clusters_.rows.begin(), clusters_.rows.end(), 0);
        for (Vertex v = 0; v < instance_.size; ++v) clusters_.rows[colour_[v]] += limits_.rows(v);
    }
    add_by_cluster(instance_, points_, instance_.size, k_, nullptr, clusters_.mean.data(),
                   [&](std::size_t v, auto&& add) {
                       add(static_cast<Vertex>(v), colour_[v], instance_.weight[v]);
                   });
    for (Colour c = 0; c < k_; ++c) {
        const double scale = clusters_.weight[c] > 0 ? 1.0 / clusters_.weight[c] : 0.0;
        for (int f = 0; f < d_; ++f) mean(c)[f] *= scale;
    }
}

template <class Rules>
void State<Rules>::copy_by_feature(Colour c) {
    if (by_feature_.empty()) return;
    for (int f = 0; f < d_; ++f) by_feature_[std::size_t(f) * k_ + c] = centroid(c)[f];
}

// Weighted mean of all points, and the inertia about it: the inertia of one cluster.
template <class Rules>
void State<Rules>::measure_spread() {
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

KEMPE_FOR_ALL_RULES(State);

}  // namespace kempe
