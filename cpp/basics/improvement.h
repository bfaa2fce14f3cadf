// When one sum of costs counts as lower than another.
#pragma once

namespace kempe {

// Sums of costs that differ by less than this share count as equal. It exceeds the rounding error
// of a sum of half a million terms, so what improves at given costs lowers their exact sum. And it
// is a share: the scale of the data does not matter.
constexpr double kSumRounding = 1e-10;

// Whether going from total cost `before` to `after` is an improvement beyond rounding.
inline bool improves(double before, double after) {
    return before - after > kSumRounding * (before + after);
}

}  // namespace kempe
