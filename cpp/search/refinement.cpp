// Centroids refined by k-means steps on a part of the vertices, constraints left aside. On large
// data a small part leads most of the way to where all of it would.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/stopper.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/means.h"
#include "problem/tiles.h"

namespace kempe {
namespace {

template <class T>
class Refinement {
 public:
    Refinement(const Instance& instance, const Points<T>& points, const std::vector<Vertex>& sample,
               std::vector<double>& centroids, int k)
        : instance_(instance),
          points_(points),
          sample_(sample),
          k_(k),
          centroids_(centroids),
          tiles_(k, instance.dimension),
          nearest_(sample.size()) {}

    // Each step goes on a little in the direction of the last one (Nesterov's momentum), which
    // shortens the long last part of the way; where that raises the cost, from the last means on
    // without. Ends with a step that lowers the cost by less than a share of it, and none does so
    // for ever.
    void run(double share, Stopper& stopper) {
        std::vector<double> means = centroids_, last;
        double before = std::numeric_limits<double>::infinity();
        for (int steps = 0; !stopper.look();) {
            const double cost = assign();
            if (cost < before * (1 - share)) {
                before = cost;
                last = std::exchange(means, next_means());
                const double momentum = steps / (steps + 3.0);
                ++steps;
                for (std::size_t i = 0; i < means.size(); ++i)
                    centroids_[i] = means[i] + momentum * (means[i] - last[i]);
            } else if (steps > 1) {
                centroids_ = means;
                steps = 0;
            } else {
                break;
            }
        }
        centroids_ = means;
    }

 private:
    double assign() {
        tiles_.place_all(centroids_.data());
        return sum_blocks(
            *instance_.pool, instance_.blocks(sample_.size()),
            [&](std::size_t begin, std::size_t end) { return assign_block(begin, end); });
    }

    double assign_block(std::size_t begin, std::size_t end) {
        double cost = 0.0;
        tiles_.measure(points_, std::span(sample_).subspan(begin, end - begin),
                       [&](std::size_t i, const T* squared) {
                           const T* least = std::min_element(squared, squared + k_);
                           nearest_[begin + i] = static_cast<Colour>(least - squared);
                           cost += instance_.weight[sample_[begin + i]] * *least;
                       });
        return cost;
    }

    // A centroid without any weight stays where it is.
    std::vector<double> next_means() {
        const int d = instance_.dimension;
        std::vector<double> shift(centroids_.size()), weight(k_), means = centroids_;
        add_by_cluster(instance_, points_, sample_.size(), k_, centroids_.data(), shift.data(),
                       [&](std::size_t i, auto&& add) {
                           add(sample_[i], nearest_[i], instance_.weight[sample_[i]]);
                       });
        for (std::size_t i = 0; i < sample_.size(); ++i)
            weight[nearest_[i]] += instance_.weight[sample_[i]];
        for (std::size_t i = 0; i < means.size(); ++i)
            if (weight[i / d] > 0) means[i] += shift[i] / weight[i / d];
        return means;
    }

    const Instance& instance_;
    const Points<T>& points_;
    const std::vector<Vertex>& sample_;
    const int k_;
    std::vector<double>& centroids_;
    CentroidTiles<T> tiles_;
    std::vector<Colour> nearest_;
};

Out2<double> refine_centroids(const Instance& instance, In1<Vertex> vertices, In2<double> centroids,
                              double share, Stopper& stopper) {
    check_vertices(vertices, instance.size);
    check_centroids(centroids, instance.dimension);
    if (!(share > 0)) throw std::invalid_argument("share must be positive");
    const auto k = static_cast<int>(centroids.shape(0));
    const std::vector<Vertex> sample(vertices.data(), vertices.data() + vertices.shape(0));
    std::vector<double> result(centroids.data(), centroids.data() + centroids.size());
    unlocked([&] {
        with_points(instance, [&]<class T>(const Points<T>& points) {
            Refinement<T>(instance, points, sample, result, k).run(share, stopper);
        });
    });
    return to_numpy(std::move(result), k, instance.dimension);
}

}  // namespace

void bind_refinement(nb::module_& m) {
    m.def("refine_centroids", &refine_centroids, nb::arg("instance"), nb::arg("vertices"),
          nb::arg("centroids"), nb::arg("share"), nb::arg("stopper"));
}

}  // namespace kempe
