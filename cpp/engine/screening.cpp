#include "engine/screening.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kempe {

template <class Rules>
Screening<Rules>::Screening(const Instance& instance, const State<Rules>& state,
                            const Neighbourhood<Rules>& neighbourhood, int k)
    : instance_(instance),
      state_(state),
      neighbourhood_(neighbourhood),
      k_(k),
      d_(instance.dimension),
      known_(k),
      alternative_(instance.size),
      distance_(k),
      shift_(d_) {}

template <class Rules>
void Screening<Rules>::forget() {
    std::fill(known_.begin(), known_.end(), false);
}

template <class Rules>
double Screening<Rules>::operator()(Colour removed, Vertex onto) {
    if (!known_[removed]) find_alternatives(removed);
    const T* place = state_.point(onto);
    captured_ = 0.0;
    std::fill(shift_.begin(), shift_.end(), 0.0);
    double change = dissolve(removed, place);
    for (Colour c = 0; c < k_; ++c)
        if (c != removed) change -= attract(c, place);
    return change - follow_mean();
}

template <class Rules>
void Screening<Rules>::find_alternatives(Colour c) {
    for (const auto& member : neighbourhood_.members(c))
        alternative_[member.vertex] = nearest_alternative(member.vertex);
    known_[c] = true;
}

template <class Rules>
double Screening<Rules>::nearest_alternative(Vertex v) {
    state_.distances(v, distance_.data());
    double nearest = std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < k_; ++c)
        if (c != state_.colour(v) && distance_[c] < nearest && state_.ties().admit(v, c))
            nearest = distance_[c];
    return nearest;
}

// What the members of a cluster cost more without it.
template <class Rules>
double Screening<Rules>::dissolve(Colour removed, const T* place) {
    double change = 0.0;
    for (const auto& [v, radius] : neighbourhood_.members(removed)) {
        const double fresh = squared_distance(state_.point(v), place, d_);
        if (fresh < alternative_[v]) capture(v, place);
        change += instance_.weight[v] * (std::min(fresh, alternative_[v]) - radius * radius);
    }
    return change;
}

// What the members of a cluster gain from a new centroid. Those nearer to their own than half the
// distance of the two are nearer to their own than to the new one.
template <class Rules>
double Screening<Rules>::attract(Colour from, const T* place) {
    const double apart = std::sqrt(squared_distance(place, state_.centroid(from), d_));
    double gain = 0.0;
    neighbourhood_.for_members_beyond(from, apart / 2, [&](const auto& member) {
        const double own = member.radius * member.radius;
        const double fresh = squared_distance(state_.point(member.vertex), place, d_);
        if (fresh >= own) return;
        capture(member.vertex, place);
        gain += instance_.weight[member.vertex] * (own - fresh);
    });
    return gain;
}

template <class Rules>
void Screening<Rules>::capture(Vertex v, const T* place) {
    const double w = instance_.weight[v];
    const T* position = state_.point(v);
    captured_ += w;
    for (int f = 0; f < d_; ++f) shift_[f] += w * (double(position[f]) - double(place[f]));
}

// What the new cluster gains when its centroid moves to its mean.
template <class Rules>
double Screening<Rules>::follow_mean() const {
    if (captured_ <= 0) return 0.0;
    double square = 0.0;
    for (double x : shift_) square += x * x;
    return square / captured_;
}

KEMPE_FOR_ALL_RULES(Screening);

}  // namespace kempe
