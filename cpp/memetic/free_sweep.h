// Which free vertices would change their cluster, found in blocks side by side on large data.
#pragma once

#include <cstddef>
#include <vector>

#include "basics/stopper.h"
#include "memetic/partition.h"

namespace kempe {

// A free vertex that another cluster would take for less, as far as rounding can tell.
struct Proposal {
    std::size_t position;  // among the free vertices
    Vertex vertex;
    Colour to;
    bool nearer;          // than the centroid of its cluster, beyond doubt
    double upper, lower;  // its bounds, once it has moved
};

// Looks at all free vertices as the centroids stand, and moves none. Most are passed over by bounds
// on their distances, as in Hamerly (2010): one from above on the distance to the own centroid, one
// from below on that to the nearest other; data of many features has one from below for every
// centroid, as in Elkan (2003). A bound is stored as if the centroids had never moved. How far they
// have moved since is known for each, so passing over a vertex costs no look at its point.
template <class T>
class FreeSweep {
 public:
    FreeSweep(const Instance& instance, const Partition<T>& partition, int k);

    // In the order of the vertices. Incomplete if it is time to stop.
    const std::vector<Proposal>& find(Objective objective, Stopper& stopper);
    // The bounds of a vertex that has moved as proposed, or otherwise.
    void accept(const Proposal& proposal);
    void forget(std::size_t position);
    void forget_all();

    // A trial that is undone restores the centroids and colours at its beginning.
    void begin_trial();
    void undo_trial();

 private:
    // With fewer features bounds for every centroid cost more than they save.
    static constexpr int kManyFeatures = 48;

    struct Bounds {
        std::vector<double> upper, lower;  // per free vertex
        std::vector<float> each;           // per free vertex and centroid, with many features
        std::vector<double> drift;         // per centroid, since the beginning
        double largest_drift = 0.0;        // of each sweep, added up
        std::vector<double> seen;          // the centroids in the last sweep
    };
    // Working memory of one thread.
    struct Scratch {
        std::vector<std::size_t> open, bounded;  // vertices that bounds did not pass over
        std::vector<T> tile;
        std::vector<double> squared;  // distances of one vertex to all centroids
        std::vector<double> ratio;    // what entering a cluster multiplies them by, for a weight
        double weight = -1.0;

        void prepare(int k);
    };

    void follow_centroids();
    void weigh_clusters(Objective objective);
    void measure_separation();
    bool stays(Colour own, double upper, double lower) const;
    bool passes(std::size_t position);
    double tightened_lower(std::size_t position, Colour own);
    void look(std::size_t begin, std::size_t end, Scratch& scratch, std::vector<Proposal>& found);
    void look_at_open(Scratch& scratch, std::vector<Proposal>& found);
    void remember_each(std::size_t position, const T* squared);
    void look_at_bounded(std::size_t position, Scratch& scratch, std::vector<Proposal>& found);
    void judge(std::size_t position, Scratch& scratch, std::vector<Proposal>& found);
    double leaving_ratio(Vertex v) const;
    const std::vector<double>& insertion_ratios(Vertex v, Scratch& scratch) const;
    double at_least(double squared) const;
    double at_most(Colour c, double squared) const;
    float stored_bound(Colour c, double squared) const;

    const Instance& instance_;
    const Partition<T>& partition_;
    const int k_, d_;
    const bool many_features_;
    const double error_;     // relative, of a distance
    double heaviest_ = 0.0;  // no free vertex is heavier
    Objective objective_ = Objective::inertia;
    Bounds bounds_, saved_;
    std::vector<T> centroids_;      // rounded to the data's type
    std::vector<T> by_feature_;     // the same, feature by feature
    std::vector<double> rounding_;  // per centroid: how far it lies from the rounded one
    double largest_rounding_ = 0.0;
    std::vector<double> separation_;  // per centroid: distance to the nearest other
    std::vector<double> reach_;       // per cluster: a vertex stays if the nearest other centroid
                                      // is so many times as far as the own one
    std::vector<Scratch> scratch_;    // per thread
    std::vector<std::vector<Proposal>> found_;  // per block
    std::vector<Proposal> proposals_;
};

extern template class FreeSweep<float>;
extern template class FreeSweep<double>;

}  // namespace kempe
