// Heuristics for the assignment with a given cost per vertex and cluster: a first colouring in
// saturation order, and descent by Kempe chains. An infinite cost forbids a cluster.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "basics/checks.h"
#include "basics/improvement.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "graph/kempe_chain.h"
#include "module.h"

namespace kempe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Saturation order once more, but by the clusters that are left to a vertex: forbidden ones count
// from the beginning, so vertices do not start level as they do in SaturationQueue.
class CheapestFirst {
 public:
    CheapestFirst(const Graph& graph, const double* costs, int k)
        : graph_(graph),
          k_(k),
          costs_(costs),
          colour_(graph.size, kUncoloured),
          open_(graph.size),
          blocked_(static_cast<std::size_t>(graph.size) * k) {
        for (Vertex v = 0; v < graph.size; ++v) {
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
            if (colour_[v] != kUncoloured || -open != open_[v]) continue;
            if (open_[v] == 0) return false;
            assign(v);
        }
        return true;
    }

    const std::vector<Colour>& colours() const { return colour_; }

 private:
    std::size_t at(Vertex v, Colour c) const { return static_cast<std::size_t>(v) * k_ + c; }
    void push(Vertex v) { queue_.push({-open_[v], graph_.degree(v), v}); }

    void assign(Vertex v) {
        Colour best = kUncoloured;
        for (Colour c = 0; c < k_; ++c)
            if (!blocked_[at(v, c)] &&
                (best == kUncoloured || costs_[at(v, c)] < costs_[at(v, best)]))
                best = c;
        colour_[v] = best;
        for (Vertex u : graph_.neighbours(v)) {
            if (colour_[u] != kUncoloured || blocked_[at(u, best)]) continue;
            blocked_[at(u, best)] = 1;
            --open_[u];
            push(u);
        }
    }

    const Graph graph_;
    int k_;
    const double* costs_;
    std::vector<Colour> colour_;
    std::vector<int> open_;
    std::vector<std::uint8_t> blocked_;
    std::priority_queue<std::tuple<int, std::int64_t, Vertex>> queue_;
};

// One chain after the other at given costs. The sequential descent differs in that its costs move
// with the centroids, and that it keeps clusters from emptying; the simultaneous assignment in that
// it wants all chains at once.
class ChainDescent {
 public:
    ChainDescent(const Graph& graph, const double* costs, int k, const Colour* start)
        : size_(graph.size),
          k_(k),
          costs_(costs),
          colour_(start, start + graph.size),
          neighbours_(graph, EveryVertex(graph), k, start),
          chain_(graph.size) {}

    // Ends when no vertex of a whole round improves. Costs stand still, and a swap has fewer
    // vertices in forbidden clusters or lowers the exact sum of costs, so no colouring comes twice.
    void run(Stopper& stopper) {
        for (Vertex v = 0, unchanged = 0; unchanged < size_; v = v + 1 == size_ ? 0 : v + 1) {
            unchanged = improve(v) ? 0 : unchanged + 1;
            if (stopper.should_stop()) return;
        }
    }

    const std::vector<Colour>& colours() const { return colour_; }

 private:
    double cost(Vertex v, Colour c) const { return costs_[static_cast<std::size_t>(v) * k_ + c]; }

    // Swap the best improving chain that starts with moving v to a cheaper cluster.
    bool improve(Vertex v) {
        const double now = cost(v, colour_[v]);
        double best = 0.0;
        Colour target = kUncoloured;
        for (Colour c = 0; c < k_; ++c) {
            if (cost(v, c) >= now) continue;
            const double change = collect(v, c);
            if (change < best) {
                best = change;
                target = c;
            }
        }
        if (target == kUncoloured) return false;
        collect(v, target);
        swap(colour_[v], target);
        return true;
    }

    // Collect the chain of v for its colour and c; the change of cost when it is swapped, or
    // infinity if that does not improve beyond rounding.
    double collect(Vertex v, Colour c) {
        double change = 0.0, turnover = 0.0;
        bool freed = false;  // a vertex leaves a cluster that is forbidden to it
        const bool allowed =
            chain_.collect(neighbours_, colour_.data(), v, c, [&](Vertex u, Colour wanted) {
                const double own = cost(u, colour_[u]), target = cost(u, wanted);
                freed |= own == kInfinity;
                change += target - own;
                turnover += std::abs(target) + std::abs(own);
                return target < kInfinity;
            });
        if (allowed && freed) return -kInfinity;
        return allowed && change < -kSumRounding * turnover ? change : kInfinity;
    }

    void swap(Colour a, Colour b) {
        for (Vertex u : chain_.vertices()) {
            const Colour old = colour_[u];
            colour_[u] = old == a ? b : a;
            neighbours_.recolour(u, old, colour_[u]);
        }
    }

    int size_, k_;
    const double* costs_;
    std::vector<Colour> colour_;
    NeighbourCounts<EveryVertex> neighbours_;
    KempeChain chain_;
};

nb::tuple cheapest_colouring(const StoredGraph& stored, In2<double> costs) {
    const Graph graph = stored.view();
    check_costs(costs, graph.size);
    auto [colours, complete] = unlocked([&] {
        CheapestFirst search(graph, costs.data(), static_cast<int>(costs.shape(1)));
        const bool all = search.run();
        return std::pair(search.colours(), all);
    });
    return nb::make_tuple(to_numpy(std::move(colours)), complete);
}

Out1<Colour> chain_descent(const StoredGraph& stored, In2<double> costs, In1<Colour> colours,
                           Stopper& stopper) {
    const Graph graph = stored.view();
    check_costs(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    return to_numpy(unlocked([&] {
        ChainDescent descent(graph, costs.data(), k, colours.data());
        descent.run(stopper);
        return descent.colours();
    }));
}

}  // namespace

void bind_cost_assignment(nb::module_& m) {
    m.def("cheapest_colouring", &cheapest_colouring, nb::arg("graph"), nb::arg("costs"));
    m.def("chain_descent", &chain_descent, nb::arg("graph"), nb::arg("costs"), nb::arg("colours"),
          nb::arg("stopper"));
}

}  // namespace kempe
