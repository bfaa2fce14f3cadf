// Moves: changes to a colouring that keep it proper, and which of them exclude each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "basics/arrays.h"
#include "graph/graph.h"

namespace kempe {

// Several moves, each of which keeps the colouring proper on its own: a set of vertices, the colour
// that each would get, and what the change gains.
struct Moves {
    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> vertices;
    std::vector<Colour> colours;  // after the move, one per entry of `vertices`
    std::vector<double> gain;     // positive

    int size() const { return static_cast<int>(gain.size()); }
    void clear();
    void close(double move_gain);  // ends the move whose vertices were appended last

    // Call `use` with each vertex of the chosen moves and the colour it gets.
    template <class Chosen, class Use>
    void for_chosen(const Chosen& chosen, Use&& use) const {
        for (int s = 0; s < size(); ++s)
            for (std::int64_t i = offsets[s]; chosen[s] && i < offsets[s + 1]; ++i)
                use(vertices[i], colours[i]);
    }
};

// Offsets, vertices, colours and gains as a tuple of arrays.
nb::tuple to_tuple(Moves&& moves);

// The same without owning anything, so that arrays from Python can be read in place.
struct MovesView {
    std::span<const std::int64_t> offsets;
    std::span<const Vertex> vertices;
    std::span<const Colour> colours;

    int size() const { return static_cast<int>(offsets.size()) - 1; }
};

inline MovesView view(const Moves& moves) {
    return {moves.offsets, moves.vertices, moves.colours};
}

// Which moves exclude each other, in compressed sparse rows; rows are not sorted.
struct Conflicts {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> targets;
};

// Two moves exclude each other if they share a vertex, or if an edge joins a vertex of one to a
// vertex of the other and both would have the same colour afterwards.
Conflicts find_conflicts(const Graph& graph, const MovesView& moves);

}  // namespace kempe
