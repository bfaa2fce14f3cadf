// Graphs as arguments: kernels that need no points take the cannot-link graph as two arrays.
#pragma once

#include <stdexcept>

#include "basics/arrays.h"
#include "problem/instance.h"

namespace kempe {

struct GraphArgument {
    Graph graph;
    int size;
};

inline GraphArgument graph_argument(const In1<std::int64_t>& offsets, const In1<Vertex>& targets) {
    if (offsets.shape(0) == 0) throw std::invalid_argument("offsets must not be empty");
    const std::size_t size = offsets.shape(0) - 1;
    if (offsets.data()[0] != 0 ||
        offsets.data()[size] != static_cast<std::int64_t>(targets.shape(0)))
        throw std::invalid_argument("offsets do not match targets");
    return {{offsets.data(), targets.data()}, static_cast<int>(size)};
}

inline void check_colours(const In1<Colour>& colours, int size, int k) {
    if (colours.shape(0) != static_cast<std::size_t>(size))
        throw std::invalid_argument("colours must have one entry per vertex");
    for (int v = 0; v < size; ++v)
        if (colours.data()[v] < 0 || colours.data()[v] >= k)
            throw std::invalid_argument("a colour is outside 0..n_clusters-1");
}

inline void check_shape(const In2<double>& costs, int size) {
    if (costs.shape(0) != static_cast<std::size_t>(size))
        throw std::invalid_argument("costs must have one row per vertex");
}

}  // namespace kempe
