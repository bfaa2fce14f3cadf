// Sequential Kempe descent: one chain after the other, each swapped at once if it lowers the
// objective.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "basics/stopper.h"
#include "memetic/partition.h"

namespace kempe {

// Work is repeated only where something changed: a vertex looks again at a cluster only if that
// cluster or its own has changed since it last looked. Holds all working memory, so that
// descending again allocates nothing. One object per thread.
template <class T>
class Descent {
 public:
    Descent(const Instance& instance, const Points<T>& points, int k)
        : instance_(instance),
          partition_(instance, points, k),
          k_(k),
          d_(instance.dimension),
          many_values_(!partition_.by_feature() && double(instance.size) * d_ > kManyValues),
          changed_(k),
          checked_(instance.size),
          floor_(instance.size),
          others_(instance.size),
          moved_(k),
          recent_(k),
          failed_(instance.constrained_vertices.size() * k),
          blocked_(instance.size),
          point_(d_),
          distance_(k),
          insertion_(k) {
        candidates_.reserve(k);
    }

    Partition<T>& partition() { return partition_; }

    void load(const Colour* colours) {
        partition_.load(colours);
        // Improvements below rounding error would never end; an average vertex sets the scale.
        tolerance_ = kRelativeTolerance * std::max(partition_.inertia(), 0.0) / instance_.size;
        restart_clock();
    }

    // Move the reference of a cluster; vertices will look at it again.
    void place_centroid(Colour c, const double* position) {
        partition_.place_centroid(c, position);
        advance();
        touch(c);
        distrust_distances();
    }
    void place_centroid_on(Colour c, Vertex v) {
        partition_.place_centroid_on(c, v);
        advance();
        touch(c);
        distrust_distances();
    }

    // Swap improving chains until none is left or it is time to stop. Chains of several vertices
    // are expensive to collect, so they are tried only when no vertex can move alone any more.
    void run(Objective objective, Stopper& stopper) {
        objective_ = objective;
        Time before;
        do {
            whole_chains_ = false;
            do {
                before = now_;
                sweep(instance_.free_vertices, stopper);
                sweep(instance_.constrained_vertices, stopper);
            } while (now_ != before && !stopper.stopped());
            if (many_values_)
                swap_chains_by_table(stopper);
            else
                swap_whole_chains(stopper);
        } while (now_ != before && !stopper.stopped());
    }

    // From fixed centroids to a local optimum of the inertia.
    void release_centroids(Stopper& stopper) {
        advance();
        // Untouched clusters have their means as reference already.
        for (int position = 0; position < k_; ++position) {
            const Colour c = recent_[position];
            if (changed_[c] <= settled_) break;
            partition_.use_mean(c);
            changed_[c] = now_;
        }
        distrust_distances();
        run(Objective::inertia, stopper);
    }

    // A trial starts from a local optimum and is kept or undone as a whole.
    void begin_trial() {
        if (now_ > kLatest) restart_clock();
        partition_.begin_trial();
        settled_ = now_;
        std::fill(checked_.begin(), checked_.end(), now_);
        saved_floor_ = floor_;
        saved_others_ = others_;
        saved_drift_ = drift_ + sweep_drift_;
    }
    void end_trial(bool keep) {
        partition_.end_trial(keep);
        if (keep) return;
        advance();
        for (int position = 0; position < k_ && changed_[recent_[position]] > settled_;
             ++position) {
            partition_.use_mean(recent_[position]);
            changed_[recent_[position]] = now_;
        }
        std::fill(checked_.begin(), checked_.end(), now_);
        floor_.swap(saved_floor_);
        others_.swap(saved_others_);
        drift_ = saved_drift_;
        sweep_drift_ = 0.0;
    }

 private:
    using Time = std::uint32_t;
    static constexpr double kRelativeTolerance = 1e-12;
    static constexpr double kRounding = 1e-12;
    static constexpr double kManyValues = 2e6;
    static constexpr double kTableRounding = 1e-5;
    static constexpr Time kLatest = std::numeric_limits<Time>::max() / 2;

    void advance() { ++now_; }

    void restart_clock() {
        now_ = 1;
        settled_ = 0;
        distrust_distances();
        std::fill(changed_.begin(), changed_.end(), now_);
        std::fill(checked_.begin(), checked_.end(), 0);
        std::fill(failed_.begin(), failed_.end(), 0);
        for (Colour c = 0; c < k_; ++c) recent_[c] = c;
    }

