// Rows in no constraint, as a crowd: how many go to which centroid, and what their means become.
// A part of the data at a time, so parts may lie anywhere; sums of parts add up to those of all.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "module.h"
#include "problem/cost.h"
#include "problem/limits.h"

namespace kempe {
namespace {

// Squared distances of rows to all centroids, in double whatever the rows: which of two centroids
// is nearer must not depend on how the data is divided.
template <class T>
class Measure {
 public:
    Measure(const In2<T>& rows, const In2<double>& centroids)
        : rows_(rows.data()),
          size_(rows.shape(0)),
          k_(static_cast<int>(centroids.shape(0))),
          d_(static_cast<int>(rows.shape(1))),
          by_feature_(std::size_t(padded(k_)) * d_),
          buffer_(std::size_t(kTilePoints) * d_),
          squared_(std::size_t(kTilePoints) * padded(k_)) {
        for (int c = 0; c < k_; ++c)
            for (int f = 0; f < d_; ++f)
                by_feature_[std::size_t(f) * padded(k_) + c] =
                    centroids.data()[std::size_t(c) * d_ + f];
    }

    // Calls use(i, row, squared) for every row, in order.
    template <class Use>
    void for_each(Use&& use) {
        const double* group[kTilePoints];
        for (std::size_t first = 0; first < size_; first += kTilePoints) {
            // Where too few are left, the last is measured several times.
            for (std::size_t p = 0; p < kTilePoints; ++p)
                group[p] = in_double(std::min(first + p, size_ - 1), p);
            tiled_distances(group, by_feature_.data(), k_, d_, squared_.data());
            for (std::size_t p = 0; p < kTilePoints && first + p < size_; ++p)
                use(first + p, group[p], squared_.data() + p * padded(k_));
        }
    }

 private:
    const double* in_double(std::size_t row, std::size_t place) {
        const T* from = rows_ + row * d_;
        if constexpr (sizeof(T) == sizeof(double)) {
            return from;
        } else {
            double* to = buffer_.data() + place * d_;
            std::copy_n(from, d_, to);
            return to;
        }
    }

    const T* rows_;
    const std::size_t size_;
    const int k_, d_;
    std::vector<double> by_feature_, buffer_, squared_;
};

struct Crowd {
    std::vector<double> weight, shift, cost;  // per cluster
    std::vector<std::int64_t> torn;
    std::vector<double> gain;  // of those

    Crowd(int k, int d) : weight(k), shift(std::size_t(k) * d), cost(k) {}

    void add(int own, double w, const double* row, const double* centroid, double squared, int d) {
        weight[own] += w;
        cost[own] += w * squared;
        double* sum = shift.data() + std::size_t(own) * d;
        for (int f = 0; f < d; ++f) sum[f] += w * (row[f] - centroid[f]);
    }
    void note_torn(std::size_t i, double by) {
        torn.push_back(static_cast<std::int64_t>(i));
        gain.push_back(by);
    }
};

// A row belongs to its nearest centroid, and yet another cluster would take it for less where the
// means follow: what Hartigan and Wong (1979) see and k-means does not. Returns by how much.
double torn_gain(const double* squared, const double* cluster_weight, int own, double w, int k) {
    if (!NonEmpty().may_lose(cluster_weight[own], w)) return 0.0;
    const double leaving = leaving_gain(cluster_weight[own], w, squared[own]);
    double entering = std::numeric_limits<double>::infinity();
    for (int c = 0; c < k; ++c)
        if (c != own)
            entering = std::min(entering, entering_cost(cluster_weight[c], w, squared[c]));
    return entering < leaving * (1 - kCostRounding) ? leaving - entering : 0.0;
}

template <class T>
void check_rows(const In2<T>& rows, const In2<double>& centroids) {
    if (rows.shape(1) == 0) throw std::invalid_argument("rows must have a feature");
    check_centroids(centroids, static_cast<int>(rows.shape(1)));
}

// Ascending row numbers, asked for one after the other.
class Held {
 public:
    explicit Held(const In1<std::int64_t>& rows)
        : next_(rows.data()), end_(rows.data() + rows.shape(0)) {}
    bool contains(std::size_t i) {
        const auto row = static_cast<std::int64_t>(i);
        while (next_ != end_ && *next_ < row) ++next_;
        return next_ != end_ && *next_ == row;
    }

 private:
    const std::int64_t *next_, *end_;
};

// Rows in `held` and without weight do not belong to the crowd.
template <class T>
Crowd look(const In2<T>& rows, const In1<double>& weight, const In1<std::int64_t>& held_rows,
           const In2<double>& centroids, const In1<double>& cluster_weight) {
    const int k = static_cast<int>(centroids.shape(0)), d = static_cast<int>(rows.shape(1));
    const bool asks = cluster_weight.shape(0) > 0;
    Crowd crowd(k, d);
    Held held(held_rows);
    Measure<T>(rows, centroids).for_each([&](std::size_t i, const double* row, const double* all) {
        const double w = weight.shape(0) ? weight.data()[i] : 1.0;
        if (held.contains(i) || !(w > 0)) return;
        const int own = static_cast<int>(std::min_element(all, all + k) - all);
        crowd.add(own, w, row, centroids.data() + std::size_t(own) * d, all[own], d);
        const double gain = asks ? torn_gain(all, cluster_weight.data(), own, w, k) : 0.0;
        if (gain > 0) crowd.note_torn(i, gain);
    });
    return crowd;
}

template <class T>
nb::tuple crowd(In2<T> rows, In1<double> weight, In1<std::int64_t> held, In2<double> centroids,
                In1<double> cluster_weight) {
    check_rows(rows, centroids);
    if (weight.shape(0) != 0 && weight.shape(0) != rows.shape(0))
        throw std::invalid_argument("weight must have one entry per row, or none");
    if (cluster_weight.shape(0) != 0 && cluster_weight.shape(0) != centroids.shape(0))
        throw std::invalid_argument("cluster_weight must have one entry per cluster, or none");
    if (!std::is_sorted(held.data(), held.data() + held.shape(0)))
        throw std::invalid_argument("held must ascend");
    Crowd found = unlocked([&] { return look(rows, weight, held, centroids, cluster_weight); });
    return nb::make_tuple(to_numpy(std::move(found.weight)),
                          to_numpy(std::move(found.shift), centroids.shape(0), centroids.shape(1)),
                          to_numpy(std::move(found.cost)), to_numpy(std::move(found.torn)),
                          to_numpy(std::move(found.gain)));
}

template <class T>
nb::tuple nearest(In2<T> rows, In2<double> centroids) {
    check_rows(rows, centroids);
    std::vector<Colour> own(rows.shape(0));
    std::vector<double> squared(rows.shape(0));
    const auto k = centroids.shape(0);
    unlocked([&] {
        Measure<T>(rows, centroids).for_each([&](std::size_t i, const double*, const double* all) {
            const double* least = std::min_element(all, all + k);
            own[i] = static_cast<Colour>(least - all);
            squared[i] = *least;
        });
    });
    return nb::make_tuple(to_numpy(std::move(own)), to_numpy(std::move(squared)));
}

template <class T>
void bind_of_type(nb::module_& m) {
    m.def("crowd", &crowd<T>, nb::arg("rows").noconvert(), nb::arg("weight"), nb::arg("held"),
          nb::arg("centroids"), nb::arg("cluster_weight"));
    m.def("nearest_centroids", &nearest<T>, nb::arg("rows").noconvert(), nb::arg("centroids"));
}

}  // namespace

void bind_crowd(nb::module_& m) {
    bind_of_type<float>(m);
    bind_of_type<double>(m);
}

}  // namespace kempe
