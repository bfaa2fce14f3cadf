// Bounds on the distances of all vertices of large data, which outlast the moves of centroids.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "basics/types.h"

namespace kempe {

// As in Hamerly (2010): one from above on the distance to the own centroid, one from below on that
// to the nearest other; data of many features has one from below for every centroid, as in Elkan
// (2003). A bound is stored as if the centroids had never moved. How far they have moved since is
// known for each.
struct LargeBounds {
    std::vector<double> upper, lower;  // per vertex
    std::vector<float> each;           // per vertex and centroid, with many features, in some unit
    std::vector<double> drift;         // per centroid, since the beginning
    double largest_drift = 0.0;        // of each sweep, added up
    std::vector<double> seen;          // the centroids in the last sweep

    static constexpr double kUnknown = std::numeric_limits<double>::infinity();

    // The distance of a vertex to its centroid has been bounded before.
    bool knows(std::size_t v) const { return upper[v] != kUnknown; }

    // A vertex has moved. Bounds for every centroid hold whatever its cluster.
    void forget(Vertex v) {
        upper[v] = each.empty() ? kUnknown : std::numeric_limits<double>::max();
        lower[v] = -kUnknown;
    }
    void forget_all() {
        std::fill(upper.begin(), upper.end(), kUnknown);
        std::fill(lower.begin(), lower.end(), -kUnknown);
        std::fill(drift.begin(), drift.end(), 0.0);
        largest_drift = 0.0;
    }
};

}  // namespace kempe
