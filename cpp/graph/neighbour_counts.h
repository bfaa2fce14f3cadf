// How many neighbours of each vertex have each colour. A count of zero says without a look at any
// edge that nothing stands in the way of the colour; any other says how many neighbours there are
// to be found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kempe {

// Where the counts of a vertex are: for graph searches, in which every vertex takes part.
class EveryVertex {
 public:
    explicit EveryVertex(const Graph& graph) : size_(graph.size) {}

    std::size_t size() const { return static_cast<std::size_t>(size_); }
    std::size_t operator[](Vertex v) const { return static_cast<std::size_t>(v); }
    template <class Use>
    void for_each(Use&& use) const {
        for (Vertex v = 0; v < size_; ++v) use(v);
    }

 private:
    int size_;
};

// The same for searches over all supernodes, of which often only a few have an edge. The others
// have no counts.
class ConstrainedVertices {
 public:
    ConstrainedVertices(const Graph& graph, std::span<const Vertex> constrained)
        : vertices_(constrained), row_(graph.size, kNone) {
        std::int32_t next = 0;
        for (Vertex v : constrained) row_[v] = next++;
    }

    std::size_t size() const { return vertices_.size(); }
    std::size_t operator[](Vertex v) const { return static_cast<std::size_t>(row_[v]); }
    bool contains(Vertex v) const { return row_[v] != kNone; }
    template <class Use>
    void for_each(Use&& use) const {
        for (Vertex v : vertices_) use(v);
    }

 private:
    static constexpr std::int32_t kNone = -1;
    std::span<const Vertex> vertices_;
    std::vector<std::int32_t> row_;
};

template <class Rows>
class NeighbourCounts {
 public:
    // No vertex has a colour yet.
    NeighbourCounts(const Graph& graph, Rows rows, int k)
        : graph_(graph), rows_(std::move(rows)), k_(k), count_(rows_.size() * k, 0) {}
    // All of them have.
    NeighbourCounts(const Graph& graph, Rows rows, int k, const Colour* colours)
        : NeighbourCounts(graph, std::move(rows), k) {
        add_all(colours);
    }

    const Rows& rows() const { return rows_; }
    // The counts of a vertex, one per colour.
    const std::int32_t* operator[](Vertex v) const { return count_.data() + rows_[v] * k_; }

    // Count from scratch.
    void count(const Colour* colours) {
        std::fill(count_.begin(), count_.end(), 0);
        add_all(colours);
    }

    // v changes its colour. `see` is called with every neighbour once its counts are right.
    template <class See>
    void recolour(Vertex v, Colour from, Colour to, See&& see) {
        for (Vertex u : graph_.neighbours(v)) {
            std::int32_t* counts = row(u);
            --counts[from];
            ++counts[to];
            see(u);
        }
    }
    void recolour(Vertex v, Colour from, Colour to) {
        recolour(v, from, to, [](Vertex) {});
    }

    // v had no colour and gets one, or loses the one it had. `see` is called with every neighbour
    // and its new count of that colour.
    template <class See>
    void add(Vertex v, Colour c, See&& see) {
        for (Vertex u : graph_.neighbours(v)) see(u, ++row(u)[c]);
    }
    template <class See>
    void remove(Vertex v, Colour c, See&& see) {
        for (Vertex u : graph_.neighbours(v)) see(u, --row(u)[c]);
    }

    // Call `see` with every neighbour of v that has the colour until it returns false. The count
    // says how many there are, so the scan ends at the last of them.
    template <class See>
    bool for_neighbours_in(Vertex v, Colour wanted, const Colour* colours, See&& see) const {
        std::int32_t left = (*this)[v][wanted];
        if (left == 0) return true;
        for (Vertex u : graph_.neighbours(v)) {
            if (colours[u] != wanted) continue;
            if (!see(u)) return false;
            if (--left == 0) break;
        }
        return true;
    }

 private:
    std::int32_t* row(Vertex v) { return count_.data() + rows_[v] * k_; }
    void add_all(const Colour* colours) {
        rows_.for_each([&](Vertex v) {
            std::int32_t* counts = row(v);
            for (Vertex u : graph_.neighbours(v)) ++counts[colours[u]];
        });
    }

    const Graph graph_;
    const Rows rows_;
    const std::size_t k_;
    std::vector<std::int32_t> count_;
};

}  // namespace kempe
