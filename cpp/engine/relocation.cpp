#include "engine/relocation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "basics/improvement.h"

namespace kempe {
namespace {

// So many clusters add a pair to those that are drawn at a time.
constexpr int kClustersPerDraw = 5;

std::size_t draw(const std::vector<double>& cumulative, Random& random) {
    const double position = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), position);
    return std::min<std::size_t>(found - cumulative.begin(), cumulative.size() - 1);
}

}  // namespace

template <class Rules>
RelocationSearch<Rules>::RelocationSearch(const Instance& instance, Descent<Rules>& descent, int k)
    : instance_(instance),
      descent_(descent),
      k_(k),
      draws_(std::max(1, k / kClustersPerDraw)),
      screening_(instance, descent.state(), descent.neighbourhood(), k),
      cost_(instance.size),
      removal_(k) {}

template <class Rules>
int RelocationSearch<Rules>::run(int tries, int patience, double target, Random& random,
                                 Stopper& stopper, int& failures) {
    double best = descent_.state().objective();
    int tried = 0;
    while (tried < tries && failures < patience && best > target && !stopper.look()) {
        const bool improved = attempt(best, random, stopper);
        if (stopper.stopped() && !improved) break;
        ++tried;
        failures = improved ? 0 : failures + 1;
        if (improved) begin();
    }
    return tried;
}

template <class Rules>
typename RelocationSearch<Rules>::Relocation RelocationSearch<Rules>::draw_pair(
    Random& random) const {
    const auto removed = static_cast<Colour>(draw(removal_, random));
    return {removed, static_cast<Vertex>(draw(cost_, random))};
}

// Few relocations succeed, and an estimate costs little beside a descent. To always try the best
// of all pairs would mean to try the same few over and over.
template <class Rules>
typename RelocationSearch<Rules>::Relocation RelocationSearch<Rules>::choose(Random& random) {
    Relocation best = draw_pair(random);
    if (draws_ == 1) return best;
    double least = screening_(best.removed, best.onto);
    for (int i = 1; i < draws_; ++i) {
        const Relocation other = draw_pair(random);
        const double change = screening_(other.removed, other.onto);
        if (change >= least) continue;
        best = other;
        least = change;
    }
    return best;
}

template <class Rules>
bool RelocationSearch<Rules>::attempt(double& best, Random& random, Stopper& stopper) {
    const Relocation chosen = choose(random);
    descent_.begin_trial();
    descent_.relocate(chosen.removed, chosen.onto, stopper);
    const double reached = descent_.state().objective();
    const bool improved = reached < best * (1 - kSumRounding);
    descent_.end_trial(improved);
    if (improved) best = reached;
    return improved;
}

template <class Rules>
double RelocationSearch<Rules>::estimate(Colour removed, Vertex onto) {
    descent_.note_optimum();
    screening_.forget();
    return screening_(removed, onto);
}

template <class Rules>
void RelocationSearch<Rules>::begin() {
    descent_.note_optimum();
    screening_.forget();
    sum_costs();
    sum_removal_chances();
}

// A supernode is drawn with probability proportional to its present cost.
template <class Rules>
void RelocationSearch<Rules>::sum_costs() {
    double total = 0.0;
    const auto& state = descent_.state();
    for (Vertex v = 0; v < instance_.size; ++v) {
        total += instance_.weight[v] * state.distance(v, state.colour(v));
        // Of a broken pair both ends have a half.
        if constexpr (Rules::Ties::kPriced) total += state.ties().price(v, state.colour(v)) / 2;
        cost_[v] = total;
    }
}

// What merging a cluster with the most suitable other one would add to the inertia. One without
// weight costs nothing itself, and is no use to others.
template <class Rules>
double RelocationSearch<Rules>::cheapest_merge(Colour c) const {
    const auto& state = descent_.state();
    const double weight = state.cluster_weight(c);
    if (weight <= 0) return 0.0;
    double cheapest = std::numeric_limits<double>::infinity();
    for (Colour other = 0; other < k_; ++other) {
        const double to = state.cluster_weight(other);
        if (other == c || to <= 0) continue;
        const double distance =
            squared_distance(state.centroid(c), state.centroid(other), instance_.dimension);
        cheapest = std::min(cheapest, merging_cost(weight, to, distance));
    }
    return cheapest;
}

// Few clusters are superfluous, so a centroid is drawn with probability inversely proportional
// to the cost of merging. Where that is nothing, those centroids share all the probability.
template <class Rules>
void RelocationSearch<Rules>::sum_removal_chances() {
    double total = 0.0;
    bool free = false;
    for (Colour c = 0; c < k_; ++c) {
        const double cost = cheapest_merge(c);
        if (cost <= 0 && !free) {
            free = true;
            std::fill_n(removal_.begin(), c, total = 0.0);
        }
        if (free)
            total += cost <= 0 ? 1.0 : 0.0;
        else
            total += std::isfinite(cost) ? 1.0 / cost : 1.0;
        removal_[c] = total;
    }
}

KEMPE_FOR_ALL_RULES(RelocationSearch);

}  // namespace kempe
