// Checks of arguments that several kernels share.
#pragma once

#include <stdexcept>

#include "basics/arrays.h"
#include "problem/instance.h"

namespace kempe {

inline void check_colours(const Instance& instance, const In1<Colour>& colours, int k) {
    if (colours.shape(0) != static_cast<std::size_t>(instance.size))
        throw std::invalid_argument("colours must have one entry per supernode");
    for (int v = 0; v < instance.size; ++v)
        if (colours.data()[v] < 0 || colours.data()[v] >= k)
            throw std::invalid_argument("a colour is outside 0..n_clusters-1");
}

inline void check_centroids(const Instance& instance, const In2<double>& centroids) {
    if (centroids.shape(1) != static_cast<std::size_t>(instance.dimension))
        throw std::invalid_argument("centroids have the wrong number of features");
}

inline void check_vertices(const Instance& instance, const In1<Vertex>& vertices) {
    for (std::size_t i = 0; i < vertices.shape(0); ++i)
        if (vertices.data()[i] < 0 || vertices.data()[i] >= instance.size)
            throw std::invalid_argument("a vertex is out of range");
}

}  // namespace kempe
