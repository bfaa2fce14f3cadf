// Quantities of a given clustering: cluster means, distances to centroids, inertia, and the random
// combinations of rows from which centroids are perturbed.
#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"
#include "problem/instance.h"

namespace kempe {
namespace {

nb::tuple cluster_means(const Instance& instance, In1<Colour> colours, int k) {
    check_colours(instance, colours, k);
    const int d = instance.dimension;
    std::vector<double> mean(static_cast<std::size_t>(k) * d, 0.0), weight(k, 0.0);
    {
        nb::gil_scoped_release release;
        with_points(instance, [&](const auto& points) {
            for (Vertex v = 0; v < instance.size; ++v) {
                const double w = instance.weight[v];
                double* sum = mean.data() + static_cast<std::size_t>(colours.data()[v]) * d;
                const auto* point = points[v];
                for (int f = 0; f < d; ++f) sum[f] += w * point[f];
                weight[colours.data()[v]] += w;
            }
        });
        for (int c = 0; c < k; ++c)
            if (weight[c] > 0)
                for (int f = 0; f < d; ++f) mean[static_cast<std::size_t>(c) * d + f] /= weight[c];
    }
    return nb::make_tuple(to_numpy(std::move(mean), k, d), to_numpy(std::move(weight)));
}

double between_inertia(const Instance& instance, In1<Colour> colours, In2<double> centroids) {
    check_centroids(instance, centroids);
    check_colours(instance, colours, static_cast<int>(centroids.shape(0)));
    double total = 0.0;
    nb::gil_scoped_release release;
    with_points(instance, [&](const auto& points) {
        for (Vertex v = 0; v < instance.size; ++v)
            total +=
                instance.weight[v] *
                squared_distance(points[v],
                                 centroids.data() + static_cast<std::size_t>(colours.data()[v]) *
                                                        instance.dimension,
                                 instance.dimension);
    });
    return total;
}

Out2<double> squared_distances(const Instance& instance, In1<Vertex> vertices,
                               In2<double> centroids) {
    check_centroids(instance, centroids);
    check_vertices(instance, vertices);
    const std::size_t m = vertices.shape(0), k = centroids.shape(0);
    std::vector<double> result(m * k);
    {
        nb::gil_scoped_release release;
        with_points(instance, [&](const auto& points) {
            for (std::size_t r = 0; r < m; ++r)
                for (std::size_t c = 0; c < k; ++c)
                    result[r * k + c] = squared_distance(points[vertices.data()[r]],
                                                         centroids.data() + c * instance.dimension,
                                                         instance.dimension);
        });
    }
    return to_numpy(std::move(result), m, k);
}

// For each cluster, sum over its rows of coefficient * (row - centroid of the cluster). With
// standard normal coefficients the result has the scatter matrix of the cluster as covariance, and
// no matrix of size d x d is ever formed.
template <class T>
Out2<double> combine_rows(In2<T> rows, In1<Colour> labels, In1<double> coefficients,
                          In2<double> centroids) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = centroids.shape(0);
    if (labels.shape(0) != n || coefficients.shape(0) != n || centroids.shape(1) != d)
        throw std::invalid_argument("rows, labels, coefficients and centroids disagree in shape");
    for (std::size_t r = 0; r < n; ++r)
        if (labels.data()[r] < 0 || static_cast<std::size_t>(labels.data()[r]) >= k)
            throw std::invalid_argument("a label is outside 0..n_clusters-1");
    std::vector<double> result(k * d, 0.0);
    {
        nb::gil_scoped_release release;
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t c = static_cast<std::size_t>(labels.data()[r]);
            const double a = coefficients.data()[r];
            const T* row = rows.data() + r * d;
            const double* centroid = centroids.data() + c * d;
            double* out = result.data() + c * d;
            for (std::size_t f = 0; f < d; ++f) out[f] += a * (row[f] - centroid[f]);
        }
    }
    return to_numpy(std::move(result), k, d);
}

