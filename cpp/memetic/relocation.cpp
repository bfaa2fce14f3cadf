#include "memetic/relocation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kempe {
namespace {

std::size_t draw(const std::vector<double>& cumulative, Random& random) {
    const double position = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), position);
    return std::min<std::size_t>(found - cumulative.begin(), cumulative.size() - 1);
}

}  // namespace

template <class T>
RelocationSearch<T>::RelocationSearch(const Instance& instance, Descent<T>& descent, int k)
    : instance_(instance), descent_(descent), k_(k), cost_(instance.size), removal_(k) {}

template <class T>
int RelocationSearch<T>::run(int tries, int patience, double target, Random& random,
                             Stopper& stopper, int& failures) {
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

template <class T>
bool RelocationSearch<T>::attempt(double& best, Random& random, Stopper& stopper) {
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

template <class T>
void RelocationSearch<T>::update_chances() {
    sum_costs();
    sum_removal_chances();
}

// A supernode is drawn with probability proportional to its present cost.
template <class T>
void RelocationSearch<T>::sum_costs() {
    double total = 0.0;
    const auto& partition = descent_.partition();
    for (Vertex v = 0; v < instance_.size; ++v) {
        total += instance_.weight[v] * partition.distance(v, partition.colour(v));
        cost_[v] = total;
    }
}

// Few clusters are superfluous, so a centroid is drawn with probability inversely proportional
// to what merging its cluster with the most suitable other one would add to the inertia.
template <class T>
void RelocationSearch<T>::sum_removal_chances() {
    const auto& partition = descent_.partition();
    double total = 0.0;
    for (Colour c = 0; c < k_; ++c) {
        double cheapest = std::numeric_limits<double>::infinity();
        for (Colour other = 0; other < k_; ++other) {
            if (other == c) continue;
            const double a = partition.cluster_weight(c), b = partition.cluster_weight(other);
            const double distance = squared_distance(
                partition.centroid(c), partition.centroid(other), instance_.dimension);
            cheapest = std::min(cheapest, a * b / (a + b) * distance);
        }
        total += cheapest > 0 && std::isfinite(cheapest) ? 1.0 / cheapest : 1.0;
        removal_[c] = total;
    }
}

template class RelocationSearch<float>;
template class RelocationSearch<double>;

}  // namespace kempe
