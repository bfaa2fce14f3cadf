// Mean points of clusters.
#pragma once

#include <vector>

#include "problem/instance.h"

namespace kempe {

struct Means {
    std::vector<double> mean;  // k x dimension; 0 for a cluster without weight
    std::vector<double> weight;
    std::vector<int> members;  // supernodes
};

Means cluster_means(const Instance& instance, const Colour* colours, int k);

}  // namespace kempe
