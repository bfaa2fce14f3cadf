// Tabu search for a proper k-colouring (Hertz and de Werra 1987, with the dynamic tenure of
// Galinier and Hao 1999): recolour a vertex in conflict, and do not give it its old colour back for
// a while.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "basics/checks.h"
#include "basics/random.h"
#include "basics/stopper.h"
#include "basics/vertex_list.h"
#include "graph/graph.h"
#include "graph/neighbour_counts.h"
#include "module.h"

namespace kempe {
namespace {

class TabuSearch {
 public:
    TabuSearch(const Graph& graph, int k, const Colour* start, const std::uint8_t* allowed,
               std::uint64_t seed)
        : k_(k),
          allowed_(allowed),
          random_(seed),
          colour_(start, start + graph.size),
          best_(colour_),
          neighbours_(graph, EveryVertex(graph), k, start),
          tabu_until_(static_cast<std::size_t>(graph.size) * k, 0),
          conflicting_(graph.size) {
        for (Vertex v = 0; v < graph.size; ++v) {
            conflicts_ += neighbours_[v][colour_[v]];
            refresh(v);
        }
        conflicts_ /= 2;
        best_conflicts_ = conflicts_;
    }

    void run(std::int64_t iterations, Stopper& stopper) {
        for (iteration_ = 1; iteration_ <= iterations && conflicts_ > 0; ++iteration_) {
            if (stopper.should_stop()) break;
            const Move move = best_move();
            if (move.vertex < 0) continue;  // everything is tabu; some of it expires soon
            apply(move);
            if (conflicts_ < best_conflicts_) {
                best_conflicts_ = conflicts_;
                best_ = colour_;
            }
        }
    }

    const std::vector<Colour>& best() const { return best_; }
    std::int64_t best_conflicts() const { return best_conflicts_; }

 private:
    struct Move {
        Vertex vertex = -1;
        Colour colour = -1;
        int change = std::numeric_limits<int>::max();
    };

    bool allowed(Vertex v, Colour c) const {
        return !allowed_ || allowed_[static_cast<std::size_t>(v) * k_ + c];
    }

    // The best move of a vertex in conflict, ties at random; a tabu move only if it beats the best.
    Move best_move() {
        Move best;
        std::uint32_t ties = 0;
        for (Vertex v : conflicting_) {
            const std::int32_t* counts = neighbours_[v];
            const std::int64_t* until = &tabu_until_[static_cast<std::size_t>(v) * k_];
            const int now = counts[colour_[v]];
            for (Colour c = 0; c < k_; ++c) {
                const int change = counts[c] - now;
                if (change > best.change || c == colour_[v] || !allowed(v, c)) continue;
                if (until[c] > iteration_ && conflicts_ + change >= best_conflicts_) continue;
                if (change < best.change) ties = 0;
                if (random_.below(++ties) == 0) best = {v, c, change};
            }
        }
        return best;
    }

    void apply(const Move& move) {
        const Vertex v = move.vertex;
        const Colour old = colour_[v];
        colour_[v] = move.colour;
        conflicts_ += move.change;
        neighbours_.recolour(v, old, move.colour, [&](Vertex u) { refresh(u); });
        refresh(v);
        const auto tenure =
            static_cast<std::int64_t>(random_.below(10)) +
            static_cast<std::int64_t>(0.6 * static_cast<double>(conflicting_.size()));
        tabu_until_[static_cast<std::size_t>(v) * k_ + old] = iteration_ + 1 + tenure;
    }

    void refresh(Vertex v) { conflicting_.set(v, neighbours_[v][colour_[v]] > 0); }

    int k_;
    const std::uint8_t* allowed_;
    Random random_;
    std::vector<Colour> colour_, best_;
    NeighbourCounts<EveryVertex> neighbours_;
    std::vector<std::int64_t> tabu_until_;
    VertexList conflicting_;
    std::int64_t conflicts_ = 0, best_conflicts_ = 0, iteration_ = 0;
};

nb::tuple tabu_colouring(const StoredGraph& stored, int k, In1<Colour> start,
                         std::optional<In2<std::uint8_t>> allowed, std::uint64_t seed,
                         std::int64_t iterations, Stopper& stopper) {
    const Graph graph = stored.view();
    check_n_clusters(k);
    check_colours(start, graph.size, k);
    if (allowed &&
        (allowed->shape(0) != start.shape(0) || allowed->shape(1) != static_cast<std::size_t>(k)))
        throw std::invalid_argument("allowed must have one row per vertex, one column per cluster");
    auto [colours, conflicts] = unlocked([&] {
        TabuSearch search(graph, k, start.data(), allowed ? allowed->data() : nullptr, seed);
        search.run(iterations, stopper);
        return std::pair(search.best(), search.best_conflicts());
    });
    return nb::make_tuple(to_numpy(std::move(colours)), conflicts);
}

}  // namespace

void bind_tabu(nb::module_& m) {
    m.def("tabu_colouring", &tabu_colouring, nb::arg("graph"), nb::arg("n_clusters"),
          nb::arg("start"), nb::arg("allowed").none(), nb::arg("seed"), nb::arg("iterations"),
          nb::arg("stopper"));
}

}  // namespace kempe
