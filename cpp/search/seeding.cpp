// Greedy k-means++ seeding (Arthur and Vassilvitskii 2007) on weighted supernodes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/random.h"
#include "basics/stopper.h"
#include "module.h"
#include "problem/instance.h"

namespace kempe {
namespace {

// Position drawn with probability proportional to `mass`.
std::size_t draw(const std::vector<double>& mass, double total, Random& random) {
    double rest = random.uniform() * total;
    for (std::size_t i = 0; i < mass.size(); ++i) {
        rest -= mass[i];
        if (rest < 0) return i;
    }
    return mass.size() - 1;
}

// Add candidates that have not been chosen, the first that there are, until there are k.
void fill(std::vector<Vertex>& chosen, const std::vector<Vertex>& candidates, int k) {
    const std::unordered_set<Vertex> known(chosen.begin(), chosen.end());
    for (std::size_t i = 0; chosen.size() < static_cast<std::size_t>(k); ++i)
        if (!known.contains(candidates[i])) chosen.push_back(candidates[i]);
}

// When the time is up, the seeds that are missing are not chosen by anything.
template <class T, class Distance>
std::vector<Vertex> seed_vertices(const Instance& instance, const Points<T>& points,
                                  Distance distance, const std::vector<Vertex>& candidates, int k,
                                  Random& random, Stopper* stopper) {
    const std::size_t n = candidates.size();
    const int trials = 2 + static_cast<int>(std::log(static_cast<double>(k)));
    std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
    std::vector<double> mass(n), trial(n), best(n);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += mass[i] = instance.weight[candidates[i]];
    std::vector<Vertex> chosen;
    for (int c = 0; c < k; ++c) {
        double best_total = std::numeric_limits<double>::infinity();
        std::size_t best_position = 0;
        const int rounds = c == 0 ? 1 : trials;
        for (int t = 0; t < rounds; ++t) {
            if (stopper != nullptr && stopper->look()) {
                fill(chosen, candidates, k);
                return chosen;
            }
            // When every point coincides with a seed there is nothing to choose by.
            const std::size_t position =
                total > 0 ? draw(mass, total, random) : random.below(static_cast<std::uint32_t>(n));
            const T* seed = points[candidates[position]];
            const auto look = [&](std::size_t begin, std::size_t end) {
                double part = 0.0;
                for (std::size_t i = begin; i < end; ++i) {
                    trial[i] = std::min(nearest[i], distance(points[candidates[i]], seed));
                    part += instance.weight[candidates[i]] * trial[i];
                }
                return part;
            };
            const double trial_total = sum_blocks(*instance.pool, instance.blocks(n), look);
            if (trial_total < best_total) {
                best_total = trial_total;
                best_position = position;
                best.swap(trial);
            }
        }
        chosen.push_back(candidates[best_position]);
        nearest.swap(best);
        total = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            total += mass[i] = instance.weight[candidates[i]] * nearest[i];
    }
    return chosen;
}

Out1<Vertex> kmeans_plus_plus(const Instance& instance, In1<Vertex> candidates, int k,
                              std::uint64_t seed, Stopper* stopper) {
    check_vertices(candidates, instance.size);
    const std::vector<Vertex> list(candidates.data(), candidates.data() + candidates.shape(0));
    check_n_clusters(k);
    if (list.empty()) throw std::invalid_argument("nothing to choose from");
    if (static_cast<std::size_t>(k) > list.size())
        throw std::invalid_argument("there are fewer candidates than clusters");
    Random random(seed);
    return to_numpy(unlocked([&] {
        return with_distances(instance, [&](const auto& points, auto distance) {
            return seed_vertices(instance, points, distance, list, k, random, stopper);
        });
    }));
}

}  // namespace

void bind_seeding(nb::module_& m) {
    m.def("kmeans_plus_plus", &kmeans_plus_plus, nb::arg("instance"), nb::arg("candidates"),
          nb::arg("n_clusters"), nb::arg("seed"), nb::arg("stopper").none() = nb::none());
}

}  // namespace kempe
