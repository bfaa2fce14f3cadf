// Greedy assignment in a given order, as in COP-K-Means (Wagstaff et al. 2001), and as in PCKMeans
// (Basu et al. 2004), where pairs may be broken at a price.
#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"
#include "problem/instance.h"
#include "problem/nearest.h"

namespace kempe {
namespace {

// Which colours the neighbours of the vertex under consideration have. Marks carry the vertex's
// number, so nothing is cleared between vertices.
class TakenColours {
 public:
    TakenColours(const Instance& instance, int k) : graph_(instance.graph), mark_(k, -1) {}
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

// Returns the vertex that found no cluster, or -1. With `relaxed` such a vertex takes the nearest
// of all, so the result may violate cannot-link edges and nothing gets stuck.
template <class Nearest>
Vertex assign_in_order(const Instance& instance, const Nearest& nearest, int k,
                       std::span<const Vertex> order, bool relaxed, std::vector<Colour>& colours) {
    TakenColours taken(instance, k);
    Vertex stuck = -1;
    const Blocks blocks = instance.blocks(order.size());
    for (int block = 0; stuck < 0 && block < blocks.count(); ++block) {
        const auto part =
            order.subspan(blocks.begin(block), blocks.end(block) - blocks.begin(block));
        nearest.for_each(part, [&](std::size_t i, auto&& nearest_of) {
            if (stuck >= 0) return;
            const Vertex v = part[i];
            taken.consider(v, colours);
            colours[v] = nearest_of([&](Colour c) { return taken.admissible(c); });
            if (colours[v] != kUncoloured) return;
            if (relaxed)
                colours[v] = nearest_of([](Colour) { return true; });
            else
                stuck = v;
        });
    }
    return stuck;
}

// Colours and the vertex at which the assignment got stuck (-1: none did).
nb::tuple ordered_assignment(const Instance& instance, In2<double> array, In1<Vertex> order,
                             bool relaxed) {
    const Centroids centroids(instance, array);
    check_permutation(order, instance.size);
    std::vector<Colour> colours(instance.size, kUncoloured);
    const Vertex stuck = unlocked([&] {
        return with_nearest(instance, centroids, [&](const auto& nearest) {
            return assign_in_order(instance, nearest, centroids.count,
                                   {order.data(), order.shape(0)}, relaxed, colours);
        });
    });
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

// Each vertex goes to the admissible cluster of the lowest cost, less what pulls it there: its soft
// pairs with those who have a cluster by then. Returns the vertex that found none, or -1.
template <class T, class Distance>
Vertex assign_at_prices(const Instance& instance, const Points<T>& points, Distance distance,
                        const SoftPairs& soft, const Centroids& centroids, const In1<Vertex>& order,
                        std::vector<Colour>& colours) {
    const int k = centroids.count;
    TakenColours taken(instance, k);
    std::vector<double> costs(k);
    for (std::size_t i = 0; i < order.shape(0); ++i) {
        const Vertex v = order.data()[i];
        taken.consider(v, colours);
        for (Colour c = 0; c < k; ++c)
            costs[c] = instance.weight[v] * distance(points[v], centroids[c]);
        for (const auto& [u, price] : soft.of(v))
            if (colours[u] != kUncoloured) costs[colours[u]] -= price;
        double least = std::numeric_limits<double>::infinity();
        colours[v] = kUncoloured;
        for (Colour c = 0; c < k; ++c)
            if (costs[c] < least && taken.admissible(c)) {
                least = costs[c];
                colours[v] = c;
            }
        if (colours[v] == kUncoloured) return v;
    }
    return -1;
}

nb::tuple priced_assignment(const Instance& instance, const SoftPairs& soft, In2<double> array,
                            In1<Vertex> order, std::optional<In1<Colour>> previous) {
    const Centroids centroids(instance, array);
    check_permutation(order, instance.size);
    if (soft.size() != instance.size)
        throw std::invalid_argument("soft pairs and the instance must have as many supernodes");
    std::vector<Colour> colours(instance.size, kUncoloured);
    if (previous) {
        check_colours(*previous, instance.size, centroids.count);
        colours.assign(previous->data(), previous->data() + instance.size);
    }
    const Vertex stuck = unlocked([&] {
        return with_distances(instance, [&](const auto& points, auto distance) {
            return assign_at_prices(instance, points, distance, soft, centroids, order, colours);
        });
    });
    return nb::make_tuple(to_numpy(std::move(colours)), stuck);
}

}  // namespace

void bind_ordered_assignment(nb::module_& m) {
    m.def("priced_assignment", &priced_assignment, nb::arg("instance"), nb::arg("soft"),
          nb::arg("centroids"), nb::arg("order"), nb::arg("previous") = nb::none());
    m.def("ordered_assignment", &ordered_assignment, nb::arg("instance"), nb::arg("centroids"),
          nb::arg("order"), nb::arg("relaxed") = false);
}

}  // namespace kempe
