// The choice that every greedy assignment makes: the nearest centroid among the admissible ones.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>

#include "basics/arrays.h"
#include "problem/instance.h"

namespace kempe {

constexpr Colour kUncoloured = -1;

// Centroids as a kernel's argument, checked against the instance.
struct Centroids {
    const double* data;
    int count;
    int dimension;

    Centroids(const Instance& instance, const In2<double>& array)
        : data(array.data()),
          count(static_cast<int>(array.shape(0))),
          dimension(instance.dimension) {
        if (array.shape(1) != static_cast<std::size_t>(instance.dimension))
            throw std::invalid_argument("centroids have the wrong number of features");
    }
    const double* operator[](Colour c) const {
        return data + static_cast<std::size_t>(c) * dimension;
    }
};

// Nearest centroid c with `admissible(c)`, the lowest on a tie; kUncoloured if there is none.
template <class T, class Admissible>
Colour nearest_colour(const T* point, const Centroids& centroids, Admissible&& admissible) {
    Colour best = kUncoloured;
    double best_distance = std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < centroids.count; ++c) {
        if (!admissible(c)) continue;
        const double distance = squared_distance(point, centroids[c], centroids.dimension);
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    return best;
}

template <class T>
Colour nearest_colour(const T* point, const Centroids& centroids) {
    return nearest_colour(point, centroids, [](Colour) { return true; });
}

}  // namespace kempe
