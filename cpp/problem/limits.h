// What a cluster must not be left with: the one place that says how small or large it may be.
#pragma once

#include <algorithm>

#include "problem/cost.h"
#include "problem/instance.h"

namespace kempe {

// The limits of every problem: a cluster has a vertex, and not only vertices of no weight, which
// have no mean.
class NonEmpty {
 public:
    // Fewest vertices of a cluster.
    static constexpr int kLeast = 1;
    // Whether there is more to say about clusters: how many rows they may have.
    static constexpr bool kCountsRows = false;

    NonEmpty() = default;
    explicit NonEmpty(const Instance&) {}

    // Whether a cluster of so many vertices and so much weight may lose one vertex of weight w.
    bool may_lose_one(int vertices, double weight, double w) const {
        return vertices > kLeast && may_lose(weight, w);
    }
    // The same as far as its weight is concerned. What is left must be more than rounding.
    bool may_lose(double weight, double w) const { return weight - w > kCostRounding * weight; }
    // Whether a cluster may be of so many vertices and so much weight.
    bool allows(int vertices, double weight) const { return vertices >= kLeast && weight > 0; }
};

// Besides, each cluster has so many rows at least, and so many at most.
class SizeLimits : public NonEmpty {
 public:
    static constexpr bool kCountsRows = true;

    explicit SizeLimits(const Instance& instance)
        : NonEmpty(instance),
          sizes_(instance.sizes),
          fewest_rows_(*std::min_element(sizes_.rows.begin(), sizes_.rows.end())) {}

    int rows(Vertex v) const { return sizes_.rows[v]; }
    // Of any vertex.
    int fewest_rows() const { return fewest_rows_; }
    // Rows that a cluster of so many may gain or lose; negative if it has too many or too few.
    int room(Colour c, int rows) const { return sizes_.most[c] - rows; }
    int spare(Colour c, int rows) const { return rows - sizes_.least[c]; }
    bool holds(Colour c, int rows) const { return room(c, rows) >= 0 && spare(c, rows) >= 0; }
    // By how many rows a cluster of so many breaks them.
    int excess(Colour c, int rows) const { return std::max({0, -room(c, rows), -spare(c, rows)}); }

 private:
    const Sizes& sizes_;
    const int fewest_rows_;
};

}  // namespace kempe
