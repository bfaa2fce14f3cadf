// What vertices cost at centroids, computed only where bounds leave open which cluster is cheaper:
// what large data of many features has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "problem/instance.h"
#include "problem/means.h"

namespace kempe {

// The same interface as CostTable, and the same costs to the last digit, so that the same set of
// chains is found at the same centroids, in an order that may differ: where chains tie, others may
// be chosen. As in Elkan (2003), the distance of each vertex to each centroid
// is bounded from both sides, wherever centroids have moved since it was measured.
//
// Means and the total follow the vertices that change their clusters, and are added up anew from
// all of them only where that would be felt in their digits: where some vertices are much farther
// from the origin, or much heavier, than what all differ by.
class BoundedCosts {
 public:
    BoundedCosts(const Instance& instance, int k);

    double at(Vertex v, Colour c);
    double at_home(Vertex v, Colour own);
    static constexpr bool kKnowsAll = false;
    double least_at(Vertex v, Colour c) const {
        const double distance = std::max(nearest(v, c), 0.0);
        return instance_.weight[v] * (distance * distance);
    }
    double most_at_home(Vertex v, Colour own) const {
        const double distance = farthest(v, own);
        return instance_.weight[v] * (distance * distance);
    }
    template <class Use>
    void for_cheaper(Vertex v, Colour own, Use&& use) {
        if (instance_.weight[v] <= 0) return;
        bool measured = false;
        for (Colour c = 0; c < k_; ++c) {
            if (c == own || nearest(v, c) >= farthest(v, own)) continue;
            const double now = at_home(v, own);
            if (!std::exchange(measured, true) && nearest(v, c) >= farthest(v, own)) continue;
            const double there = at(v, c);
            if (there < now) use(c, there, now);
        }
    }
    template <class Use>
    void for_perhaps_cheaper(Vertex v, Colour own, Use&& use) const {
        if (instance_.weight[v] <= 0) return;
        const double limit = farthest(v, own);
        for (Colour c = 0; c < k_; ++c)
            if (c != own && nearest(v, c) < limit) use(c, least_at(v, c), most_at_home(v, own));
    }
    bool have_fallen(const std::vector<Colour>& colours);
    bool are_worn() const { return !adds_up_ && total_ < felt_below_; }

    void place(const double* centroids, const std::vector<Colour>& colours);
    void move(const double* centroids, std::span<const Colour> clusters);
    Means means(const std::vector<Colour>& colours);
    void recolour(Vertex v, Colour from, Colour to);

 private:
    double nearest(Vertex v, Colour c) const { return unit_ * lower_[index(v, c)] - drift_[c]; }
    double farthest(Vertex v, Colour c) const { return unit_ * upper_[index(v, c)] + drift_[c]; }
    float stored_least(Colour c, double least) const;
    float stored_most(Colour c, double most) const;

    std::size_t index(Vertex v, Colour c) const { return static_cast<std::size_t>(v) * k_ + c; }
    double measure(Vertex v, Colour c);
    double measure_all(const std::vector<Colour>& colours);
    double total(const std::vector<Colour>& colours);
    double from_origin(const std::vector<Colour>& colours) const;
    double felt_share() const;
    void add_up(const std::vector<Colour>& colours);
    bool are_sums_worn() const;

    const Instance& instance_;
    const int k_, d_;
    std::vector<double> centroids_;
    const double extent_;        // how far points are from the origin, at most
    std::vector<double> drift_;  // per centroid: how far it has moved in all
    // Per vertex and cluster: bounds on the distance as if the centroid had never moved, in a unit
    // of length in which they fit into a float.
    std::vector<float> lower_, upper_;
    double unit_ = 1.0, per_unit_ = 1.0;
    std::vector<double> home_;           // per vertex: squared distance to its own centroid...
    std::vector<int> seen_, moves_;      // ...after so many moves of that; and how many it has made
    double total_ = 0.0, change_ = 0.0;  // what vertices cost, and the change since then
    double felt_below_ = 0.0;            // totals in which rounding is felt...
    bool adds_up_ = false;               // ...so that everything is added up anew in every turn

    // Of clusters, once they have been added up.
    std::vector<double> sum_, weight_;
    std::vector<int> members_;
    std::vector<double> exchanged_;  // weight that has come and gone since
};

}  // namespace kempe
