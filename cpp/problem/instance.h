// The immutable problem that every kernel reads: supernodes with weights and mean points, and the
// cannot-link graph between them. It only borrows its arrays; the Python side keeps them alive.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kempe {

using Vertex = std::int32_t;  // a supernode
using Colour = std::int32_t;  // a cluster

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

// Undirected graph in compressed sparse rows; neighbours ascend and are unique.
struct Graph {
    const std::int64_t* offsets = nullptr;
    const Vertex* targets = nullptr;

    std::span<const Vertex> neighbours(Vertex v) const {
        return {targets + offsets[v], targets + offsets[v + 1]};
    }
    std::int64_t degree(Vertex v) const { return offsets[v + 1] - offsets[v]; }
};

struct Instance {
    int size = 0;  // number of supernodes
    int dimension = 0;
    bool single = false;  // points are float32
    Points<float> points32;
    Points<double> points64;
    const double* weight = nullptr;
    Graph graph;
    // Vertices without a cannot-link edge are free: they go to the nearest centroid and never enter
    // graph code. The others are constrained.
    std::vector<Vertex> free_vertices;
    std::vector<Vertex> constrained_vertices;
};

// Call `body` with the instance's points in their own floating-point type.
template <class Body>
decltype(auto) with_points(const Instance& instance, Body&& body) {
    if (instance.single) return std::forward<Body>(body)(instance.points32);
    return std::forward<Body>(body)(instance.points64);
}

// Squared Euclidean distance, accumulated in double whatever the type of the point.
template <class T>
double squared_distance(const T* point, const double* centroid, int dimension) {
    double total = 0.0;
    for (int f = 0; f < dimension; ++f) {
        const double difference = static_cast<double>(point[f]) - centroid[f];
        total += difference * difference;
    }
    return total;
}

}  // namespace kempe
