#include "kskm/mwis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "basics/arrays.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

using Node = std::int32_t;

// An independent set that knows, for every node, how many of its neighbours are in the set and
// what they weigh together.
class IndependentSet {
 public:
    explicit IndependentSet(const WeightedGraph& graph)
        : graph_(graph),
          inside_(graph.size(), 0),
          blockers_(graph.size(), 0),
          blocking_(graph.size(), 0.0),
          mark_(graph.size(), -1) {}

    void insert_in_order(std::span<const Node> order) {
        for (Node v : order)
            if (!inside_[v] && blockers_[v] == 0) insert(v);
    }
    double weight() const {
        double total = 0.0;
        for (Node v = 0; v < graph_.size(); ++v)
            if (inside_[v]) total += graph_.weights[v];
        return total;
    }
    // Exchange until no single node outweighs what blocks it and no node of the set is outweighed
    // by two that it alone blocks. Every exchange adds weight, more than the rounding error of the
    // few weights it compares, so no set comes twice and this ends.
    void improve() {
        for (bool improved = true; improved;) {
            improved = false;
            for (Node v = 0; v < graph_.size(); ++v)
                improved |= inside_[v] ? replace_by_two(v) : force(v);
        }
    }
    std::vector<char> take() && { return std::move(inside_); }

 private:
    void insert(Node v) {
        inside_[v] = 1;
        for (Node u : graph_.neighbours(v)) {
            ++blockers_[u];
            blocking_[u] += graph_.weights[v];
        }
    }
    void remove(Node v) {
        inside_[v] = 0;
        for (Node u : graph_.neighbours(v)) {
            // Exactly zero when nothing is left, whatever was rounded on the way.
            blocking_[u] = --blockers_[u] ? blocking_[u] - graph_.weights[v] : 0.0;
        }
    }
    bool outweighs(double more, double less) const { return more > less * (1 + 1e-12); }

    // Insert v and throw out its neighbours if that adds weight. What they weigh has rounding
    // errors of all that was added and subtracted before, so it is summed anew.
    bool force(Node v) {
        if (!outweighs(graph_.weights[v], blocking_[v])) return false;
        removed_.clear();
        blocking_[v] = 0.0;
        for (Node u : graph_.neighbours(v)) {
            if (!inside_[u]) continue;
            removed_.push_back(u);
            blocking_[v] += graph_.weights[u];
        }
        if (!outweighs(graph_.weights[v], blocking_[v])) return false;
        for (Node u : removed_) remove(u);
        insert(v);
        for (Node u : removed_) insert_in_order(graph_.neighbours(u));
        return true;
    }
    bool replace_by_two(Node v) {
        candidates_.clear();
        for (Node u : graph_.neighbours(v))
            if (blockers_[u] == 1) candidates_.push_back(u);
        const auto weight = [&](std::size_t i) { return graph_.weights[candidates_[i]]; };
        std::sort(candidates_.begin(), candidates_.end(), [&](Node a, Node b) {
            return graph_.weights[a] != graph_.weights[b] ? graph_.weights[a] > graph_.weights[b]
                                                          : a < b;
        });
        for (std::size_t i = 0; i + 1 < candidates_.size(); ++i) {
            if (!outweighs(weight(i) + weight(i + 1), graph_.weights[v])) return false;
            for (Node u : graph_.neighbours(candidates_[i])) mark_[u] = candidates_[i];
            for (std::size_t j = i + 1; j < candidates_.size(); ++j) {
                if (!outweighs(weight(i) + weight(j), graph_.weights[v])) break;
                if (mark_[candidates_[j]] == candidates_[i]) continue;
                remove(v);
                insert(candidates_[i]);
                insert_in_order(std::span(candidates_).subspan(j));
                insert_in_order(graph_.neighbours(v));
                return true;
            }
        }
        return false;
    }

    const WeightedGraph& graph_;
    std::vector<char> inside_;
    std::vector<std::int32_t> blockers_;
    std::vector<double> blocking_;
    std::vector<Node> mark_, removed_, candidates_;
};

std::vector<Node> descending(const std::vector<double>& score) {
    std::vector<Node> order(score.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Node a, Node b) { return score[a] > score[b]; });
    return order;
}

IndependentSet by_order(const WeightedGraph& graph, const std::vector<double>& score) {
    IndependentSet set(graph);
    set.insert_in_order(descending(score));
    return set;
}

// Branch and bound over at most 32 nodes held in one word.
class SmallExact {
 public:
    explicit SmallExact(const WeightedGraph& graph) : graph_(graph), adjacent_(graph.size(), 0) {
        for (Node v = 0; v < graph.size(); ++v)
            for (Node u : graph.neighbours(v)) adjacent_[v] |= 1u << u;
    }
    std::uint32_t solve() {
        const int n = graph_.size();
        branch(n == 32 ? ~0u : (1u << n) - 1, 0, 0.0);
        return best_;
    }

