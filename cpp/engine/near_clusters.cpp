#include "engine/near_clusters.h"

#include <algorithm>
#include <limits>

#include "basics/distances.h"

namespace kempe {

NearClusters::NearClusters(int k)
    : k_(k),
      around_(k),
      next_(k),
      first_(std::size_t(k) + 1),
      table_(in_tables(k) ? std::size_t(k) * k : 0),
      to_tree_(k),
      from_tree_(k) {
    if (in_tables()) join_all();
}

bool NearClusters::are_near(Colour a, Colour b) const {
    if (in_tables()) return table_[std::size_t(a) * k_ + b];
    return std::binary_search(around_[a].begin(), around_[a].end(), b);
}

std::size_t NearClusters::place_among_near(Colour from, Colour to) const {
    const auto& others = around_[from];
    return first_[from] + (std::lower_bound(others.begin(), others.end(), to) - others.begin());
}

void NearClusters::join_all() {
    for (Colour a = 0; a < k_; ++a)
        for (Colour b = 0; b < a; ++b) join(a, b);
    adopt_next();
}

void NearClusters::update(const double* centroids, int dimension) {
    near_ = kNear;
    if (k_ <= kNear + 1) return;  // they all are
    find_nearest(centroids, dimension);
}

bool NearClusters::join_more(const double* centroids, int dimension) {
    const std::int64_t before = version_;
    if (in_tables()) {
        join_all();
    } else if (near_ < k_ - 1 && kMoreNear * std::size_t(near_) * k_ <= kMostPairs) {
        near_ = std::min(kMoreNear * near_, k_ - 1);
        find_nearest(centroids, dimension);
    }
    return version_ != before;
}

void NearClusters::find_nearest(const double* centroids, int dimension) {
    for (Colour a = 0; a < k_; ++a) {
        order_.clear();
        for (Colour b = 0; b < k_; ++b)
            if (b != a)
                order_.emplace_back(
                    squared_distance(centroids + std::size_t(a) * dimension,
                                     centroids + std::size_t(b) * dimension, dimension),
                    b);
        std::nth_element(order_.begin(), order_.begin() + (near_ - 1), order_.end());
        for (int i = 0; i < near_; ++i) join(a, order_[i].second);
    }
    span_tree(centroids, dimension);
    adopt_next();
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
        join(nearest, from_tree_[nearest]);
        to_tree_[nearest] = inside;
        last = nearest;
    }
}

// Takes what was joined, each pair once and in order, and forgets it.
bool NearClusters::adopt_next() {
    for (auto& others : next_) {
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
    }
    const bool changed = next_ != around_;
    if (changed) {
        std::swap(around_, next_);
        ++version_;
        std::fill(table_.begin(), table_.end(), false);
        for (Colour a = 0; a < k_; ++a) {
            first_[a + 1] = first_[a] + around_[a].size();
            if (in_tables())
                for (Colour b : around_[a]) table_[std::size_t(a) * k_ + b] = true;
        }
    }
    for (auto& others : next_) others.clear();
    return changed;
}

}  // namespace kempe
