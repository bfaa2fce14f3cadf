// A state, and all that is known about it: when which cluster changed, what vertices saw when they
// last looked. Whoever looks for moves reads it, and applies moves here, so that it stays true.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "engine/bounds.h"
#include "engine/clock.h"
#include "engine/large_bounds.h"
#include "engine/state.h"

namespace kempe {

template <class Rules>
struct Ledger {
    Ledger(const Instance& instance, const Points<typename Rules::Value>& points, int k)
        : instance(instance),
          k(k),
          state(instance, points, k),
          clock(instance.size, k),
          bounds(instance, k),
          blocked(instance.size) {}

    // Take note that single vertices have cost so many steps of inner loops, for finders whose own
    // work is limited by that. Only prices need such finders.
    void count_work(std::size_t steps) {
        if constexpr (Rules::Ties::kPriced) work += steps;
    }

    // Nothing is known any more.
    void restart() {
        clock.restart();
        bounds.distrust_distances();
    }

    // What leaving gains must exceed what entering costs by more than rounding error: entering must
    // cost less than this.
    double bar(double gain) const {
        if constexpr (Rules::Ties::kPriced)
            return gain - kCostRounding * std::abs(gain) - tolerance;
        return gain * (1 - kCostRounding) - tolerance;
    }

    // Swap the chain that the state has collected.
    void apply(const ChainMove& chain) {
        state.apply(chain, reference);
        if (reference == Reference::means) {
            bounds.note_drift(chain.from, state.step_from(), state.cluster_weight(chain.from));
            bounds.note_drift(chain.to, state.step_to(), state.cluster_weight(chain.to));
        }
        // Where others pull, a vertex may leave the nearest centroid of all. Without pulls its
        // bound may stay: it does not exceed the distance to the new cluster, so leaving that gains
        // more than the bound says that entering costs, and the vertex looks.
        if constexpr (Rules::Ties::kPriced)
            for (Vertex u : state.chain()) bounds.forget_nearest(u);
        if (large_bounds)
            for (Vertex u : state.chain()) large_bounds->forget(u);
        clock.advance();
        clock.recolour(chain.to);
        clock.recolour(chain.from);
        if (reference == Reference::standing) return;
        clock.touch(chain.to);
        clock.touch(chain.from);
    }

    // Move vertices together, wherever their nearest centroids are.
    void apply(std::span<const SingleMove> moves) {
        for (const auto& [v, to] : moves) bounds.forget_nearest(v);
        clock.advance();
        state.apply(moves, reference, [&](Colour c, double step) {
            if (reference == Reference::means) bounds.note_drift(c, step, state.cluster_weight(c));
            clock.recolour(c);
            if (reference != Reference::standing) clock.touch(c);
        });
    }

    // Put the centroids of clusters that changed after `since` back on their means.
    void follow_means(Time since) {
        clock.advance();
        clock.change_again(since, [&](Colour c) {
            bounds.note_drift(c, state.distance_to_mean(c), state.cluster_weight(c));
            state.use_mean(c);
        });
    }

    const Instance& instance;
    const int k;
    State<Rules> state;
    Clock clock;
    Bounds bounds;
    std::vector<char> blocked;  // per vertex: would move, but not alone
    Reference reference = Reference::means;
    double tolerance = 0.0;  // smaller changes of the objective are none
    bool in_trial = false;
    std::size_t work = 0;                 // steps that single vertices have cost so far
    LargeBounds* large_bounds = nullptr;  // of large data, where others keep them
};

}  // namespace kempe
