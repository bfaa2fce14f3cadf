// Heuristics for the assignment with a given cost per vertex and cluster: a first colouring in
// saturation order, and descent by Kempe chains. An infinite cost forbids a cluster.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "basics/stopper.h"
#include "graph/graph_arguments.h"
#include "module.h"

namespace kempe {
namespace {

constexpr Colour kNone = -1;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class CheapestFirst {
 public:
    CheapestFirst(const GraphArgument& argument, const double* costs, int k)
        : graph_(argument.graph),
          size_(argument.size),
          k_(k),
          costs_(costs),
          colour_(size_, kNone),
          open_(size_),
          blocked_(static_cast<std::size_t>(size_) * k) {
        for (Vertex v = 0; v < size_; ++v) {
            int open = 0;
            for (Colour c = 0; c < k; ++c) {
                const bool forbidden = costs[at(v, c)] == kInfinity;
                blocked_[at(v, c)] = forbidden;
                open += !forbidden;
            }
            open_[v] = open;
            push(v);
        }
    }

    // Fewest clusters left first, then highest degree. False when a vertex has none left.
    bool run() {
        while (!queue_.empty()) {
            const auto [open, degree, v] = queue_.top();
            queue_.pop();
            if (colour_[v] != kNone || -open != open_[v]) continue;
            if (open_[v] == 0) return false;
            assign(v);
        }
        return true;
    }

    std::vector<Colour>&& colours() { return std::move(colour_); }

 private:
    std::size_t at(Vertex v, Colour c) const { return static_cast<std::size_t>(v) * k_ + c; }
    void push(Vertex v) { queue_.push({-open_[v], graph_.degree(v), v}); }

    void assign(Vertex v) {
        Colour best = kNone;
        for (Colour c = 0; c < k_; ++c)
            if (!blocked_[at(v, c)] && (best == kNone || costs_[at(v, c)] < costs_[at(v, best)]))
                best = c;
        colour_[v] = best;
        for (Vertex u : graph_.neighbours(v)) {
            if (colour_[u] != kNone || blocked_[at(u, best)]) continue;
            blocked_[at(u, best)] = 1;
            --open_[u];
            push(u);
        }
    }

    Graph graph_;
    int size_, k_;
    const double* costs_;
    std::vector<Colour> colour_;
    std::vector<int> open_;
    std::vector<std::uint8_t> blocked_;
    std::priority_queue<std::tuple<int, std::int64_t, Vertex>> queue_;
};

class ChainDescent {
 public:
    ChainDescent(const GraphArgument& argument, const double* costs, int k, const Colour* start)
        : graph_(argument.graph),
          size_(argument.size),
          k_(k),
          costs_(costs),
          colour_(start, start + size_),
          mark_(size_, 0) {}

    void run(Stopper& stopper) {
        for (Vertex v = 0, unchanged = 0; unchanged < size_; v = v + 1 == size_ ? 0 : v + 1) {
            unchanged = improve(v) ? 0 : unchanged + 1;
            if (stopper.should_stop()) return;
        }
    }

    std::vector<Colour>&& colours() { return std::move(colour_); }

 private:
    double cost(Vertex v, Colour c) const { return costs_[static_cast<std::size_t>(v) * k_ + c]; }

    // Swap the best improving chain that starts with moving v to a cheaper cluster.
    bool improve(Vertex v) {
        const double now = cost(v, colour_[v]);
        double best = -1e-12 * (1.0 + std::abs(now));
        Colour target = kNone;
        for (Colour c = 0; c < k_; ++c) {
            if (cost(v, c) >= now) continue;
            const double change = chain(v, c);
            if (change < best) {
                best = change;
                target = c;
            }
        }
        if (target == kNone) return false;
        const Colour old = colour_[v];
        chain(v, target);
        for (Vertex u : chain_) colour_[u] = colour_[u] == old ? target : old;
        return true;
    }

    // Collect the chain of v for its colour and c; the change of cost when it is swapped.
    double chain(Vertex v, Colour c) {
        const Colour old = colour_[v];
        chain_.assign(1, v);
        mark_[v] = ++stamp_;
        double change = 0.0;
        for (std::size_t head = 0; head < chain_.size(); ++head) {
            const Vertex w = chain_[head];
            const Colour mine = colour_[w], other = mine == old ? c : old;
            const double target = cost(w, other);
            if (target == kInfinity) return kInfinity;
            change += target - cost(w, mine);
            for (Vertex u : graph_.neighbours(w)) {
                if (colour_[u] != other || mark_[u] == stamp_) continue;
                mark_[u] = stamp_;
                chain_.push_back(u);
            }
        }
        return change;
    }

    Graph graph_;
    int size_, k_;
    const double* costs_;
    std::vector<Colour> colour_;
    std::vector<std::int64_t> mark_;
    std::vector<Vertex> chain_;
    std::int64_t stamp_ = 0;
};

nb::tuple cheapest_colouring(In1<std::int64_t> offsets, In1<Vertex> targets, In2<double> costs) {
    const GraphArgument graph = graph_argument(offsets, targets);
    check_shape(costs, graph.size);
    nb::gil_scoped_release release;
    CheapestFirst search(graph, costs.data(), static_cast<int>(costs.shape(1)));
    const bool complete = search.run();
    nb::gil_scoped_acquire acquire;
    return nb::make_tuple(to_numpy(search.colours()), complete);
}

Out1<Colour> chain_descent(In1<std::int64_t> offsets, In1<Vertex> targets, In2<double> costs,
                           In1<Colour> colours, Stopper& stopper) {
    const GraphArgument graph = graph_argument(offsets, targets);
    check_shape(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    nb::gil_scoped_release release;
    ChainDescent descent(graph, costs.data(), k, colours.data());
    descent.run(stopper);
    nb::gil_scoped_acquire acquire;
    return to_numpy(descent.colours());
}

}  // namespace

void bind_cost_assignment(nb::module_& m) {
    m.def("cheapest_colouring", &cheapest_colouring, nb::arg("offsets"), nb::arg("targets"),
          nb::arg("costs"));
    m.def("chain_descent", &chain_descent, nb::arg("offsets"), nb::arg("targets"), nb::arg("costs"),
          nb::arg("colours"), nb::arg("stopper"));
}

}  // namespace kempe
