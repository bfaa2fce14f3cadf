#include "basics/least.h"

#include "basics/multiversion.h"

namespace kempe {

// A sum as wide as what is compared, so that several are compared at once.
KEMPE_MULTIVERSION
std::int64_t count_below(const double* values, double gain, const double* bars, int count) {
    std::int64_t below = 0;
    for (int i = 0; i < count; ++i) below += values[i] - gain < bars[i];
    return below;
}

}  // namespace kempe
