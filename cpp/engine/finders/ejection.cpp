#include "engine/finders/ejection.h"

#include <algorithm>
#include <limits>

namespace kempe {

template <class Rules>
Ejection<Rules>::Ejection(const State<Rules>& state, PricedColouring<Rules>& colouring, int k)
    : state_(state), colouring_(colouring), k_(k), order_(kDepth) {}

template <class Rules>
bool Ejection<Rules>::improve(Vertex v, Colour to, Vertex pinned) {
    begin(pinned);
    if (!enter(v, to, colouring_.total(), kDepth)) return false;
    if (colouring_.has_improved(first_)) return true;
    colouring_.take_back(first_);
    return false;
}

template <class Rules>
bool Ejection<Rules>::force(Vertex v, Colour to) {
    begin(-1);
    return enter(v, to, std::numeric_limits<double>::infinity(), 1);
}

template <class Rules>
void Ejection<Rules>::begin(Vertex pinned) {
    pinned_ = pinned;
    first_ = colouring_.moves();
    steps_ = 0;
}

// Move v and all that this takes, as long as the total stays below the limit; otherwise nothing.
template <class Rules>
bool Ejection<Rules>::enter(Vertex v, Colour to, double limit, int depth) {
    if (colouring_.total() + colouring_.price(v, to) >= limit || ++steps_ > kMostSteps)
        return false;
    if (is_in_vain(v, to, limit, depth)) return false;
    const std::size_t before = colouring_.moves();
    if (!colouring_.move(v, to)) return false;
    if (make_room(v, limit, depth)) return true;
    colouring_.take_back(before);
    return false;
}

// Whether room cannot be made: too many stand in the way, or the first of them has nowhere to go.
// A move changes a count of every neighbour, and a supernode of many rows has most others for
// neighbours, so this is found out before anything moves.
template <class Rules>
bool Ejection<Rules>::is_in_vain(Vertex v, Colour to, double limit, int depth) const {
    const int blockers = state_.ties()[v][to];
    if (blockers == 0) return false;
    if (depth == 0 || blockers > kMostBlockers) return true;
    const double total = colouring_.total() + colouring_.price(v, to);
    bool in_vain = false;
    state_.ties().counts().for_neighbours_in(v, to, state_.colours().data(), [&](Vertex u) {
        in_vain = total + cheapest_price(u) >= limit || (depth == 1 && !can_leave_alone(u, v));
        return false;
    });
    return in_vain;
}

// Whether u can go to another cluster without making room there, once v has left its own.
template <class Rules>
bool Ejection<Rules>::can_leave_alone(Vertex u, Vertex v) const {
    const Colour own = state_.colour(u), left = state_.colour(v);
    for (Colour c = 0; c < k_; ++c)
        if (c != own && state_.ties()[u][c] == (c == left ? 1 : 0)) return true;
    return false;
}

template <class Rules>
double Ejection<Rules>::cheapest_price(Vertex u) const {
    const Colour own = state_.colour(u);
    const float* distance = colouring_.distances(u);
    Colour nearest = own == 0 ? 1 : 0;
    for (Colour c = 0; c < k_; ++c)
        if (c != own && distance[c] < distance[nearest]) nearest = c;
    return colouring_.price(u, nearest);
}

template <class Rules>
bool Ejection<Rules>::make_room(Vertex v, double limit, int depth) {
    const auto& neighbours = state_.ties().counts();
    const Colour own = state_.colour(v);
    return neighbours.for_neighbours_in(v, own, state_.colours().data(), [&](Vertex u) {
        return !stays(u) && send_away(u, limit, depth - 1);
    });
}

// To the nearest cluster that it can enter alone, or to a nearer one where room can be made.
template <class Rules>
bool Ejection<Rules>::send_away(Vertex v, double limit, int depth) {
    const Colour alone = nearest_alone(v);
    if (depth > 0) {
        const double bound = alone == kUncoloured
                                 ? limit
                                 : std::min(limit, colouring_.total() + colouring_.price(v, alone));
        for (Colour c : nearer(v, alone, depth))
            if (enter(v, c, bound, depth)) return true;
    }
    return alone != kUncoloured && enter(v, alone, limit, 0);
}

template <class Rules>
Colour Ejection<Rules>::nearest_alone(Vertex v) const {
    const float* distance = colouring_.distances(v);
    Colour nearest = kUncoloured;
    for (Colour c = 0; c < k_; ++c)
        if ((nearest == kUncoloured || distance[c] < distance[nearest]) && state_.moves_alone(v, c))
            nearest = c;
    return nearest;
}

// Other clusters that are nearer than that one, or all if there is none; the nearest come first.
template <class Rules>
const std::vector<Colour>& Ejection<Rules>::nearer(Vertex v, Colour than, int depth) {
    auto& order = order_[depth];
    order.clear();
    const float* distance = colouring_.distances(v);
    for (Colour c = 0; c < k_; ++c)
        if (c != state_.colour(v) && (than == kUncoloured || distance[c] < distance[than]))
            order.push_back(c);
    std::sort(order.begin(), order.end(),
              [&](Colour a, Colour b) { return distance[a] < distance[b]; });
    return order;
}

// Whether v is pinned or has its place already.
template <class Rules>
bool Ejection<Rules>::stays(Vertex v) const {
    if (v == pinned_) return true;
    for (std::size_t move = first_; move < colouring_.moves(); ++move)
        if (colouring_.moved(move) == v) return true;
    return false;
}

KEMPE_FOR_ALL_RULES(Ejection);

}  // namespace kempe
