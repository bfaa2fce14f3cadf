#include "engine/neighbourhood.h"

#include <algorithm>
#include <cmath>

namespace kempe {

template <class T>
Neighbourhood<T>::Neighbourhood(const Instance& instance, int k)
    : instance_(instance), k_(k), offsets_(k + 1), next_(k), widest_(k), heaviest_(k) {}

template <class T>
void Neighbourhood<T>::note(const Partition<T>& partition) {
    members_.resize(instance_.size);
    count(partition);
    std::copy_n(offsets_.begin(), k_, next_.begin());
    std::fill(widest_.begin(), widest_.end(), 0.0);
    std::fill(heaviest_.begin(), heaviest_.end(), 0.0);
    for (Vertex v = 0; v < instance_.size; ++v) {
        const Colour c = partition.colour(v);
        const double radius = std::sqrt(partition.distance(v, c));
        members_[next_[c]++] = {v, radius};
        widest_[c] = std::max(widest_[c], radius);
        heaviest_[c] = std::max(heaviest_[c], instance_.weight[v]);
    }
}

template <class T>
void Neighbourhood<T>::count(const Partition<T>& partition) {
    offsets_[0] = 0;
    for (Colour c = 0; c < k_; ++c) offsets_[c + 1] = offsets_[c] + partition.cluster_size(c);
}

template class Neighbourhood<float>;
template class Neighbourhood<double>;

}  // namespace kempe
