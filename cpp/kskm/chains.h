// Kempe chains: components of the subgraph on two colours. Swapping the two colours on a chain
// keeps a colouring proper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "basics/arrays.h"
#include "problem/instance.h"

namespace kempe {

// Changes to a colouring, each of which keeps it proper on its own: a set of vertices, the colour
// that each would get, and what the change gains.
struct Moves {
    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> vertices;
    std::vector<Colour> colours;  // after the move, one per entry of `vertices`
    std::vector<double> gain;     // positive

    int size() const { return static_cast<int>(gain.size()); }
    void clear();
    void close(double move_gain);  // ends the move whose vertices were appended last
};

// The same without owning anything, so that arrays from Python can be read in place.
struct MovesView {
    std::span<const std::int64_t> offsets;
    std::span<const Vertex> vertices;
    std::span<const Colour> colours;

    int size() const { return static_cast<int>(offsets.size()) - 1; }
};

// Which moves exclude each other, in compressed sparse rows; rows are not sorted.
struct Conflicts {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> targets;
};

// A proper colouring that knows the cost of every colour for every vertex, and how many neighbours
// of each vertex have each colour. The latter tells without looking at an edge that moving a vertex
// is a chain of one, and how many neighbours of a colour are still to be found.
class Colouring {
 public:
    Colouring(const Graph& graph, std::span<const Vertex> vertices, int size, int k,
              const Colour* colours);

    int n_clusters() const { return k_; }
    const std::vector<Colour>& colours() const { return colours_; }
    std::vector<double>& costs() { return cost_; }
    double own_cost(Vertex v) const { return at(cost_, v, colours_[v]); }

    // All chains over the constrained vertices whose swap lowers the total cost, each once.
    void find_improving_chains(Moves& chains);
    // The cheapest colour if it is cheaper than the present one, otherwise the present one.
    Colour cheapest(Vertex v) const;
    void recolour(Vertex v, Colour c);

 private:
    struct Start {
        Vertex vertex;
        Colour colour;
    };

    template <class T>
    T& at(std::vector<T>& table, Vertex v, Colour c) const {
        return table[static_cast<std::size_t>(v) * k_ + c];
    }
    template <class T>
    const T& at(const std::vector<T>& table, Vertex v, Colour c) const {
        return table[static_cast<std::size_t>(v) * k_ + c];
    }
    void find_starts();
    void explore(const Start& start, Moves& chains);
    bool grow(Colour both, double& potential, std::size_t begin, Moves& chains, double& gain);
    double& potential(Colour a, Colour b) {
        return potential_[static_cast<std::size_t>(std::min(a, b)) * k_ + std::max(a, b)];
    }

    const Graph& graph_;
    std::span<const Vertex> vertices_;
    int k_;
    std::vector<Colour> colours_;
    std::vector<double> cost_;
    std::vector<std::int32_t> neighbours_with_;
    // seen_[v][c]: whether the chain through v whose swap would give v the colour c was looked at.
    enum Seen : char { kUnseen, kSeen, kGivenUp };
    std::vector<char> seen_;
    // For each pair of colours what vertices not yet looked at would gain by changing from one to
    // the other, losses left out: no chain can still gain more.
    std::vector<double> potential_;
    std::vector<Start> starts_;
};

// Two moves exclude each other if they share a vertex, or if an edge joins a vertex of one to a
// vertex of the other and both would have the same colour afterwards.
Conflicts find_conflicts(const Graph& graph, int size, const MovesView& moves);

// Offsets, vertices, colours and gains as a tuple of arrays.
nb::tuple to_tuple(Moves&& moves);

inline MovesView view(const Moves& moves) {
    return {moves.offsets, moves.vertices, moves.colours};
}

}  // namespace kempe
