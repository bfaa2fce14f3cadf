// Whether a colouring is proper.
#include "basics/arrays.h"
#include "basics/checks.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

bool is_proper(const StoredGraph& stored, In1<Colour> colours) {
    const Graph graph = stored.view();
    check_one_per_vertex(colours.shape(0), graph.size);
    return unlocked([&] {
        for (Vertex v = 0; v < graph.size; ++v)
            for (Vertex u : graph.neighbours(v))
                if (colours.data()[u] == colours.data()[v]) return false;
        return true;
    });
}

}  // namespace

void bind_proper(nb::module_& m) {
    m.def("is_proper", &is_proper, nb::arg("graph"), nb::arg("colours"));
}

}  // namespace kempe
