// Simulated annealing of the inertia: the assignment is annealed while the centroids follow.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "exact/annealing.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/means.h"

namespace kempe {
namespace {

// Cost of each vertex in each cluster, above that in the nearest, in a unit that does not change.
class FollowingCosts {
 public:
    FollowingCosts(const Instance& instance, const Colour* colours, int k)
        : instance_(instance), k_(k), above_(static_cast<std::size_t>(instance.size) * k) {
        follow(colours);
        double total = 0.0;
        for (double cost : above_) total += cost;
        if (total > 0) unit_ = total / static_cast<double>(above_.size());
        for (double& cost : above_) cost /= unit_;
    }

    const double* data() const { return above_.data(); }
    double unit() const { return unit_; }

    // Put the centroids on the means of a colouring; gives the inertia about them.
    double follow(const Colour* colours) {
        const Means means = cluster_means(instance_, colours, k_);
        double inertia = 0.0;
        with_distances(instance_, [&](const auto& points, auto distance) {
            for (Vertex v = 0; v < instance_.size; ++v) {
                double* row = above_.data() + static_cast<std::size_t>(v) * k_;
                for (Colour c = 0; c < k_; ++c)
                    row[c] = instance_.weight[v] *
                             distance(points[v], means.mean.data() + static_cast<std::size_t>(c) *
                                                                         instance_.dimension);
                inertia += row[colours[v]];
                const double least = *std::min_element(row, row + k_);
                for (Colour c = 0; c < k_; ++c) row[c] = (row[c] - least) / unit_;
            }
        });
        return inertia;
    }

 private:
    const Instance& instance_;
    const int k_;
    double unit_ = 1.0;
    std::vector<double> above_;
};

// The lowest proper colouring that a sweep ended with, and the last colouring if there was none.
// What is satisfied of soft pairs is taken off the inertia.
template <class SoftPulls>
std::vector<Colour> anneal(const Instance& instance, const Colour* start, int k,
                           const Cooling& cooling, std::uint64_t seed, Stopper& stopper,
                           SoftPulls pulls) {
    std::vector<Colour> best;
    FollowingCosts costs(instance, start, k);
    Annealing search(instance.graph, costs.data(), k, start, seed, std::move(pulls), costs.unit());
    double lowest = std::numeric_limits<double>::infinity();
    const auto sweep = [&](double temperature, double price) {
        search.sweep(temperature, price);
        const double objective = costs.follow(search.colours().data()) - search.pulls().satisfied();
        if (search.conflicts() > 0 || objective >= lowest) return;
        lowest = objective;
        best = search.colours();
    };
    cooling.follow(stopper, sweep);
    cooling.quench().follow(stopper, sweep);
    return best.empty() ? search.colours() : best;
}

Out1<Colour> anneal_inertia(const Instance& instance, In1<Colour> colours, int k, int sweeps,
                            double hot, double cold, double cheap, double expensive,
                            std::uint64_t seed, Stopper& stopper) {
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    const Cooling cooling{sweeps, hot, cold, cheap, expensive};
    cooling.check();
    return to_numpy(unlocked([&] {
        if (k == 1 || instance.size == 0)
            return std::vector<Colour>(colours.data(), colours.data() + instance.size);
        const auto with = [&](auto pulls) {
            return anneal(instance, colours.data(), k, cooling, seed, stopper, std::move(pulls));
        };
        return instance.soft ? with(Pulls(*instance.soft, k)) : with(NoPulls());
    }));
}

}  // namespace

void bind_inertia_annealing(nb::module_& m) {
    m.def("anneal_inertia", &anneal_inertia, nb::arg("instance"), nb::arg("colours"),
          nb::arg("n_clusters"), nb::arg("sweeps"), nb::arg("hot"), nb::arg("cold"),
          nb::arg("cheap"), nb::arg("expensive"), nb::arg("seed"), nb::arg("stopper"));
}

}  // namespace kempe