 private:
    static Node lowest(std::uint32_t mask) { return std::countr_zero(mask); }
    double weight(std::uint32_t mask) const {
        double total = 0.0;
        for (; mask; mask &= mask - 1) total += graph_.weights[lowest(mask)];
        return total;
    }
    void branch(std::uint32_t open, std::uint32_t chosen, double value) {
        if (value > best_value_) {
            best_value_ = value;
            best_ = chosen;
        }
        if (!open || value + weight(open) <= best_value_) return;
        const Node v = busiest(open);
        const std::uint32_t bit = 1u << v;
        branch(open & ~bit & ~adjacent_[v], chosen | bit, value + graph_.weights[v]);
        // Leaving out a node without open neighbours gains nothing.
        if (open & adjacent_[v]) branch(open & ~bit, chosen, value);
    }
    Node busiest(std::uint32_t open) const {
        Node best = lowest(open);
        for (std::uint32_t rest = open; rest; rest &= rest - 1) {
            const Node v = lowest(rest);
            if (std::popcount(adjacent_[v] & open) > std::popcount(adjacent_[best] & open))
                best = v;
        }
        return best;
    }

    const WeightedGraph& graph_;
    std::vector<std::uint32_t> adjacent_;
    std::uint32_t best_ = 0;
    double best_value_ = 0.0;
};

WeightedGraph checked_graph(const In1<double>& weights, const In1<std::int64_t>& offsets,
                            const In1<std::int32_t>& targets) {
    const WeightedGraph graph{{weights.data(), weights.shape(0)},
                              {offsets.data(), offsets.shape(0)},
                              {targets.data(), targets.shape(0)}};
    if (offsets.shape(0) != weights.shape(0) + 1)
        throw std::invalid_argument("weights and offsets disagree in shape");
    check_unsorted_graph(graph.offsets, graph.targets);
    for (double weight : graph.weights)
        if (!std::isfinite(weight) || weight < 0)
            throw std::invalid_argument("weights must be finite and not negative");
    return graph;
}

Out1<bool> to_mask(const std::vector<char>& inside) {
    auto* data = new bool[inside.size()];
    std::copy(inside.begin(), inside.end(), data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    return Out1<bool>(data, {inside.size()}, owner);
}

Out1<bool> mwis_greedy(In1<double> weights, In1<std::int64_t> offsets, In1<std::int32_t> targets) {
    const WeightedGraph graph = checked_graph(weights, offsets, targets);
    return to_mask(unlocked([&] { return greedy_independent_set(graph); }));
}

Out1<bool> mwis_by_order(In1<double> weights, In1<std::int64_t> offsets, In1<std::int32_t> targets,
                         In1<double> score) {
    const WeightedGraph graph = checked_graph(weights, offsets, targets);
    if (score.shape(0) != weights.shape(0))
        throw std::invalid_argument("score must have one entry per node");
    if (std::any_of(score.data(), score.data() + score.shape(0),
                    [](double value) { return std::isnan(value); }))
        throw std::invalid_argument("a score is not a number");
    const std::vector<double> values(score.data(), score.data() + score.shape(0));
    return to_mask(unlocked([&] { return by_order(graph, values).take(); }));
}

Out1<bool> mwis_small(In1<double> weights, In1<std::int64_t> offsets, In1<std::int32_t> targets) {
    const WeightedGraph graph = checked_graph(weights, offsets, targets);
    if (graph.size() > 32) throw std::invalid_argument("mwis_small takes at most 32 nodes");
    const std::uint32_t chosen = unlocked([&] { return SmallExact(graph).solve(); });
    std::vector<char> inside(graph.size());
    for (Node v = 0; v < graph.size(); ++v) inside[v] = chosen >> v & 1u;
    return to_mask(inside);
}

}  // namespace

std::vector<char> greedy_independent_set(const WeightedGraph& graph) {
    std::vector<double> weight(graph.weights.begin(), graph.weights.end()), density(weight);
    for (Node v = 0; v < graph.size(); ++v)
        density[v] /= static_cast<double>(graph.neighbours(v).size()) + 1.0;
    IndependentSet heavy = by_order(graph, weight), dense = by_order(graph, density);
    IndependentSet& best = heavy.weight() >= dense.weight() ? heavy : dense;
    best.improve();
    return std::move(best).take();
}

void bind_mwis(nb::module_& m) {
    const auto def = [&](const char* name, auto function) {
        m.def(name, function, nb::arg("weights"), nb::arg("offsets"), nb::arg("targets"));
    };
    def("mwis_greedy", &mwis_greedy);
    def("mwis_small", &mwis_small);
    m.def("mwis_by_order", &mwis_by_order, nb::arg("weights"), nb::arg("offsets"),
          nb::arg("targets"), nb::arg("score"));
}

}  // namespace kempe
