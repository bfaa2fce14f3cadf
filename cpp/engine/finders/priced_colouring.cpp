#include "engine/finders/priced_colouring.h"

#include <algorithm>
#include <span>

#include "problem/tiles.h"

namespace kempe {

template <class Rules>
PricedColouring<Rules>::PricedColouring(const Instance& instance, State<Rules>& state, int k)
    : instance_(instance), state_(state), k_(k), limits_(instance), size_(k), weight_(k) {}

template <class Rules>
void PricedColouring<Rules>::begin() {
    fill_table();
    for (Colour c = 0; c < k_; ++c) {
        size_[c] = state_.cluster_size(c);
        weight_[c] = state_.cluster_weight(c);
    }
    journal_.clear();
    sums_ = {};
}

template <class Rules>
void PricedColouring<Rules>::fill_table() {
    const auto& vertices = instance_.constrained_vertices;
    const double scale = state_.table_scale();
    table_.resize(vertices.size() * k_);
    CentroidTiles<T> tiles(k_, instance_.dimension);
    tiles.place_all(state_.centroids());
    const auto fill = [&](std::size_t begin, std::size_t end, int) {
        tiles.measure(state_.points(), std::span(vertices).subspan(begin, end - begin),
                      [&](std::size_t i, const T* squared) {
                          float* row = table_.data() + (begin + i) * k_;
                          for (Colour c = 0; c < k_; ++c)
                              row[c] = static_cast<float>(
                                  scale == 1.0 ? squared[c]
                                               : scale * state_.distance(vertices[begin + i], c));
                      });
    };
    for_blocks(*instance_.pool, instance_.blocks(vertices.size()), fill);
}

template <class Rules>
bool PricedColouring<Rules>::move(Vertex v, Colour to) {
    const Colour from = state_.colour(v);
    const double w = instance_.weight[v], change = price(v, to);
    if (!limits_.may_lose_one(size_[from], weight_[from], w)) return false;
    journal_.push_back({v, from, sums_});
    state_.recolour(v, to);
    sums_.add(change);
    --size_[from];
    ++size_[to];
    weight_[from] -= w;
    weight_[to] += w;
    return true;
}

template <class Rules>
void PricedColouring<Rules>::take_back(std::size_t moves) {
    for (; journal_.size() > moves; journal_.pop_back()) {
        const Step& last = journal_.back();
        const Colour left = state_.colour(last.vertex);
        const double w = instance_.weight[last.vertex];
        state_.recolour(last.vertex, last.from);
        sums_ = last.before;
        ++size_[last.from];
        --size_[left];
        weight_[last.from] += w;
        weight_[left] -= w;
    }
}

template <class Rules>
std::vector<SingleMove> PricedColouring<Rules>::end() {
    std::vector<SingleMove> changed;
    for (const Step& move : journal_) changed.push_back({move.vertex, state_.colour(move.vertex)});
    take_back(0);
    std::sort(changed.begin(), changed.end(),
              [](const SingleMove& a, const SingleMove& b) { return a.vertex < b.vertex; });
    const auto same = [](const SingleMove& a, const SingleMove& b) { return a.vertex == b.vertex; };
    changed.erase(std::unique(changed.begin(), changed.end(), same), changed.end());
    std::erase_if(changed,
                  [&](const SingleMove& one) { return state_.colour(one.vertex) == one.to; });
    return changed;
}

KEMPE_FOR_ALL_RULES(PricedColouring);

}  // namespace kempe
