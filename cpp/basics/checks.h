// Checks of arguments: whatever Python passes, a kernel raises an error or works.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "basics/arrays.h"
#include "basics/types.h"

namespace kempe {

inline void check_n_clusters(int k) {
    if (k < 1) throw std::invalid_argument("n_clusters must be positive");
}

inline void check_one_per_vertex(std::size_t count, int size) {
    if (count != static_cast<std::size_t>(size))
        throw std::invalid_argument("colours must have one entry per supernode");
}

// A complete colouring.
inline void check_colours(const In1<Colour>& colours, int size, int k) {
    check_one_per_vertex(colours.shape(0), size);
    for (int v = 0; v < size; ++v)
        if (colours.data()[v] < 0 || colours.data()[v] >= k)
            throw std::invalid_argument("a colour is outside 0..n_clusters-1");
}

inline void check_vertices(const In1<Vertex>& vertices, int size) {
    for (std::size_t i = 0; i < vertices.shape(0); ++i)
        if (vertices.data()[i] < 0 || vertices.data()[i] >= size)
            throw std::invalid_argument("a vertex is out of range");
}

// Every vertex once, in any order.
inline void check_permutation(const In1<Vertex>& order, int size) {
    std::vector<char> seen(size, 0);
    for (std::size_t i = 0; i < order.shape(0); ++i) {
        const Vertex v = order.data()[i];
        if (v < 0 || v >= size || seen[v])
            throw std::invalid_argument("order must name every supernode once");
        seen[v] = 1;
    }
    if (order.shape(0) != seen.size())
        throw std::invalid_argument("order must name every supernode once");
}

inline void check_finite(const In2<double>& centroids) {
    if (!std::all_of(centroids.data(), centroids.data() + centroids.size(),
                     [](double x) { return std::isfinite(x); }))
        throw std::invalid_argument("centroids must be finite");
}

inline void check_centroids(const In2<double>& centroids, int dimension) {
    if (centroids.shape(0) == 0) throw std::invalid_argument("there must be a centroid");
    if (centroids.shape(1) != static_cast<std::size_t>(dimension))
        throw std::invalid_argument("centroids have the wrong number of features");
    check_finite(centroids);
}

inline void check_costs(const In2<double>& costs, int size) {
    if (costs.shape(0) != static_cast<std::size_t>(size))
        throw std::invalid_argument("costs must have one row per supernode");
    if (costs.shape(1) == 0) throw std::invalid_argument("costs must have a column");
    // Infinity forbids a cluster; there is nothing that minus infinity could mean.
    if (std::any_of(costs.data(), costs.data() + costs.size(),
                    [](double cost) { return !(cost > -std::numeric_limits<double>::infinity()); }))
        throw std::invalid_argument("a cost is not a number, or minus infinity");
}

// Where the entries of each row begin, and where the last one ends.
inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t entries) {
    if (offsets.empty()) throw std::invalid_argument("offsets must not be empty");
    if (offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(entries) ||
        !std::is_sorted(offsets.begin(), offsets.end()))
        throw std::invalid_argument("offsets must ascend from 0 to the number of entries");
}

template <class I>
void check_pairs(const In2<I>& pairs, std::size_t rows) {
    using Unsigned = std::make_unsigned_t<I>;  // in which negative numbers are the largest
    if (pairs.shape(1) != 2) throw std::invalid_argument("pairs must have two columns");
    Unsigned largest = 0;
    for (std::size_t i = 0; i < 2 * pairs.shape(0); ++i)
        largest = std::max(largest, static_cast<Unsigned>(pairs.data()[i]));
    if (pairs.shape(0) > 0 && largest >= rows)
        throw std::invalid_argument("a pair names a row that does not exist");
}

}  // namespace kempe
