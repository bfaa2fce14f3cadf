// Greedy assignment in a given order, as in COP-K-Means (Wagstaff et al. 2001), and an order.
#include <vector>

#include "basics/arrays.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/nearest.h"

namespace kempe {
namespace {

// Which colours the neighbours of the vertex under consideration have. Marks carry the vertex's
// number, so nothing is cleared between vertices.
class Conflicts {
 public:
    Conflicts(const Instance& instance, int k) : graph_(instance.graph), mark_(k, -1) {}
    void consider(Vertex v, const std::vector<Colour>& colours) {
        vertex_ = v;
        for (Vertex u : graph_.neighbours(v))
            if (colours[u] != kUncoloured) mark_[colours[u]] = v;
    }
    bool admissible(Colour c) const { return mark_[c] != vertex_; }

 private:
    const Graph& graph_;
    Vertex vertex_ = -1;
    std::vector<Vertex> mark_;
};

void check_permutation(const Instance& instance, const In1<Vertex>& order) {
    std::vector<char> seen(instance.size, 0);
    for (std::size_t i = 0; i < order.shape(0); ++i) {
        const Vertex v = order.data()[i];
        if (v < 0 || v >= instance.size || seen[v])
            throw std::invalid_argument("order must name every supernode once");
        seen[v] = 1;
    }
    if (order.shape(0) != seen.size())
        throw std::invalid_argument("order must name every supernode once");
}

// Returns the vertex that found no cluster, or -1. With `relaxed` such a vertex takes the nearest
// of all, so the result may violate cannot-link edges and nothing gets stuck.
template <class T>
Vertex assign_in_order(const Instance& instance, const Points<T>& points,
                       const Centroids& centroids, const In1<Vertex>& order, bool relaxed,
                       std::vector<Colour>& colours) {
    Conflicts conflicts(instance, centroids.count);
    for (std::size_t i = 0; i < order.shape(0); ++i) {
        const Vertex v = order.data()[i];
        conflicts.consider(v, colours);
        colours[v] =
            nearest_colour(points[v], centroids, [&](Colour c) { return conflicts.admissible(c); });
        if (colours[v] != kUncoloured) continue;
        if (!relaxed) return v;
        colours[v] = nearest_colour(points[v], centroids);
    }
    return -1;
}

// Colours and the vertex at which the assignment got stuck (-1: none did).
nb::tuple ordered_assignment(const Instance& instance, In2<double> array, In1<Vertex> order,
                             bool relaxed) {
    const Centroids centroids(instance, array);
    check_permutation(instance, order);
    std::vector<Colour> colours(instance.size, kUncoloured);
    Vertex stuck;
    {
        nb::gil_scoped_release release;
        stuck = with_points(instance, [&](const auto& points) {
            return assign_in_order(instance, points, centroids, order, relaxed, colours);
        });
    }
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

// Constrained vertices component by component, each breadth first from its lowest vertex, then the
// free vertices.
Out1<Vertex> breadth_first_order(const Instance& instance) {
    std::vector<Vertex> order;
    order.reserve(instance.size);
    {
        nb::gil_scoped_release release;
        std::vector<char> seen(instance.size, 0);
        std::size_t head = 0;
        const auto visit = [&](Vertex v) {
            if (seen[v]) return;
            seen[v] = 1;
            order.push_back(v);
        };
        for (Vertex root : instance.constrained_vertices) {
            visit(root);
            for (; head < order.size(); ++head)
                for (Vertex u : instance.graph.neighbours(order[head])) visit(u);
        }
        order.insert(order.end(), instance.free_vertices.begin(), instance.free_vertices.end());
    }
    return to_numpy(std::move(order));
}

}  // namespace

void bind_greedy(nb::module_& m) {
    m.def("ordered_assignment", &ordered_assignment, nb::arg("instance"), nb::arg("centroids"),
          nb::arg("order"), nb::arg("relaxed") = false);
    m.def("breadth_first_order", &breadth_first_order, nb::arg("instance"));
}

}  // namespace kempe
