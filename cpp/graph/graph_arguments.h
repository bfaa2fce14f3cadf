// Graphs as arguments: kernels that need no points take the cannot-link graph as two arrays.
#pragma once

#include <stdexcept>

#include "basics/arrays.h"
#include "graph/graph.h"

namespace kempe {

inline Graph graph_argument(const In1<std::int64_t>& offsets, const In1<Vertex>& targets) {
    if (offsets.shape(0) == 0) throw std::invalid_argument("offsets must not be empty");
    const std::size_t size = offsets.shape(0) - 1;
    if (offsets.data()[0] != 0 ||
        offsets.data()[size] != static_cast<std::int64_t>(targets.shape(0)))
        throw std::invalid_argument("offsets do not match targets");
    return {offsets.data(), targets.data(), static_cast<int>(size)};
}

}  // namespace kempe