// Weighted mean of one group of rows (plain if it has no weight), and the inertia inside it.
template <class T>
double merge_group(const In2<T>& rows, std::span<const std::int32_t> members, const double* weight,
                   std::vector<double>& sum, T* mean) {
    const std::size_t d = rows.shape(1);
    const auto row = [&](std::size_t i) {
        return rows.data() + static_cast<std::size_t>(members[i]) * d;
    };
    double total = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i) total += weight[i];
    const bool weightless = total <= 0;
    if (weightless) total = static_cast<double>(members.size());
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const double w = weightless ? 1.0 : weight[i];
        for (std::size_t f = 0; f < d; ++f) sum[f] += w * row(i)[f];
    }
    for (std::size_t f = 0; f < d; ++f) mean[f] = static_cast<T>(sum[f] / total);
    double within = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i) {
        double distance = 0.0;
        for (std::size_t f = 0; f < d; ++f) {
            const double difference = static_cast<double>(row(i)[f]) - mean[f];
            distance += difference * difference;
        }
        within += weight[i] * distance;
    }
    return within;
}

// Means of groups of rows and the inertia inside the groups. Members come group by group, so that
// one sum at a time is enough.
template <class T>
nb::tuple merge_rows(In2<T> rows, In1<std::int32_t> members, In1<std::int32_t> group,
                     In1<double> weight, std::size_t groups) {
    const std::size_t d = rows.shape(1), n = members.shape(0);
    if (group.shape(0) != n || weight.shape(0) != n)
        throw std::invalid_argument("members, group and weight disagree in length");
    std::vector<T> mean(groups * d);
    std::vector<double> sum(d);
    double within = 0.0;
    {
        nb::gil_scoped_release release;
        for (std::size_t begin = 0, end; begin < n; begin = end) {
            const std::int32_t g = group.data()[begin];
            for (end = begin; end < n && group.data()[end] == g;) ++end;
            within += merge_group(rows, {members.data() + begin, end - begin},
                                  weight.data() + begin, sum, mean.data() + g * d);
        }
    }
    return nb::make_tuple(to_numpy(std::move(mean), groups, d), within);
}

Out2<double> points_of(const Instance& instance, In1<Vertex> vertices) {
    check_vertices(instance, vertices);
    const std::size_t m = vertices.shape(0), d = instance.dimension;
    std::vector<double> result(m * d);
    {
        nb::gil_scoped_release release;
        with_points(instance, [&](const auto& points) {
            for (std::size_t r = 0; r < m; ++r)
                std::copy_n(points[vertices.data()[r]], d, result.data() + r * d);
        });
    }
    return to_numpy(std::move(result), m, d);
}

bool is_proper(const Instance& instance, In1<Colour> colours) {
    if (colours.shape(0) != static_cast<std::size_t>(instance.size))
        throw std::invalid_argument("colours must have one entry per supernode");
    nb::gil_scoped_release release;
    for (Vertex v : instance.constrained_vertices)
        for (Vertex u : instance.graph.neighbours(v))
            if (colours.data()[u] == colours.data()[v]) return false;
    return true;
}

}  // namespace

void bind_clusters(nb::module_& m) {
    m.def("cluster_means", &cluster_means, nb::arg("instance"), nb::arg("colours"),
          nb::arg("n_clusters"));
    m.def("between_inertia", &between_inertia, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"));
    m.def("squared_distances", &squared_distances, nb::arg("instance"), nb::arg("vertices"),
          nb::arg("centroids"));
    m.def("combine_rows", &combine_rows<float>, nb::arg("rows").noconvert(), nb::arg("labels"),
          nb::arg("coefficients"), nb::arg("centroids"));
    m.def("combine_rows", &combine_rows<double>, nb::arg("rows").noconvert(), nb::arg("labels"),
          nb::arg("coefficients"), nb::arg("centroids"));
    m.def("merge_rows", &merge_rows<float>, nb::arg("rows").noconvert(), nb::arg("members"),
          nb::arg("group"), nb::arg("weight"), nb::arg("groups"));
    m.def("merge_rows", &merge_rows<double>, nb::arg("rows").noconvert(), nb::arg("members"),
          nb::arg("group"), nb::arg("weight"), nb::arg("groups"));
    m.def("points", &points_of, nb::arg("instance"), nb::arg("vertices"));
    m.def("is_proper", &is_proper, nb::arg("instance"), nb::arg("colours"));
}

}  // namespace kempe
