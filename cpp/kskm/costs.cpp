#include "kskm/costs.h"

#include <algorithm>
#include <numeric>

#include "basics/distances.h"

namespace kempe {

namespace {

// Bytes of points that are looked at together.
constexpr int kCached = 1 << 17;

template <class T>
void costs_by_centroid(const Instance& instance, const Points<T>& points, const double* centroids,
                       int k, std::span<const Colour> columns, std::vector<double>& cost) {
    const int d = instance.dimension;
    // A centroid serves several vertices while it is in the cache.
    const Vertex together = std::max(1, kCached / (d * static_cast<int>(sizeof(T))));
    for (Vertex begin = 0; begin < instance.size; begin += together) {
        const Vertex end = std::min(instance.size, begin + together);
        for (Colour c : columns) {
            const double* centroid = centroids + static_cast<std::size_t>(c) * d;
            for (Vertex v = begin; v < end; ++v)
                cost[static_cast<std::size_t>(v) * k + c] =
                    instance.weight[v] * squared_distance(points[v], centroid, d);
        }
    }
}

template <class T>
void costs_by_feature(const Instance& instance, const Points<T>& points, const double* centroids,
                      int k, std::span<const Colour> columns, std::vector<double>& cost) {
    const int d = instance.dimension;
    const std::size_t width = columns.size();
    std::vector<double> by_feature(width * d), distance(width), point(d);
    for (std::size_t j = 0; j < width; ++j)
        for (int f = 0; f < d; ++f)
            by_feature[f * width + j] = centroids[static_cast<std::size_t>(columns[j]) * d + f];
    for (Vertex v = 0; v < instance.size; ++v) {
        std::copy_n(points[v], d, point.data());
        distances_by_feature(point.data(), by_feature.data(), static_cast<int>(width), d,
                             distance.data());
        double* out = cost.data() + static_cast<std::size_t>(v) * k;
        for (std::size_t j = 0; j < width; ++j) out[columns[j]] = instance.weight[v] * distance[j];
    }
}

}  // namespace

void update_costs(const Instance& instance, const double* centroids, int k,
                  std::span<const Colour> columns, std::vector<double>& cost) {
    // With few features it pays to run over centroids in the inner loop, with many over features.
    with_points(instance, [&](const auto& points) {
        if (instance.dimension > kInlineFeatures)
            costs_by_centroid(instance, points, centroids, k, columns, cost);
        else
            costs_by_feature(instance, points, centroids, k, columns, cost);
    });
}

void compute_costs(const Instance& instance, const double* centroids, int k,
                   std::vector<double>& cost) {
    std::vector<Colour> all(k);
    std::iota(all.begin(), all.end(), 0);
    update_costs(instance, centroids, k, all, cost);
}

}  // namespace kempe
