// Maximum-weight independent sets: which moves to make at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kempe {

// Vertices with positive weights and a symmetric adjacency in compressed sparse rows.
struct WeightedGraph {
    std::span<const double> weights;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> targets;

    int size() const { return static_cast<int>(weights.size()); }
    std::span<const std::int32_t> neighbours(std::int32_t v) const {
        return targets.subspan(offsets[v], offsets[v + 1] - offsets[v]);
    }
};

// A maximal independent set by two greedy orders, improved by local search. One entry per vertex.
std::vector<char> greedy_independent_set(const WeightedGraph& graph);

}  // namespace kempe
