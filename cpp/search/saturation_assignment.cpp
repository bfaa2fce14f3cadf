// Saturation-ordered assignment (Algorithm 5 of the paper): each vertex goes to the nearest
// centroid that no neighbour has taken.
#include <span>
#include <vector>

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

Colour any_colour(Vertex v, int k) {
    return static_cast<Colour>(v % k);
}

// Vertices that nothing keeps from their nearest centroid.
template <class Nearest, class Late>
void place_freely(const Nearest& nearest, std::span<const Vertex> vertices, Late&& late, int k,
                  std::vector<Colour>& colours) {
    nearest.for_each(vertices, [&](std::size_t i, auto&& nearest_of) {
        const Vertex v = vertices[i];
        colours[v] = late() ? any_colour(v, k) : nearest_of([](Colour) { return true; });
    });
}

// Colours and the vertex at which the assignment got stuck (-1: none did). There must be a first
// colouring however short the time, so when it is up the vertices that are left look at no
// distance any more.
//
// Blocks of large data measure their distances before anybody asks for one, so they look at the
// clock first. Small data is one block, whose vertices look now and then: few distances are better
// than none.
nb::tuple saturation_assignment(const Instance& instance, In2<double> array, Stopper* stopper) {
    const Centroids centroids(instance, array);
    const auto late = [&] {
        return stopper != nullptr && (stopper->stopped() || stopper->should_stop());
    };
    const auto late_for_block = [&] {
        return stopper != nullptr && instance.is_large() && stopper->look();
    };
    std::vector<Colour> colours(instance.size, kUncoloured);
    const Vertex stuck = unlocked([&] {
        return with_nearest(instance, centroids, [&](auto& nearest) {
            const auto place_block = [&](std::span<const Vertex> vertices) {
                if (!late_for_block())
                    return place_freely(nearest, vertices, late, centroids.count, colours);
                for (Vertex v : vertices) colours[v] = any_colour(v, centroids.count);
            };
            const std::span<const Vertex> free = instance.free_vertices;
            for_blocks(*instance.pool, instance.blocks(free.size()),
                       [&](std::size_t begin, std::size_t end, int) {
                           place_block(free.subspan(begin, end - begin));
                       });
            const std::span<const Vertex> constrained = instance.constrained_vertices;
            nearest.prepare(instance, constrained, late_for_block);
            const auto choose = [&](Vertex v, auto&& admissible) {
                if (late()) return first_colour(centroids.count, admissible);
                return nearest.of(v, admissible);
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
