// Iterated relocation: take a centroid away, put it on a supernode, descend, keep what improves.
#pragma once

#include <cmath>
#include <vector>

#include "basics/random.h"
#include "memetic/descent.h"

namespace kempe {

template <class T>
class RelocationSearch {
 public:
    RelocationSearch(const Instance& instance, Descent<T>& descent, int k)
        : instance_(instance), descent_(descent), k_(k), cost_(instance.size), removal_(k) {}

    // Try up to `tries` relocations from the loaded local optimum, until `patience` in a row
    // failed or the inertia is down to `target`. Returns how many were tried; `failures` counts
    // those in a row that failed, and goes on from what it was.
    int run(int tries, int patience, double target, Random& random, Stopper& stopper,
            int& failures) {
        double best = descent_.partition().inertia();
        update_chances();
        int tried = 0;
        while (tried < tries && failures < patience && best > target && !stopper.look()) {
            const bool improved = attempt(best, random, stopper);
            if (stopper.stopped() && !improved) break;
            ++tried;
            failures = improved ? 0 : failures + 1;
            if (improved) update_chances();
        }
        return tried;
    }

 private:
    bool attempt(double& best, Random& random, Stopper& stopper) {
        const auto removed = static_cast<Colour>(draw(removal_, random));
        const auto onto = static_cast<Vertex>(draw(cost_, random));
        descent_.begin_trial();
        descent_.place_centroid_on(removed, onto);
        descent_.run(Objective::fixed_centroids, stopper);
        descent_.release_centroids(stopper);
        const double reached = descent_.partition().inertia();
        const bool improved = reached < best * (1 - 1e-10);
        descent_.end_trial(improved);
        if (improved) best = reached;
        return improved;
    }

    void update_chances() {
        sum_costs();
        sum_removal_chances();
    }

    // A supernode is drawn with probability proportional to its present cost.
    void sum_costs() {
        double total = 0.0;
        auto& partition = descent_.partition();
        for (Vertex v = 0; v < instance_.size; ++v) {
            total += instance_.weight[v] * partition.distance(v, partition.colour(v));
            cost_[v] = total;
        }
    }

    // Few clusters are superfluous, so a centroid is drawn with probability inversely proportional
    // to what merging its cluster with the most suitable other one would add to the inertia.
    void sum_removal_chances() {
        const auto& partition = descent_.partition();
        double total = 0.0;
        for (Colour c = 0; c < k_; ++c) {
            double cheapest = std::numeric_limits<double>::infinity();
            for (Colour other = 0; other < k_; ++other) {
                if (other == c) continue;
                const double a = partition.cluster_weight(c), b = partition.cluster_weight(other);
                const double distance = distance_between(
                    partition.centroid(c), partition.centroid(other), instance_.dimension);
                cheapest = std::min(cheapest, a * b / (a + b) * distance);
            }
            total += cheapest > 0 && std::isfinite(cheapest) ? 1.0 / cheapest : 1.0;
            removal_[c] = total;
        }
    }

    static std::size_t draw(const std::vector<double>& cumulative, Random& random) {
        const double position = random.uniform() * cumulative.back();
        const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), position);
        return std::min<std::size_t>(found - cumulative.begin(), cumulative.size() - 1);
    }

    const Instance& instance_;
    Descent<T>& descent_;
    const int k_;
    std::vector<double> cost_, removal_;  // cumulative
};

}  // namespace kempe
