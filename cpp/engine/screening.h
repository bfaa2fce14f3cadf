// What a relocation would change, foreseen without a descent.
#pragma once

#include <vector>

#include "engine/neighbourhood.h"

namespace kempe {

// Vertices of the dissolved cluster go to the nearest centroid that they can join alone, or to the
// new one; whoever is nearer to the new centroid than to its own joins it; the new centroid then
// moves to the mean of those it has got. Only they are looked at, and what does not depend on the
// pair is remembered until the clustering changes.
template <class Rules>
class Screening {
 public:
    using T = typename Rules::Value;

    Screening(const Instance& instance, const State<Rules>& state,
              const Neighbourhood<Rules>& neighbourhood, int k);

    // The clustering has changed.
    void forget();

    // Estimated change of the inertia when the centroid of a cluster moves onto a vertex.
    double operator()(Colour removed, Vertex onto);

 private:
    void find_alternatives(Colour c);
    double nearest_alternative(Vertex v);
    double dissolve(Colour removed, const T* place);
    double attract(Colour from, const T* place);
    void capture(Vertex v, const T* place);
    double follow_mean() const;

    const Instance& instance_;
    const State<Rules>& state_;
    const Neighbourhood<Rules>& neighbourhood_;
    const int k_, d_;
    std::vector<char> known_;          // per cluster: whether its alternatives are up to date
    std::vector<double> alternative_;  // per vertex: squared distance to the nearest other
                                       // centroid that it can join alone
    std::vector<double> distance_;     // scratch
    double captured_ = 0.0;            // weight that the new centroid gets
    std::vector<double> shift_;        // and the sum of weight * (point - place)
};

KEMPE_DECLARE_FOR_ALL_RULES(Screening);

}  // namespace kempe
