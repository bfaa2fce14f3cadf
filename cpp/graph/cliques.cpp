// Cliques of the cannot-link graph: a cover of all edges, whose rows make linear relaxations tight,
// and a search for a large one, which bounds the number of clusters from below.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "basics/arrays.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "module.h"

namespace kempe {
namespace {

// Greedy cover: take an edge that no clique covers yet, grow it to a maximal clique, repeat.
class CliqueCover {
 public:
    explicit CliqueCover(const Graph& graph)
        : graph_(graph), covered_(graph.offsets[graph.size], 0), gain_(graph.size, 0) {}

    // Where time is up, the edges that are left are covered one by one.
    void run(Stopper* stopper) {
        for (Vertex v = 0; v < graph_.size; ++v) {
            const bool hurry = stopper != nullptr && stopper->look();
            for (std::int64_t e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
                if (covered_[e] || graph_.targets[e] <= v) continue;
                if (hurry)
                    add({v, graph_.targets[e]});
                else
                    grow(v, graph_.targets[e]);
            }
        }
    }

    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> members;

 private:
    void grow(Vertex u, Vertex v) {
        clique_ = {u, v};
        common_.clear();
        const auto a = graph_.neighbours(u), b = graph_.neighbours(v);
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common_));
        for (Vertex w : common_) gain_[w] = 0;
        count_gains(u);
        count_gains(v);
        while (!common_.empty()) {
            // Prefer the vertex that covers most new edges.
            const Vertex w =
                *std::max_element(common_.begin(), common_.end(), [&](Vertex x, Vertex y) {
                    return gain_[x] != gain_[y] ? gain_[x] < gain_[y] : x > y;
                });
            clique_.push_back(w);
            keep_neighbours(w);
            count_gains(w);
        }
        std::sort(clique_.begin(), clique_.end());
        mark();
        add(clique_);
    }

    void add(const std::vector<Vertex>& clique) {
        members.insert(members.end(), clique.begin(), clique.end());
        offsets.push_back(static_cast<std::int64_t>(members.size()));
    }

    void keep_neighbours(Vertex w) {
        next_.clear();
        const auto around = graph_.neighbours(w);
        std::set_intersection(common_.begin(), common_.end(), around.begin(), around.end(),
                              std::back_inserter(next_));
        common_.swap(next_);
    }

    // For each candidate: how many of its edges into the clique are not covered yet.
    void count_gains(Vertex from) {
        std::int64_t e = graph_.offsets[from];
        for (Vertex w : common_) {
            while (graph_.targets[e] < w) ++e;
            gain_[w] += !covered_[e];
        }
    }

    void mark() {
        for (Vertex v : clique_) {
            std::int64_t e = graph_.offsets[v];
            for (Vertex w : clique_) {
                if (w == v) continue;
                while (graph_.targets[e] < w) ++e;
                covered_[e] = 1;
            }
        }
    }

    const Graph graph_;
    std::vector<std::uint8_t> covered_;
    std::vector<int> gain_;
    std::vector<Vertex> clique_, common_, next_;
};

nb::tuple clique_cover(const StoredGraph& stored, Stopper* stopper) {
    CliqueCover cover(stored.view());
    unlocked([&] { cover.run(stopper); });
    return nb::make_tuple(to_numpy(std::move(cover.offsets)), to_numpy(std::move(cover.members)));
}

// Maximum clique: each vertex with its later neighbours in a degeneracy order, then branch and
// bound with a greedy colouring as the upper bound (Tomita and Seki 2003).
class CliqueSearch {
 public:
    CliqueSearch(const Graph& graph, std::size_t wanted, Stopper& stopper)
        : graph_(graph), wanted_(wanted), stopper_(stopper), rank_(graph.size) {}

    // Whether the search was completed: the clique is of the wanted size or of maximum size.
    bool run() {
        const std::vector<Vertex> order = degeneracy_order();
        for (int i = 0; i < graph_.size; ++i) rank_[order[i]] = i;
        // Dense regions come last in the order, and large cliques lie there.
        for (int i = graph_.size; i-- > 0 && best.size() < wanted_;) {
            if (stopper_.look()) return false;
            if (!search_from(order[i])) return best.size() >= wanted_;
        }
        return true;
    }

    std::vector<Vertex> best;

