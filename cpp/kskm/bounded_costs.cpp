#include "kskm/bounded_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "problem/tiles.h"

namespace kempe {
namespace {

// Distances shorter than this share of that from the origin are rounding, as those of equal points
// from their mean are.
constexpr double kPlaceRounding = 1e-12;

// A change by less than this share of a total is not seen in it.
constexpr double kTotalRounding = std::numeric_limits<double>::epsilon() / 2;

// A total that follows changes is right to a factor of two down to so many times what tiles, from
// which it was added up first, may err: twice as much in squares as in distances.
constexpr double kTileErrors = 4;

// A bound and a drift are stored as their sum, which is rounded when it is made and when it is
// undone. By less than this share of the drift.
constexpr double kDriftRounding = 1e-15;

// Sums are added up anew once so many times the weight of a cluster has come or gone, or the
// rounding of what is gone would be felt.
constexpr double kMostExchanges = 100;

constexpr int kNever = -1;

// Floats that are not above and not below a number. What single precision cannot hold becomes a
// bound that says less.
constexpr double kFloatRounding = 2e-7;
constexpr double kLeastFloat = std::numeric_limits<float>::min();
constexpr double kMostFloat = std::numeric_limits<float>::max();
constexpr float kNoBound = std::numeric_limits<float>::infinity();

float rounded_down(double positive) {
    if (positive < kLeastFloat) return 0.0f;
    return static_cast<float>(std::min(positive * (1 - kFloatRounding), kMostFloat));
}

float rounded_up(double x) {
    const double above = x + std::abs(x) * kFloatRounding + kLeastFloat;
    if (above > kMostFloat) return kNoBound;
    return static_cast<float>(std::max(above, -kMostFloat));
}

// A length that no point exceeds, however far it is from the origin.
double extent(const Instance& instance) {
    const std::vector<double> origin(instance.dimension);
    return std::sqrt(with_points(instance, [&](const auto& points) {
        const auto add_block = [&](std::size_t begin, std::size_t end) {
            double sum = 0.0;
            for (std::size_t v = begin; v < end; ++v)
                sum += squared_distance(points[static_cast<Vertex>(v)], origin.data(),
                                        instance.dimension);
            return sum;
        };
        return sum_blocks(*instance.pool, instance.blocks(instance.size), add_block);
    }));
}

}  // namespace

BoundedCosts::BoundedCosts(const Instance& instance, int k)
    : instance_(instance),
      k_(k),
      d_(instance.dimension),
      centroids_(static_cast<std::size_t>(k) * instance.dimension),
      extent_(extent(instance)),
      drift_(k),
      lower_(static_cast<std::size_t>(instance.size) * k),
      upper_(lower_.size()),
      home_(instance.size),
      seen_(instance.size, kNever),
      moves_(k) {}

inline float BoundedCosts::stored_least(Colour c, double least) const {
    const double drift = drift_[c] * (1 - kDriftRounding);
    return rounded_down((std::max(least, 0.0) + drift) * per_unit_);
}

inline float BoundedCosts::stored_most(Colour c, double most) const {
    const double drift = drift_[c] * (1 - kDriftRounding);
    return rounded_up((most - drift) * per_unit_);
}

// The square of a distance, which is known then: but for rounding, so that what was known before
// may be tighter still. Both bounds hold. That none becomes looser between two placements of
// centroids is relied on by whoever adds up what may be gained, and takes it off again later.
double BoundedCosts::measure(Vertex v, Colour c) {
    const double* centroid = centroids_.data() + static_cast<std::size_t>(c) * d_;
    const double squared = with_points(
        instance_, [&](const auto& points) { return squared_distance(points[v], centroid, d_); });
    const double distance = std::sqrt(squared);
    float &lower = lower_[index(v, c)], &upper = upper_[index(v, c)];
    lower = std::max(lower, stored_least(c, distance * (1 - kLengthRounding)));
    upper = std::min(upper, stored_most(c, distance * (1 + kLengthRounding)));
    return squared;
}

double BoundedCosts::at(Vertex v, Colour c) {
    return instance_.weight[v] * measure(v, c);
}

double BoundedCosts::at_home(Vertex v, Colour own) {
    if (seen_[v] != moves_[own]) {
        home_[v] = measure(v, own);
        seen_[v] = moves_[own];
    }
    return instance_.weight[v] * home_[v];
}

bool BoundedCosts::have_fallen(const std::vector<Colour>& colours) {
    const double now = adds_up_ ? total(colours) : total_ + change_;
    change_ = 0.0;
    return now < std::exchange(total_, now);
}

// Only those whose centroid has moved since are measured.
double BoundedCosts::total(const std::vector<Colour>& colours) {
    return sum_blocks(*instance_.pool, instance_.blocks(instance_.size),
                      [&](std::size_t begin, std::size_t end) {
                          double cost = 0.0;
                          for (std::size_t v = begin; v < end; ++v)
                              cost += at_home(static_cast<Vertex>(v), colours[v]);
                          return cost;
                      });
}

void BoundedCosts::place(const double* centroids, const std::vector<Colour>& colours) {
    std::copy_n(centroids, centroids_.size(), centroids_.begin());
    std::fill(drift_.begin(), drift_.end(), 0.0);
    std::fill(seen_.begin(), seen_.end(), kNever);
    const auto larger = [](double most, double x) { return std::max(most, std::abs(x)); };
    const double size = std::accumulate(centroids_.begin(), centroids_.end(), extent_, larger);
    const int digits = size > 0 ? std::clamp(std::ilogb(size), -1000, 1000) : 0;
    unit_ = std::ldexp(1.0, digits);
    per_unit_ = std::ldexp(1.0, -digits);
    total_ = measure_all(colours);
    change_ = 0.0;
    felt_below_ = felt_share() * (total_ + from_origin(colours));
    adds_up_ = total_ < felt_below_;
    if (adds_up_) total_ = total(colours);
}

// What vertices would cost at the origin if they were where their centroids are.
double BoundedCosts::from_origin(const std::vector<Colour>& colours) const {
    std::vector<double> square(k_);
    for (std::size_t i = 0; i < centroids_.size(); ++i)
        square[i / d_] += centroids_[i] * centroids_[i];
    double cost = 0.0;
    for (Vertex v = 0; v < instance_.size; ++v) cost += instance_.weight[v] * square[colours[v]];
    return cost;
}

// The share of what vertices would cost at the origin below which a total feels rounding, that of
// places or that of tiles.
double BoundedCosts::felt_share() const {
    const double tiles = instance_.single ? distance_error<float>(d_) : distance_error<double>(d_);
    const double places = kPlaceRounding * kPlaceRounding / kTotalRounding;
    return std::max(places, kTileErrors * tiles);
}

// Bounds on all distances, in the precision of the data, whatever was known: centroids have been
// placed elsewhere. Returns what all vertices cost.
double BoundedCosts::measure_all(const std::vector<Colour>& colours) {
    std::vector<Vertex> everyone(instance_.size);
    std::iota(everyone.begin(), everyone.end(), 0);
    return with_points(instance_, [&]<class T>(const Points<T>& points) {
        CentroidTiles<T> tiles(k_, d_);
        tiles.place_all(centroids_.data());
        const TileBounds<T> bounds(tiles, centroids_.data(), k_, d_);
        const auto measure_one = [&](Vertex v, Colour c, T squared) -> double {
            const bool holds = bounds.hold(squared);
            lower_[index(v, c)] = holds ? stored_least(c, bounds.at_least(c, squared)) : 0.0f;
            upper_[index(v, c)] = holds ? stored_most(c, bounds.at_most(c, squared)) : kNoBound;
            return holds ? squared : measure(v, c);
        };
        const auto measure_block = [&](std::size_t begin, std::size_t end) {
            double cost = 0.0;
            tiles.measure(points, std::span(everyone).subspan(begin, end - begin),
                          [&](std::size_t i, const T* squared) {
                              const auto v = static_cast<Vertex>(begin + i);
                              for (Colour c = 0; c < k_; ++c) {
                                  const double there = measure_one(v, c, squared[c]);
                                  if (c == colours[v]) cost += instance_.weight[v] * there;
                              }
                          });
            return cost;
        };
        return sum_blocks(*instance_.pool, instance_.blocks(instance_.size), measure_block);
    });
}

// Members of a cluster cost as much less at their mean as that is away from where the centroid was.
void BoundedCosts::move(const double* centroids, std::span<const Colour> clusters) {
    for (Colour c : clusters) {
        const std::size_t first = static_cast<std::size_t>(c) * d_;
        const double squared = squared_distance(centroids + first, centroids_.data() + first, d_);
        change_ -= weight_[c] * squared;
        drift_[c] = (drift_[c] + std::sqrt(squared) * (1 + kLengthRounding)) * (1 + kDriftRounding);
        ++moves_[c];
        std::copy_n(centroids + first, d_, centroids_.data() + first);
    }
}

Means BoundedCosts::means(const std::vector<Colour>& colours) {
    if (members_.empty() || adds_up_ || are_sums_worn()) add_up(colours);
    Means means{sum_, weight_, members_};
    for (Colour c = 0; c < k_; ++c)
        for (int f = 0; means.weight[c] > 0 && f < d_; ++f)
            means.mean[static_cast<std::size_t>(c) * d_ + f] /= means.weight[c];
    return means;
}

bool BoundedCosts::are_sums_worn() const {
    for (Colour c = 0; c < k_; ++c)
        if (exchanged_[c] > kMostExchanges * weight_[c]) return true;
    return false;
}

void BoundedCosts::add_up(const std::vector<Colour>& colours) {
    Means means = cluster_means(instance_, colours.data(), k_);
    sum_ = std::move(means.mean);
    weight_ = std::move(means.weight);
    members_ = std::move(means.members);
    for (Colour c = 0; c < k_; ++c)
        for (int f = 0; f < d_; ++f) sum_[static_cast<std::size_t>(c) * d_ + f] *= weight_[c];
    exchanged_.assign(k_, 0.0);
}

void BoundedCosts::recolour(Vertex v, Colour from, Colour to) {
    const double w = instance_.weight[v], before = at_home(v, from);
    seen_[v] = kNever;
    change_ += at_home(v, to) - before;
    if (members_.empty()) return;
    with_points(instance_, [&](const auto& points) {
        const auto* point = points[v];
        double* left = sum_.data() + static_cast<std::size_t>(from) * d_;
        double* entered = sum_.data() + static_cast<std::size_t>(to) * d_;
        for (int f = 0; f < d_; ++f) {
            const double part = w * point[f];
            left[f] -= part;
            entered[f] += part;
        }
    });
    weight_[from] -= w;
    weight_[to] += w;
    --members_[from];
    ++members_[to];
    exchanged_[from] += w;
    exchanged_[to] += w;
    if (members_[from] > 0) return;
    // Nothing is left, whatever rounding says.
    weight_[from] = exchanged_[from] = 0.0;
    std::fill_n(sum_.begin() + static_cast<std::ptrdiff_t>(from) * d_, d_, 0.0);
}

}  // namespace kempe
