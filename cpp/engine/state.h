// A clustering with everything that depends on it kept in step: ties, cluster weights, means. It
// prices moves, says which are admitted, applies them and takes them back; which to try is decided
// elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "basics/distances.h"
#include "engine/move.h"
#include "engine/rules.h"
#include "graph/kempe_chain.h"
#include "problem/cost.h"
#include "problem/instance.h"

namespace kempe {

// What inner loops call for every vertex is defined here, the rest apart.
template <class Rules>
class State {
 public:
    using T = typename Rules::Value;
    using Ties = typename Rules::Ties;
    using Limits = typename Rules::Limits;
    static constexpr bool kCountsRows = Limits::kCountsRows;

    State(const Instance& instance, const Points<T>& points, int k);

    // Start from a proper colouring, centroids at the means.
    void load(const Colour* colours);

    const std::vector<Colour>& colours() const { return colour_; }
    Colour colour(Vertex v) const { return colour_[v]; }
    const Ties& ties() const { return ties_; }
    double cluster_weight(Colour c) const { return clusters_.weight[c]; }
    const double* cluster_weights() const { return clusters_.weight.data(); }
    int cluster_size(Colour c) const { return clusters_.size[c]; }
    // Rows of a cluster, where they are counted.
    int cluster_rows(Colour c) const { return clusters_.rows[c]; }
    const Limits& limits() const { return limits_; }
    const double* centroid(Colour c) const { return centroid_.data() + std::size_t(c) * d_; }
    const double* centroids() const { return centroid_.data(); }
    const Points<T>& points() const { return points_; }
    const T* point(Vertex v) const { return points_[v]; }
    // A power of two that brings squared distances into the range of single precision.
    double table_scale() const { return table_scale_; }

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

    // What is minimised: inertia between supernodes, about the means, and the price of all ties
    // that are broken.
    double objective() const { return inertia() + ties_.total_price(); }
    // The same as it stands, about the centroids.
    double measured_objective() const { return measured_cost() + ties_.total_price(); }

    // Which moves are admitted.
    bool moves_alone(Vertex v, Colour to) const { return ties_.admit(v, to) && has_room(v, to); }
    // Whether the limits on rows let v move without any other.
    bool has_room(Vertex v, Colour to) const {
        if constexpr (kCountsRows) {
            const int rows = limits_.rows(v);
            const Colour own = colour_[v];
            return limits_.room(to, clusters_.rows[to]) >= rows &&
                   limits_.spare(own, clusters_.rows[own]) >= rows;
        } else {
            return true;
        }
    }
    bool may_leave(Vertex v) const {
        const Colour own = colour_[v];
        return limits_.may_lose_one(clusters_.size[own], clusters_.weight[own],
                                    instance_.weight[v]);
    }
    bool admits(const ChainMove& chain) const;

    // What the objective falls by when v leaves its cluster, and rises by when it enters another;
    // by how much it changes when the collected chain is swapped, infinite if that is not admitted.
    double leaving_gain(Vertex v, double squared, Reference reference) const {
        const double w = instance_.weight[v];
        if (!may_leave(v)) return kNeverLeaves;
        const double gain = reference == Reference::means
                                ? kempe::leaving_gain(clusters_.weight[colour_[v]], w, squared)
                                : w * squared;
        if constexpr (Ties::kPriced) return gain - ties_.pull(v, colour_[v]);
        return gain;
    }
    double entering_cost(Vertex v, Colour c, double squared, Reference reference) const {
        const double w = instance_.weight[v];
        const double cost = reference == Reference::means
                                ? kempe::entering_cost(clusters_.weight[c], w, squared)
                                : w * squared;
        if constexpr (Ties::kPriced) return cost - ties_.pull(v, c);
        return cost;
    }
    // What it costs v at least to enter any cluster but its own, if distances ask for so much.
    double least_entering_cost(Vertex v, double by_distance) const {
        if constexpr (Ties::kPriced) return by_distance - ties_.strongest_pull(v, colour_[v]);
        return by_distance;
    }
    double change(const ChainMove& chain, Reference reference) const;
    // The same if it is known by how much the price of ties rises.
    double change(const ChainMove& chain, double price, Reference reference) const;
    // The same of vertices that move together, each once, whether or not hard ties admit it.
    double change(std::span<const SingleMove> moves, Reference reference);
    // What they cost at fixed centroids, whether or not limits admit it.
    double cost_in_place(std::span<const SingleMove> moves) {
        const auto [change, size] = in_place(moves);
        return change + kCostRounding * size;
    }
    // What it costs v to enter a cluster that another vertex has left, the means following.
    double entering_cost_without(Vertex v, Colour c, Vertex gone) const;

