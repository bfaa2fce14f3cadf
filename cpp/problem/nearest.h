// The choice that every greedy assignment makes: the nearest centroid among the admissible ones.
#pragma once

#include <cstddef>
#include <limits>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "problem/instance.h"

namespace kempe {

// Centroids as a kernel's argument, checked against the instance.
struct Centroids {
    const double* data;
    int count;
    int dimension;

    Centroids(const Instance& instance, const In2<double>& array)
        : data(array.data()),
          count(static_cast<int>(array.shape(0))),
          dimension(instance.dimension) {
        check_centroids(array, instance.dimension);
    }
    const double* operator[](Colour c) const {
        return data + static_cast<std::size_t>(c) * dimension;
    }
};

// Nearest centroid c with `admissible(c)`, the lowest on a tie; kUncoloured if there is none.
template <class T, class Distance, class Admissible>
Colour nearest_colour(const T* point, const Centroids& centroids, Distance distance_to,
                      Admissible&& admissible) {
    Colour best = kUncoloured;
    double best_distance = std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < centroids.count; ++c) {
        if (!admissible(c)) continue;
        const double distance = distance_to(point, centroids[c]);
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    return best;
}

template <class T, class Distance>
Colour nearest_colour(const T* point, const Centroids& centroids, Distance distance_to) {
    return nearest_colour(point, centroids, distance_to, [](Colour) { return true; });
}

}  // namespace kempe
