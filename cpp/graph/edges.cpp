// From pairs of rows to the cannot-link graph between supernodes. Linear in the number of pairs:
// millions of pairs are ordinary.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/types.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

struct EdgeLists {
    std::vector<std::int64_t> offsets;
    std::vector<Vertex> targets;
    std::int64_t contradiction = -1;  // position of a pair inside one supernode
};

// Sort and deduplicate each adjacency list in place, then close the gaps.
void make_unique(EdgeLists& graph) {
    std::int64_t kept = 0;
    std::int64_t begin = graph.offsets[0];
    for (std::size_t v = 0; v + 1 < graph.offsets.size(); ++v) {
        const auto first = graph.targets.begin() + begin;
        const auto last = graph.targets.begin() + graph.offsets[v + 1];
        begin = graph.offsets[v + 1];
        std::sort(first, last);
        const auto end = std::unique(first, last);
        const auto moved = std::move(first, end, graph.targets.begin() + kept);
        graph.offsets[v] = kept;
        kept = moved - graph.targets.begin();
    }
    graph.offsets.back() = kept;
    graph.targets.resize(kept);
    graph.targets.shrink_to_fit();
}

// Small graphs with very many pairs: one bit per vertex pair removes duplicates without sorting.
template <class I>
EdgeLists edges_by_bitmap(const Vertex* supernode, Vertex size, const I* pairs, std::size_t count) {
    EdgeLists graph;
    std::vector<bool> linked(static_cast<std::size_t>(size) * size);
    for (std::size_t p = 0; p < count; ++p) {
        const Vertex a = supernode[pairs[2 * p]], b = supernode[pairs[2 * p + 1]];
        if (a == b) {
            graph.contradiction = static_cast<std::int64_t>(p);
            return graph;
        }
        linked[static_cast<std::size_t>(a) * size + b] = true;
        linked[static_cast<std::size_t>(b) * size + a] = true;
    }
    graph.offsets.push_back(0);
    for (Vertex v = 0; v < size; ++v) {
        for (Vertex u = 0; u < size; ++u)
            if (linked[static_cast<std::size_t>(v) * size + u]) graph.targets.push_back(u);
        graph.offsets.push_back(static_cast<std::int64_t>(graph.targets.size()));
    }
    return graph;
}

template <class I>
EdgeLists edges_by_sorting(const Vertex* supernode, Vertex size, const I* pairs,
                           std::size_t count) {
    EdgeLists graph;
    graph.offsets.assign(static_cast<std::size_t>(size) + 1, 0);
    for (std::size_t p = 0; p < count; ++p) {
        const Vertex a = supernode[pairs[2 * p]], b = supernode[pairs[2 * p + 1]];
        if (a == b) {
            graph.contradiction = static_cast<std::int64_t>(p);
            return graph;
        }
        ++graph.offsets[a + 1];
        ++graph.offsets[b + 1];
    }
    std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
    graph.targets.resize(graph.offsets.back());
    std::vector<std::int64_t> cursor(graph.offsets.begin(), graph.offsets.end() - 1);
    for (std::size_t p = 0; p < count; ++p) {
        const Vertex a = supernode[pairs[2 * p]], b = supernode[pairs[2 * p + 1]];
        graph.targets[cursor[a]++] = b;
        graph.targets[cursor[b]++] = a;
    }
    make_unique(graph);
    return graph;
}

template <class I>
EdgeLists edges_between(const In1<Vertex>& supernode, Vertex size, const In2<I>& pairs) {
    check_vertices(supernode, size);
    check_pairs(pairs, supernode.shape(0));
    constexpr std::size_t bitmap_limit = std::size_t{1} << 28;  // 32 MiB of bits
    const std::size_t count = pairs.shape(0), bits = static_cast<std::size_t>(size) * size;
    if (bits <= bitmap_limit && bits <= 16 * count)
        return edges_by_bitmap(supernode.data(), size, pairs.data(), count);
    return edges_by_sorting(supernode.data(), size, pairs.data(), count);
}

// The graph, and the position of a pair inside one supernode or -1. With such a pair the graph has
// no edges.
template <class I>
nb::tuple cannot_link_graph(In1<Vertex> supernode, Vertex size, In2<I> cannot_link) {
    if (size < 0) throw std::invalid_argument("size must not be negative");
    EdgeLists edges = unlocked([&] { return edges_between(supernode, size, cannot_link); });
    if (edges.contradiction >= 0) {
        edges.offsets.assign(static_cast<std::size_t>(size) + 1, 0);
        edges.targets.clear();
    }
    auto graph = std::make_unique<StoredGraph>(std::move(edges.offsets), std::move(edges.targets),
                                               StoredGraph::Trusted());
    return nb::make_tuple(std::move(graph), edges.contradiction);
}

}  // namespace

void bind_edges(nb::module_& m) {
    m.def("cannot_link_graph", &cannot_link_graph<std::int32_t>, nb::arg("supernode"),
          nb::arg("size"), nb::arg("cannot_link").noconvert());
    m.def("cannot_link_graph", &cannot_link_graph<std::int64_t>, nb::arg("supernode"),
          nb::arg("size"), nb::arg("cannot_link").noconvert());
}

}  // namespace kempe
