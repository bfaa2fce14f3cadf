#include "engine/finders/table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kempe {

template <class Rules>
TableSwaps<Rules>::TableSwaps(Ledger<Rules>& ledger)
    : ledger_(ledger),
      instance_(ledger.instance),
      state_(ledger.state),
      k_(ledger.k),
      colouring_(instance_, state_, k_),
      ejection_(state_, colouring_, k_) {}

template <class Rules>
void TableSwaps<Rules>::sweep(bool thorough, Stopper& stopper) {
    const auto moves = find(thorough, stopper);
    const Time before = ledger_.clock.now();
    const Reference reference = std::exchange(ledger_.reference, Reference::placed);
    for (const auto& [v, to] : moves) ledger_.apply(state_.single(v, to));
    ledger_.reference = reference;
    if (!moves.empty() && reference == Reference::means) ledger_.follow_means(before);
}

template <class Rules>
std::vector<SingleMove> TableSwaps<Rules>::find(bool thorough, Stopper& stopper) {
    const auto& vertices = instance_.constrained_vertices;
    if (std::find(ledger_.blocked.begin(), ledger_.blocked.end(), true) == ledger_.blocked.end())
        return {};
    colouring_.begin();
    now_ = 1;
    disturbed_.assign(vertices.size(), now_);
    failed_.assign(vertices.size() * k_, 0);
    queued_.assign(vertices.size(), false);
    queue_.clear();
    for (Vertex v : vertices)
        if (ledger_.blocked[v]) enqueue(v);
    settle(std::numeric_limits<int>::max(), stopper);
    if (thorough) pin_each(stopper);
    return colouring_.end();
}

// Every change lowers the cost by a share of its terms, so this ends.
template <class Rules>
void TableSwaps<Rules>::settle(int looks, Stopper& stopper) {
    for (; !queue_.empty() && looks > 0 && !stopper.should_stop(); --looks) {
        const Vertex v = queue_.front();
        queue_.pop_front();
        queued_[state_.ties().slot(v)] = false;
        if (v != pinned_) try_vertex(v);
    }
    forget_queue();
}

// Until none pays, and each that does lowers the cost.
template <class Rules>
void TableSwaps<Rules>::pin_each(Stopper& stopper) {
    for (bool any = true; any;) {
        any = false;
        for (Vertex v : instance_.constrained_vertices) {
            if (stopper.should_stop()) return;
            any |= pin(v, stopper);
        }
    }
}

template <class Rules>
bool TableSwaps<Rules>::pin(Vertex v, Stopper& stopper) {
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
template <class Rules>
bool TableSwaps<Rules>::try_vertex(Vertex v) {
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
template <class Rules>
bool TableSwaps<Rules>::try_chain(Vertex v, Colour to) {
    const std::size_t slot = state_.ties().slot(v);
    if (failed_[slot * k_ + to] >= disturbed_[slot]) return false;
    const std::size_t before = colouring_.moves();
    const Colour from = state_.colour(v);
    const auto other = [&](Vertex u) { return state_.colour(u) == from ? to : from; };
    bool swapped = state_.collect_up_to(v, to, kLongestChain) &&
                   colouring_.would_improve(state_.chain(), other);
    for (Vertex u : state_.chain()) {
        if (!swapped) break;
        swapped = colouring_.move(u, other(u));
    }
    if (swapped) return true;
    colouring_.take_back(before);
    for (Vertex u : state_.chain()) failed_[state_.ties().slot(u) * k_ + other(u)] = now_;
    return false;
}

template <class Rules>
void TableSwaps<Rules>::sort_preferred(Vertex v) {
    preferred_.clear();
    for (Colour c = 0; c < k_; ++c)
        if (colouring_.prefers(v, c)) preferred_.push_back(c);
    const float* distance = colouring_.distances(v);
    std::sort(preferred_.begin(), preferred_.end(),
              [&](Colour a, Colour b) { return distance[a] < distance[b]; });
}

template <class Rules>
void TableSwaps<Rules>::enqueue(Vertex v) {
    if (!std::exchange(queued_[state_.ties().slot(v)], true)) queue_.push_back(v);
}

template <class Rules>
void TableSwaps<Rules>::forget_queue() {
    for (Vertex v : queue_) queued_[state_.ties().slot(v)] = false;
    queue_.clear();
}

// Those that moves after so many have recoloured, and their neighbours, look again.
template <class Rules>
void TableSwaps<Rules>::disturb_since(std::size_t moves) {
    ++now_;
    const auto disturb = [&](Vertex u) {
        disturbed_[state_.ties().slot(u)] = now_;
        enqueue(u);
    };
    for (; moves < colouring_.moves(); ++moves) {
        const Vertex v = colouring_.moved(moves);
        disturb(v);
        for (Vertex u : instance_.graph.neighbours(v)) disturb(u);
    }
}

KEMPE_FOR_ALL_RULES(TableSwaps);

}  // namespace kempe
