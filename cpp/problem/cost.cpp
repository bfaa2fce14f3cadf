#include "problem/cost.h"

#include "basics/multiversion.h"

namespace kempe {

KEMPE_MULTIVERSION
void entering_costs(const double* __restrict squared, const double* __restrict cluster_weight,
                    double w, int k, double* __restrict out) {
    for (int c = 0; c < k; ++c) out[c] = entering_cost(cluster_weight[c], w, squared[c]);
}

}  // namespace kempe
