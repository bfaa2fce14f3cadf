// Distances of many vertices to all centroids, a few vertices at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "problem/instance.h"

namespace kempe {

// Centroids in the precision of the data, laid out for tiled_distances.
template <class T>
class CentroidTiles {
 public:
    CentroidTiles(int k, int d) : k_(k), d_(d), by_feature_(std::size_t(padded(k)) * d) {}

    void place(Colour c, const double* position) {
        for (int f = 0; f < d_; ++f)
            by_feature_[std::size_t(f) * padded(k_) + c] = static_cast<T>(position[f]);
    }
    void place_all(const double* centroids) {
        for (Colour c = 0; c < k_; ++c) place(c, centroids + std::size_t(c) * d_);
    }

    // How far each is from the centroid it was made of.
    std::vector<double> rounding(const double* centroids) const {
        std::vector<double> apart(k_);
        for (Colour c = 0; c < k_; ++c) {
            double squared = 0.0;
            for (int f = 0; f < d_; ++f) {
                const double difference = by_feature_[std::size_t(f) * padded(k_) + c] -
                                          centroids[std::size_t(c) * d_ + f];
                squared += difference * difference;
            }
            apart[c] = std::sqrt(squared) * (1 + kLengthRounding);
        }
        return apart;
    }

    // Calls use(i, squared) for each of the vertices with its squared distances to all centroids.
    template <class Use>
    void measure(const Points<T>& points, std::span<const Vertex> vertices, Use&& use) const {
        std::vector<T> squared(std::size_t(kTilePoints) * padded(k_));
        for (std::size_t first = 0; first < vertices.size(); first += kTilePoints) {
            // Where too few are left, the last is measured several times.
            const T* group[kTilePoints];
            for (std::size_t i = 0; i < kTilePoints; ++i)
                group[i] = points[vertices[std::min(first + i, vertices.size() - 1)]];
            tiled_distances(group, by_feature_.data(), k_, d_, squared.data());
            for (std::size_t i = 0; i < kTilePoints && first + i < vertices.size(); ++i)
                use(first + i, squared.data() + i * padded(k_));
        }
    }

 private:
    const int k_, d_;
    std::vector<T> by_feature_;
};

}  // namespace kempe