 private:
    std::vector<Vertex> degeneracy_order() const {
        std::vector<std::int64_t> degree(graph_.size);
        std::int64_t highest = 0;
        for (Vertex v = 0; v < graph_.size; ++v)
            highest = std::max(highest, degree[v] = graph_.degree(v));
        std::vector<std::vector<Vertex>> bucket(highest + 1);
        for (Vertex v = 0; v < graph_.size; ++v) bucket[degree[v]].push_back(v);
        std::vector<std::uint8_t> removed(graph_.size, 0);
        std::vector<Vertex> order;
        for (std::int64_t d = 0; d <= highest;) {
            if (bucket[d].empty()) {
                ++d;
                continue;
            }
            const Vertex v = bucket[d].back();
            bucket[d].pop_back();
            if (removed[v] || degree[v] != d) continue;
            removed[v] = 1;
            order.push_back(v);
            for (Vertex u : graph_.neighbours(v))
                if (!removed[u]) bucket[--degree[u]].push_back(u);
            if (d > 0) --d;
        }
        return order;
    }

    bool search_from(Vertex v) {
        local_.clear();
        for (Vertex u : graph_.neighbours(v))
            if (rank_[u] > rank_[v]) local_.push_back(u);
        if (local_.size() + 1 <= best.size()) return true;
        if (best.empty()) best = {v};
        const int n = static_cast<int>(local_.size());
        adjacent_.assign(static_cast<std::size_t>(n) * n, 0);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (i != j && linked(local_[i], local_[j]))
                    adjacent_[static_cast<std::size_t>(i) * n + j] = 1;
        std::vector<int> candidates(n);
        std::iota(candidates.begin(), candidates.end(), 0);
        current_ = {v};
        return expand(candidates);
    }

    bool linked(Vertex u, Vertex v) const {
        const auto around = graph_.neighbours(u);
        return std::binary_search(around.begin(), around.end(), v);
    }
    bool adjacent(int i, int j) const {
        return adjacent_[static_cast<std::size_t>(i) * local_.size() + j];
    }

    // False when stopped or when the wanted size is reached.
    bool expand(const std::vector<int>& candidates) {
        std::vector<int> order, bound;
        colour_greedily(candidates, order, bound);
        for (std::size_t i = order.size(); i-- > 0;) {
            if (current_.size() + bound[i] <= best.size()) return true;
            current_.push_back(local_[order[i]]);
            std::vector<int> rest;
            for (std::size_t j = 0; j < i; ++j)
                if (adjacent(order[i], order[j])) rest.push_back(order[j]);
            if (current_.size() > best.size()) best = current_;
            if (best.size() >= wanted_ || stopper_.should_stop()) return false;
            if (!rest.empty() && !expand(rest)) return false;
            current_.pop_back();
        }
        return true;
    }

    // Vertices by greedy colour class; a clique among the first i has at most bound[i] vertices.
    void colour_greedily(const std::vector<int>& candidates, std::vector<int>& order,
                         std::vector<int>& bound) const {
        std::vector<std::vector<int>> classes;
        for (int v : candidates) {
            std::size_t c = 0;
            while (c < classes.size() &&
                   std::any_of(
                       classes[c].begin(), classes[c].end(), [&](int u) { return adjacent(u, v); }))
                ++c;
            if (c == classes.size()) classes.emplace_back();
            classes[c].push_back(v);
        }
        for (std::size_t c = 0; c < classes.size(); ++c)
            for (int v : classes[c]) {
                order.push_back(v);
                bound.push_back(static_cast<int>(c) + 1);
            }
    }

    const Graph graph_;
    const std::size_t wanted_;
    Stopper& stopper_;
    std::vector<int> rank_;
    std::vector<Vertex> local_, current_;
    std::vector<std::uint8_t> adjacent_;
};

nb::tuple largest_clique(const StoredGraph& stored, std::size_t wanted, Stopper& stopper) {
    CliqueSearch search(stored.view(), wanted, stopper);
    const bool complete = unlocked([&] { return search.run(); });
    return nb::make_tuple(to_numpy(std::move(search.best)), complete);
}

}  // namespace

void bind_cliques(nb::module_& m) {
    m.def("clique_cover", &clique_cover, nb::arg("graph"), nb::arg("stopper").none() = nb::none());
    m.def("largest_clique", &largest_clique, nb::arg("graph"), nb::arg("wanted"),
          nb::arg("stopper"));
}

}  // namespace kempe
