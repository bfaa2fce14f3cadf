#include "kskm/costs.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

double CostTable::total(const std::vector<Colour>& colours) const {
    double total = 0.0;
    for (Vertex v = 0; v < static_cast<Vertex>(colours.size()); ++v) total += at(v, colours[v]);
    return total;
}

bool CostTable::have_fallen(const std::vector<Colour>& colours) {
    const double now = total(colours);
    return now < std::exchange(total_, now);
}

void CostTable::place(const double* centroids, const std::vector<Colour>& colours) {
    std::vector<Colour> all(k_);
    std::iota(all.begin(), all.end(), 0);
    move(centroids, all);
    total_ = total(colours);
}

void CostTable::move(const double* centroids, std::span<const Colour> clusters) {
    // With few features it pays to run over centroids in the inner loop, with many over features.
    with_points(*instance_, [&](const auto& points) {
        if (instance_->dimension > kInlineFeatures)
            costs_by_centroid(*instance_, points, centroids, k_, clusters, cost_);
        else
            costs_by_feature(*instance_, points, centroids, k_, clusters, cost_);
    });
}

Means CostTable::means(const std::vector<Colour>& colours) const {
    return cluster_means(*instance_, colours.data(), k_);
}

}  // namespace kempe
