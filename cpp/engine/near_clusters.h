// Which clusters lie side by side: only they have rows to exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "basics/types.h"

namespace kempe {

// Each cluster and the few that are nearest to it, and a spanning tree, so that there is a way from
// every cluster to every other. Near pairs have places in arrays of those who keep something for
// each of them: all pairs have, if there are few clusters; else only those that are near, and the
// places change with them.
class NearClusters {
 public:
    // So many are nearest.
    static constexpr int kNear = 8;
    // With more clusters than this, most pairs are not near, and what is kept for each of them
    // would fill the memory.
    static constexpr int kMostInTables = 60;

    explicit NearClusters(int k);

    // Look at the centroids, `dimension` values each, one after the other.
    void update(const double* centroids, int dimension);
    // Let more be near to each other, all of them if there are few clusters. Returns whether any
    // were not before.
    bool join_more(const double* centroids, int dimension);

    static bool in_tables(int k) { return k <= kMostInTables; }
    bool in_tables() const { return in_tables(k_); }
    bool are_near(Colour a, Colour b) const;
    // Of a cluster, in order of their numbers.
    std::span<const Colour> around(Colour c) const { return around_[c]; }
    // Place of a near pair, how many there are, and how often they have changed.
    std::size_t place(Colour from, Colour to) const {
        return in_tables() ? std::size_t(from) * k_ + to : place_among_near(from, to);
    }
    std::size_t places() const { return in_tables() ? std::size_t(k_) * k_ : first_.back(); }
    std::int64_t version() const { return version_; }

 private:
    // In as many pairs as this, clusters are not joined to more.
    static constexpr std::size_t kMostPairs = std::size_t(1) << 22;
    static constexpr int kMoreNear = 8;  // times as many

    std::size_t place_among_near(Colour from, Colour to) const;
    void join_all();
    void find_nearest(const double* centroids, int dimension);
    void span_tree(const double* centroids, int dimension);
    void join(Colour a, Colour b) {
        next_[a].push_back(b);
        next_[b].push_back(a);
    }
    bool adopt_next();

    const int k_;
    int near_ = kNear;
    std::int64_t version_ = 0;
    std::vector<std::vector<Colour>> around_, next_;
    std::vector<std::size_t> first_;                // place of the first pair of each cluster
    std::vector<char> table_;                       // k x k, if there are few clusters
    std::vector<std::pair<double, Colour>> order_;  // of other clusters, by distance
    std::vector<double> to_tree_;                   // squared distance of each to the tree so far
    std::vector<Colour> from_tree_;                 // and where in the tree that is
};

}  // namespace kempe
