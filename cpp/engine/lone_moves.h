// Which vertices would change their cluster alone, found in blocks side by side on large data.
#pragma once

#include <cstddef>
#include <vector>

#include "basics/stopper.h"
#include "engine/partition.h"
#include "problem/tiles.h"

namespace kempe {

// A vertex that another cluster would take for less, as far as rounding can tell.
struct Proposal {
    Vertex vertex;
    Colour to;
    bool nearer;          // than the centroid of its cluster, beyond doubt
    double upper, lower;  // its bounds, once it has moved
};

// Looks at all vertices as the centroids stand, and moves none. Most are passed over by bounds on
// their distances, as in Hamerly (2010): one from above on the distance to the own centroid, one
// from below on that to the nearest other; data of many features has one from below for every
// centroid, as in Elkan (2003). A bound is stored as if the centroids had never moved. How far they
// have moved since is known for each, so passing over a vertex costs no look at its point.
template <class T>
class LoneMoves {
 public:
    LoneMoves(const Instance& instance, const Partition<T>& partition, int k);

    // In the order of the vertices, each with the cluster that it can best enter alone. Marks those
    // in `blocked` that would enter another which they cannot enter alone. Incomplete if it is time
    // to stop.
    const std::vector<Proposal>& find(Objective objective, std::vector<char>& blocked,
                                      Stopper& stopper);
    // A vertex has moved: as proposed, or otherwise.
    void accept(const Proposal& proposal);
    void forget(Vertex v);
    void forget_all();

    // A trial that is undone restores the centroids and colours at its beginning.
    void begin_trial();
    void undo_trial();

 private:
    // With fewer features bounds for every centroid cost more than they save.
    static constexpr int kManyFeatures = 48;

    struct Bounds {
        std::vector<double> upper, lower;  // per vertex
        std::vector<float> each;           // per vertex and centroid, with many features, in unit_
        std::vector<double> drift;         // per centroid, since the beginning
        double largest_drift = 0.0;        // of each sweep, added up
        std::vector<double> seen;          // the centroids in the last sweep
    };
    // Working memory of one thread.
    struct Scratch {
        std::vector<Vertex> open, bounded;  // vertices that bounds did not pass over
        std::vector<double> squared;        // distances of one vertex to all centroids
        std::vector<double> ratio;  // what entering a cluster multiplies them by, for a weight
        double weight = -1.0;

        void prepare(int k);
    };
    // Roots of what entering another cluster costs a vertex at least, by its weight: those that it
    // can enter alone, and those that it cannot.
    struct Entry {
        double alone, blocked;
    };
    using Found = std::vector<Proposal>;

    void follow_centroids();
    void weigh_clusters(Objective objective);
    void measure_separation();
    double leaving_factor(Colour c, double w) const;
    double entering_factor(Colour c, double w) const;
    bool passes(Vertex v);
    bool stays(Vertex v, double leaving, const Entry& entry);
    Entry least_entry(Vertex v, Colour own);
    void look(std::size_t begin, std::size_t end, Scratch& scratch, Found& found);
    void look_at_open(Scratch& scratch, Found& found);
    void look_at_bounded(Vertex v, Scratch& scratch, Found& found);
    void judge(Vertex v, Scratch& scratch, Found& found);
    Colour best_entered(Vertex v, const Scratch& scratch, double bar);
    double leaving_ratio(Vertex v) const;
    const std::vector<double>& insertion_ratios(Vertex v, Scratch& scratch) const;
    double at_least(double squared) const;
    double at_most(Colour c, double squared) const;
    float stored_bound(Colour c, double squared) const;

    const Instance& instance_;
    const Partition<T>& partition_;
    const int k_, d_;
    const bool many_features_;
    const double error_;    // relative, of a distance
    const double unit_;     // of length, a power of two: what is stored in it fits into a float
    double typical_ = 0.0;  // a weight that few exceed
    std::vector<char>* blocked_ = nullptr;
    Objective objective_ = Objective::inertia;
    Bounds bounds_, saved_;
    std::vector<T> centroids_;      // rounded to the data's type
    CentroidTiles<T> tiles_;        // the same
    std::vector<double> rounding_;  // per centroid: how far it lies from the rounded one
    double largest_rounding_ = 0.0;
    std::vector<double> separation_;  // per centroid: distance to the nearest other
    // Per cluster, for a vertex of typical weight: roots of what leaving and entering multiply a
    // squared distance by.
    std::vector<double> leaving_, entering_;
    Colour lightest_ = 0;           // the lightest cluster
    std::vector<Scratch> scratch_;  // per thread
    std::vector<Found> found_;      // per block
    Found proposals_;
};

extern template class LoneMoves<float>;
extern template class LoneMoves<double>;

}  // namespace kempe
