#include "kskm/chains.h"

#include <algorithm>
#include <utility>

#include "basics/checks.h"
#include "basics/improvement.h"
#include "module.h"

namespace kempe {

template <class Costs>
Colouring<Costs>::Colouring(const Graph& graph, std::span<const Vertex> constrained, int k,
                            const Colour* colours, Costs costs)
    : constrained_(constrained),
      k_(k),
      colours_(colours, colours + graph.size),
      costs_(std::move(costs)),
      neighbours_(graph, ConstrainedVertices(graph, constrained), k, colours),
      seen_(constrained.size() * k, kUnseen),
      potential_(static_cast<std::size_t>(k) * k, 0.0) {}

// Only a chain that holds a vertex closer to the other centroid can improve, so chains are grown
// from such vertices alone.
template <class Costs>
void Colouring<Costs>::find_starts() {
    starts_.clear();
    std::fill(potential_.begin(), potential_.end(), 0.0);
    for (Vertex v : constrained_) {
        const Colour own = colours_[v];
        costs_.for_perhaps_cheaper(v, own, [&](Colour c, double there, double now) {
            starts_.push_back({v, c});
            potential(own, c) += now - there;
        });
    }
    // What is taken off again leaves rounding behind, which beside a vertex of great cost is more
    // than all others gain. It must not leave less than nothing.
    for (double& gains : potential_) gains += kSumRounding * gains;
}

template <class Costs>
void Colouring<Costs>::find_improving_chains(Moves& chains) {
    chains.clear();
    std::fill(seen_.begin(), seen_.end(), kUnseen);
    find_starts();
    for (const Start& start : starts_)
        if (seen(start.vertex, start.colour) == kUnseen) explore(start, chains);
}

// Grow a chain at the end of `chains`, and keep it if it improves.
template <class Costs>
void Colouring<Costs>::explore(const Start& start, Moves& chains) {
    const std::size_t begin = chains.vertices.size();
    const Colour both = colours_[start.vertex] + start.colour;
    seen(start.vertex, start.colour) = kSeen;
    chains.vertices.push_back(start.vertex);
    double gain = 0.0;
    if (!grow(both, potential(colours_[start.vertex], start.colour), begin, chains, gain) ||
        !confirm(both, begin, chains, gain)) {
        chains.vertices.resize(begin);
        return;
    }
    for (std::size_t i = begin; i < chains.vertices.size(); ++i)
        chains.colours.push_back(both - colours_[chains.vertices[i]]);
    chains.close(gain);
}

// Returns whether the chain improves. Large chains mostly lose, and soon by more than all vertices
// not yet looked at could make good: then the chain is given up, and so is every later attempt
// that runs into it.
template <class Costs>
bool Colouring<Costs>::grow(Colour both, double& potential, std::size_t begin, Moves& chains,
                            double& gain) {
    auto& chain = chains.vertices;
    const auto give_up = [&] {
        for (std::size_t i = begin; i < chain.size(); ++i)
            seen(chain[i], both - colours_[chain[i]]) = kGivenUp;
        return false;
    };
    double before = 0.0, after = 0.0;
    for (std::size_t next = begin; next < chain.size(); ++next) {
        const Vertex v = chain[next];
        const Colour own = colours_[v], wanted = both - own;
        const double now = costs_.most_at_home(v, own), then = costs_.least_at(v, wanted);
        before += now;
        after += then;
        if (then < now) potential -= now - then;
        if (after - before > potential + kSumRounding * (before + after)) return give_up();
        const bool open = neighbours_.for_neighbours_in(v, wanted, colours_.data(), [&](Vertex u) {
            char& state = seen(u, own);
            if (state == kUnseen) {
                state = kSeen;
                chain.push_back(u);
            }
            return state != kGivenUp;
        });
        if (!open) return give_up();
    }
    gain = before - after;
    return improves(before, after);
}

// Whether a chain that improves as far as is known does so in truth.
template <class Costs>
bool Colouring<Costs>::confirm(Colour both, std::size_t begin, const Moves& chains, double& gain) {
    if (Costs::kKnowsAll) return true;
    double before = 0.0, after = 0.0;
    for (std::size_t i = begin; i < chains.vertices.size(); ++i) {
        const Vertex v = chains.vertices[i];
        before += costs_.at_home(v, colours_[v]);
        after += costs_.at(v, both - colours_[v]);
    }
    gain = before - after;
    return improves(before, after);
}

template <class Costs>
Colour Colouring<Costs>::cheapest(Vertex v) {
    const Colour own = colours_[v];
    Colour best = own;
    double least = 0.0;
    costs_.for_cheaper(v, own, [&](Colour c, double there, double now) {
        if (best != own && !(there < least)) return;
        if (!improves(now, there)) return;
        best = c;
        least = there;
    });
    return best;
}

template <class Costs>
void Colouring<Costs>::recolour(Vertex v, Colour c) {
    costs_.recolour(v, colours_[v], c);
    neighbours_.recolour(v, colours_[v], c);
    colours_[v] = c;
}

template class Colouring<CostTable>;
template class Colouring<BoundedCosts>;

namespace {

// Chains over free vertices: every cheaper colour is one.
void add_free_chains(const Instance& instance, Colouring<CostTable>& colouring, Moves& chains) {
    for (Vertex v : instance.free_vertices)
        colouring.costs().for_cheaper(v, colouring.colours()[v],
                                      [&](Colour c, double after, double before) {
                                          if (!improves(before, after)) return;
                                          chains.vertices.push_back(v);
                                          chains.colours.push_back(c);
                                          chains.close(before - after);
                                      });
}

nb::tuple improving_chains(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    const int k = static_cast<int>(centroids.shape(0));
    check_centroids(centroids, instance.dimension);
    check_colours(colours, instance.size, k);
    return to_tuple(unlocked([&] {
        Moves chains;
        CostTable costs(instance, k);
        costs.place(centroids.data(), {});
        Colouring colouring(instance.graph, instance.constrained_vertices, k, colours.data(),
                            std::move(costs));
        colouring.find_improving_chains(chains);
        add_free_chains(instance, colouring, chains);
        return chains;
    }));
}

}  // namespace

void bind_chains(nb::module_& m) {
    m.def("improving_chains", &improving_chains, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"));
}

}  // namespace kempe