    // The move of one vertex as a chain.
    ChainMove single(Vertex v, Colour to);
    // The chain of v in its colour and another, breadth first. `shift_` becomes the sum of
    // weight * (point - centroid of `from`), positive for what enters `from`, negative for what
    // leaves.
    ChainMove collect(Vertex v, Colour to);
    // Only find the chain, for chain(). Returns false, having found a part of it, if it has more
    // than so many vertices.
    bool collect_up_to(Vertex v, Colour to, std::size_t longest);
    const std::vector<Vertex>& chain() const { return chain_.vertices(); }
    // Some vertices of two clusters, as if they were a chain.
    ChainMove collect_these(const std::vector<Vertex>& vertices, Colour from, Colour to);
    // The same one by one, as a group grows: nobody is in it at first. Only `change` below knows
    // its price, and it cannot be applied.
    ChainMove begin_group(Colour from, Colour to) {
        std::fill(shift_.begin(), shift_.end(), 0.0);
        return {from, to};
    }
    void join_group(ChainMove& group, Vertex v) { add_to_chain(group, v, centroid(group.from)); }
    // The one neighbour of a tied vertex in a cluster; negative if there are more.
    Vertex only_neighbour(Vertex v, Colour c) const;

    // Swap the collected chain. The centroids follow if costs refer to the means.
    void apply(const ChainMove& chain, Reference reference);
    // Move vertices together, each once. Calls `see` with each cluster that this touches and how
    // far its mean has moved.
    template <class See>
    void apply(std::span<const SingleMove> moves, Reference reference, See&& see);
    // How far the two means moved in the last swap.
    double step_from() const { return step_from_; }
    double step_to() const { return step_to_; }
    // Move a vertex, unless it may not leave or cannot move alone. The means follow with
    // `follow_moves`, those of many vertices at once; the centroids stay.
    bool move_alone(Vertex v, Colour to);
    void follow_moves();
    // Change the colour and nothing else: for what is only looked at, and then undone.
    void recolour(Vertex v, Colour to) {
        ties_.recolour(v, colour_[v], to);
        colour_[v] = to;
    }

    // Place the centroid of a cluster: anywhere, on a vertex, or on its mean.
    void place_centroid(Colour c, const double* position);
    void place_centroid_on(Colour c, Vertex v);
    void use_mean(Colour c) { place_centroid(c, mean(c)); }
    double distance_to_mean(Colour c) const {
        return std::sqrt(squared_distance(centroid(c), mean(c), d_));
    }

    // Between begin_trial() and end_trial(), moves are logged so that they can be undone.
    void begin_trial();
    void end_trial(bool keep);

 private:
    // No cluster is entered for less than this; where ties have prices, for anything.
    static constexpr double kNeverLeaves =
        Ties::kPriced ? -std::numeric_limits<double>::infinity() : 0.0;

    struct Clusters {
        std::vector<double> mean;  // k x d, always exact
        std::vector<double> weight;
        std::vector<int> size;  // vertices
        std::vector<int> rows;  // empty where they are not counted
    };
    struct Departure {
        Vertex vertex;
        Colour from;
    };

    double* mean(Colour c) { return clusters_.mean.data() + std::size_t(c) * d_; }
    const double* mean(Colour c) const { return clusters_.mean.data() + std::size_t(c) * d_; }

    // What moves cost at fixed centroids, and the size of what cancels in it.
    struct Change {
        double change, size;
    };
    Change in_place(std::span<const SingleMove> moves);

    double inertia() const;
    double measured_inertia() const;
    double measured_cost() const;
    template <class Distance>
    double add_up(Distance&& distance_of) const;
    void pull(Vertex v, Colour c, int sign, const double* origin);
    double follow_pull(Colour c);
    void forget_pull(Colour c);
    void add_to_chain(ChainMove& chain, Vertex v, const double* origin);
    void move_means(const ChainMove& chain);
    void compute_means();
    void copy_by_feature(Colour c);
    void measure_spread();

    const Instance& instance_;
    const Points<T> points_;
    const int k_, d_;
    [[no_unique_address]] const Limits limits_;

    std::vector<Colour> colour_;
    Ties ties_;
    Clusters clusters_;
    std::vector<double> centroid_;    // k x d, what costs refer to
    std::vector<double> by_feature_;  // the same, d x k, unless there are many features, which
                                      // fill vector registers by themselves
    std::vector<double> origin_;      // mean of all points
    double spread_ = 0.0;             // inertia about it
    double table_scale_ = 1.0;

    KempeChain chain_;
    std::vector<double> shift_;
    double step_from_ = 0.0, step_to_ = 0.0;
    std::vector<Departure> waiting_;  // for the means to follow

    bool logging_ = false;
    std::vector<Departure> log_;  // in a trial
    Clusters saved_;

    mutable std::vector<double> point_;  // scratch of distances()
    // What a list of moves takes to each cluster that it touches, about its centroid.
    struct Pull {
        std::vector<double> shift;  // k x d
        std::vector<double> weight;
        std::vector<int> vertices, rows;
        std::vector<Colour> touched;
    } pull_;
};

// Together, since one after the other might leave a cluster empty in between.
template <class Rules>
template <class See>
void State<Rules>::apply(std::span<const SingleMove> moves, Reference reference, See&& see) {
    for (const auto& [v, to] : moves) {
        pull(v, to, 1, mean(to));
        pull(v, colour_[v], -1, mean(colour_[v]));
        if (logging_) log_.push_back({v, colour_[v]});
        recolour(v, to);
    }
    for (Colour c : pull_.touched) {
        const double step = follow_pull(c);
        if (reference == Reference::means) use_mean(c);
        see(c, step);
    }
    pull_.touched.clear();
}

KEMPE_DECLARE_FOR_ALL_RULES(State);

}  // namespace kempe
