#include "problem/means.h"

namespace kempe {

Means cluster_means(const Instance& instance, const Colour* colours, int k) {
    const int d = instance.dimension;
    Means result{std::vector<double>(static_cast<std::size_t>(k) * d, 0.0),
                 std::vector<double>(k, 0.0), std::vector<int>(k, 0)};
    with_points(instance, [&](const auto& points) {
        add_by_cluster(instance, points, instance.size, k, nullptr, result.mean.data(),
                       [&](std::size_t v, auto&& add) {
                           add(static_cast<Vertex>(v), colours[v], instance.weight[v]);
                       });
    });
    for (Vertex v = 0; v < instance.size; ++v) {
        result.weight[colours[v]] += instance.weight[v];
        ++result.members[colours[v]];
    }
    for (Colour c = 0; c < k; ++c)
        for (int f = 0; result.weight[c] > 0 && f < d; ++f)
            result.mean[static_cast<std::size_t>(c) * d + f] /= result.weight[c];
    return result;
}

}  // namespace kempe
