#include "engine/screening.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kempe {

template <class T>
Screening<T>::Screening(const Instance& instance, const Partition<T>& partition,
                        const Neighbourhood<T>& neighbourhood, int k)
    : instance_(instance),
      partition_(partition),
      neighbourhood_(neighbourhood),
      k_(k),
      d_(instance.dimension),
      known_(k),
      alternative_(instance.size),
      distance_(k),
      shift_(d_) {}

template <class T>
void Screening<T>::forget() {
    std::fill(known_.begin(), known_.end(), false);
}

template <class T>
double Screening<T>::operator()(Colour removed, Vertex onto) {
    if (!known_[removed]) find_alternatives(removed);
    const T* place = partition_.point(onto);
    captured_ = 0.0;
    std::fill(shift_.begin(), shift_.end(), 0.0);
    double change = dissolve(removed, place);
    for (Colour c = 0; c < k_; ++c)
        if (c != removed) change -= attract(c, place);
    return change - follow_mean();
}

template <class T>
void Screening<T>::find_alternatives(Colour c) {
    for (const auto& member : neighbourhood_.members(c))
        alternative_[member.vertex] = nearest_alternative(member.vertex);
    known_[c] = true;
}

template <class T>
double Screening<T>::nearest_alternative(Vertex v) {
    partition_.distances(v, distance_.data());
    double nearest = std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < k_; ++c)
        if (c != partition_.colour(v) && distance_[c] < nearest && partition_.moves_alone(v, c))
            nearest = distance_[c];
    return nearest;
}

// What the members of a cluster cost more without it.
template <class T>
double Screening<T>::dissolve(Colour removed, const T* place) {
    double change = 0.0;
    for (const auto& [v, radius] : neighbourhood_.members(removed)) {
        const double fresh = squared_distance(partition_.point(v), place, d_);
        if (fresh < alternative_[v]) capture(v, place);
        change += instance_.weight[v] * (std::min(fresh, alternative_[v]) - radius * radius);
    }
    return change;
}

// What the members of a cluster gain from a new centroid. Those nearer to their own than half the
// distance of the two are nearer to their own than to the new one.
template <class T>
double Screening<T>::attract(Colour from, const T* place) {
    const double apart = std::sqrt(squared_distance(place, partition_.centroid(from), d_));
    double gain = 0.0;
    neighbourhood_.for_members_beyond(from, apart / 2, [&](const auto& member) {
        const double own = member.radius * member.radius;
        const double fresh = squared_distance(partition_.point(member.vertex), place, d_);
        if (fresh >= own) return;
        capture(member.vertex, place);
        gain += instance_.weight[member.vertex] * (own - fresh);
    });
    return gain;
}

template <class T>
void Screening<T>::capture(Vertex v, const T* place) {
    const double w = instance_.weight[v];
    const T* position = partition_.point(v);
    captured_ += w;
    for (int f = 0; f < d_; ++f) shift_[f] += w * (double(position[f]) - double(place[f]));
}

// What the new cluster gains when its centroid moves to its mean.
template <class T>
double Screening<T>::follow_mean() const {
    if (captured_ <= 0) return 0.0;
    double square = 0.0;
    for (double x : shift_) square += x * x;
    return square / captured_;
}

template class Screening<float>;
template class Screening<double>;

}  // namespace kempe
