// What it costs to have a vertex in a cluster: its weight times the squared distance to the
// centroid.
#pragma once

#include <span>
#include <vector>

#include "problem/instance.h"

namespace kempe {

// Weighted squared distances of all vertices to the centroids in `columns`, or to all; the other
// columns of `cost` keep their values.
void update_costs(const Instance& instance, const double* centroids, int k,
                  std::span<const Colour> columns, std::vector<double>& cost);

void compute_costs(const Instance& instance, const double* centroids, int k,
                   std::vector<double>& cost);

}  // namespace kempe
