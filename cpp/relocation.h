// Iterated relocation: take a centroid away, put it on a supernode, descend, keep what improves.
#pragma once

#include <cmath>
#include <vector>

#include "descent.h"
#include "random.h"

namespace kempe {

template <class T>
class RelocationSearch {
   public:
    RelocationSearch(const Instance& instance, Descent<T>& descent, int k)
        : instance_(instance), descent_(descent), k_(k), cumulative_(instance.size) {}

    // Try `tries` relocations from the loaded local optimum; stop early at `target`. Returns
    // how many were tried; `since_best` counts those after the last improvement.
    int run(int tries, double target, Random& random, Stopper& stopper, int& since_best) {
        double best = descent_.partition().inertia();
        since_best = 0;
        update_masses();
        int tried = 0;
        for (; tried < tries && best > target && !stopper.look(); ++tried) {
            const bool improved = attempt(best, random, stopper);
            since_best = improved ? 0 : since_best + 1;
            if (improved) update_masses();
        }
        return tried;
    }

   private:
    bool attempt(double& best, Random& random, Stopper& stopper) {
        const Colour removed = static_cast<Colour>(random.below(static_cast<std::uint32_t>(k_)));
        const Vertex onto = draw_vertex(random);
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

    // A supernode is drawn with probability proportional to its present cost.
    void update_masses() {
        double total = 0.0;
        auto& partition = descent_.partition();
        for (Vertex v = 0; v < instance_.size; ++v) {
            total += instance_.weight[v] * partition.distance(v, partition.colour(v));
            cumulative_[v] = total;
        }
    }

    Vertex draw_vertex(Random& random) const {
        const double position = random.uniform() * cumulative_.back();
        const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), position);
        return static_cast<Vertex>(
            std::min<std::ptrdiff_t>(found - cumulative_.begin(), instance_.size - 1));
    }

    const Instance& instance_;
    Descent<T>& descent_;
    const int k_;
    std::vector<double> cumulative_;
};

}  // namespace kempe
