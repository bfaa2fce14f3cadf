// Kempe chains: components of the subgraph on two colours. Swapping the two colours on a chain
// keeps a colouring proper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/neighbour_counts.h"

namespace kempe {

// Collects one chain at a time, which is what searches need that swap a chain as soon as they have
// found it. Keeps its memory from one chain to the next.
class KempeChain {
 public:
    explicit KempeChain(int size) : mark_(size, 0) {}

    const std::vector<Vertex>& vertices() const { return vertices_; }

    // A vertex that moves without any other.
    void collect_alone(Vertex v) { vertices_.assign(1, v); }

    // Some vertices, whatever joins them.
    void collect_these(const std::vector<Vertex>& vertices) {
        next_stamp();
        vertices_ = vertices;
        for (Vertex v : vertices_) mark_[v] = stamp_;
    }
    // Whether a vertex is among those that were collected last, unless that was a single one.
    bool contains(Vertex v) const { return mark_[v] == stamp_; }

    // The chain through v in its own colour and another, breadth first. `see` is called with each
    // vertex and the colour it would get; the walk ends early when it returns false.
    template <class Rows, class See>
    bool collect(const NeighbourCounts<Rows>& counts, const Colour* colours, Vertex v, Colour to,
                 See&& see) {
        next_stamp();
        const Colour both = colours[v] + to;
        vertices_.assign(1, v);
        mark_[v] = stamp_;
        for (std::size_t head = 0; head < vertices_.size(); ++head) {
            const Vertex u = vertices_[head];
            const Colour wanted = both - colours[u];
            if (!see(u, wanted)) return false;
            counts.for_neighbours_in(u, wanted, colours, [&](Vertex x) {
                if (mark_[x] != stamp_) {
                    mark_[x] = stamp_;
                    vertices_.push_back(x);
                }
                return true;
            });
        }
        return true;
    }

 private:
    // Marks of earlier chains carry earlier stamps, so nothing is cleared between chains.
    void next_stamp() {
        if (++stamp_ != 0) return;
        std::fill(mark_.begin(), mark_.end(), 0);
        stamp_ = 1;
    }

    std::vector<Vertex> vertices_;
    std::vector<std::uint32_t> mark_;
    std::uint32_t stamp_ = 0;
};

}  // namespace kempe
