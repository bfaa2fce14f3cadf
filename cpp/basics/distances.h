// The arithmetic of the inner loops, compiled for several instruction sets where the compiler can.
#pragma once

#include <limits>

namespace kempe {

// Up to this many features a distance is not worth a call.
constexpr int kInlineFeatures = 8;

template <class T, class U>
inline double short_squared_distance(const T* a, const U* b, int d) {
    double total = 0.0;
    for (int f = 0; f < d; ++f) {
        const double difference = static_cast<double>(a[f]) - static_cast<double>(b[f]);
        total += difference * difference;
    }
    return total;
}
double long_squared_distance(const double* a, const double* b, int d);
double long_squared_distance(const float* a, const double* b, int d);
double long_squared_distance(const float* a, const float* b, int d);

// Squared Euclidean distance, accumulated in double whatever the types.
template <class T, class U>
inline double squared_distance(const T* a, const U* b, int d) {
    return d > kInlineFeatures ? long_squared_distance(a, b, d) : short_squared_distance(a, b, d);
}

// The same for tight loops: `body` gets the squared distance of two points as a function, and is
// compiled for few features and for many.
template <class Body>
decltype(auto) with_distance(int d, Body&& body) {
    if (d > kInlineFeatures)
        return body([d](const auto* a, const auto* b) { return long_squared_distance(a, b, d); });
    return body([d](const auto* a, const auto* b) { return short_squared_distance(a, b, d); });
}

// The same in the precision of its arguments, for tables of which a few digits are enough.
float rough_squared_distance(const float* a, const float* b, int d);
inline double rough_squared_distance(const double* a, const double* b, int d) {
    return squared_distance(a, b, d);
}

// A length computed in double is off by less than this share of it, also as a sum of many.
constexpr double kLengthRounding = 1e-9;

// Squared distances from one point to k centroids stored feature by feature: centroid c has its
// f-th coordinate at by_feature[f * k + c]. With few features only the centroids are enough to fill
// vector registers.
void distances_by_feature(const double* point, const double* by_feature, int k, int d, double* out);

// Several points at a time to all centroids, in the precision of the data. The centroids are stored
// feature by feature in rows of `padded(k)` values, and so are the results of each point.
constexpr int kTilePoints = 4, kTileCentroids = 8, kTileFeatures = 32;
constexpr int padded(int k) {
    return (k + kTileCentroids - 1) / kTileCentroids * kTileCentroids;
}
void tiled_distances(const float* const* points, const float* by_feature, int k, int d, float* out);
void tiled_distances(const double* const* points, const double* by_feature, int k, int d,
                     double* out);

// Relative error of the roots of these sums and of rough_squared_distance, at most: half that of
// the squares, all of whose terms are positive.
template <class T>
constexpr double distance_error(int d) {
    const int additions = kTileFeatures + d / 16 + 4;
    return additions * static_cast<double>(std::numeric_limits<T>::epsilon()) / 4;
}

}  // namespace kempe