    void touch(Colour c) {
        changed_[c] = now_;
        int position = 0;
        while (recent_[position] != c) ++position;
        for (; position > 0; --position) recent_[position] = recent_[position - 1];
        recent_[0] = c;
    }

    // What the objective falls by when v leaves its cluster.
    double removal_gain(Vertex v, double own_distance) const {
        const double w = instance_.weight[v];
        const Colour own = partition_.colour(v);
        // The last vertex of a cluster stays: no cluster is ever emptied. Nor is it left with
        // vertices of no weight alone, which have no mean.
        if (partition_.cluster_size(own) == 1) return 0.0;
        const double weight = partition_.cluster_weight(own), rest = weight - w;
        if (rest <= kRounding * weight) return 0.0;
        if (objective_ == Objective::fixed_centroids) return w * own_distance;
        return w * weight / rest * own_distance;
    }

    // Insertion cost with the centroid following, which is never above the one without.
    double insertion_cost(Colour c, double w, double distance) const {
        const double weight = partition_.cluster_weight(c);
        return w * weight / (weight + w) * distance;
    }

    // Bounds on distances are no use after a centroid has jumped.
    void distrust_distances() { drift_ = std::numeric_limits<double>::infinity(); }

    // The bounds of Hamerly (2010): since a vertex last measured all distances, no centroid has
    // come nearer to it than by the largest drift of each sweep, added up.
    void begin_sweep() {
        if (std::isinf(drift_)) {
            drift_ = 0.0;
            sweep_drift_ = 0.0;
            std::fill(others_.begin(), others_.end(), -std::numeric_limits<double>::infinity());
        }
        drift_ += sweep_drift_;
        sweep_drift_ = 0.0;
        std::fill(moved_.begin(), moved_.end(), 0.0);
        lightest_ =
            *std::min_element(partition_.cluster_weights(), partition_.cluster_weights() + k_);
    }

    void note_drift(Colour c, double step) {
        moved_[c] += step;
        sweep_drift_ = std::max(sweep_drift_, moved_[c]);
        lightest_ = std::min(lightest_, partition_.cluster_weight(c));
    }

    // No cluster but its own takes v for less than this.
    double least_insertion(Vertex v) const {
        const double nearest = others_[v] - drift_ - sweep_drift_;
        if (!(nearest > 0)) return 0.0;
        const double w = instance_.weight[v];
        return w * lightest_ / (lightest_ + w) * nearest * nearest;
    }

    void swap_whole_chains(Stopper& stopper) {
        whole_chains_ = true;
        for (Vertex v : instance_.constrained_vertices)
            if (blocked_[v] && !stopper.should_stop()) visit_all_clusters(v);
    }

    // On large data of many features it is the points that make a chain expensive. There, chains
    // are priced by a table, at centroids that stand still until the end. That lowers the inertia
    // as well, but a chain which improves only if the centroids follow is missed.
    void swap_chains_by_table(Stopper& stopper) {
        if (std::find(blocked_.begin(), blocked_.end(), true) == blocked_.end()) return;
        partition_.fill_table(table_);
        const Objective objective = objective_;
        const Time before = now_;
        advance();
        disturbed_.assign(instance_.constrained_vertices.size(), now_);
        objective_ = Objective::fixed_centroids;
        for (Vertex v : instance_.constrained_vertices)
            if (blocked_[v] && !stopper.should_stop()) try_table(v);
        objective_ = objective;
        if (changed_[recent_[0]] <= before)
            now_ = before;  // nothing was swapped
        else if (objective == Objective::inertia)
            follow_means(before);
    }

    void try_table(Vertex v) {
        const float* row = table_.data() + partition_.slot(v) * k_;
        const Colour own = partition_.colour(v);
        candidates_.clear();
        for (Colour c = 0; c < k_; ++c)
            if (row[c] < row[own] * (1 - kTableRounding)) candidates_.emplace_back(row[c], c);
        std::sort(candidates_.begin(), candidates_.end());
        for (const auto& [distance, c] : candidates_)
            if (!failed_undisturbed(v, c) && swap_if_priced(v, c)) return;
    }

