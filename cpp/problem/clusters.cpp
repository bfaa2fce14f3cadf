// Quantities of a given clustering: cluster means, distances to centroids, costs, inertia.
#include <algorithm>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/means.h"

namespace kempe {
namespace {

nb::tuple means(const Instance& instance, In1<Colour> colours, int k) {
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    Means found = unlocked([&] { return cluster_means(instance, colours.data(), k); });
    return nb::make_tuple(to_numpy(std::move(found.mean), k, instance.dimension),
                          to_numpy(std::move(found.weight)));
}

// Call `use` with every supernode and its weighted squared distance to the centroid of its cluster;
// the sum of what it returns.
template <class Use>
double sum_own_costs(const Instance& instance, const Colour* colours, const double* centroids,
                     Use&& use) {
    const int d = instance.dimension;
    return with_points(instance, [&](const auto& points) {
        const auto add_block = [&](std::size_t begin, std::size_t end) {
            double total = 0.0;
            for (std::size_t v = begin; v < end; ++v) {
                const double* centroid = centroids + static_cast<std::size_t>(colours[v]) * d;
                total += use(v, instance.weight[v] *
                                    squared_distance(points[static_cast<Vertex>(v)], centroid, d));
            }
            return total;
        };
        return sum_blocks(*instance.pool, instance.blocks(instance.size), add_block);
    });
}

double between_inertia(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    check_centroids(centroids, instance.dimension);
    check_colours(colours, instance.size, static_cast<int>(centroids.shape(0)));
    return unlocked([&] {
        return sum_own_costs(instance, colours.data(), centroids.data(),
                             [](std::size_t, double cost) { return cost; });
    });
}

Out1<double> own_costs(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    check_centroids(centroids, instance.dimension);
    check_colours(colours, instance.size, static_cast<int>(centroids.shape(0)));
    std::vector<double> costs(instance.size);
    unlocked([&] {
        sum_own_costs(instance, colours.data(), centroids.data(),
                      [&](std::size_t v, double cost) { return costs[v] = cost; });
    });
    return to_numpy(std::move(costs));
}

Out2<double> squared_distances(const Instance& instance, In1<Vertex> vertices,
                               In2<double> centroids) {
    check_centroids(centroids, instance.dimension);
    check_vertices(vertices, instance.size);
    const std::size_t m = vertices.shape(0), k = centroids.shape(0);
    const int d = instance.dimension;
    std::vector<double> result(m * k);
    unlocked([&] {
        with_points(instance, [&](const auto& points) {
            for (std::size_t r = 0; r < m; ++r)
                for (std::size_t c = 0; c < k; ++c)
                    result[r * k + c] =
                        squared_distance(points[vertices.data()[r]], centroids.data() + c * d, d);
        });
    });
    return to_numpy(std::move(result), m, k);
}

Out2<double> points_of(const Instance& instance, In1<Vertex> vertices) {
    check_vertices(vertices, instance.size);
    const std::size_t m = vertices.shape(0), d = instance.dimension;
    std::vector<double> result(m * d);
    unlocked([&] {
        with_points(instance, [&](const auto& points) {
            for (std::size_t r = 0; r < m; ++r)
                std::copy_n(points[vertices.data()[r]], d, result.data() + r * d);
        });
    });
    return to_numpy(std::move(result), m, d);
}

}  // namespace

void bind_clusters(nb::module_& m) {
    m.def("cluster_means", &means, nb::arg("instance"), nb::arg("colours"), nb::arg("n_clusters"));
    m.def("between_inertia", &between_inertia, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"));
    m.def("own_costs", &own_costs, nb::arg("instance"), nb::arg("colours"), nb::arg("centroids"));
    m.def("squared_distances", &squared_distances, nb::arg("instance"), nb::arg("vertices"),
          nb::arg("centroids"));
    m.def("points", &points_of, nb::arg("instance"), nb::arg("vertices"));
}

}  // namespace kempe
