// Moves of single vertices, looked for in blocks side by side: what large data does.
#pragma once

#include <cstddef>
#include <vector>

#include "basics/stopper.h"
#include "engine/finders/small.h"
#include "engine/ledger.h"
#include "problem/tiles.h"

namespace kempe {

// Looks at all vertices as the centroids stand. Most are passed over by bounds on their distances,
// which costs no look at their points. As long as many would move they do so all at once, as in
// k-means, then one by one.
template <class Rules>
class LargeSweep {
 public:
    using T = typename Rules::Value;

    LargeSweep(Ledger<Rules>& ledger, SmallSweep<Rules>& singles);

    void sweep(Stopper& stopper);
    void forget_all() { bounds_.forget_all(); }

    // A trial that is undone restores the centroids and colours at its beginning.
    void begin_trial() { saved_ = bounds_; }
    void undo_trial() { std::swap(bounds_, saved_); }

 private:
    // One of so many vertices must want to move for all to move at once.
    static constexpr std::size_t kVerticesPerMove = 50;

    // A vertex that another cluster would take for less, as far as rounding can tell.
    struct Proposal : SingleMove {
        bool nearer;          // than the centroid of its cluster, beyond doubt
        double upper, lower;  // its bounds, once it has moved
    };
    using Proposals = std::vector<Proposal>;
    // Working memory of one thread.
    struct Scratch {
        std::vector<Vertex> open, bounded;  // vertices that bounds did not pass over
        std::vector<double> squared;        // distances of one vertex to all centroids
        std::vector<double> ratio;  // what entering a cluster multiplies them by, for a weight
        double weight = -1.0;

        void prepare(int k);
    };
    // Centroids in the type of the data, and how far they lie from the true ones.
    struct Rounded {
        Rounded(int k, int d) : centroids(std::size_t(k) * d), tiles(k, d), error(k) {}

        std::vector<T> centroids;
        CentroidTiles<T> tiles;
        std::vector<double> error;
        double largest_error = 0.0;
    };
    // What leaving and entering multiply distances by, for a vertex of typical weight.
    struct Factors {
        double weight;  // that few exceed
        std::vector<double> leaving, entering;
        Colour lightest = 0;  // the cluster that asks for least
    };
    // What entering another cluster costs a vertex at least, as the root of its square: one that
    // it can enter alone, and one that it cannot.
    struct Entry {
        double alone, blocked;
    };

    // Moves.
    bool move_together(const Proposals& proposals);
    void move_in_turn(const Proposals& proposals, Stopper& stopper);
    bool improves(const SingleMove& move) const;
    void accept(const Proposal& proposal);

    // In the order of the vertices, each with the cluster that it can best enter alone. Marks
    // those as blocked that would enter another which they cannot enter alone. Incomplete if it is
    // time to stop.
    const Proposals& find(Stopper& stopper);
    void follow_centroids();
    void weigh_clusters();
    void measure_separation();
    double leaving_factor(Colour c, double w) const;
    double entering_factor(Colour c, double w) const;
    bool passes(Vertex v);
    bool passes_in_spite_of_pulls(Vertex v)
        requires Rules::Ties::kPriced;
    bool stays(Vertex v, double leaving, const Entry& entry);
    Entry least_entry(Vertex v, Colour own);
    void look(std::size_t begin, std::size_t end, Scratch& scratch, Proposals& found);
    void look_at_open(Scratch& scratch, Proposals& found);
    void look_at_bounded(Vertex v, Scratch& scratch, Proposals& found);
    void judge(Vertex v, Scratch& scratch, Proposals& found);
    Colour best_entered(Vertex v, const Scratch& scratch, double bar);
    // What pulls v into a cluster, and into another one at most: nothing where ties have no price.
    double pull_per_weight(Vertex v, Colour c) const {
        if constexpr (Rules::Ties::kPriced) return state_.ties().pull(v, c) / instance_.weight[v];
        return 0.0;
    }
    double strongest_pull_per_weight(Vertex v) const {
        if constexpr (Rules::Ties::kPriced)
            return state_.ties().strongest_pull(v, state_.colour(v)) / instance_.weight[v];
        return 0.0;
    }
    double own_leaving_ratio(Vertex v) const;
    const std::vector<double>& entering_ratios(Vertex v, Scratch& scratch) const;
    double at_least(double squared) const;
    double at_most(Colour c, double squared) const;
    float stored_bound(Colour c, double squared) const;

    Ledger<Rules>& ledger_;
    SmallSweep<Rules>& singles_;
    const Instance& instance_;
    const State<Rules>& state_;
    const int k_, d_;
    const bool many_features_;
    const double error_;  // relative, of a distance
    const double unit_;   // of length, a power of two: what is stored in it fits into a float
    LargeBounds bounds_, saved_;
    Rounded rounded_;
    Factors factors_;
    std::vector<double> separation_;  // per centroid: distance to the nearest other
    std::vector<Scratch> scratch_;    // per thread
    std::vector<Proposals> found_;    // per block
    Proposals proposals_;
};

KEMPE_DECLARE_FOR_ALL_RULES(LargeSweep);

}  // namespace kempe