    // While the table stands, a chain changes only with its vertices. Looking at v and its
    // neighbours alone may overlook a change further along; those nearer to it will see it.
    bool failed_undisturbed(Vertex v, Colour other) const {
        const std::size_t slot = partition_.slot(v);
        return failed_[slot * k_ + other] >= disturbed_[slot];
    }

    void disturb_neighbourhood() {
        for (Vertex u : partition_.chain()) {
            disturbed_[partition_.slot(u)] = now_;
            for (Vertex x : instance_.graph.neighbours(u)) disturbed_[partition_.slot(x)] = now_;
        }
    }

    bool swap_if_priced(Vertex v, Colour to) {
        double price, turnover;
        const Chain chain = partition_.collect_priced(v, to, table_.data(), price, turnover);
        if (partition_.empties(chain) || !(price < -kTableRounding * turnover)) {
            remember_failure(chain);
            return false;
        }
        partition_.gather_shift(chain);
        swap(chain);
        disturb_neighbourhood();
        return true;
    }

    // Put the centroids of clusters that changed after `since` back on their means.
    void follow_means(Time since) {
        advance();
        for (int position = 0; position < k_ && changed_[recent_[position]] > since; ++position) {
            const Colour c = recent_[position];
            note_drift(c, partition_.distance_to_mean(c));
            partition_.use_mean(c);
            changed_[c] = now_;
        }
    }

    void sweep(const std::vector<Vertex>& vertices, Stopper& stopper) {
        begin_sweep();
        for (Vertex v : vertices) {
            if (changed_[recent_[0]] <= checked_[v]) continue;
            if (stopper.should_stop()) return;
            visit(v);
        }
    }

    void visit(Vertex v) {
        if (instance_.weight[v] <= 0) {
            checked_[v] = now_;
            return;
        }
        const Time since = checked_[v];
        if (since > 0) {
            const Colour own = partition_.colour(v);
            const double gain = removal_gain(v, partition_.distance(v, own));
            const double least = least_insertion(v);
            if (gain <= least) {
                floor_[v] = least;
                checked_[v] = now_;
                return;
            }
            const bool settled = changed_[own] <= since || gain <= floor_[v];
            if (settled && visit_changed_clusters(v, gain, since)) return;
        }
        visit_all_clusters(v);
    }

    // Look only at clusters that changed. Returns false, having done nothing, if they are many.
    bool visit_changed_clusters(Vertex v, double gain, Time since) {
        const int few = 2 + k_ / 8;
        int count = 0;
        while (count < k_ && changed_[recent_[count]] > since)
            if (++count > few) return false;
        candidates_.clear();
        const Colour own = partition_.colour(v);
        const double w = instance_.weight[v];
        for (int position = 0; position < count; ++position) {
            const Colour c = recent_[position];
            if (c != own) consider(v, c, w, partition_.distance(v, c), gain);
        }
        checked_[v] = now_;
        try_candidates(v);
        return true;
    }

    void visit_all_clusters(Vertex v) {
        const Colour own = partition_.colour(v);
        const double w = instance_.weight[v];
        compute_distances(v);
        insertion_costs(distance_.data(), partition_.cluster_weights(), w, k_, insertion_.data());
        const double gain = removal_gain(v, distance_[own]);
        const bool fixed = objective_ == Objective::fixed_centroids;
        remember_nearest(v, own);
        insertion_[own] = std::numeric_limits<double>::infinity();
        blocked_[v] = false;
        floor_[v] = *std::min_element(insertion_.begin(), insertion_.end());
        candidates_.clear();
        const double bar = improvement_bar(gain);
        if (floor_[v] < bar)
            for (Colour c = 0; c < k_; ++c) {
                if (c == own) continue;
                const double cost = fixed ? w * distance_[c] : insertion_[c];
                if (cost < bar) candidates_.emplace_back(cost - gain, c);
            }
        checked_[v] = now_;
        try_candidates(v);
    }

    // Distances measured within a sweep are noted as if at its beginning, which is the safe side.
    void remember_nearest(Vertex v, Colour own) {
        double nearest = std::numeric_limits<double>::infinity();
        for (Colour c = 0; c < k_; ++c)
            if (c != own) nearest = std::min(nearest, distance_[c]);
        others_[v] = std::sqrt(nearest) + drift_;
    }

