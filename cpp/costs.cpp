#include "costs.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "bindings.h"
#include "checks.h"

namespace kempe {

void update_costs(const Instance& instance, const double* centroids, int k,
                  std::span<const Colour> columns, std::vector<double>& cost) {
    const int d = instance.dimension;
    const std::size_t width = columns.size();
    // One row per feature, so that the inner loop runs over centroids and vectorises.
    std::vector<double> transposed(width * d), total(width);
    for (std::size_t j = 0; j < width; ++j)
        for (int f = 0; f < d; ++f)
            transposed[f * width + j] = centroids[static_cast<std::size_t>(columns[j]) * d + f];
    with_points(instance, [&](const auto& points) {
        for (Vertex v = 0; v < instance.size; ++v) {
            std::fill(total.begin(), total.end(), 0.0);
            const auto* point = points[v];
            for (int f = 0; f < d; ++f) {
                const double x = point[f];
                const double* row = transposed.data() + f * width;
                for (std::size_t j = 0; j < width; ++j) total[j] += (x - row[j]) * (x - row[j]);
            }
            double* out = cost.data() + static_cast<std::size_t>(v) * k;
            for (std::size_t j = 0; j < width; ++j) out[columns[j]] = instance.weight[v] * total[j];
        }
    });
}

namespace {

template <class T>
double cost_of(const Instance& instance, const Points<T>& points, Vertex v, const double* centroids,
               Colour c) {
    const double* centroid = centroids + static_cast<std::size_t>(c) * instance.dimension;
    return instance.weight[v] * squared_distance(points[v], centroid, instance.dimension);
}

Out1<double> own_costs(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    check_centroids(instance, centroids);
    check_colours(instance, colours, static_cast<int>(centroids.shape(0)));
    std::vector<double> cost(instance.size);
    {
        nb::gil_scoped_release release;
        with_points(instance, [&](const auto& points) {
            for (Vertex v = 0; v < instance.size; ++v)
                cost[v] = cost_of(instance, points, v, centroids.data(), colours.data()[v]);
        });
    }
    return to_numpy(std::move(cost));
}

Out1<Colour> assign_free(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    const int k = static_cast<int>(centroids.shape(0));
    check_centroids(instance, centroids);
    check_colours(instance, colours, k);
    std::vector<Colour> result(colours.data(), colours.data() + instance.size);
    {
        nb::gil_scoped_release release;
        with_points(instance, [&](const auto& points) {
            for (Vertex v : instance.free_vertices) {
                const double own = cost_of(instance, points, v, centroids.data(), result[v]);
                double lowest = own;
                for (Colour c = 0; c < k; ++c) {
                    const double cost = cost_of(instance, points, v, centroids.data(), c);
                    if (cost < lowest && improves(own, cost)) {
                        lowest = cost;
                        result[v] = c;
                    }
                }
            }
        });
    }
    return to_numpy(std::move(result));
}

}  // namespace

void bind_costs(nb::module_& m) {
    m.def("own_costs", &own_costs, nb::arg("instance"), nb::arg("colours"), nb::arg("centroids"));
    m.def("assign_free", &assign_free, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"));
}

}  // namespace kempe
