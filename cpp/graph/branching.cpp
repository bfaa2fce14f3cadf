// Exact k-colouring by saturation-ordered branching (Brelaz 1979).
#include <algorithm>
#include <tuple>
#include <vector>

#include "basics/checks.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "graph/neighbour_counts.h"
#include "module.h"

namespace kempe {
namespace {

enum class Answer : int { kStopped = -1, kNone = 0, kFound = 1 };

// Depth-first search. Colours are interchangeable, so a vertex may take only colours in use and one
// new one. A vertex without a colour left has the highest saturation and is chosen at once, which
// ends its branch.
class ColouringBranching {
 public:
    ColouringBranching(const Graph& graph, int k)
        : size_(graph.size),
          k_(k),
          colour_(size_, kUncoloured),
          neighbours_(graph, EveryVertex(graph), k),
          saturation_(size_, 0),
          open_degree_(size_),
          touched_(size_, 0) {
        for (Vertex v = 0; v < size_; ++v) open_degree_[v] = static_cast<int>(graph.degree(v));
    }

    Answer run(std::int64_t nodes, Stopper& stopper) {
        int coloured = 0;
        if (size_ == 0) return Answer::kFound;
        open();
        while (!stack_.empty()) {
            Frame& frame = stack_.back();
            if (frame.colour != kUncoloured) {
                unassign(frame.vertex, frame.colour);
                --coloured;
            }
            frame.colour = next_colour(frame);
            if (frame.colour == kUncoloured) {
                stack_.pop_back();
                continue;
            }
            assign(frame.vertex, frame.colour);
            if (++coloured == size_) return Answer::kFound;
            if (--nodes < 0 || stopper.should_stop()) return Answer::kStopped;
            open();
        }
        return Answer::kNone;
    }

    const std::vector<Colour>& colours() const { return colour_; }
    // Vertices that the search has looked at: they alone have no colouring if it found none.
    const std::vector<std::uint8_t>& touched() const { return touched_; }

 private:
    struct Frame {
        Vertex vertex;
        Colour colour;  // being tried
        Colour used;    // colours in use when the vertex was chosen
    };

    void open() {
        Colour used = 0;
        if (!stack_.empty()) used = std::max(stack_.back().used, stack_.back().colour + 1);
        Vertex best = -1;
        for (Vertex v = 0; v < size_; ++v) {
            if (colour_[v] != kUncoloured) continue;
            if (best < 0 || saturation_[v] > saturation_[best] ||
                (saturation_[v] == saturation_[best] && open_degree_[v] > open_degree_[best]))
                best = v;
        }
        touched_[best] = 1;
        stack_.push_back({best, kUncoloured, used});
    }

    Colour next_colour(const Frame& frame) {
        const Colour limit = std::min(frame.used, k_ - 1);
        for (Colour c = frame.colour + 1; c <= limit; ++c)
            if (neighbours_[frame.vertex][c] == 0) return c;
        return kUncoloured;
    }

    void assign(Vertex v, Colour c) {
        colour_[v] = c;
        neighbours_.add(v, c, [&](Vertex u, int count) {
            --open_degree_[u];
            if (count == 1) ++saturation_[u];
        });
    }

    void unassign(Vertex v, Colour c) {
        colour_[v] = kUncoloured;
        neighbours_.remove(v, c, [&](Vertex u, int count) {
            ++open_degree_[u];
            if (count == 0) --saturation_[u];
        });
    }

    int size_, k_;
    std::vector<Colour> colour_;
    NeighbourCounts<EveryVertex> neighbours_;
    std::vector<int> saturation_, open_degree_;
    std::vector<std::uint8_t> touched_;
    std::vector<Frame> stack_;
};

nb::tuple colour_exactly(const StoredGraph& stored, int k, std::int64_t nodes, Stopper& stopper) {
    const Graph graph = stored.view();
    check_n_clusters(k);
    if (nodes < 0) throw std::invalid_argument("nodes must not be negative");
    auto [answer, colours, touched] = unlocked([&] {
        ColouringBranching search(graph, k);
        const Answer found = search.run(nodes, stopper);
        return std::tuple(found, search.colours(), search.touched());
    });
    return nb::make_tuple(static_cast<int>(answer), to_numpy(std::move(colours)),
                          to_numpy(std::move(touched)));
}

}  // namespace

void bind_branching(nb::module_& m) {
    m.def("colour_exactly", &colour_exactly, nb::arg("graph"), nb::arg("n_clusters"),
          nb::arg("nodes"), nb::arg("stopper"));
}

}  // namespace kempe
