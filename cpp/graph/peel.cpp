// The part of a graph that is easy to colour: vertices with fewer than k neighbours come last.
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

std::vector<Vertex> peeling_order(const Graph& graph, int k) {
    std::vector<Vertex> order;
    std::vector<std::int64_t> degree(graph.size);
    for (Vertex v = 0; v < graph.size; ++v)
        if ((degree[v] = graph.degree(v)) < k) order.push_back(v);
    for (std::size_t head = 0; head < order.size(); ++head)
        for (Vertex u : graph.neighbours(order[head]))
            if (degree[u]-- == k) order.push_back(u);
    return order;
}

// Vertices with fewer than k neighbours can be coloured last. Returns them in the order of removal.
Out1<Vertex> peel(const StoredGraph& stored, int k) {
    const Graph graph = stored.view();
    return to_numpy(unlocked([&] { return peeling_order(graph, k); }));
}

// Give the vertices of `order`, from the last to the first, the lowest colour that no neighbour
// has.
void colour_backwards(const Graph& graph, const In1<Vertex>& order, int k,
                      std::vector<Colour>& colours) {
    std::vector<std::int64_t> seen(static_cast<std::size_t>(k), -1);
    for (auto i = static_cast<std::int64_t>(order.shape(0)); i-- > 0;) {
        const Vertex v = order.data()[i];
        for (Vertex u : graph.neighbours(v))
            if (colours[u] != kUncoloured) seen[colours[u]] = i;
        Colour lowest = 0;
        while (lowest < k && seen[lowest] == i) ++lowest;
        if (lowest == k) throw std::invalid_argument("order is not that of a peeling");
        colours[v] = lowest;
    }
}

void check_partial_colours(const In1<Colour>& colours, int size, int k) {
    check_one_per_vertex(colours.shape(0), size);
    for (int v = 0; v < size; ++v)
        if (colours.data()[v] < kUncoloured || colours.data()[v] >= k)
            throw std::invalid_argument("a colour is outside -1..n_clusters-1");
}

Out1<Colour> unpeel(const StoredGraph& stored, In1<Vertex> order, In1<Colour> colours, int k) {
    const Graph graph = stored.view();
    check_n_clusters(k);
    check_vertices(order, graph.size);
    check_partial_colours(colours, graph.size, k);
    std::vector<Colour> result(colours.data(), colours.data() + graph.size);
    unlocked([&] { colour_backwards(graph, order, k, result); });
    return to_numpy(std::move(result));
}

}  // namespace

void bind_peel(nb::module_& m) {
    m.def("peel", &peel, nb::arg("graph"), nb::arg("n_clusters"));
    m.def("unpeel", &unpeel, nb::arg("graph"), nb::arg("order"), nb::arg("colours"),
          nb::arg("n_clusters"));
}

}  // namespace kempe
