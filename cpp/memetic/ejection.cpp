#include "memetic/ejection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kempe {

template <class T>
Ejection<T>::Ejection(const Instance& instance, Partition<T>& partition, int k)
    : instance_(instance), partition_(partition), k_(k), order_(kDepth), leaving_(k) {}

template <class T>
const std::vector<typename Ejection<T>::Move>& Ejection<T>::find(Vertex v, Colour to,
                                                                 const float* table, double share) {
    table_ = table;
    steps_ = 0;
    price_ = 0.0;
    moves_.clear();
    if (!enter(v, to, 0.0, kDepth)) return moves_;
    // Taken back in any case: whoever makes the moves has more to keep in step.
    for (auto move = moves_.rbegin(); move != moves_.rend(); ++move)
        partition_.recolour(move->vertex, move->from);
    double turnover = 0.0;
    for (const Move& move : moves_) turnover += std::abs(cost(move.vertex, move.to));
    if (price_ >= -share * turnover || !empties_none()) moves_.clear();
    return moves_;
}

// Move v and all that this takes, as long as the price stays below the limit; otherwise nothing.
template <class T>
bool Ejection<T>::enter(Vertex v, Colour to, double limit, int depth) {
    const double before = price_, after = price_ + cost(v, to);
    if (after >= limit || ++steps_ > kMostSteps) return false;
    const std::size_t length = moves_.size();
    moves_.push_back({v, partition_.colour(v), to});
    partition_.recolour(v, to);
    price_ = after;
    if (make_room(v, limit, depth)) return true;
    undo(length);
    price_ = before;
    return false;
}

template <class T>
bool Ejection<T>::make_room(Vertex v, double limit, int depth) {
    const auto& neighbours = partition_.neighbours();
    const Colour own = partition_.colour(v);
    const int blockers = neighbours[v][own];
    if (blockers == 0) return true;
    if (depth == 0 || blockers > kMostBlockers) return false;
    return neighbours.for_neighbours_in(
        v, own, partition_.colours().data(),
        [&](Vertex u) { return !has_moved(u) && send_away(u, limit, depth - 1); });
}

// To the cheapest cluster that it can enter alone, or to a cheaper one where room can be made.
template <class T>
bool Ejection<T>::send_away(Vertex v, double limit, int depth) {
    const auto& order = by_cost(v, depth);
    const auto alone = std::find_if(order.begin(), order.end(),
                                    [&](Colour c) { return partition_.moves_alone(v, c); });
    if (depth > 0) {
        const double bound =
            alone == order.end() ? limit : std::min(limit, price_ + cost(v, *alone));
        for (auto c = order.begin(); c != alone; ++c)
            if (*c != partition_.colour(v) && enter(v, *c, bound, depth)) return true;
    }
    return alone != order.end() && enter(v, *alone, limit, 0);
}

template <class T>
const std::vector<Colour>& Ejection<T>::by_cost(Vertex v, int depth) {
    auto& order = order_[depth];
    order.resize(k_);
    std::iota(order.begin(), order.end(), 0);
    const float* row = table_ + partition_.slot(v) * k_;
    std::sort(order.begin(), order.end(), [&](Colour a, Colour b) { return row[a] < row[b]; });
    return order;
}

template <class T>
double Ejection<T>::cost(Vertex v, Colour to) const {
    const float* row = table_ + partition_.slot(v) * k_;
    return instance_.weight[v] * (double(row[to]) - double(row[partition_.colour(v)]));
}

template <class T>
bool Ejection<T>::has_moved(Vertex v) const {
    return std::any_of(moves_.begin(), moves_.end(),
                       [&](const Move& move) { return move.vertex == v; });
}

template <class T>
void Ejection<T>::undo(std::size_t length) {
    for (; moves_.size() > length; moves_.pop_back())
        partition_.recolour(moves_.back().vertex, moves_.back().from);
}

// Whether clusters keep vertices and weight, even if nothing were to enter them.
template <class T>
bool Ejection<T>::empties_none() {
    std::fill(leaving_.begin(), leaving_.end(), 0.0);
    for (const Move& move : moves_) leaving_[move.from] += instance_.weight[move.vertex];
    return std::all_of(moves_.begin(), moves_.end(), [&](const Move& move) {
        const double weight = partition_.cluster_weight(move.from);
        return partition_.cluster_size(move.from) > static_cast<int>(moves_.size()) &&
               weight - leaving_[move.from] > kRounding * weight;
    });
}

template class Ejection<float>;
template class Ejection<double>;

}  // namespace kempe
