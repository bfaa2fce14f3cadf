// Which of a few values are low.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kempe {

// Infinity if there are none. None of the four partial results has to wait for another.
inline double least_of(const double* values, int count) {
    constexpr int lanes = 4;
    double partial[lanes];
    std::fill_n(partial, lanes, std::numeric_limits<double>::infinity());
    int i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int lane = 0; lane < lanes; ++lane)
            partial[lane] = std::min(values[i + lane], partial[lane]);
    double least = std::min(std::min(partial[0], partial[1]), std::min(partial[2], partial[3]));
    for (; i < count; ++i) least = std::min(values[i], least);
    return least;
}

// How many values are below bars of their own once `gain` is taken off.
std::int64_t count_below(const double* values, double gain, const double* bars, int count);

}  // namespace kempe
