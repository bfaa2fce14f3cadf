// The cannot-link graph: a view for kernels, and what Python holds.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "basics/types.h"

namespace kempe {

// Undirected graph in compressed sparse rows; neighbours ascend and are unique. Borrows its arrays.
struct Graph {
    const std::int64_t* offsets = nullptr;
    const Vertex* targets = nullptr;
    int size = 0;

    std::span<const Vertex> neighbours(Vertex v) const {
        return {targets + offsets[v], targets + offsets[v + 1]};
    }
    std::int64_t degree(Vertex v) const { return offsets[v + 1] - offsets[v]; }
};

// What kernels rely on: targets are vertices, rows ascend, and every edge is in both of its rows.
void check_graph(std::span<const std::int64_t> offsets, std::span<const Vertex> targets);
// The same for rows in any order.
void check_unsorted_graph(std::span<const std::int64_t> offsets, std::span<const Vertex> targets);

// A graph that never changes, so that one check lasts for all kernels. Bound as `Graph`.
class StoredGraph {
 public:
    struct Trusted {};

    StoredGraph(std::vector<std::int64_t> offsets, std::vector<Vertex> targets)
        : StoredGraph(std::move(offsets), std::move(targets), Trusted()) {
        check_graph(offsets_, targets_);
    }
    // For edges that our own code has put in order.
    StoredGraph(std::vector<std::int64_t> offsets, std::vector<Vertex> targets, Trusted)
        : offsets_(std::move(offsets)), targets_(std::move(targets)) {}

    int size() const { return static_cast<int>(offsets_.size()) - 1; }
    std::span<const std::int64_t> offsets() const { return offsets_; }
    std::span<const Vertex> targets() const { return targets_; }
    Graph view() const { return {offsets_.data(), targets_.data(), size()}; }

 private:
    const std::vector<std::int64_t> offsets_;
    const std::vector<Vertex> targets_;
};

}  // namespace kempe
