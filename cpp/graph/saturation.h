// Colouring in saturation order (Brelaz 1979): next comes the vertex whose neighbours have most
// different colours. How its own colour is chosen is up to the caller.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace kempe {

// Uncoloured vertices by saturation, then degree, then lowest number. Saturation only grows, so a
// vertex enters each level at most once and its entries on lower levels are stale. Most of them are
// never looked at again: a level becomes a heap only when it is the highest.
//
// Vertices without an edge never enter, and apart from their rank, which is one number, no memory
// is spent on them.
class SaturationQueue {
 public:
    SaturationQueue(const Graph& graph, int k);

    // The next vertex, or -1 when all are coloured.
    Vertex pop(const std::vector<Colour>& colours);
    // Whether each colour is that of a neighbour.
    const char* used(Vertex v) const { return used_.data() + position(rank_[v], 0); }
    void coloured(Vertex v, Colour c, const std::vector<Colour>& colours);

 private:
    struct Level {
        std::vector<int> ranks;
        bool is_heap = false;
    };

    std::size_t position(int rank, Colour c) const {
        return static_cast<std::size_t>(rank) * k_ + c;
    }
    void push(int rank, int saturation);

    const Graph graph_;
    int k_;
    std::vector<Vertex> by_rank_;  // by degree, then number
    std::vector<int> rank_;        // per vertex; meaningless where there is no edge
    // The following by rank.
    std::vector<int> saturation_;
    std::vector<char> used_;
    std::vector<Level> levels_;  // by saturation
    int highest_ = 0;            // no level above has vertices
};

// `choose(v, admissible)` returns a colour or kUncoloured. Vertices without an edge keep the colour
// they have. Returns the vertex that found none, or -1.
template <class Choose>
Vertex colour_by_saturation(const Graph& graph, int k, std::vector<Colour>& colours,
                            Choose&& choose) {
    SaturationQueue queue(graph, k);
    for (Vertex v; (v = queue.pop(colours)) >= 0;) {
        const char* used = queue.used(v);
        const Colour c = choose(v, [used](Colour c) { return !used[c]; });
        if (c == kUncoloured) return v;
        colours[v] = c;
        queue.coloured(v, c, colours);
    }
    return -1;
}

}  // namespace kempe
