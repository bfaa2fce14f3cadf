// The vertices of a graph in breadth-first order.
#include <vector>

#include "basics/arrays.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

// Vertices with an edge component by component, each breadth first from its lowest vertex, then
// those without.
std::vector<Vertex> order_of(const Graph& graph) {
    std::vector<Vertex> order;
    order.reserve(graph.size);
    std::vector<char> seen(graph.size, 0);
    const auto visit = [&](Vertex v) {
        if (seen[v]) return;
        seen[v] = 1;
        order.push_back(v);
    };
    std::size_t head = 0;
    for (Vertex root = 0; root < graph.size; ++root) {
        if (graph.degree(root) == 0) continue;
        visit(root);
        for (; head < order.size(); ++head)
            for (Vertex u : graph.neighbours(order[head])) visit(u);
    }
    for (Vertex v = 0; v < graph.size; ++v) visit(v);
    return order;
}

Out1<Vertex> breadth_first_order(const StoredGraph& graph) {
    return to_numpy(unlocked([&] { return order_of(graph.view()); }));
}

}  // namespace

void bind_breadth_first(nb::module_& m) {
    m.def("breadth_first_order", &breadth_first_order, nb::arg("graph"));
}

}  // namespace kempe
