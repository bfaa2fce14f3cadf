#include "engine/neighbourhood.h"

#include <algorithm>
#include <cmath>

namespace kempe {

template <class Rules>
Neighbourhood<Rules>::Neighbourhood(const Instance& instance, int k)
    : instance_(instance), k_(k), offsets_(k + 1), next_(k), widest_(k), heaviest_(k) {}

template <class Rules>
void Neighbourhood<Rules>::note(const State<Rules>& state) {
    members_.resize(instance_.size);
    count(state);
    std::copy_n(offsets_.begin(), k_, next_.begin());
    std::fill(widest_.begin(), widest_.end(), 0.0);
    std::fill(heaviest_.begin(), heaviest_.end(), 0.0);
    for (Vertex v = 0; v < instance_.size; ++v) {
        const Colour c = state.colour(v);
        const double radius = std::sqrt(state.distance(v, c));
        members_[next_[c]++] = {v, radius};
        widest_[c] = std::max(widest_[c], radius);
        heaviest_[c] = std::max(heaviest_[c], instance_.weight[v]);
    }
}

template <class Rules>
void Neighbourhood<Rules>::count(const State<Rules>& state) {
    offsets_[0] = 0;
    for (Colour c = 0; c < k_; ++c) offsets_[c + 1] = offsets_[c] + state.cluster_size(c);
}

KEMPE_FOR_ALL_RULES(Neighbourhood);

}  // namespace kempe
