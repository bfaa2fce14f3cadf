#include "engine/priced_colouring.h"

#include <algorithm>
#include <cmath>

namespace kempe {

template <class T>
PricedColouring<T>::PricedColouring(const Instance& instance, Partition<T>& partition, int k)
    : instance_(instance), partition_(partition), k_(k), size_(k), weight_(k) {}

template <class T>
void PricedColouring<T>::begin() {
    partition_.fill_table(table_);
    for (Colour c = 0; c < k_; ++c) {
        size_[c] = partition_.cluster_size(c);
        weight_[c] = partition_.cluster_weight(c);
    }
    journal_.clear();
    total_ = turnover_ = 0.0;
}

template <class T>
bool PricedColouring<T>::move(Vertex v, Colour to) {
    constexpr double rounding = 1e-12;
    const Colour from = partition_.colour(v);
    const double w = instance_.weight[v], change = price(v, to);
    if (size_[from] == 1 || weight_[from] - w <= rounding * weight_[from]) return false;
    journal_.push_back({v, from, total_, turnover_});
    partition_.recolour(v, to);
    total_ += change;
    turnover_ += std::abs(change);
    --size_[from];
    ++size_[to];
    weight_[from] -= w;
    weight_[to] += w;
    return true;
}

template <class T>
void PricedColouring<T>::take_back(std::size_t moves) {
    for (; journal_.size() > moves; journal_.pop_back()) {
        const Move& last = journal_.back();
        const Colour left = partition_.colour(last.vertex);
        const double w = instance_.weight[last.vertex];
        partition_.recolour(last.vertex, last.from);
        total_ = last.total;
        turnover_ = last.turnover;
        ++size_[last.from];
        --size_[left];
        weight_[last.from] += w;
        weight_[left] -= w;
    }
}

template <class T>
bool PricedColouring<T>::has_improved(std::size_t since) const {
    if (since == journal_.size()) return false;
    const Move& first = journal_[since];
    return total_ - first.total < -kRounding * (turnover_ - first.turnover);
}

template <class T>
std::vector<typename PricedColouring<T>::Recolouring> PricedColouring<T>::end() {
    std::vector<Recolouring> changed;
    for (const Move& move : journal_)
        changed.push_back({move.vertex, partition_.colour(move.vertex)});
    take_back(0);
    std::sort(changed.begin(), changed.end(),
              [](const Recolouring& a, const Recolouring& b) { return a.vertex < b.vertex; });
    const auto same = [](const Recolouring& a, const Recolouring& b) {
        return a.vertex == b.vertex;
    };
    changed.erase(std::unique(changed.begin(), changed.end(), same), changed.end());
    std::erase_if(changed,
                  [&](const Recolouring& one) { return partition_.colour(one.vertex) == one.to; });
    return changed;
}

template class PricedColouring<float>;
template class PricedColouring<double>;

}  // namespace kempe
