// Saturation-ordered colouring (Brelaz 1979), choosing for each vertex either the nearest
// admissible centroid (Algorithm 5 of the paper) or the lowest admissible colour (classic DSATUR).
#include <algorithm>
#include <queue>
#include <vector>

#include "bindings.h"
#include "instance.h"
#include "nearest.h"

namespace kempe {
namespace {

// Uncoloured vertices by saturation, then degree, then lowest number. Saturation only grows, so a
// vertex is pushed again when it does and stale entries are skipped.
class SaturationQueue {
 public:
    SaturationQueue(const Instance& instance, int k)
        : graph_(instance.graph),
          k_(k),
          saturation_(instance.size, 0),
          used_(static_cast<std::size_t>(instance.size) * k, 0) {
        for (Vertex v : instance.constrained_vertices) push(v);
    }
    // The next vertex, or -1 when all are coloured.
    Vertex pop(const std::vector<Colour>& colours) {
        while (!queue_.empty()) {
            const Entry top = queue_.top();
            queue_.pop();
            if (colours[top.vertex] == kUncoloured && top.saturation == saturation_[top.vertex])
                return top.vertex;
        }
        return -1;
    }
    bool admissible(Vertex v, Colour c) const {
        return !used_[static_cast<std::size_t>(v) * k_ + c];
    }
    void coloured(Vertex v, Colour c, const std::vector<Colour>& colours) {
        for (Vertex u : graph_.neighbours(v)) {
            auto& used = used_[static_cast<std::size_t>(u) * k_ + c];
            if (used) continue;
            used = 1;
            ++saturation_[u];
            if (colours[u] == kUncoloured) push(u);
        }
    }

 private:
    struct Entry {
        int saturation;
        std::int64_t degree;
        Vertex vertex;
        bool operator<(const Entry& o) const {
            if (saturation != o.saturation) return saturation < o.saturation;
            if (degree != o.degree) return degree < o.degree;
            return vertex > o.vertex;
        }
    };
    void push(Vertex v) { queue_.push({saturation_[v], graph_.degree(v), v}); }

    const Graph& graph_;
    int k_;
    std::vector<int> saturation_;
    std::vector<char> used_;
    std::priority_queue<Entry> queue_;
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
