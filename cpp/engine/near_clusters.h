// Which clusters lie side by side: only they have rows to exchange.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "basics/types.h"

namespace kempe {

// Each cluster and the few that are nearest to it, and a spanning tree, so that there is a way from
// every cluster to every other.
class NearClusters {
 public:
    // So many are nearest.
    static constexpr int kNear = 8;

    explicit NearClusters(int k);

    // Look at the centroids, `dimension` values each, one after the other. Returns whether any two
    // are near now that were not, or the other way round.
    bool update(const double* centroids, int dimension);
    // Let all be near to each other.
    bool join_all();

    bool are_near(Colour a, Colour b) const { return near_[std::size_t(a) * k_ + b]; }
    std::span<const char> matrix() const { return near_; }
    // Of a cluster, in order of their numbers.
    std::span<const Colour> around(Colour c) const { return around_[c]; }

 private:
    void set_near(Colour a, Colour b) {
        next_[std::size_t(a) * k_ + b] = next_[std::size_t(b) * k_ + a] = true;
    }
    void span_tree(const double* centroids, int dimension);
    bool adopt_next();

    const int k_;
    std::vector<char> near_, next_;  // k x k
    std::vector<std::vector<Colour>> around_;
    std::vector<std::pair<double, Colour>> order_;  // of other clusters, by distance
    std::vector<double> to_tree_;                   // squared distance of each to the tree so far
    std::vector<Colour> from_tree_;                 // and where in the tree that is
};

}  // namespace kempe
