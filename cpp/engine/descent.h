// Sequential Kempe descent: one chain after the other, each swapped at once if it lowers the
// objective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "basics/stopper.h"
#include "engine/lone_moves.h"
#include "engine/neighbourhood.h"
#include "engine/partition.h"
#include "engine/table_search.h"

namespace kempe {

// Work is repeated only where something changed: a vertex looks again at a cluster only if that
// cluster or its own has changed since it last looked. Holds all working memory, so that
// descending again allocates nothing. One object per thread.
template <class T>
class Descent {
 public:
    Descent(const Instance& instance, const Points<T>& points, int k);

    const Partition<T>& partition() const { return partition_; }

    void load(const Colour* colours);

    // Move the reference of a cluster; vertices will look at it again.
    void place_centroid(Colour c, const double* position);

    // Swap improving chains until none is left or it is time to stop.
    void run(Objective objective, Stopper& stopper);
    // From what was loaded to a local optimum of the inertia.
    void descend(Stopper& stopper);
    // Only what large data of many features does with chains: recolour the constrained vertices
    // at the prices of a table.
    void assign_by_table(bool thorough, Stopper& stopper);

    // A trial starts from a local optimum and is kept or undone as a whole. Vertices that it
    // cannot concern are not looked at.
    void begin_trial();
    // Move the centroid of a cluster onto a vertex, let the colouring follow, then the centroids.
    void relocate(Colour c, Vertex onto, Stopper& stopper);
    void end_trial(bool keep);

    // Take note of the local optimum that the next trial starts from, if that is not yet done.
    void note_optimum();
    const Neighbourhood<T>& neighbourhood() const { return neighbourhood_; }

 private:
    using Time = std::uint32_t;
    static constexpr double kRelativeTolerance = 1e-12;
    static constexpr double kFarBelow = 1e-3;
    static constexpr double kRounding = 1e-12;
    static constexpr double kSafety = 1e-9;
    static constexpr double kManyValues = 2e6;
    static constexpr double kNearlyAsLow = 1e-3;
    static constexpr int kTrustedPasses = 1000;
    static constexpr std::size_t kManyMoves = 50;
    static constexpr double kHopelessShare = 3e-3, kHopelessSteps = 40;
    static constexpr Time kLatest = std::numeric_limits<Time>::max() / 2;

    struct Bounds {
        Vertex vertex;
        double floor, others;
    };

    // What has changed, and when.
    void advance() { ++now_; }
    void restart_clock();
    void touch(Colour c);
    Time checked(Vertex v) const { return std::max(checked_[v], settled_); }
    template <class Use>
    void for_changed_since(Time since, Use&& use);

    // Trials.
    void release_centroids();
    void remember_bounds(Vertex v);
    void distrust_remembered();
    void restore_bounds();
    void keep_bounds();
    double safe_radius(Colour c) const;
    double stretch(Colour own, Colour other) const;
    void gather_visits();
    void look_again(Vertex v);

    double smallest_change() const;
    bool goes_down();
    bool is_hopeless();

    // Gains and costs of moving one vertex.
    double removal_gain(Vertex v, double own_distance) const;
    double insertion_cost(Colour c, double w, double distance) const;
    double improvement_bar(double gain) const;

    // Bounds on distances.
    void distrust_distances() { drift_ = std::numeric_limits<double>::infinity(); }
    void begin_sweep();
    void note_drift(Colour c, double step);
    double least_insertion(Vertex v) const;

    // All vertices of large data: many at once as long as many move, then one by one.
    void sweep_blocks(Stopper& stopper);
    bool move_together(const std::vector<Proposal>& proposals);
    void move_in_turn(const std::vector<Proposal>& proposals, Stopper& stopper);
    bool improves(Vertex v, Colour to) const;

    // Vertices that move alone.
    void pass(Stopper& stopper);
    void sweep_blocked(Stopper& stopper);
    void sweep(const std::vector<Vertex>& vertices, Stopper& stopper);
    void visit(Vertex v);
    bool visit_changed_clusters(Vertex v, double gain, Time since);
    void visit_all_clusters(Vertex v);
    void consider(Vertex v, Colour c, double w, double distance, double gain);
    void try_candidates(Vertex v);
    bool try_alone(Vertex v, Colour to);

    // Whole chains.
    void swap_whole_chains(Stopper& stopper);
    bool try_chain(Vertex v, Colour to);
    bool try_ejection(Vertex v, Colour to);
    std::pair<double, Colour> cheapest_refuge(Vertex v, Colour forbidden);
    double insertion_without(Vertex v, Colour c, Vertex gone) const;
    void swap(const Chain& chain);
    bool failed_before(Vertex v, Colour other) const;
    void remember_failure(const Chain& chain);

    // Whole chains, priced by a table.
    void swap_chains_by_table(bool thorough, Stopper& stopper);
    bool is_worth_a_thorough_look() const;
    void follow_means(Time since);

    const Instance& instance_;
    Partition<T> partition_;
    const int k_, d_;
    const bool many_values_;
    std::optional<LoneMoves<T>> lone_moves_;  // of large data
    Objective objective_ = Objective::inertia;
    double tolerance_ = 0.0;  // smaller changes of the objective are none
    int passes_ = 0;          // of the present run, over all vertices
    // Inertia where the running trial began, and after the last pass of large data.
    double trial_start_ = std::numeric_limits<double>::infinity(), last_inertia_ = 0.0;
    double measured_ = 0.0;  // cost after the last pass that was not trusted

    Time now_ = 0;
    Time settled_ = 0;              // when the running trial began
    std::vector<Time> changed_;     // per cluster: when its centroid or its weight was
    std::vector<Time> recoloured_;  // per cluster: when a vertex came or went
    std::vector<Time> checked_;     // per vertex; what is earlier than settled_ means settled_
    std::vector<double> floor_;     // per vertex: inserting it elsewhere costs at least this,
                                    // clusters changed since it last looked left aside
    std::vector<double> others_;    // per vertex: distance to the nearest other centroid when last
                                    // measured, plus drift_ at that time
    double drift_ = 0.0;            // largest drifts of the sweeps so far, added up
    double sweep_drift_ = 0.0;      // largest drift of a centroid in this sweep
    double saved_drift_ = 0.0;
    double lightest_ = 0.0;       // no cluster is lighter
    std::vector<double> moved_;   // per cluster: drift in this sweep
    std::vector<Colour> recent_;  // clusters, the most recently changed first
    bool whole_chains_ = false;
    std::vector<Time> failed_;   // per constrained vertex and other colour: when their chain
                                 // was last found not to improve
    std::vector<char> blocked_;  // per vertex: would move, but not alone

    bool trial_ = false;
    bool standing_ = false;  // swaps of this run move no centroid, so they change no cost
    bool noted_ = false;     // whether the neighbourhood is that of the partition
    Neighbourhood<T> neighbourhood_;
    std::vector<Vertex> visits_;      // vertices that the running trial may concern
    std::vector<Bounds> remembered_;  // bounds before the running trial, where it changed them

    TableSearch<T> table_search_;
    std::vector<double> distance_, insertion_;
    std::vector<std::pair<double, Colour>> candidates_;
};

extern template class Descent<float>;
extern template class Descent<double>;

}  // namespace kempe
