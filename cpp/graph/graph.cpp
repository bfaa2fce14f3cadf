#include "graph/graph.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"

namespace kempe {

namespace {

// Rows of targets that are vertices themselves, and none that leads back to its own row.
void check_adjacency(std::span<const std::int64_t> offsets, std::span<const Vertex> targets) {
    check_offsets(offsets, targets.size());
    if (offsets.size() - 1 > static_cast<std::size_t>(std::numeric_limits<Vertex>::max()))
        throw std::invalid_argument("a graph has fewer than 2^31 vertices");
    const auto size = static_cast<Vertex>(offsets.size() - 1);
    for (Vertex v = 0; v < size; ++v)
        for (std::int64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
            if (targets[e] < 0 || targets[e] >= size)
                throw std::invalid_argument("a target is out of range");
            if (targets[e] == v) throw std::invalid_argument("a vertex is its own neighbour");
        }
}

void check_ascending(std::span<const std::int64_t> offsets, std::span<const Vertex> targets) {
    for (std::size_t v = 0; v + 1 < offsets.size(); ++v)
        for (std::int64_t e = offsets[v] + 1; e < offsets[v + 1]; ++e)
            if (targets[e - 1] >= targets[e])
                throw std::invalid_argument("targets must ascend within each row");
}

// Rows ascend: where all edges of lower vertices were in both of their rows, the next entry of a
// neighbour's row is the vertex itself.
void check_symmetric(std::span<const std::int64_t> offsets, std::span<const Vertex> targets) {
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t v = 0; v + 1 < offsets.size(); ++v)
        for (std::int64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
            const Vertex u = targets[e];
            if (next[u] == offsets[u + 1] || targets[next[u]++] != static_cast<Vertex>(v))
                throw std::invalid_argument("every edge must be in the rows of both its ends");
        }
}

}  // namespace

void check_graph(std::span<const std::int64_t> offsets, std::span<const Vertex> targets) {
    check_adjacency(offsets, targets);
    check_ascending(offsets, targets);
    check_symmetric(offsets, targets);
}

void check_unsorted_graph(std::span<const std::int64_t> offsets, std::span<const Vertex> targets) {
    check_adjacency(offsets, targets);
    std::vector<Vertex> sorted(targets.begin(), targets.end());
    for (std::size_t v = 0; v + 1 < offsets.size(); ++v)
        std::sort(sorted.begin() + offsets[v], sorted.begin() + offsets[v + 1]);
    check_graph(offsets, sorted);
}

namespace {

template <class T>
using View1 = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

template <class T>
std::vector<T> copied(const In1<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// The arrays are copied: what was checked must not change any more.
void construct(StoredGraph* self, In1<std::int64_t> offsets, In1<Vertex> targets) {
    unlocked([&] { new (self) StoredGraph(copied(offsets), copied(targets)); });
}

// An array that NumPy can read but not write, and that keeps the graph alive.
template <class T>
View1<T> view_of(std::span<const T> values, const StoredGraph& graph) {
    return View1<T>(values.data(), {values.size()}, nb::find(graph));
}

}  // namespace

void bind_graph(nb::module_& m) {
    nb::class_<StoredGraph>(m, "Graph")
        .def("__init__", &construct, nb::arg("offsets"), nb::arg("targets"))
        .def_prop_ro("size", &StoredGraph::size)
        .def_prop_ro("offsets",
                     [](const StoredGraph& graph) { return view_of(graph.offsets(), graph); })
        .def_prop_ro("targets",
                     [](const StoredGraph& graph) { return view_of(graph.targets(), graph); });
}

}  // namespace kempe
