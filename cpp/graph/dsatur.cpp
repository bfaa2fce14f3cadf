// Classic DSATUR: in saturation order, the lowest admissible colour.
#include "basics/arrays.h"
#include "basics/checks.h"
#include "graph/saturation.h"
#include "module.h"

namespace kempe {
namespace {

// Colours and the vertex at which the colouring got stuck (-1: none did). Vertices without an edge
// get colour 0.
nb::tuple dsatur(const StoredGraph& stored, int k) {
    check_n_clusters(k);
    const Graph graph = stored.view();
    std::vector<Colour> colours(graph.size, kUncoloured);
    const Vertex stuck = unlocked([&] {
        for (Vertex v = 0; v < graph.size; ++v)
            if (graph.degree(v) == 0) colours[v] = 0;
        return colour_by_saturation(graph, k, colours, [&](Vertex, auto&& admissible) {
            for (Colour c = 0; c < k; ++c)
                if (admissible(c)) return c;
            return kUncoloured;
        });
    });
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

}  // namespace

void bind_dsatur(nb::module_& m) {
    m.def("dsatur", &dsatur, nb::arg("graph"), nb::arg("n_clusters"));
}

}  // namespace kempe
