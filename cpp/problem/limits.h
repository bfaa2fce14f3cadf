// What a cluster must not be left with: the one place that says how small or large it may be.
#pragma once

#include "problem/cost.h"

namespace kempe {

// The limits of every problem: a cluster has a vertex, and not only vertices of no weight, which
// have no mean.
class NonEmpty {
 public:
    // Fewest vertices of a cluster.
    static constexpr int kLeast = 1;

    // Whether a cluster of so many vertices and so much weight may lose one vertex of weight w.
    bool may_lose_one(int vertices, double weight, double w) const {
        return vertices > kLeast && may_lose(weight, w);
    }
    // The same as far as its weight is concerned. What is left must be more than rounding.
    bool may_lose(double weight, double w) const { return weight - w > kCostRounding * weight; }
    // Whether a cluster may be of so many vertices and so much weight.
    bool allows(int vertices, double weight) const { return vertices >= kLeast && weight > 0; }
};

}  // namespace kempe
