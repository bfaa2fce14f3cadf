// The cannot-link graph as kernels see it. It only borrows its arrays.
#pragma once

#include <cstdint>
#include <span>

#include "basics/types.h"

namespace kempe {

// Undirected graph in compressed sparse rows; neighbours ascend and are unique.
struct Graph {
    const std::int64_t* offsets = nullptr;
    const Vertex* targets = nullptr;
    int size = 0;

    std::span<const Vertex> neighbours(Vertex v) const {
        return {targets + offsets[v], targets + offsets[v + 1]};
    }
    std::int64_t degree(Vertex v) const { return offsets[v + 1] - offsets[v]; }
};

}  // namespace kempe
