#include "engine/table_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kempe {

template <class T>
TableSearch<T>::TableSearch(const Instance& instance, Partition<T>& partition, int k)
    : instance_(instance),
      partition_(partition),
      k_(k),
      colouring_(instance, partition, k),
      ejection_(partition, colouring_, k) {}

template <class T>
typename TableSearch<T>::Recolourings TableSearch<T>::run(const std::vector<char>& blocked,
                                                          bool thorough, Stopper& stopper) {
    const auto& vertices = instance_.constrained_vertices;
    if (std::find(blocked.begin(), blocked.end(), true) == blocked.end()) return {};
    colouring_.begin();
    now_ = 1;
    disturbed_.assign(vertices.size(), now_);
    failed_.assign(vertices.size() * k_, 0);
    queued_.assign(vertices.size(), false);
    queue_.clear();
    for (Vertex v : vertices)
        if (blocked[v]) enqueue(v);
    settle(std::numeric_limits<int>::max(), stopper);
    if (thorough) pin_each(stopper);
    return colouring_.end();
}

// Every change lowers the cost by a share of its terms, so this ends.
template <class T>
void TableSearch<T>::settle(int looks, Stopper& stopper) {
    for (; !queue_.empty() && looks > 0 && !stopper.should_stop(); --looks) {
        const Vertex v = queue_.front();
        queue_.pop_front();
        queued_[partition_.slot(v)] = false;
        if (v != pinned_) try_vertex(v);
    }
    forget_queue();
}

// Until none pays, and each that does lowers the cost.
template <class T>
void TableSearch<T>::pin_each(Stopper& stopper) {
    for (bool any = true; any;) {
        any = false;
        for (Vertex v : instance_.constrained_vertices) {
            if (stopper.should_stop()) return;
            any |= pin(v, stopper);
        }
    }
}

template <class T>
bool TableSearch<T>::pin(Vertex v, Stopper& stopper) {
    const float* distance = colouring_.distances(v);
    const auto nearest = static_cast<Colour>(std::min_element(distance, distance + k_) - distance);
    if (!colouring_.prefers(v, nearest)) return false;
    const std::size_t before = colouring_.moves();
    if (!ejection_.force(v, nearest)) return false;
    disturb_since(before);
    pinned_ = v;
    settle(kMostLooks, stopper);
    pinned_ = -1;
    if (colouring_.has_improved(before)) return true;
    colouring_.take_back(before);
    return false;
}

// Enter the first cluster, nearest first, that the vertex prefers and that can be had at a gain.
template <class T>
bool TableSearch<T>::try_vertex(Vertex v) {
    sort_preferred(v);
    const std::size_t before = colouring_.moves();
    for (Colour c : preferred_) {
        if (!ejection_.improve(v, c, pinned_) && (pinned_ >= 0 || !try_chain(v, c))) continue;
        disturb_since(before);
        return true;
    }
    return false;
}

// A chain changes only with its vertices. Looking at v and its neighbours alone may overlook a
// change further along; those nearer to it will see it.
template <class T>
bool TableSearch<T>::try_chain(Vertex v, Colour to) {
    const std::size_t slot = partition_.slot(v);
    if (failed_[slot * k_ + to] >= disturbed_[slot]) return false;
    const std::size_t before = colouring_.moves();
    const Colour from = partition_.colour(v);
    const bool whole = partition_.collect_up_to(v, to, kLongestChain);
    bool swapped = whole;
    for (Vertex u : partition_.chain()) {
        if (!swapped) break;
        swapped = colouring_.move(u, partition_.colour(u) == from ? to : from);
    }
    if (swapped && colouring_.has_improved(before)) return true;
    colouring_.take_back(before);
    for (Vertex u : partition_.chain())
        failed_[partition_.slot(u) * k_ + (partition_.colour(u) == from ? to : from)] = now_;
    return false;
}

template <class T>
void TableSearch<T>::sort_preferred(Vertex v) {
    preferred_.clear();
    for (Colour c = 0; c < k_; ++c)
        if (colouring_.prefers(v, c)) preferred_.push_back(c);
    const float* distance = colouring_.distances(v);
    std::sort(preferred_.begin(), preferred_.end(),
              [&](Colour a, Colour b) { return distance[a] < distance[b]; });
}

template <class T>
void TableSearch<T>::enqueue(Vertex v) {
    if (!std::exchange(queued_[partition_.slot(v)], true)) queue_.push_back(v);
}

template <class T>
void TableSearch<T>::forget_queue() {
    for (Vertex v : queue_) queued_[partition_.slot(v)] = false;
    queue_.clear();
}

// Those that moves after so many have recoloured, and their neighbours, look again.
template <class T>
void TableSearch<T>::disturb_since(std::size_t moves) {
    ++now_;
    const auto disturb = [&](Vertex u) {
        disturbed_[partition_.slot(u)] = now_;
        enqueue(u);
    };
    for (; moves < colouring_.moves(); ++moves) {
        const Vertex v = colouring_.moved(moves);
        disturb(v);
        for (Vertex u : instance_.graph.neighbours(v)) disturb(u);
    }
}

template class TableSearch<float>;
template class TableSearch<double>;

}  // namespace kempe
