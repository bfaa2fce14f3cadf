// From pairs of rows to supernodes and the cannot-link graph between them. Linear in the number of
// pairs: millions of pairs are ordinary.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "basics/arrays.h"
#include "module.h"
#include "problem/instance.h"

namespace kempe {
namespace {

class DisjointSets {
 public:
    explicit DisjointSets(std::size_t size) : parent_(size) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    Vertex find(Vertex x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    // The smaller root wins, so the root of a set is its first row.
    void unite(Vertex a, Vertex b) {
        a = find(a);
        b = find(b);
        if (a == b) return;
        if (b < a) std::swap(a, b);
        parent_[b] = a;
    }

 private:
    std::vector<Vertex> parent_;
};

// Supernode of every row, numbered by the first row of each.
template <class I>
std::pair<std::vector<Vertex>, Vertex> supernode_of_rows(std::size_t rows, const I* pairs,
                                                         std::size_t count) {
    DisjointSets sets(rows);
    for (std::size_t p = 0; p < count; ++p)
        sets.unite(static_cast<Vertex>(pairs[2 * p]), static_cast<Vertex>(pairs[2 * p + 1]));
    std::vector<Vertex> supernode(rows);
    Vertex next = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const Vertex root = sets.find(static_cast<Vertex>(r));
        supernode[r] = root == static_cast<Vertex>(r) ? next++ : supernode[root];
    }
    return {std::move(supernode), next};
}

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
void check_pairs(const In2<I>& pairs, std::size_t rows) {
    using Unsigned = std::make_unsigned_t<I>;  // in which negative numbers are the largest
    if (pairs.shape(1) != 2) throw std::invalid_argument("pairs must have two columns");
    Unsigned largest = 0;
    for (std::size_t i = 0; i < 2 * pairs.shape(0); ++i)
        largest = std::max(largest, static_cast<Unsigned>(pairs.data()[i]));
    if (pairs.shape(0) > 0 && largest >= rows)
        throw std::invalid_argument("a pair names a row that does not exist");
}

template <class I>
nb::tuple supernodes(std::size_t rows, In2<I> must_link) {
    check_pairs(must_link, rows);
    auto [supernode, count] = supernode_of_rows(rows, must_link.data(), must_link.shape(0));
    return nb::make_tuple(to_numpy(std::move(supernode)), count);
}

template <class I>
nb::tuple cannot_link_graph(In1<Vertex> supernode, Vertex size, In2<I> cannot_link) {
    check_pairs(cannot_link, supernode.shape(0));
    const std::size_t count = cannot_link.shape(0);
    constexpr std::size_t bitmap_limit = std::size_t{1} << 28;  // 32 MiB of bits
    const std::size_t bits = static_cast<std::size_t>(size) * size;
    EdgeLists graph;
    {
        nb::gil_scoped_release release;
        graph = bits <= bitmap_limit && bits <= 16 * count
                    ? edges_by_bitmap(supernode.data(), size, cannot_link.data(), count)
                    : edges_by_sorting(supernode.data(), size, cannot_link.data(), count);
    }
    return nb::make_tuple(to_numpy(std::move(graph.offsets)), to_numpy(std::move(graph.targets)),
                          graph.contradiction);
}

}  // namespace

void bind_supernodes(nb::module_& m) {
    m.def("supernodes", &supernodes<std::int32_t>, nb::arg("rows"),
          nb::arg("must_link").noconvert());
    m.def("supernodes", &supernodes<std::int64_t>, nb::arg("rows"),
          nb::arg("must_link").noconvert());
    m.def("cannot_link_graph", &cannot_link_graph<std::int32_t>, nb::arg("supernode"),
          nb::arg("size"), nb::arg("cannot_link").noconvert());
    m.def("cannot_link_graph", &cannot_link_graph<std::int64_t>, nb::arg("supernode"),
          nb::arg("size"), nb::arg("cannot_link").noconvert());
}

}  // namespace kempe
