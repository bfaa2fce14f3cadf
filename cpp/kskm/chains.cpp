#include "kskm/chains.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"
#include "problem/costs.h"

namespace kempe {

void Moves::clear() {
    offsets.assign(1, 0);
    vertices.clear();
    colours.clear();
    gain.clear();
}

void Moves::close(double move_gain) {
    offsets.push_back(static_cast<std::int64_t>(vertices.size()));
    gain.push_back(move_gain);
}

Colouring::Colouring(const Graph& graph, std::span<const Vertex> vertices, int size, int k,
                     const Colour* colours)
    : graph_(graph),
      vertices_(vertices),
      k_(k),
      colours_(colours, colours + size),
      cost_(static_cast<std::size_t>(size) * k, 0.0),
      neighbours_with_(static_cast<std::size_t>(size) * k, 0),
      seen_(static_cast<std::size_t>(size) * k, kUnseen),
      potential_(static_cast<std::size_t>(k) * k, 0.0) {
    for (Vertex v : vertices_)
        for (Vertex u : graph_.neighbours(v)) ++at(neighbours_with_, v, colours_[u]);
}

// Only a chain that holds a vertex closer to the other centroid can improve, so chains are grown
// from such vertices alone.
void Colouring::find_starts() {
    starts_.clear();
    std::fill(potential_.begin(), potential_.end(), 0.0);
    for (Vertex v : vertices_) {
        const double* cost = &at(cost_, v, 0);
        const Colour own = colours_[v];
        for (Colour c = 0; c < k_; ++c) {
            if (!(cost[c] < cost[own])) continue;
            starts_.push_back({v, c});
            potential(own, c) += cost[own] - cost[c];
        }
    }
}

void Colouring::find_improving_chains(Moves& chains) {
    chains.clear();
    std::fill(seen_.begin(), seen_.end(), kUnseen);
    find_starts();
    for (const Start& start : starts_)
        if (at(seen_, start.vertex, start.colour) == kUnseen) explore(start, chains);
}

// Grow a chain at the end of `chains`, and keep it if it improves.
void Colouring::explore(const Start& start, Moves& chains) {
    const std::size_t begin = chains.vertices.size();
    const Colour both = colours_[start.vertex] + start.colour;
    at(seen_, start.vertex, start.colour) = kSeen;
    chains.vertices.push_back(start.vertex);
    double gain = 0.0;
    if (!grow(both, potential(colours_[start.vertex], start.colour), begin, chains, gain)) {
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
bool Colouring::grow(Colour both, double& potential, std::size_t begin, Moves& chains,
                     double& gain) {
    auto& chain = chains.vertices;
    const auto give_up = [&] {
        for (std::size_t i = begin; i < chain.size(); ++i)
            at(seen_, chain[i], both - colours_[chain[i]]) = kGivenUp;
        return false;
    };
    double before = 0.0, after = 0.0;
    for (std::size_t next = begin; next < chain.size(); ++next) {
        const Vertex v = chain[next];
        const Colour wanted = both - colours_[v];
        const double now = at(cost_, v, colours_[v]), then = at(cost_, v, wanted);
        before += now;
        after += then;
        if (then < now) potential -= now - then;
        if (after - before > potential + kRounding * (before + after)) return give_up();
        int left = at(neighbours_with_, v, wanted);
        if (left == 0) continue;
        for (Vertex u : graph_.neighbours(v)) {
            if (colours_[u] != wanted) continue;
            auto& seen = at(seen_, u, colours_[v]);
            if (seen == kGivenUp) return give_up();
            if (seen == kUnseen) {
                seen = kSeen;
                chain.push_back(u);
            }
            if (--left == 0) break;
        }
    }
    gain = before - after;
    return improves(before, after);
}

Colour Colouring::cheapest(Vertex v) const {
    const double* cost = &at(cost_, v, 0);
    const auto best = static_cast<Colour>(std::min_element(cost, cost + k_) - cost);
    return improves(cost[colours_[v]], cost[best]) ? best : colours_[v];
}

void Colouring::recolour(Vertex v, Colour c) {
    for (Vertex u : graph_.neighbours(v)) {
        --at(neighbours_with_, u, colours_[v]);
        ++at(neighbours_with_, u, c);
    }
    colours_[v] = c;
}

namespace {

// For each vertex the moves it is part of, by the colour it would get.
class Incidence {
 public:
    Incidence(int size, const MovesView& moves) : begin_(size + 1, 0) {
        for (Vertex v : moves.vertices) ++begin_[v + 1];
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        entries_.resize(moves.vertices.size());
        std::vector<std::int64_t> cursor(begin_.begin(), begin_.end() - 1);
        for (int s = 0; s < moves.size(); ++s)
            for (std::int64_t i = moves.offsets[s]; i < moves.offsets[s + 1]; ++i)
                entries_[cursor[moves.vertices[i]]++] = {moves.colours[i], s};
        for (int v = 0; v < size; ++v) std::sort(first(v), last(v));
    }
    // Call `use` with every move that contains v.
    template <class Use>
    void for_moves_of(Vertex v, Use&& use) {
        for (auto e = first(v); e != last(v); ++e) use(e->move);
    }
    // Call `use` with every move that gives v the colour c.
    template <class Use>
    void for_moves_to(Vertex v, Colour c, Use&& use) {
        if (begin_[v] == begin_[v + 1]) return;
        for (auto e = std::lower_bound(first(v), last(v), Entry{c, -1});
             e != last(v) && e->colour == c; ++e)
            use(e->move);
    }

 private:
    struct Entry {
        Colour colour;
        std::int32_t move;
        bool operator<(const Entry& o) const {
            return colour != o.colour ? colour < o.colour : move < o.move;
        }
    };
    std::vector<Entry>::iterator first(Vertex v) { return entries_.begin() + begin_[v]; }
    std::vector<Entry>::iterator last(Vertex v) { return entries_.begin() + begin_[v + 1]; }

    std::vector<std::int64_t> begin_;
    std::vector<Entry> entries_;
};

}  // namespace

Conflicts find_conflicts(const Graph& graph, int size, const MovesView& moves) {
    Conflicts conflicts;
    conflicts.offsets.assign(1, 0);
    Incidence incidence(size, moves);
    std::vector<std::int32_t> noted(moves.size(), -1);  // by the move that noted it last
    for (std::int32_t s = 0; s < moves.size(); ++s) {
        noted[s] = s;
        const auto note = [&](std::int32_t t) {
            if (noted[t] == s) return;
            noted[t] = s;
            conflicts.targets.push_back(t);
        };
        for (std::int64_t i = moves.offsets[s]; i < moves.offsets[s + 1]; ++i) {
            incidence.for_moves_of(moves.vertices[i], note);
            for (Vertex u : graph.neighbours(moves.vertices[i]))
                incidence.for_moves_to(u, moves.colours[i], note);
        }
        conflicts.offsets.push_back(static_cast<std::int64_t>(conflicts.targets.size()));
    }
    return conflicts;
}

namespace {

// Chains over free vertices: every cheaper colour is one.
void add_free_chains(const Instance& instance, Colouring& colouring, Moves& chains) {
    const int k = colouring.n_clusters();
    for (Vertex v : instance.free_vertices)
        for (Colour c = 0; c < k; ++c) {
            const double after = colouring.costs()[static_cast<std::size_t>(v) * k + c];
            if (!improves(colouring.own_cost(v), after)) continue;
            chains.vertices.push_back(v);
            chains.colours.push_back(c);
            chains.close(colouring.own_cost(v) - after);
        }
}

nb::tuple improving_chains(const Instance& instance, In1<Colour> colours, In2<double> centroids,
                           bool free) {
    const int k = static_cast<int>(centroids.shape(0));
    check_colours(instance, colours, k);
    check_centroids(instance, centroids);
    Moves chains;
    {
        nb::gil_scoped_release release;
        Colouring colouring(instance.graph, instance.constrained_vertices, instance.size, k,
                            colours.data());
        std::vector<Colour> all(k);
        std::iota(all.begin(), all.end(), 0);
        update_costs(instance, centroids.data(), k, all, colouring.costs());
        colouring.find_improving_chains(chains);
        if (free) add_free_chains(instance, colouring, chains);
    }
    return to_tuple(std::move(chains));
}

nb::tuple move_conflicts(const Instance& instance, In1<std::int64_t> offsets, In1<Vertex> vertices,
                         In1<Colour> colours) {
    if (offsets.shape(0) == 0 || vertices.shape(0) != colours.shape(0))
        throw std::invalid_argument("offsets, vertices and colours disagree in shape");
    check_vertices(instance, vertices);
    const MovesView moves{{offsets.data(), offsets.shape(0)},
                          {vertices.data(), vertices.shape(0)},
                          {colours.data(), colours.shape(0)}};
    Conflicts conflicts;
    {
        nb::gil_scoped_release release;
        conflicts = find_conflicts(instance.graph, instance.size, moves);
    }
    return nb::make_tuple(to_numpy(std::move(conflicts.offsets)),
                          to_numpy(std::move(conflicts.targets)));
}

}  // namespace

nb::tuple to_tuple(Moves&& moves) {
    return nb::make_tuple(to_numpy(std::move(moves.offsets)), to_numpy(std::move(moves.vertices)),
                          to_numpy(std::move(moves.colours)), to_numpy(std::move(moves.gain)));
}

void bind_chains(nb::module_& m) {
    m.def("improving_chains", &improving_chains, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"), nb::arg("free") = true);
    m.def("move_conflicts", &move_conflicts, nb::arg("instance"), nb::arg("offsets"),
          nb::arg("vertices"), nb::arg("colours"));
}

}  // namespace kempe
