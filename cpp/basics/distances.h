// The arithmetic of the inner loops, compiled for several instruction sets where the compiler can.
#pragma once

namespace kempe {

// Squared distances from one point to k centroids stored feature by feature: centroid c has its
// f-th coordinate at by_feature[f * k + c]. Good for few features.
void distances_by_feature(const double* point, const double* by_feature, int k, int d, double* out);

// Squared distance between two vectors; good for many features.
double distance_between(const double* point, const double* centroid, int d);
double distance_between(const float* point, const double* centroid, int d);

// The same in single precision throughout, for tables of which a few digits are enough.
float distance_between(const float* point, const float* centroid, int d);

// What it costs to insert a point of weight w into each cluster, once the centroid follows:
// w W / (W + w) * distance. An empty cluster costs nothing.
void insertion_costs(const double* distance, const double* cluster_weight, double w, int k,
                     double* out);

}  // namespace kempe
