// The immutable problem that every kernel reads: supernodes with weights and mean points, and the
// cannot-link graph between them. It borrows the points, which the Python side keeps alive, and
// owns whatever kernels rely on: where the points are, and the weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "basics/distances.h"
#include "basics/pool.h"
#include "graph/graph.h"
#include "problem/soft_pairs.h"

namespace kempe {

// Mean points of the supernodes. A supernode of one row borrows that row of the data; only
// supernodes of several rows have a mean of their own, in `merged`. So large data is never copied.
template <class T>
struct Points {
    const T* rows = nullptr;
    const T* merged = nullptr;
    const std::int32_t* source = nullptr;  // >= 0: a row; < 0: ~source is a position in `merged`
    int dimension = 0;

    const T* operator[](Vertex v) const {
        const std::int64_t s = source[v];
        return s >= 0 ? rows + s * dimension : merged + ~s * dimension;
    }
};

// How many rows each supernode has, and how many each cluster may have. Rows count, whatever they
// weigh.
struct Sizes {
    std::vector<int> rows;         // per supernode
    std::vector<int> least, most;  // per cluster

    bool limited() const { return !least.empty(); }
};

struct Instance {
    int size = 0;  // number of supernodes
    int dimension = 0;
    bool single = false;  // points are float32
    Points<float> points32;
    Points<double> points64;
    const double* weight = nullptr;
    // What the points and `weight` point into, those of copies as well. It was checked, and nobody
    // can change it any more.
    std::shared_ptr<const std::vector<std::int32_t>> own_source;
    std::shared_ptr<const std::vector<double>> own_weight;
    Graph graph;
    // Vertices without a cannot-link edge are free: they go to the nearest centroid and never enter
    // graph code. The others are constrained.
    std::vector<Vertex> free_vertices;
    std::vector<Vertex> constrained_vertices;
    Sizes sizes;                      // empty where clusters may have any size
    const SoftPairs* soft = nullptr;  // pairs that may be broken, if there are any
    std::shared_ptr<Pool> pool;       // works for every kernel that is given the instance

    // Whether loops over vertices are worth several threads, and bounds worth their memory. Where
    // pairs may be broken, large data gives up some moves, which must be worth more.
    bool is_large() const {
        return double(size) * dimension >= kLarge || (size >= kManyVertices && soft == nullptr);
    }
    // Whether a look at a point costs more than keeping books about it.
    bool has_many_features() const { return dimension > kManyFeatures; }
    // Whether distances are worth bounds, which tell most of what is asked of them.
    bool has_costly_distances() const { return is_large() && has_many_features(); }
    // Blocks of so many vertices: about as many values in each whatever the dimension, so that
    // they depend on the data alone. Small data is one block.
    Blocks blocks(std::size_t vertices) const {
        const std::size_t length = std::max(kLeastBlock, kBlockValues / dimension);
        return {vertices, is_large() ? length : std::max<std::size_t>(vertices, 1)};
    }

    static constexpr double kLarge = 1e6;
    static constexpr int kManyVertices = 20000;
    static constexpr int kManyFeatures = 48;
    static constexpr std::size_t kBlockValues = 65536, kLeastBlock = 128;
};

// Call `body` with the instance's points in their own floating-point type.
template <class Body>
decltype(auto) with_points(const Instance& instance, Body&& body) {
    if (instance.single) return std::forward<Body>(body)(instance.points32);
    return std::forward<Body>(body)(instance.points64);
}

// The same for loops over distances: `body` also gets the function that measures them.
template <class Body>
decltype(auto) with_distances(const Instance& instance, Body&& body) {
    return with_points(instance, [&](const auto& points) {
        return with_distance(instance.dimension,
                             [&](auto distance) { return body(points, distance); });
    });
}

}  // namespace kempe
