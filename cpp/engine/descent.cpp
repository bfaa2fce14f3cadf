#include "engine/descent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "basics/least.h"

namespace kempe {

// `inline` marks what becomes part of the loop over vertices. Members of an instantiated class are
// functions of their own otherwise, which costs the descent eight per cent more instructions.

template <class T>
Descent<T>::Descent(const Instance& instance, const Points<T>& points, int k)
    : instance_(instance),
      partition_(instance, points, k),
      k_(k),
      d_(instance.dimension),
      many_values_(!partition_.has_few_features() && double(instance.size) * d_ > kManyValues),
      changed_(k),
      recoloured_(k),
      checked_(instance.size),
      floor_(instance.size),
      others_(instance.size),
      moved_(k),
      recent_(k),
      failed_(instance.constrained_vertices.size() * k),
      blocked_(instance.size),
      neighbourhood_(instance, k),
      table_search_(instance, partition_, k),
      distance_(k),
      insertion_(k) {
    candidates_.reserve(k);
    // Squares of float32 data must fit into its own precision.
    const bool fits = sizeof(T) == sizeof(double) || partition_.table_scale() == 1.0;
    if (instance.is_large() && fits) lone_moves_.emplace(instance, partition_, k);
}

template <class T>
void Descent<T>::load(const Colour* colours) {
    partition_.load(colours);
    tolerance_ = smallest_change();
    noted_ = false;
    restart_clock();
    if (lone_moves_) lone_moves_->forget_all();
}

// Improvements below rounding error would never end; an average vertex sets the scale.
template <class T>
double Descent<T>::smallest_change() const {
    return kRelativeTolerance * std::max(partition_.inertia(), 0.0) / instance_.size;
}

template <class T>
void Descent<T>::place_centroid(Colour c, const double* position) {
    partition_.place_centroid(c, position);
    advance();
    touch(c);
    distrust_distances();
}

// A start far above what it leads to, with groups mixed that lie very far apart, sets a scale at
// which the last steps down are not seen. They are taken at the scale that was reached. Each turn
// divides the scale by a thousand at least, so a hundred are the most that a double can take.
template <class T>
void Descent<T>::descend(Stopper& stopper) {
    run(Objective::inertia, stopper);
    for (double finer;
         !stopper.stopped() && (finer = smallest_change()) < kFarBelow * tolerance_;) {
        tolerance_ = finer;
        restart_clock();
        run(Objective::inertia, stopper);
    }
}

// Chains of several vertices are expensive to collect, so they are tried only when no vertex can
// move alone any more.
template <class T>
void Descent<T>::run(Objective objective, Stopper& stopper) {
    objective_ = objective;
    passes_ = 0;
    last_inertia_ = std::numeric_limits<double>::infinity();
    Time before;
    do {
        whole_chains_ = false;
        do {
            before = now_;
            if (lone_moves_)
                sweep_blocks(stopper);
            else
                pass(stopper);
        } while (now_ != before && !stopper.stopped() && goes_down());
        if (many_values_)
            swap_chains_by_table(is_worth_a_thorough_look(), stopper);
        else
            swap_whole_chains(stopper);
    } while (now_ != before && !stopper.stopped() && goes_down());
}

// Whether to trust that passes which change something come to an end. A pass looks at each vertex
// once, and each swap lowers the objective by more than the rounding of its own terms. But means
// that follow lie a hair beside the true ones, so where points tie and groups lie far apart, passes
// might undo each other for ever. Nothing that works takes very many passes: after those, each must
// lower the cost as measured anew, and no number falls for ever.
template <class T>
bool Descent<T>::goes_down() {
    if (is_hopeless()) return false;
    if (++passes_ < kTrustedPasses) return true;
    const double before = measured_;
    measured_ = partition_.measured_cost();
    return passes_ == kTrustedPasses || measured_ < before;
}

// Whether a trial on large data lies so far above its start that at the present rate it would take
// very many passes to get below. Chains may lower the inertia by more than single vertices do, but
// not by that much. Most trials fail, and most of their time goes into the last small steps.
template <class T>
bool Descent<T>::is_hopeless() {
    if (!lone_moves_ || objective_ != Objective::inertia) return false;
    const double inertia = partition_.inertia(), step = last_inertia_ - inertia;
    last_inertia_ = inertia;
    const double above = inertia - trial_start_;
    return above > kHopelessShare * trial_start_ && above > kHopelessSteps * step;
}

// Every vertex has looked at everything when a trial begins, so whatever it checked earlier counts
// as checked then.
template <class T>
void Descent<T>::begin_trial() {
    if (now_ > kLatest) restart_clock();
    note_optimum();
    partition_.begin_trial();
    trial_ = true;
    if (lone_moves_) lone_moves_->begin_trial();
    trial_start_ = partition_.inertia();
    settled_ = now_;
    remembered_.clear();
    saved_drift_ = drift_ + sweep_drift_;
}

template <class T>
void Descent<T>::relocate(Colour c, Vertex onto, Stopper& stopper) {
    partition_.place_centroid_on(c, onto);
    advance();
    touch(c);
    distrust_remembered();
    standing_ = true;
    run(Objective::fixed_centroids, stopper);
    standing_ = false;
    release_centroids();
    run(Objective::inertia, stopper);
}

template <class T>
void Descent<T>::end_trial(bool keep) {
    partition_.end_trial(keep);
    trial_ = false;
    trial_start_ = std::numeric_limits<double>::infinity();
    if (keep) {
        if (!lone_moves_) keep_bounds();
        noted_ = false;
        return;
    }
    if (lone_moves_) lone_moves_->undo_trial();
    advance();
    for_changed_since(settled_, [&](Colour c) { partition_.use_mean(c); });
    restore_bounds();
}

template <class T>
void Descent<T>::note_optimum() {
    if (!noted_) neighbourhood_.note(partition_);
    noted_ = true;
}

// Let the centroids follow that have stood still. Untouched clusters have their means as
// reference already.
template <class T>
void Descent<T>::release_centroids() {
    advance();
    for (Colour c = 0; c < k_; ++c) {
        if (std::max(changed_[c], recoloured_[c]) <= settled_) continue;
        partition_.use_mean(c);
        touch(c);
    }
    distrust_remembered();
}

template <class T>
inline void Descent<T>::remember_bounds(Vertex v) {
    if (checked_[v] > settled_) return;
    remembered_.push_back({v, floor_[v], others_[v]});
    others_[v] = -std::numeric_limits<double>::infinity();
}

// A centroid has jumped. Vertices that the trial has not yet looked at forget the distances to
// others when it does.
template <class T>
void Descent<T>::distrust_remembered() {
    drift_ = sweep_drift_ = 0.0;
    for (const Bounds& bounds : remembered_)
        others_[bounds.vertex] = -std::numeric_limits<double>::infinity();
}

template <class T>
void Descent<T>::restore_bounds() {
    for (const Bounds& bounds : remembered_) {
        floor_[bounds.vertex] = bounds.floor;
        others_[bounds.vertex] = bounds.others;
    }
    drift_ = saved_drift_;
    sweep_drift_ = 0.0;
}

// Vertices of untouched clusters need not have looked at the others in the end. What those ask for
// is not less than what leaving would gain, though, or the vertex would have been visited.
template <class T>
void Descent<T>::keep_bounds() {
    objective_ = Objective::inertia;
    for (Colour c = 0; c < k_; ++c) {
        if (changed_[c] > settled_) continue;
        for (const auto& [v, radius] : neighbourhood_.members(c)) {
            floor_[v] = std::min(floor_[v], removal_gain(v, radius * radius));
            if (checked_[v] <= settled_) others_[v] = -std::numeric_limits<double>::infinity();
        }
    }
}

// Members of an untouched cluster up to this distance from its centroid gain nothing in a cluster
// that has changed: by the triangle inequality its centroid is too far away.
template <class T>
double Descent<T>::safe_radius(Colour c) const {
    double safe = std::numeric_limits<double>::infinity();
    for (int position = 0; position < k_ && changed_[recent_[position]] > settled_; ++position) {
        const Colour other = recent_[position];
        const double apart =
            squared_distance(partition_.centroid(c), partition_.centroid(other), d_);
        safe = std::min(safe, std::sqrt(apart) / (1 + stretch(c, other)));
    }
    return safe * (1 - kSafety);
}

// A member gains in another cluster only if that centroid is nearer than so many times its own.
template <class T>
inline double Descent<T>::stretch(Colour own, Colour other) const {
    if (objective_ == Objective::fixed_centroids) return 1.0;
    const double w = neighbourhood_.heaviest(own);
    const double from = partition_.cluster_weight(own), to = partition_.cluster_weight(other);
    return std::sqrt(from * (to + w) / (std::max(from - w, 0.0) * to));
}

template <class T>
void Descent<T>::gather_visits() {
    visits_.clear();
    for (Colour c = 0; c < k_; ++c) {
        const double radius = changed_[c] > settled_ ? -1.0 : safe_radius(c);
        neighbourhood_.for_members_beyond(
            c, radius, [&](const auto& member) { visits_.push_back(member.vertex); });
    }
}

template <class T>
void Descent<T>::restart_clock() {
    now_ = 1;
    settled_ = 0;
    distrust_distances();
    std::fill(changed_.begin(), changed_.end(), now_);
    std::fill(recoloured_.begin(), recoloured_.end(), now_);
    std::fill(checked_.begin(), checked_.end(), 0);
    std::fill(failed_.begin(), failed_.end(), 0);
    for (Colour c = 0; c < k_; ++c) recent_[c] = c;
}

template <class T>
inline void Descent<T>::touch(Colour c) {
    changed_[c] = now_;
    int position = 0;
    while (recent_[position] != c) ++position;
    for (; position > 0; --position) recent_[position] = recent_[position - 1];
    recent_[0] = c;
}

// Clusters that changed after `since` change once more, now.
template <class T>
template <class Use>
void Descent<T>::for_changed_since(Time since, Use&& use) {
    for (int position = 0; position < k_ && changed_[recent_[position]] > since; ++position) {
        use(recent_[position]);
        changed_[recent_[position]] = now_;
    }
}

// What the objective falls by when v leaves its cluster.
template <class T>
inline double Descent<T>::removal_gain(Vertex v, double own_distance) const {
    const double w = instance_.weight[v];
    const Colour own = partition_.colour(v);
    if (!partition_.may_leave(v)) return 0.0;
    if (objective_ == Objective::fixed_centroids) return w * own_distance;
    const double weight = partition_.cluster_weight(own);
    return w * weight / (weight - w) * own_distance;
}

// Insertion cost with the centroid following, which is never above the one without.
template <class T>
inline double Descent<T>::insertion_cost(Colour c, double w, double distance) const {
    const double weight = partition_.cluster_weight(c);
    return w * weight / (weight + w) * distance;
}

// An insertion must cost less than this, or the gain is within rounding error.
template <class T>
inline double Descent<T>::improvement_bar(double gain) const {
    return gain * (1 - kRounding) - tolerance_;
}

// Bounds on distances are no use after a centroid has jumped. Apart from that they are those of
// Hamerly (2010): since a vertex last measured all distances, no centroid has come nearer to it
// than by the largest drift of each sweep, added up.
template <class T>
inline void Descent<T>::begin_sweep() {
    if (std::isinf(drift_)) {
        drift_ = 0.0;
        sweep_drift_ = 0.0;
        std::fill(others_.begin(), others_.end(), -std::numeric_limits<double>::infinity());
    }
    drift_ += sweep_drift_;
    sweep_drift_ = 0.0;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    lightest_ = *std::min_element(partition_.cluster_weights(), partition_.cluster_weights() + k_);
}

template <class T>
inline void Descent<T>::note_drift(Colour c, double step) {
    moved_[c] += step;
    sweep_drift_ = std::max(sweep_drift_, moved_[c]);
    lightest_ = std::min(lightest_, partition_.cluster_weight(c));
}

// No cluster but its own takes v for less than this.
template <class T>
inline double Descent<T>::least_insertion(Vertex v) const {
    const double nearest = others_[v] - drift_ - sweep_drift_;
    if (!(nearest > 0)) return 0.0;
    const double w = instance_.weight[v];
    return w * lightest_ / (lightest_ + w) * nearest * nearest;
}

// In a trial, vertices whose distances stay as they are look again only if something stood in
// their way.
template <class T>
void Descent<T>::pass(Stopper& stopper) {
    if (!trial_) {
        sweep(instance_.free_vertices, stopper);
        sweep(instance_.constrained_vertices, stopper);
    } else if (standing_ && passes_ > 0) {
        sweep_blocked(stopper);
    } else {
        gather_visits();
        sweep(visits_, stopper);
    }
}

template <class T>
void Descent<T>::sweep_blocked(Stopper& stopper) {
    begin_sweep();
    for (Vertex v : visits_)
        if (blocked_[v] && !stopper.should_stop()) look_again(v);
}

template <class T>
void Descent<T>::sweep_blocks(Stopper& stopper) {
    begin_sweep();
    const auto& proposals = lone_moves_->find(objective_, blocked_, stopper);
    const std::size_t many = instance_.size / kManyMoves;
    if (proposals.size() <= many || !move_together(proposals)) move_in_turn(proposals, stopper);
}

// A step of k-means: whoever lies nearer to another centroid moves, then the centroids follow, and
// neither raises the inertia. Returns whether any moved.
template <class T>
bool Descent<T>::move_together(const std::vector<Proposal>& proposals) {
    const Time before = now_;
    advance();
    bool any = false;
    for (const Proposal& proposal : proposals) {
        const Colour from = partition_.colour(proposal.vertex);
        if (!proposal.nearer || !partition_.move_alone(proposal.vertex, proposal.to)) continue;
        any = true;
        for (Colour c : {from, proposal.to}) {
            if (changed_[c] != now_) touch(c);
            recoloured_[c] = now_;
        }
        lone_moves_->accept(proposal);
    }
    if (!any) {
        now_ = before;
        return false;
    }
    partition_.follow_moves();
    if (objective_ == Objective::inertia) follow_means(before);
    return true;
}

// Each by the exact change of the objective as it comes. Where none improves it, which rounding may
// have concealed, they look at all clusters again, so that the end is a local optimum.
template <class T>
void Descent<T>::move_in_turn(const std::vector<Proposal>& proposals, Stopper& stopper) {
    const Time before = now_;
    for (const Proposal& proposal : proposals) {
        if (stopper.should_stop()) return;
        if (!improves(proposal.vertex, proposal.to)) continue;
        swap(partition_.single(proposal.vertex, proposal.to));
        lone_moves_->accept(proposal);
    }
    if (now_ != before) return;
    for (const Proposal& proposal : proposals) {
        if (stopper.should_stop()) return;
        visit_all_clusters(proposal.vertex);
    }
}

template <class T>
inline bool Descent<T>::improves(Vertex v, Colour to) const {
    if (!partition_.moves_alone(v, to)) return false;
    const double gain = removal_gain(v, partition_.distance(v, partition_.colour(v)));
    const double w = instance_.weight[v], distance = partition_.distance(v, to);
    const bool fixed = objective_ == Objective::fixed_centroids;
    return (fixed ? w * distance : insertion_cost(to, w, distance)) < improvement_bar(gain);
}

template <class T>
void Descent<T>::sweep(const std::vector<Vertex>& vertices, Stopper& stopper) {
    begin_sweep();
    for (Vertex v : vertices) {
        if (changed_[recent_[0]] <= checked(v)) continue;
        if (stopper.should_stop()) return;
        if (trial_) remember_bounds(v);
        visit(v);
    }
}

template <class T>
inline void Descent<T>::visit(Vertex v) {
    if (instance_.weight[v] <= 0) {
        checked_[v] = now_;
        return;
    }
    const Time since = checked(v);
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
template <class T>
inline bool Descent<T>::visit_changed_clusters(Vertex v, double gain, Time since) {
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

template <class T>
inline void Descent<T>::visit_all_clusters(Vertex v) {
    const Colour own = partition_.colour(v);
    const double w = instance_.weight[v];
    partition_.distances(v, distance_.data());
    insertion_costs(distance_.data(), partition_.cluster_weights(), w, k_, insertion_.data());
    const double gain = removal_gain(v, distance_[own]);
    const bool fixed = objective_ == Objective::fixed_centroids;
    distance_[own] = insertion_[own] = std::numeric_limits<double>::infinity();
    // Distances measured within a sweep are noted as if at its beginning, which is the safe side.
    others_[v] = std::sqrt(least_of(distance_.data(), k_)) + drift_;
    floor_[v] = least_of(insertion_.data(), k_);
    blocked_[v] = false;
    candidates_.clear();
    const double bar = improvement_bar(gain);
    if (floor_[v] < bar)
        for (Colour c = 0; c < k_; ++c) {
            const double cost = fixed ? w * distance_[c] : insertion_[c];
            if (cost < bar) candidates_.emplace_back(cost - gain, c);
        }
    checked_[v] = now_;
    try_candidates(v);
}

template <class T>
inline void Descent<T>::consider(Vertex v, Colour c, double w, double distance, double gain) {
    const double following = insertion_cost(c, w, distance);
    floor_[v] = std::min(floor_[v], following);
    const double cost = objective_ == Objective::fixed_centroids ? w * distance : following;
    if (cost < improvement_bar(gain)) candidates_.emplace_back(cost - gain, c);
}

// Take the first cluster, best for v alone first, whose chain improves the objective.
template <class T>
inline void Descent<T>::try_candidates(Vertex v) {
    if (candidates_.size() > 1) std::sort(candidates_.begin(), candidates_.end());
    for (const auto& [change, c] : candidates_)
        if (partition_.moves_alone(v, c) ? try_alone(v, c) : try_chain(v, c) || try_ejection(v, c))
            return;
}

template <class T>
inline bool Descent<T>::try_alone(Vertex v, Colour to) {
    if (partition_.cluster_size(partition_.colour(v)) == 1) return false;
    swap(partition_.single(v, to));
    return true;
}

template <class T>
void Descent<T>::swap_whole_chains(Stopper& stopper) {
    whole_chains_ = true;
    for (Vertex v : trial_ && !lone_moves_ ? visits_ : instance_.constrained_vertices)
        if (blocked_[v] && !stopper.should_stop()) look_again(v);
}

// Where the cluster of v is what it was before the trial, chains to others of which the same is
// true have failed then.
template <class T>
inline void Descent<T>::look_again(Vertex v) {
    const Colour own = partition_.colour(v);
    if (trial_ && std::max(changed_[own], recoloured_[own]) <= settled_) {
        const double gain = removal_gain(v, partition_.distance(v, own));
        if (visit_changed_clusters(v, gain, settled_)) return;
    }
    visit_all_clusters(v);
}

template <class T>
inline bool Descent<T>::try_chain(Vertex v, Colour to) {
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

// A single neighbour that keeps a vertex out of a cluster may leave it for a third one, where a
// Kempe chain would have it take the place of that vertex. Means that follow make this pay more
// often, and costs at fixed centroids are not the goal, so it is left to the descent.
template <class T>
bool Descent<T>::try_ejection(Vertex v, Colour to) {
    if (!whole_chains_ || objective_ != Objective::inertia) return false;
    const Vertex blocker = partition_.only_neighbour(v, to);
    const Colour own = partition_.colour(v);
    if (blocker < 0 || partition_.cluster_size(own) == 1 || partition_.cluster_size(to) == 1)
        return false;
    const auto [cost, refuge] = cheapest_refuge(blocker, own);
    const double gain = removal_gain(v, partition_.distance(v, own)) +
                        removal_gain(blocker, partition_.distance(blocker, to));
    if (cost + insertion_without(v, to, blocker) >= improvement_bar(gain)) return false;
    swap(partition_.single(blocker, refuge));
    swap(partition_.single(v, to));
    return true;
}

// What it costs to put v where it can go alone, one cluster left aside.
template <class T>
std::pair<double, Colour> Descent<T>::cheapest_refuge(Vertex v, Colour forbidden) {
    partition_.distances(v, distance_.data());
    std::pair<double, Colour> best{std::numeric_limits<double>::infinity(), forbidden};
    for (Colour c = 0; c < k_; ++c) {
        if (c == forbidden || c == partition_.colour(v) || !partition_.moves_alone(v, c)) continue;
        best = std::min(best, {insertion_cost(c, instance_.weight[v], distance_[c]), c});
    }
    return best;
}

// What it costs to insert v into a cluster that another vertex has left.
template <class T>
double Descent<T>::insertion_without(Vertex v, Colour c, Vertex gone) const {
    const double w = instance_.weight[v], leaves = instance_.weight[gone];
    const double rest = partition_.cluster_weight(c) - leaves;
    if (rest <= kRounding * leaves) return 0.0;
    double square = 0.0;
    for (int f = 0; f < d_; ++f) {
        const double mean = partition_.centroid(c)[f];
        const double moved = mean - leaves / rest * (partition_.point(gone)[f] - mean);
        square += (partition_.point(v)[f] - moved) * (partition_.point(v)[f] - moved);
    }
    return w * rest / (rest + w) * square;
}

template <class T>
inline void Descent<T>::swap(const Chain& chain) {
    partition_.swap(chain, objective_);
    if (objective_ == Objective::inertia) {
        note_drift(chain.from, partition_.step_from());
        note_drift(chain.to, partition_.step_to());
    }
    if (lone_moves_)
        for (Vertex u : partition_.chain()) lone_moves_->forget(u);
    advance();
    recoloured_[chain.to] = recoloured_[chain.from] = now_;
    if (standing_) return;
    touch(chain.to);
    touch(chain.from);
}

// A chain depends on its two clusters alone.
template <class T>
inline bool Descent<T>::failed_before(Vertex v, Colour other) const {
    const Time failed = failed_[partition_.slot(v) * k_ + other];
    const Colour own = partition_.colour(v);
    return failed >= std::max(changed_[other], recoloured_[other]) &&
           failed >= std::max(changed_[own], recoloured_[own]);
}

template <class T>
inline void Descent<T>::remember_failure(const Chain& chain) {
    for (Vertex u : partition_.chain()) {
        const Colour other = partition_.colour(u) == chain.from ? chain.to : chain.from;
        failed_[partition_.slot(u) * k_ + other] = now_;
    }
}

// On large data of many features it is the points that make a chain expensive. There, chains
// are priced by a table, at centroids that stand still until the end. That lowers the inertia
// as well, but a chain which improves only if the centroids follow is missed.
template <class T>
void Descent<T>::swap_chains_by_table(bool thorough, Stopper& stopper) {
    const auto recolourings = table_search_.run(blocked_, thorough, stopper);
    const Objective objective = std::exchange(objective_, Objective::fixed_centroids);
    const bool standing = std::exchange(standing_, false);
    const Time before = now_;
    for (const auto& [v, to] : recolourings) swap(partition_.single(v, to));
    standing_ = standing;
    objective_ = objective;
    if (now_ != before && objective == Objective::inertia) follow_means(before);
}

template <class T>
void Descent<T>::assign_by_table(bool thorough, Stopper& stopper) {
    objective_ = Objective::fixed_centroids;
    std::fill(blocked_.begin(), blocked_.end(), true);
    swap_chains_by_table(thorough, stopper);
}

// A thorough search takes as long as several sweeps, and what it gains is little.
template <class T>
bool Descent<T>::is_worth_a_thorough_look() const {
    if (objective_ != Objective::inertia) return false;
    return !trial_ || partition_.inertia() < trial_start_ * (1 + kNearlyAsLow);
}

// Put the centroids of clusters that changed after `since` back on their means.
template <class T>
void Descent<T>::follow_means(Time since) {
    advance();
    for_changed_since(since, [&](Colour c) {
        note_drift(c, partition_.distance_to_mean(c));
        partition_.use_mean(c);
    });
}

template class Descent<float>;
template class Descent<double>;

}  // namespace kempe
