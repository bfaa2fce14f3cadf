// Saturation-ordered assignment (Algorithm 5 of the paper): each vertex goes to the nearest
// centroid that no neighbour has taken.
#include "basics/arrays.h"
#include "graph/saturation.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/nearest.h"

namespace kempe {
namespace {

// Colours and the vertex at which the assignment got stuck (-1: none did).
nb::tuple saturation_assignment(const Instance& instance, In2<double> array) {
    const Centroids centroids(instance, array);
    std::vector<Colour> colours(instance.size, kUncoloured);
    const Vertex stuck = unlocked([&] {
        return with_distances(instance, [&](const auto& points, auto distance) {
            const auto& free = instance.free_vertices;
            for_blocks(*instance.pool, instance.blocks(free.size()),
                       [&](std::size_t begin, std::size_t end, int) {
                           for (std::size_t i = begin; i < end; ++i)
                               colours[free[i]] =
                                   nearest_colour(points[free[i]], centroids, distance);
                       });
            const auto choose = [&](Vertex v, auto&& admissible) {
                return nearest_colour(points[v], centroids, distance, admissible);
            };
            return colour_by_saturation(instance.graph, centroids.count, colours, choose);
        });
    });
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

}  // namespace

void bind_saturation_assignment(nb::module_& m) {
    m.def("saturation_assignment", &saturation_assignment, nb::arg("instance"),
          nb::arg("centroids"));
}

}  // namespace kempe
