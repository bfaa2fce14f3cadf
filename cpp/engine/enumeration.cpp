// The best of all clusterings of a few supernodes, by branch and bound.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "basics/stopper.h"
#include "module.h"
#include "problem/cost.h"
#include "problem/instance.h"
#include "problem/limits.h"

namespace kempe {
namespace {

constexpr int kMostVertices = 64;  // bits of a word

// Vertices join clusters one after the other. Clusters are interchangeable, so a vertex may join
// one in use or open the next. Neither the inertia nor the price of broken pairs ever falls when a
// vertex joins, so those of the vertices placed so far bound all clusterings that go on from there.
// Where clusters have limits on their rows, those of equal limits are interchangeable.
template <bool kSoft, bool kSized>
class Enumeration {
 public:
    Enumeration(const Instance& instance, int k, const Colour* start, Stopper& stopper)
        : size_(instance.size),
          k_(k),
          d_(instance.dimension),
          stopper_(stopper),
          weight_(instance.weight),
          soft_(instance.soft),
          neighbours_(size_, 0),
          points_(static_cast<std::size_t>(size_) * d_),
          clusters_(k, Cluster(d_)),
          sizes_(instance.sizes),
          rows_(k, 0),
          colour_(size_, kUncoloured),
          best_(start, start + size_) {
        for (int rows : sizes_.rows) rows_left_ += rows;
        with_points(instance, [&](const auto& points) {
            for (Vertex v = 0; v < size_; ++v) std::copy_n(points[v], d_, point(v));
        });
        for (Vertex v = 0; v < size_; ++v)
            for (Vertex u : instance.graph.neighbours(v)) neighbours_[v] |= bit(u);
        best_cost_ = cost_of(best_);
    }

    // False when it was stopped.
    bool run() { return place(0, 0, 0.0); }

    const std::vector<Colour>& best() const { return best_; }

 private:
    struct Cluster {
        explicit Cluster(int d) : mean(d, 0.0) {}
        double weight = 0.0;
        std::uint64_t members = 0;
        std::vector<double> mean;
    };

    static std::uint64_t bit(Vertex v) { return std::uint64_t{1} << v; }
    double* point(Vertex v) { return points_.data() + static_cast<std::size_t>(v) * d_; }

    // What soft pairs of v with the vertices before it cost, if it joins some of those.
    double broken(Vertex v, std::uint64_t members) const {
        double price = 0.0;
        for (const auto& [u, together] : soft_->of(v)) {
            const bool joined = members & bit(u);
            if (u < v && joined != (together > 0)) price += std::abs(together);
        }
        return price;
    }

    // Adds v, after all vertices before it; what that costs.
    double join(Cluster& cluster, Vertex v) {
        const double w = weight_[v], total = cluster.weight + w;
        const double distance = squared_distance(point(v), cluster.mean.data(), d_);
        double added = total > 0 ? w * entering_ratio(cluster.weight, w) * distance : 0.0;
        if constexpr (kSoft) added += broken(v, cluster.members);
        const double step = total > 0 ? w / total : 0.0;
        for (int f = 0; f < d_; ++f) cluster.mean[f] += step * (point(v)[f] - cluster.mean[f]);
        cluster.weight = total;
        cluster.members |= bit(v);
        return added;
    }

    double cost_of(const std::vector<Colour>& colours) {
        std::vector<Cluster> clusters(clusters_);
        double cost = 0.0;
        for (Vertex v = 0; v < size_; ++v) cost += join(clusters[colours[v]], v);
        return cost;
    }

    // Whether a cluster is empty, and so is an earlier one with the same limits.
    bool comes_later(Colour c) const {
        if (clusters_[c].members) return false;
        for (Colour other = 0; other < c; ++other)
            if (!clusters_[other].members && sizes_.least[other] == sizes_.least[c] &&
                sizes_.most[other] == sizes_.most[c])
                return true;
        return false;
    }

    // Whether v may join, and whether those after it can still fill all clusters then.
    bool keeps_limits(Vertex v, Colour c) const {
        const int rows = sizes_.rows[v];
        if (rows_[c] + rows > sizes_.most[c] || comes_later(c)) return false;
        int missing = 0;
        for (Colour other = 0; other < k_; ++other)
            missing += std::max(0, sizes_.least[other] - rows_[other] - (other == c ? rows : 0));
        return missing <= rows_left_ - rows;
    }

    void count_rows(Vertex v, Colour c, int sign) {
        if constexpr (kSized) {
            rows_[c] += sign * sizes_.rows[v];
            rows_left_ -= sign * sizes_.rows[v];
        }
    }

    // Places v and all vertices after it, `used` clusters being in use.
    bool place(Vertex v, int used, double cost) {
        if (v == size_) {
            best_cost_ = cost;
            best_ = colour_;
            return true;
        }
        // Or a cluster would stay empty.
        const bool must_open = size_ - v == NonEmpty::kLeast * (k_ - used);
        const Colour first = must_open && !kSized ? used : 0;
        for (Colour c = first; c < (kSized ? k_ : std::min(used + 1, k_)); ++c) {
            if (clusters_[c].members & neighbours_[v]) continue;
            if constexpr (kSized)
                if (!keeps_limits(v, c)) continue;
            if (stopper_.should_stop()) return false;
            const Cluster before = clusters_[c];
            const double now = cost + join(clusters_[c], v);
            colour_[v] = c;
            count_rows(v, c, 1);
            const bool finished = !(now < best_cost_ * (1 - kCostRounding)) ||
                                  place(v + 1, std::max(used, c + 1), now);
            clusters_[c] = before;
            count_rows(v, c, -1);
            if (!finished) return false;
        }
        return true;
    }

    const int size_, k_, d_;
    Stopper& stopper_;
    const double* weight_;
    const SoftPairs* soft_;
    std::vector<std::uint64_t> neighbours_;
    std::vector<double> points_;
    std::vector<Cluster> clusters_;
    const Sizes& sizes_;
    std::vector<int> rows_;  // per cluster, where they are limited
    int rows_left_ = 0;      // of vertices that are not yet placed
    std::vector<Colour> colour_, best_;
    double best_cost_ = 0.0;
};

// Call `body` with what the pairs and the clusters of an instance ask for, as types: what it does
// not ask for costs nothing.
template <class Body>
auto with_choices(const Instance& instance, Body&& body) {
    using std::bool_constant;
    const auto sized = [&](auto soft) {
        return instance.sizes.limited() ? body(soft, bool_constant<true>{})
                                        : body(soft, bool_constant<false>{});
    };
    return instance.soft ? sized(bool_constant<true>{}) : sized(bool_constant<false>{});
}

nb::tuple best_partition(const Instance& instance, In1<Colour> colours, int k, Stopper& stopper) {
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    if (instance.size > kMostVertices)
        throw std::invalid_argument("best_partition takes at most 64 supernodes");
    if (k > instance.size) throw std::invalid_argument("there are fewer supernodes than clusters");
    auto [best, complete] = unlocked([&] {
        return with_choices(instance, [&](auto soft, auto sized) {
            Enumeration<soft.value, sized.value> enumeration(instance, k, colours.data(), stopper);
            const bool finished = enumeration.run();
            return std::pair(enumeration.best(), finished);
        });
    });
    return nb::make_tuple(to_numpy(std::move(best)), complete);
}

}  // namespace

void bind_enumeration(nb::module_& m) {
    m.def("best_partition", &best_partition, nb::arg("instance"), nb::arg("colours"),
          nb::arg("n_clusters"), nb::arg("stopper"));
}

}  // namespace kempe
