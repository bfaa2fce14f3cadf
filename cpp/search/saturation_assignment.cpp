// Saturation-ordered assignment (Algorithm 5 of the paper): each vertex goes to the nearest
// centroid that no neighbour has taken.
#include "basics/arrays.h"
#include "basics/stopper.h"
#include "graph/saturation.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/nearest.h"

namespace kempe {
namespace {

// The first admissible colour, kUncoloured if there is none.
template <class Admissible>
Colour first_colour(int k, Admissible&& admissible) {
    for (Colour c = 0; c < k; ++c)
        if (admissible(c)) return c;
    return kUncoloured;
}

// Colours and the vertex at which the assignment got stuck (-1: none did). There must be a first
// colouring however short the time, so when it is up the vertices that are left look at no
// distance any more.
nb::tuple saturation_assignment(const Instance& instance, In2<double> array, Stopper* stopper) {
    const Centroids centroids(instance, array);
    const auto late = [&] { return stopper != nullptr && stopper->should_stop(); };
    std::vector<Colour> colours(instance.size, kUncoloured);
    const Vertex stuck = unlocked([&] {
        return with_distances(instance, [&](const auto& points, auto distance) {
            const auto& free = instance.free_vertices;
            for_blocks(*instance.pool, instance.blocks(free.size()),
                       [&](std::size_t begin, std::size_t end, int) {
                           for (std::size_t i = begin; i < end; ++i)
                               colours[free[i]] =
                                   late() ? static_cast<Colour>(i % centroids.count)
                                          : nearest_colour(points[free[i]], centroids, distance);
                       });
            const auto choose = [&](Vertex v, auto&& admissible) {
                if (late()) return first_colour(centroids.count, admissible);
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
          nb::arg("centroids"), nb::arg("stopper").none() = nb::none());
}

}  // namespace kempe
