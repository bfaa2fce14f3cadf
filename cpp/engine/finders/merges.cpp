#include "engine/finders/merges.h"

#include <algorithm>

namespace kempe {

template <class Rules>
void Merges<Rules>::sweep() {
    if constexpr (Rules::Ties::kPriced) {
        if (ledger_.k < 2) return;
        sum_ties();
        const Best best = find();
        if (best.alone < 0) return;
        moves_.clear();
        const auto& colours = ledger_.state.colours();
        for (Vertex v = 0; v < ledger_.instance.size; ++v) {
            if (v == best.alone) {
                if (colours[v] != best.from) moves_.push_back({v, best.from});
            } else if (colours[v] == best.from) {
                moves_.push_back({v, best.into});
            }
        }
        if (ledger_.state.change(moves_, ledger_.reference) < -ledger_.tolerance)
            ledger_.apply(std::span<const SingleMove>(moves_));
    }
}

// Every pair once, seen from its end in the first of the two clusters.
template <class Rules>
void Merges<Rules>::sum_ties() {
    if constexpr (Rules::Ties::kPriced) {
        const auto& state = ledger_.state;
        const std::size_t k = ledger_.k;
        between_.assign(k * k, 0.0);
        apart_.assign(k * k, false);
        for (Vertex v : state.ties().pairs().tied()) {
            double* row = between_.data() + state.colour(v) * k;
            for (Colour c = 0; c < ledger_.k; ++c) row[c] += state.ties().pull(v, c);
        }
        for (Vertex v : ledger_.instance.constrained_vertices) {
            const std::int32_t* count = state.ties()[v];
            char* row = apart_.data() + state.colour(v) * k;
            for (Colour c = 0; c < ledger_.k; ++c) row[c] |= count[c] > 0;
        }
    }
}

// Whoever leaves a third cluster does so whatever is merged, so of each the most willing is enough.
template <class Rules>
typename Merges<Rules>::Best Merges<Rules>::find() const {
    const auto& state = ledger_.state;
    const int k = ledger_.k, n = ledger_.instance.size;
    std::vector<Vertex> willing(k, -1);
    std::vector<double> gain(k, 0.0);
    for (Vertex v = 0; v < n; ++v) {
        const Colour own = state.colour(v);
        const double leaves = state.may_leave(v) ? leaving(v) : 0.0;
        if (leaves <= gain[own]) continue;
        gain[own] = leaves;
        willing[own] = v;
    }
    Best best{-ledger_.tolerance};
    const auto merging = [&](Colour a, Colour b) {
        const double squared =
            squared_distance(state.centroid(a), state.centroid(b), ledger_.instance.dimension);
        return merging_cost(state.cluster_weight(a), state.cluster_weight(b), squared) -
               between_[std::size_t(a) * k + b];
    };
    for (Colour a = 0; a < k; ++a)
        for (Colour b = 0; b < a; ++b) {
            if (apart_[std::size_t(a) * k + b]) continue;
            if (!(state.cluster_weight(a) > 0 && state.cluster_weight(b) > 0)) continue;
            for (Colour c = 0; c < k; ++c)
                if (c != a && c != b && willing[c] >= 0)
                    offer(best, merging(a, b), a, b, willing[c], gain[c]);
        }
    for (Vertex v = 0; v < n; ++v) {
        const Colour a = state.colour(v);
        for (Colour b = 0; b < k; ++b)
            if (b != a && !apart_[std::size_t(a) * k + b] && state.cluster_weight(b) > 0 &&
                state.cluster_weight(a) > 0)
                offer(best, merging(a, b), a, b, v, leaving_merged(v, a, b));
    }
    return best;
}

template <class Rules>
void Merges<Rules>::offer(Best& best, double merging, Colour a, Colour b, Vertex v,
                          double leaving) const {
    const double change = merging - leaving;
    if (!(change < best.change)) return;
    const bool first = ledger_.state.cluster_size(a) < ledger_.state.cluster_size(b);
    best = {change, first ? b : a, first ? a : b, v};
}

// What it gains that v is not in the cluster of which a and b are parts.
template <class Rules>
double Merges<Rules>::leaving_merged(Vertex v, Colour a, Colour b) const {
    if constexpr (Rules::Ties::kPriced) {
        const auto& state = ledger_.state;
        const double w = ledger_.instance.weight[v];
        const double first = state.cluster_weight(a), second = state.cluster_weight(b);
        const double weight = first + second;
        if (!(weight - w > kCostRounding * weight)) return 0.0;
        // The mean of both divides the line between theirs, so distances to those are enough.
        const double apart =
            squared_distance(state.centroid(a), state.centroid(b), ledger_.instance.dimension);
        const double squared =
            (first * state.distance(v, a) + second * state.distance(v, b)) / weight -
            first * second / (weight * weight) * apart;
        return kempe::leaving_gain(weight, w, std::max(squared, 0.0)) - state.ties().pull(v, a) -
               state.ties().pull(v, b);
    }
    return 0.0;
}

KEMPE_FOR_ALL_RULES(Merges);

}  // namespace kempe
