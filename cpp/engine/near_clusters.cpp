#include "engine/near_clusters.h"

#include <algorithm>
#include <limits>

#include "basics/distances.h"

namespace kempe {

NearClusters::NearClusters(int k)
    : k_(k),
      near_(std::size_t(k) * k),
      next_(near_.size()),
      around_(k),
      to_tree_(k),
      from_tree_(k) {
    join_all();
}

bool NearClusters::join_all() {
    std::fill(next_.begin(), next_.end(), true);
    for (Colour c = 0; c < k_; ++c) next_[std::size_t(c) * k_ + c] = false;
    return adopt_next();
}

bool NearClusters::update(const double* centroids, int dimension) {
    if (k_ <= kNear + 1) return false;  // they all are
    std::fill(next_.begin(), next_.end(), false);
    for (Colour a = 0; a < k_; ++a) {
        order_.clear();
        for (Colour b = 0; b < k_; ++b)
            if (b != a)
                order_.emplace_back(
                    squared_distance(centroids + std::size_t(a) * dimension,
                                     centroids + std::size_t(b) * dimension, dimension),
                    b);
        std::nth_element(order_.begin(), order_.begin() + kNear, order_.end());
        for (int i = 0; i < kNear; ++i) set_near(a, order_[i].second);
    }
    span_tree(centroids, dimension);
    return adopt_next();
}

// By Prim: the cluster nearest to the tree comes next.
void NearClusters::span_tree(const double* centroids, int dimension) {
    constexpr double inside = -1.0;
    std::fill(to_tree_.begin(), to_tree_.end(), std::numeric_limits<double>::infinity());
    Colour last = 0;
    to_tree_[last] = inside;
    for (int count = 1; count < k_; ++count) {
        Colour nearest = kUncoloured;
        for (Colour c = 0; c < k_; ++c) {
            if (to_tree_[c] == inside) continue;
            const double squared =
                squared_distance(centroids + std::size_t(last) * dimension,
                                 centroids + std::size_t(c) * dimension, dimension);
            if (!(squared >= to_tree_[c])) {
                to_tree_[c] = squared;
                from_tree_[c] = last;
            }
            if (nearest < 0 || to_tree_[c] < to_tree_[nearest]) nearest = c;
        }
        set_near(nearest, from_tree_[nearest]);
        to_tree_[nearest] = inside;
        last = nearest;
    }
}

bool NearClusters::adopt_next() {
    if (next_ == near_) return false;
    near_ = next_;
    for (Colour a = 0; a < k_; ++a) {
        around_[a].clear();
        for (Colour b = 0; b < k_; ++b)
            if (are_near(a, b)) around_[a].push_back(b);
    }
    return true;
}

}  // namespace kempe
