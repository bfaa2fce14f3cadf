// What vertices know of clusters that they have looked at, so that they need not look again.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "problem/cost.h"
#include "problem/instance.h"

namespace kempe {

// Per vertex two bounds from below: on what entering another cluster costs, and on the distance to
// the nearest other centroid. The latter are those of Hamerly (2010): since a vertex last measured
// all distances, no centroid has come nearer to it than by the largest drift of each sweep, added
// up.
class Bounds {
 public:
    Bounds(const Instance& instance, int k)
        : weight_(instance.weight), floor_(instance.size), nearest_(instance.size), moved_(k) {}

    // Distances are no use any more: a centroid has jumped.
    void distrust_distances() { drift_ = std::numeric_limits<double>::infinity(); }

    void begin_sweep(const double* cluster_weights) {
        if (std::isinf(drift_)) {
            drift_ = 0.0;
            sweep_drift_ = 0.0;
            std::fill(nearest_.begin(), nearest_.end(), kUnknown);
        }
        drift_ += sweep_drift_;
        sweep_drift_ = 0.0;
        std::fill(moved_.begin(), moved_.end(), 0.0);
        lightest_ = *std::min_element(cluster_weights, cluster_weights + moved_.size());
    }
    // The centroid of a cluster, now of so much weight, has moved so far.
    void note_drift(Colour c, double step, double cluster_weight) {
        moved_[c] += step;
        sweep_drift_ = std::max(sweep_drift_, moved_[c]);
        lightest_ = std::min(lightest_, cluster_weight);
    }

    // What entering another cluster costs v at least, whatever has happened since it looked.
    double least_entering(Vertex v) const {
        const double nearest = nearest_[v] - drift_ - sweep_drift_;
        if (!(nearest > 0)) return 0.0;
        return entering_cost(lightest_, weight_[v], nearest) * nearest;
    }
    // The same, clusters left aside that have changed since it looked.
    double floor(Vertex v) const { return floor_[v]; }
    void set_floor(Vertex v, double cost) { floor_[v] = cost; }
    void lower_floor(Vertex v, double cost) { floor_[v] = std::min(floor_[v], cost); }
    // Distances measured within a sweep are noted as if at its beginning, which is the safe side.
    void set_nearest(Vertex v, double distance) { nearest_[v] = distance + drift_; }
    void forget_nearest(Vertex v) { nearest_[v] = kUnknown; }

    // A trial may be undone, and what its vertices knew before is restored then.
    void begin_trial() {
        remembered_.clear();
        saved_drift_ = drift_ + sweep_drift_;
    }
    // A vertex looks for the first time in this trial.
    void remember(Vertex v) {
        remembered_.push_back({v, floor_[v], nearest_[v]});
        nearest_[v] = kUnknown;
    }
    // A centroid has jumped. Vertices that the trial has not yet looked at forget the distances
    // to others when it does.
    void distrust_remembered() {
        drift_ = sweep_drift_ = 0.0;
        for (const Known& known : remembered_) nearest_[known.vertex] = kUnknown;
    }
    void undo_trial() {
        for (const Known& known : remembered_) {
            floor_[known.vertex] = known.floor;
            nearest_[known.vertex] = known.nearest;
        }
        drift_ = saved_drift_;
        sweep_drift_ = 0.0;
    }

 private:
    static constexpr double kUnknown = -std::numeric_limits<double>::infinity();

    struct Known {
        Vertex vertex;
        double floor, nearest;
    };

    const double* weight_;  // per vertex
    std::vector<double> floor_;
    std::vector<double> nearest_;    // distance when last measured, plus drift_ at that time
    double drift_ = 0.0;             // largest drifts of the sweeps so far, added up
    double sweep_drift_ = 0.0;       // largest drift of a centroid in this sweep
    double lightest_ = 0.0;          // no cluster is lighter
    std::vector<double> moved_;      // per cluster: drift in this sweep
    std::vector<Known> remembered_;  // before the running trial, where it has looked
    double saved_drift_ = 0.0;
};

}  // namespace kempe
