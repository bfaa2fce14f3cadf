#include "kskm/moves.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "basics/checks.h"
#include "module.h"

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

nb::tuple to_tuple(Moves&& moves) {
    return nb::make_tuple(to_numpy(std::move(moves.offsets)), to_numpy(std::move(moves.vertices)),
                          to_numpy(std::move(moves.colours)), to_numpy(std::move(moves.gain)));
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

Conflicts find_conflicts(const Graph& graph, const MovesView& moves) {
    Conflicts conflicts;
    conflicts.offsets.assign(1, 0);
    Incidence incidence(graph.size, moves);
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

nb::tuple move_conflicts(const StoredGraph& graph, In1<std::int64_t> offsets, In1<Vertex> vertices,
                         In1<Colour> colours) {
    if (vertices.shape(0) != colours.shape(0))
        throw std::invalid_argument("vertices and colours disagree in length");
    const MovesView moves{{offsets.data(), offsets.shape(0)},
                          {vertices.data(), vertices.shape(0)},
                          {colours.data(), colours.shape(0)}};
    check_offsets(moves.offsets, moves.vertices.size());
    check_vertices(vertices, graph.size());
    Conflicts conflicts = unlocked([&] { return find_conflicts(graph.view(), moves); });
    return nb::make_tuple(to_numpy(std::move(conflicts.offsets)),
                          to_numpy(std::move(conflicts.targets)));
}

}  // namespace

void bind_moves(nb::module_& m) {
    m.def("move_conflicts", &move_conflicts, nb::arg("graph"), nb::arg("offsets"),
          nb::arg("vertices"), nb::arg("colours"));
}

}  // namespace kempe
