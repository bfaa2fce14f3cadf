#include "basics/distances.h"

#include <algorithm>
#include <cstddef>

#include "basics/multiversion.h"

namespace kempe {
namespace {

// Eight partial sums let the compiler use vector registers without reordering floating point.
template <class T, class U>
KEMPE_ALWAYS_INLINE double distance_unrolled(const T* a, const U* b, int d) {
    double partial[8] = {};
    int f = 0;
    for (; f + 8 <= d; f += 8)
        for (int lane = 0; lane < 8; ++lane) {
            const double difference =
                static_cast<double>(a[f + lane]) - static_cast<double>(b[f + lane]);
            partial[lane] += difference * difference;
        }
    double total = ((partial[0] + partial[4]) + (partial[1] + partial[5])) +
                   ((partial[2] + partial[6]) + (partial[3] + partial[7]));
    for (; f < d; ++f) {
        const double difference = static_cast<double>(a[f]) - static_cast<double>(b[f]);
        total += difference * difference;
    }
    return total;
}

// Values that are subtracted and multiplied at once: as many as a register has, or one by one where
// the compiler has no such type.
#if defined(__GNUC__)
template <class T>
struct Lanes {
    typedef T Values __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};
#else
template <class T>
struct Lanes {
    using Values = T;
};
#endif

// A tile of sums stays in registers while the features go by: every value that is loaded serves
// several sums. Sums of a few features each are added up, which loses fewer digits than one long
// sum.
template <int width, class T>
KEMPE_ALWAYS_INLINE void tile(const T* const* points, const T* by_feature, int stride, int d,
                              T* out) {
    using Values = typename Lanes<T>::Values;
    for (int begin = 0; begin < d; begin += kTileFeatures) {
        Values sums[kTilePoints][width] = {};
        const int end = std::min(d, begin + kTileFeatures);
        for (int f = begin; f < end; ++f) {
            const auto* row =
                reinterpret_cast<const Values*>(by_feature + static_cast<std::size_t>(f) * stride);
            for (int p = 0; p < kTilePoints; ++p)
                for (int part = 0; part < width; ++part) {
                    const Values difference = points[p][f] - row[part];
                    sums[p][part] += difference * difference;
                }
        }
        for (int p = 0; p < kTilePoints; ++p)
            for (int part = 0; part < width; ++part) {
                auto* total = reinterpret_cast<Values*>(out + static_cast<std::size_t>(p) * stride);
                total[part] = begin ? total[part] + sums[p][part] : sums[p][part];
            }
    }
}

template <class T>
KEMPE_ALWAYS_INLINE void all_tiles(const T* const* points, const T* by_feature, int k, int d,
                                   T* out) {
    constexpr int lanes = sizeof(typename Lanes<T>::Values) / sizeof(T);
    const int stride = padded(k);
    int c = 0;
    for (; c + 2 * lanes <= stride; c += 2 * lanes)
        tile<2>(points, by_feature + c, stride, d, out + c);
    if (c < stride) tile<1>(points, by_feature + c, stride, d, out + c);
}

}  // namespace

KEMPE_MULTIVERSION
void tiled_distances(const float* const* points, const float* by_feature, int k, int d,
                     float* out) {
    all_tiles(points, by_feature, k, d, out);
}

KEMPE_MULTIVERSION
void tiled_distances(const double* const* points, const double* by_feature, int k, int d,
                     double* out) {
    all_tiles(points, by_feature, k, d, out);
}

KEMPE_MULTIVERSION
double long_squared_distance(const double* a, const double* b, int d) {
    return distance_unrolled(a, b, d);
}

KEMPE_MULTIVERSION
double long_squared_distance(const float* a, const double* b, int d) {
    return distance_unrolled(a, b, d);
}

KEMPE_MULTIVERSION
double long_squared_distance(const float* a, const float* b, int d) {
    return distance_unrolled(a, b, d);
}

KEMPE_MULTIVERSION
float rough_squared_distance(const float* a, const float* b, int d) {
    float partial[16] = {};
    int f = 0;
    for (; f + 16 <= d; f += 16)
        for (int lane = 0; lane < 16; ++lane) {
            const float difference = a[f + lane] - b[f + lane];
            partial[lane] += difference * difference;
        }
    float total = 0.0f;
    for (float part : partial) total += part;
    for (; f < d; ++f) {
        const float difference = a[f] - b[f];
        total += difference * difference;
    }
    return total;
}

KEMPE_MULTIVERSION
void distances_by_feature(const double* __restrict point, const double* __restrict by_feature,
                          int k, int d, double* __restrict out) {
    for (int c = 0; c < k; ++c) {
        const double difference = point[0] - by_feature[c];
        out[c] = difference * difference;
    }
    for (int f = 1; f < d; ++f) {
        const double* __restrict row = by_feature + static_cast<std::size_t>(f) * k;
        for (int c = 0; c < k; ++c) {
            const double difference = point[f] - row[c];
            out[c] += difference * difference;
        }
    }
}

}  // namespace kempe
