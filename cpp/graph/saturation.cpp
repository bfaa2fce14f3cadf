#include "graph/saturation.h"

#include <algorithm>

namespace kempe {

SaturationQueue::SaturationQueue(const Graph& graph, int k)
    : graph_(graph), k_(k), rank_(graph.size) {
    for (Vertex v = 0; v < graph.size; ++v)
        if (graph.degree(v) > 0) by_rank_.push_back(v);
    std::stable_sort(by_rank_.begin(), by_rank_.end(),
                     [&](Vertex a, Vertex b) { return graph.degree(a) > graph.degree(b); });
    saturation_.assign(by_rank_.size(), 0);
    used_.assign(by_rank_.size() * k, 0);
    const std::int64_t highest_degree = by_rank_.empty() ? 0 : graph.degree(by_rank_[0]);
    levels_.resize(static_cast<std::size_t>(std::min<std::int64_t>(k, highest_degree)) + 1);
    for (std::size_t i = 0; i < by_rank_.size(); ++i) {
        rank_[by_rank_[i]] = static_cast<int>(i);
        levels_[0].insert(static_cast<int>(i), by_rank_.size());
    }
}

Vertex SaturationQueue::pop(const std::vector<Colour>& colours) {
    for (; highest_ >= 0; --highest_) {
        NumberSet& ranks = levels_[highest_];
        for (int rank; (rank = ranks.lowest()) >= 0;) {
            ranks.erase(rank);
            if (colours[by_rank_[rank]] == kUncoloured) return by_rank_[rank];
        }
    }
    return -1;
}

void SaturationQueue::coloured(Vertex v, Colour c, const std::vector<Colour>& colours) {
    for (Vertex u : graph_.neighbours(v)) {
        if (colours[u] != kUncoloured) continue;
        const int rank = rank_[u];
        char& used = used_[position(rank, c)];
        if (used) continue;
        used = 1;
        levels_[saturation_[rank]].erase(rank);
        levels_[++saturation_[rank]].insert(rank, by_rank_.size());
        highest_ = std::max(highest_, saturation_[rank]);
    }
}

}  // namespace kempe