    void consider(Vertex v, Colour c, double w, double distance, double gain) {
        const double following = insertion_cost(c, w, distance);
        floor_[v] = std::min(floor_[v], following);
        const double cost = objective_ == Objective::fixed_centroids ? w * distance : following;
        if (cost < improvement_bar(gain)) candidates_.emplace_back(cost - gain, c);
    }

    // An insertion must cost less than this, or the gain is within rounding error.
    double improvement_bar(double gain) const { return gain * (1 - kRounding) - tolerance_; }

    void compute_distances(Vertex v) {
        if (const double* by_feature = partition_.by_feature()) {
            const T* position = partition_.point(v);
            for (int f = 0; f < d_; ++f) point_[f] = position[f];
            distances_by_feature(point_.data(), by_feature, k_, d_, distance_.data());
        } else {
            for (Colour c = 0; c < k_; ++c) distance_[c] = partition_.distance(v, c);
        }
    }

    // Take the first cluster, best for v alone first, whose chain improves the objective.
    void try_candidates(Vertex v) {
        if (candidates_.size() > 1) std::sort(candidates_.begin(), candidates_.end());
        for (const auto& [change, c] : candidates_)
            if (partition_.moves_alone(v, c) ? try_alone(v, c) : try_chain(v, c)) return;
    }

    bool try_alone(Vertex v, Colour to) {
        if (partition_.cluster_size(partition_.colour(v)) == 1) return false;
        swap(partition_.single(v, to));
        return true;
    }

    bool try_chain(Vertex v, Colour to) {
        blocked_[v] = true;
        if (!whole_chains_ || failed_before(v, to)) return false;
        const Chain chain = partition_.collect(v, to);
        if (partition_.change(chain, objective_) < -tolerance_) {
            swap(chain);
            return true;
        }
        remember_failure(chain);
        return false;
    }

    void swap(const Chain& chain) {
        partition_.swap(chain, objective_);
        if (objective_ == Objective::inertia) {
            note_drift(chain.from, partition_.step_from());
            note_drift(chain.to, partition_.step_to());
        }
        advance();
        touch(chain.to);
        touch(chain.from);
    }

    // A chain depends on its two clusters alone.
    bool failed_before(Vertex v, Colour other) const {
        const Time failed = failed_[partition_.slot(v) * k_ + other];
        return failed >= changed_[other] && failed >= changed_[partition_.colour(v)];
    }

    void remember_failure(const Chain& chain) {
        for (Vertex u : partition_.chain()) {
            const Colour other = partition_.colour(u) == chain.from ? chain.to : chain.from;
            failed_[partition_.slot(u) * k_ + other] = now_;
        }
    }

    const Instance& instance_;
    Partition<T> partition_;
    const int k_, d_;
    const bool many_values_;
    Objective objective_ = Objective::inertia;
    double tolerance_ = 0.0;

    Time now_ = 0;
    Time settled_ = 0;            // when the running trial began
    std::vector<Time> changed_;   // per cluster
    std::vector<Time> checked_;   // per vertex
    std::vector<double> floor_;   // per vertex: inserting it elsewhere costs at least this,
                                  // clusters changed since it last looked left aside
    std::vector<double> others_;  // per vertex: distance to the nearest other centroid when last
                                  // measured, plus drift_ at that time
    std::vector<double> saved_floor_, saved_others_;
    double drift_ = 0.0;        // largest drifts of the sweeps so far, added up
    double sweep_drift_ = 0.0;  // largest drift of a centroid in this sweep
    double saved_drift_ = 0.0;
    double lightest_ = 0.0;       // no cluster is lighter
    std::vector<double> moved_;   // per cluster: drift in this sweep
    std::vector<Colour> recent_;  // clusters, the most recently changed first
    bool whole_chains_ = false;
    std::vector<Time> failed_;   // per constrained vertex and other colour: when their chain
                                 // was last found not to improve
    std::vector<char> blocked_;  // per vertex: would move, but not alone

    std::vector<float> table_;
    std::vector<Time> disturbed_;  // per constrained vertex: when it or a neighbour was recoloured
    std::vector<double> point_, distance_, insertion_;
    std::vector<std::pair<double, Colour>> candidates_;
};

}  // namespace kempe
