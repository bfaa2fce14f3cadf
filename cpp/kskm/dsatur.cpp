// Saturation-ordered colouring (Brelaz 1979), choosing for each vertex either the nearest
// admissible centroid (Algorithm 5 of the paper) or the lowest admissible colour (classic DSATUR).
#include <algorithm>
#include <functional>
#include <vector>

#include "basics/arrays.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/nearest.h"

namespace kempe {
namespace {

// Uncoloured vertices by saturation, then degree, then lowest number. Saturation only grows, so a
// vertex enters each level at most once and its entries on lower levels are stale. Most of them are
// never looked at again: a level becomes a heap only when it is the highest.
class SaturationQueue {
 public:
    SaturationQueue(const Instance& instance, int k)
        : graph_(instance.graph),
          k_(k),
          by_rank_(instance.constrained_vertices),
          rank_(instance.size),
          saturation_(instance.size, 0),
          used_(static_cast<std::size_t>(instance.size) * k, 0),
          levels_(static_cast<std::size_t>(k) + 1) {
        std::stable_sort(by_rank_.begin(), by_rank_.end(),
                         [&](Vertex a, Vertex b) { return graph_.degree(a) > graph_.degree(b); });
        for (std::size_t i = 0; i < by_rank_.size(); ++i) {
            rank_[by_rank_[i]] = static_cast<int>(i);
            levels_[0].ranks.push_back(static_cast<int>(i));
        }
    }
    // The next vertex, or -1 when all are coloured.
    Vertex pop(const std::vector<Colour>& colours) {
        for (; highest_ >= 0; --highest_) {
            auto& [ranks, is_heap] = levels_[highest_];
            const auto stale = [&](int rank) {
                const Vertex v = by_rank_[rank];
                return colours[v] != kUncoloured || saturation_[v] != highest_;
            };
            if (!is_heap) {
                std::erase_if(ranks, stale);
                std::make_heap(ranks.begin(), ranks.end(), std::greater<>());
                is_heap = true;
            }
            while (!ranks.empty()) {
                std::pop_heap(ranks.begin(), ranks.end(), std::greater<>());
                const int rank = ranks.back();
                ranks.pop_back();
                if (!stale(rank)) return by_rank_[rank];
            }
        }
        return -1;
    }
    bool admissible(Vertex v, Colour c) const {
        return !used_[static_cast<std::size_t>(v) * k_ + c];
    }
    void coloured(Vertex v, Colour c, const std::vector<Colour>& colours) {
        for (Vertex u : graph_.neighbours(v)) {
            if (colours[u] != kUncoloured) continue;
            auto& used = used_[static_cast<std::size_t>(u) * k_ + c];
            if (used) continue;
            used = 1;
            push(u, ++saturation_[u]);
        }
    }

 private:
    struct Level {
        std::vector<int> ranks;
        bool is_heap = false;
    };

    void push(Vertex v, int saturation) {
        auto& [ranks, is_heap] = levels_[saturation];
        ranks.push_back(rank_[v]);
        if (is_heap) std::push_heap(ranks.begin(), ranks.end(), std::greater<>());
        highest_ = std::max(highest_, saturation);
    }

    const Graph& graph_;
    int k_;
    std::vector<Vertex> by_rank_;  // by degree, then number
    std::vector<int> rank_;
    std::vector<int> saturation_;
    std::vector<char> used_;
    std::vector<Level> levels_;  // by saturation
    int highest_ = 0;            // no level above has vertices
};

// `choose(v, admissible)` returns a colour or kUncoloured. Returns the vertex that found none, or
// -1.
template <class Choose>
Vertex colour_by_saturation(const Instance& instance, int k, std::vector<Colour>& colours,
                            Choose&& choose) {
    SaturationQueue queue(instance, k);
    for (Vertex v; (v = queue.pop(colours)) >= 0;) {
        const Colour c = choose(v, [&](Colour c) { return queue.admissible(v, c); });
        if (c == kUncoloured) return v;
        colours[v] = c;
        queue.coloured(v, c, colours);
    }
    return -1;
}

// Colours and the vertex at which the assignment got stuck (-1: none did).
nb::tuple saturation_assignment(const Instance& instance, In2<double> array) {
    const Centroids centroids(instance, array);
    std::vector<Colour> colours(instance.size, kUncoloured);
    Vertex stuck;
    {
        nb::gil_scoped_release release;
        stuck = with_points(instance, [&](const auto& points) {
            for (Vertex v : instance.free_vertices)
                colours[v] = nearest_colour(points[v], centroids);
            return colour_by_saturation(instance, centroids.count, colours,
                                        [&](Vertex v, auto&& admissible) {
                                            return nearest_colour(points[v], centroids, admissible);
                                        });
        });
    }
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

// Classic DSATUR with at most k colours; free vertices get colour 0.
nb::tuple dsatur(const Instance& instance, int k) {
    std::vector<Colour> colours(instance.size, kUncoloured);
    Vertex stuck;
    {
        nb::gil_scoped_release release;
        for (Vertex v : instance.free_vertices) colours[v] = 0;
        stuck = colour_by_saturation(instance, k, colours, [&](Vertex, auto&& admissible) {
            for (Colour c = 0; c < k; ++c)
                if (admissible(c)) return c;
            return kUncoloured;
        });
    }
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

}  // namespace

void bind_dsatur(nb::module_& m) {
    m.def("saturation_assignment", &saturation_assignment, nb::arg("instance"),
          nb::arg("centroids"));
    m.def("dsatur", &dsatur, nb::arg("instance"), nb::arg("n_clusters"));
}

}  // namespace kempe
