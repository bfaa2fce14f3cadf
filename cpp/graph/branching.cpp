// Exact k-colouring by saturation-ordered branching (Brelaz 1979), and the reduction to the part of
// the graph that can be hard at all.
#include <algorithm>
#include <numeric>
#include <vector>

#include "basics/stopper.h"
#include "graph/graph_arguments.h"
#include "module.h"

namespace kempe {
namespace {

constexpr Colour kNone = -1;
enum class Answer : int { kStopped = -1, kNone = 0, kFound = 1 };

// Depth-first search. Colours are interchangeable, so a vertex may take only colours in use and one
// new one. A vertex without a colour left has the highest saturation and is chosen at once, which
// ends its branch.
class Branching {
 public:
    Branching(const GraphArgument& argument, int k)
        : graph_(argument.graph),
          size_(argument.size),
          k_(k),
          colour_(size_, kNone),
          count_(static_cast<std::size_t>(size_) * k, 0),
          saturation_(size_, 0),
          open_degree_(size_),
          touched_(size_, 0) {
        for (Vertex v = 0; v < size_; ++v) open_degree_[v] = static_cast<int>(graph_.degree(v));
    }

    Answer run(std::int64_t nodes, Stopper& stopper) {
        int coloured = 0;
        if (size_ == 0) return Answer::kFound;
        open();
        while (!stack_.empty()) {
            Frame& frame = stack_.back();
            if (frame.colour != kNone) {
                unassign(frame.vertex, frame.colour);
                --coloured;
            }
            frame.colour = next_colour(frame);
            if (frame.colour == kNone) {
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

    std::vector<Colour>&& colours() { return std::move(colour_); }
    // Vertices that the search has looked at: they alone have no colouring if it found none.
    std::vector<std::uint8_t>&& touched() { return std::move(touched_); }

 private:
    struct Frame {
        Vertex vertex;
        Colour colour;  // being tried
        Colour used;    // colours in use when the vertex was chosen
    };

    int& count(Vertex v, Colour c) { return count_[static_cast<std::size_t>(v) * k_ + c]; }

    void open() {
        Colour used = 0;
        if (!stack_.empty()) used = std::max(stack_.back().used, stack_.back().colour + 1);
        Vertex best = -1;
        for (Vertex v = 0; v < size_; ++v) {
            if (colour_[v] != kNone) continue;
            if (best < 0 || saturation_[v] > saturation_[best] ||
                (saturation_[v] == saturation_[best] && open_degree_[v] > open_degree_[best]))
                best = v;
        }
        touched_[best] = 1;
        stack_.push_back({best, kNone, used});
    }

    Colour next_colour(const Frame& frame) {
        const Colour limit = std::min(frame.used, k_ - 1);
        for (Colour c = frame.colour + 1; c <= limit; ++c)
            if (count(frame.vertex, c) == 0) return c;
        return kNone;
    }

    void assign(Vertex v, Colour c) {
        colour_[v] = c;
        for (Vertex u : graph_.neighbours(v)) {
            --open_degree_[u];
            if (count(u, c)++ == 0) ++saturation_[u];
        }
    }

    void unassign(Vertex v, Colour c) {
        colour_[v] = kNone;
        for (Vertex u : graph_.neighbours(v)) {
            ++open_degree_[u];
            if (--count(u, c) == 0) --saturation_[u];
        }
    }

    Graph graph_;
    int size_, k_;
    std::vector<Colour> colour_;
    std::vector<int> count_, saturation_, open_degree_;
    std::vector<std::uint8_t> touched_;
    std::vector<Frame> stack_;
};

nb::tuple colour_exactly(In1<std::int64_t> offsets, In1<Vertex> targets, int k, std::int64_t nodes,
                         Stopper& stopper) {
    const GraphArgument graph = graph_argument(offsets, targets);
    if (k < 1) throw std::invalid_argument("n_clusters must be positive");
    nb::gil_scoped_release release;
    Branching search(graph, k);
    const Answer answer = search.run(nodes, stopper);
    nb::gil_scoped_acquire acquire;
    return nb::make_tuple(static_cast<int>(answer), to_numpy(search.colours()),
                          to_numpy(search.touched()));
}

// Vertices with fewer than k neighbours can be coloured last. Returns them in the order of removal.
Out1<Vertex> peel(In1<std::int64_t> offsets, In1<Vertex> targets, int k) {
    const GraphArgument argument = graph_argument(offsets, targets);
    const Graph& graph = argument.graph;
    std::vector<Vertex> order;
    {
        nb::gil_scoped_release release;
        std::vector<std::int64_t> degree(argument.size);
        for (Vertex v = 0; v < argument.size; ++v)
            if ((degree[v] = graph.degree(v)) < k) order.push_back(v);
        for (std::size_t head = 0; head < order.size(); ++head)
            for (Vertex u : graph.neighbours(order[head]))
                if (degree[u]-- == k) order.push_back(u);
    }
    return to_numpy(std::move(order));
}

// Give the vertices of `order`, from the last to the first, the lowest colour that no neighbour
// has.
Out1<Colour> unpeel(In1<std::int64_t> offsets, In1<Vertex> targets, In1<Vertex> order,
                    In1<Colour> colours, int k) {
    const GraphArgument argument = graph_argument(offsets, targets);
    if (colours.shape(0) != static_cast<std::size_t>(argument.size))
        throw std::invalid_argument("colours must have one entry per vertex");
    std::vector<Colour> result(colours.data(), colours.data() + argument.size);
    std::vector<int> seen(static_cast<std::size_t>(k) + 1, -1);
    for (std::size_t i = order.shape(0); i-- > 0;) {
        const Vertex v = order.data()[i];
        for (Vertex u : argument.graph.neighbours(v))
            if (result[u] != kNone) seen[result[u]] = static_cast<int>(i);
        result[v] = 0;
        while (seen[result[v]] == static_cast<int>(i)) ++result[v];
    }
    return to_numpy(std::move(result));
}

}  // namespace

void bind_exact_colouring(nb::module_& m) {
    m.def("colour_exactly", &colour_exactly, nb::arg("offsets"), nb::arg("targets"),
          nb::arg("n_clusters"), nb::arg("nodes"), nb::arg("stopper"));
    m.def("peel", &peel, nb::arg("offsets"), nb::arg("targets"), nb::arg("n_clusters"));
    m.def("unpeel", &unpeel, nb::arg("offsets"), nb::arg("targets"), nb::arg("order"),
          nb::arg("colours"), nb::arg("n_clusters"));
}

}  // namespace kempe
