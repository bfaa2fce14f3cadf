// All Kempe chains at once that would lower the cost at fixed centroids.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "graph/neighbour_counts.h"
#include "kskm/bounded_costs.h"
#include "kskm/costs.h"
#include "kskm/moves.h"

namespace kempe {

// A proper colouring that can tell the cost of every colour for every vertex. It finds all
// improving chains, each once: what has been seen of a chain by one vertex need not be seen by the
// next, and a chain that cannot improve any more is given up half way. For that it marks vertices
// for each colour they could get, where searches that want one chain at a time have a KempeChain.
template <class Costs>
class Colouring {
 public:
    // The vertices with an edge are `constrained`; only these are looked at.
    Colouring(const Graph& graph, std::span<const Vertex> constrained, int k, const Colour* colours,
              Costs costs);

    const std::vector<Colour>& colours() const { return colours_; }
    Costs& costs() { return costs_; }
    double own_cost(Vertex v) { return costs_.at_home(v, colours_[v]); }

    // All chains over the constrained vertices whose swap lowers the total cost, each once.
    void find_improving_chains(Moves& chains);
    // The cheapest colour if it is cheaper than the present one, otherwise the present one.
    Colour cheapest(Vertex v);
    void recolour(Vertex v, Colour c);

 private:
    struct Start {
        Vertex vertex;
        Colour colour;
    };

    char& seen(Vertex v, Colour c) { return seen_[neighbours_.rows()[v] * k_ + c]; }
    void find_starts();
    void explore(const Start& start, Moves& chains);
    bool grow(Colour both, double& potential, std::size_t begin, Moves& chains, double& gain);
    bool confirm(Colour both, std::size_t begin, const Moves& chains, double& gain);
    double& potential(Colour a, Colour b) {
        return potential_[static_cast<std::size_t>(std::min(a, b)) * k_ + std::max(a, b)];
    }

    std::span<const Vertex> constrained_;
    int k_;
    std::vector<Colour> colours_;
    Costs costs_;
    NeighbourCounts<ConstrainedVertices> neighbours_;
    // Whether the chain through a vertex whose swap would give it a colour was looked at.
    enum Seen : char { kUnseen, kSeen, kGivenUp };
    std::vector<char> seen_;
    // For each pair of colours what vertices not yet looked at would gain by changing from one to
    // the other, losses left out: no chain can still gain more.
    std::vector<double> potential_;
    std::vector<Start> starts_;
};

extern template class Colouring<CostTable>;
extern template class Colouring<BoundedCosts>;

}  // namespace kempe
