// Distances of many vertices to all centroids, a few vertices at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
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
    T coordinate(Colour c, int f) const { return by_feature_[std::size_t(f) * padded(k_) + c]; }
    void place_all(const double* centroids) {
        for (Colour c = 0; c < k_; ++c) place(c, centroids + std::size_t(c) * d_);
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

// What a squared distance from tiles says about the true distance.
template <class T>
class TileBounds {
 public:
    TileBounds(const CentroidTiles<T>& tiles, const double* centroids, int k, int d)
        : error_(distance_error<T>(d)),
          least_(d * kAboveUnderflow * std::numeric_limits<T>::min()),
          rounding_(k) {
        for (Colour c = 0; c < k; ++c) {
            double squared = 0.0;
            for (int f = 0; f < d; ++f) {
                const double difference =
                    tiles.coordinate(c, f) - centroids[std::size_t(c) * d + f];
                squared += difference * difference;
            }
            rounding_[c] = std::sqrt(squared) * (1 + kLengthRounding);
        }
    }
    // Whether it says anything: squares of what is very small or very large have lost their digits.
    bool hold(T squared) const {
        return squared >= least_ && squared <= std::numeric_limits<T>::max();
    }
    double at_least(Colour c, T squared) const {
        return std::sqrt(static_cast<double>(squared)) * (1 - error_) - rounding_[c];
    }
    double at_most(Colour c, T squared) const {
        return std::sqrt(static_cast<double>(squared)) * (1 + error_) + rounding_[c];
    }

 private:
    // Squares below the smallest normal number underflow gradually: they are rounded to its last
    // digit, not to 0. So of a sum of so many times that number for each feature they take far less
    // than its own rounding.
    static constexpr double kAboveUnderflow = 1e8;

    const double error_;  // relative, of a distance to the centroid as it is stored
    const double least_;
    std::vector<double> rounding_;  // per centroid: how far it is stored from where it is
};

}  // namespace kempe
