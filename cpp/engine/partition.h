// A proper colouring with everything that depends on it kept in step: neighbour counts, cluster
// weights, means. Kempe chains are found, priced, swapped and undone here; which to try is
// decided elsewhere.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "basics/distances.h"
#include "graph/kempe_chain.h"
#include "problem/instance.h"

namespace kempe {

// What a move is judged by.
enum class Objective {
    fixed_centroids,  // cost to given centroids (the paper's KSAssignment)
    inertia,  // exact change of the inertia: centroids follow every move (Hartigan and Wong)
};

// A Kempe chain in two colours, seen from one of them. Its vertices lie in Partition::chain().
struct Chain {
    Colour from = 0, to = 0;
    double weight = 0.0;  // weight that enters `from` less weight that leaves it
    int vertices = 0;     // vertices that enter `from` less vertices that leave it
};

// Instantiated for the floating-point types of the data. What inner loops call for every vertex is
// defined here, the rest apart.
template <class T>
class Partition {
 public:
    Partition(const Instance& instance, const Points<T>& points, int k);

    // Start from a proper colouring, centroids at the means.
    void load(const Colour* colours);

    const std::vector<Colour>& colours() const { return colour_; }
    Colour colour(Vertex v) const { return colour_[v]; }
    double cluster_weight(Colour c) const { return weight_[c]; }
    const double* cluster_weights() const { return weight_.data(); }
    int cluster_size(Colour c) const { return size_[c]; }
    const double* centroid(Colour c) const { return centroid_.data() + std::size_t(c) * d_; }
    const Points<T>& points() const { return points_; }
    // A power of two that brings squared distances into the range of single precision.
    double table_scale() const { return table_scale_; }
    bool has_few_features() const { return !by_feature_.empty(); }
    const T* point(Vertex v) const { return points_[v]; }
    const std::vector<Vertex>& chain() const { return chain_.vertices(); }
    const NeighbourCounts<ConstrainedVertices>& neighbours() const { return neighbours_; }

    // Position of a constrained vertex among them.
    std::size_t slot(Vertex v) const { return neighbours_.rows()[v]; }

    // Whether moving v to a colour needs no other vertex to move.
    bool moves_alone(Vertex v, Colour to) const {
        return !neighbours_.rows().contains(v) || neighbours_[v][to] == 0;
    }

    // The one neighbour of a constrained vertex that has a colour; negative if there are more.
    Vertex only_neighbour(Vertex v, Colour c) const {
        if (neighbours_[v][c] != 1) return -1;
        Vertex found = -1;
        neighbours_.for_neighbours_in(v, c, colour_.data(), [&](Vertex u) {
            found = u;
            return false;
        });
        return found;
    }

    double distance(Vertex v, Colour c) const {
        return squared_distance(points_[v], centroid(c), d_);
    }

    // Squared distances of v to all centroids.
    void distances(Vertex v, double* out) const {
        if (by_feature_.empty()) {
            for (Colour c = 0; c < k_; ++c) out[c] = distance(v, c);
            return;
        }
        for (int f = 0; f < d_; ++f) point_[f] = points_[v][f];
        distances_by_feature(point_.data(), by_feature_.data(), k_, d_, out);
    }

    // Inertia between supernodes, about the means.
    double inertia() const;
    // Cost of all supernodes about the centroids of their clusters.
    double measured_cost() const;

    // Place the reference of a cluster for fixed-centroid moves.
    void place_centroid(Colour c, const double* position);
    void place_centroid_on(Colour c, Vertex v);
    void use_mean(Colour c) { place_centroid(c, mean(c)); }

    // The chain of one vertex.
    Chain single(Vertex v, Colour to);
    // The chain of v in its colour and another, breadth first. `shift_` becomes the sum of
    // weight * (point - centroid of `from`), positive for what enters `from`, negative for what
    // leaves.
    Chain collect(Vertex v, Colour to);
    // Only find the chain, for chain(). Returns false, having found a part of it, if it has more
    // than so many vertices.
    bool collect_up_to(Vertex v, Colour to, std::size_t longest);

    double distance_to_mean(Colour c) const;

    // Whether swapping would leave a cluster without vertices, or without any weight.
    bool empties(const Chain& chain) const {
        return size_[chain.from] + chain.vertices <= 0 || size_[chain.to] - chain.vertices <= 0 ||
               weight_[chain.from] + chain.weight <= 0 || weight_[chain.to] - chain.weight <= 0;
    }

    // Change of the objective when the collected chain is swapped. Infinite if it would leave a
    // cluster without vertices or weight.
    double change(const Chain& chain, Objective objective) const;

    // Swap the collected chain. With the inertia as objective the centroids follow.
    void swap(const Chain& chain, Objective objective);
    // How far the two means moved in the last swap.
    double step_from() const { return step_from_; }
    double step_to() const { return step_to_; }

    // Whether its cluster remains if v leaves: no cluster is ever emptied, nor left with vertices
    // of no weight alone, which have no mean.
    bool may_leave(Vertex v) const {
        const double weight = weight_[colour_[v]];
        return size_[colour_[v]] > 1 && weight - instance_.weight[v] > kRounding * weight;
    }
    // Move a vertex, unless it may not leave or cannot move alone. The means follow with
    // `follow_moves`, those of many vertices at once; the centroids stay.
    bool move_alone(Vertex v, Colour to);
    void follow_moves();
    // Change the colour and nothing else: for what is only looked at, and then undone.
    void recolour(Vertex v, Colour to);

    // Between begin_trial() and end_trial(), recolourings are logged so that they can be undone.
    void begin_trial();
    void end_trial(bool keep);

    // Squared distances of all constrained vertices to all centroids, rounded, to some scale.
    void fill_table(std::vector<float>& table) const;

 private:
    // Up to this many features, distances to all centroids are computed centroid-parallel.
    static constexpr int kCentroidParallel = 48;
    static constexpr double kRounding = 1e-12;

    double* mean(Colour c) { return mean_.data() + std::size_t(c) * d_; }
    const double* mean(Colour c) const { return mean_.data() + std::size_t(c) * d_; }

    template <class Distance>
    double add_up(Distance&& distance_of) const;
    double measured_inertia() const;
    void add_to_shift(Vertex u, double w, const double* origin);
    template <class Add>
    Chain walk(Vertex v, Colour to, Add&& add);
    void move_means(const Chain& chain);
    void compute_means();
    void copy_by_feature(Colour c);
    void measure_spread();

    const Instance& instance_;
    const Points<T> points_;
    const int k_, d_;

    std::vector<Colour> colour_;
    NeighbourCounts<ConstrainedVertices> neighbours_;
    std::vector<double> mean_;        // k x d, always exact
    std::vector<double> centroid_;    // k x d, what costs refer to
    std::vector<double> by_feature_;  // the same, d x k, when there are few features
    std::vector<double> weight_;
    std::vector<int> size_;  // vertices of each cluster
    std::vector<double> origin_;
    double spread_ = 0.0;
    double table_scale_ = 1.0;  // a power of two

    bool logging_ = false;
    std::vector<std::pair<Vertex, Colour>> log_;
    std::vector<std::pair<Vertex, Colour>> moved_;  // since the means followed: vertex, from where
    std::vector<double> saved_mean_, saved_weight_;
    std::vector<int> saved_size_;

    double step_from_ = 0.0, step_to_ = 0.0;
    std::vector<double> shift_;
    mutable std::vector<double> point_;  // scratch of distances()
    KempeChain chain_;
};

extern template class Partition<float>;
extern template class Partition<double>;

}  // namespace kempe
