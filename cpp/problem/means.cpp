#include "problem/means.h"

namespace kempe {

Means cluster_means(const Instance& instance, const Colour* colours, int k) {
    const int d = instance.dimension;
    Means result{std::vector<double>(static_cast<std::size_t>(k) * d, 0.0),
                 std::vector<double>(k, 0.0), std::vector<int>(k, 0)};
    with_points(instance, [&](const auto& points) {
        for (Vertex v = 0; v < instance.size; ++v) {
            const Colour c = colours[v];
            const double w = instance.weight[v];
            double* sum = result.mean.data() + static_cast<std::size_t>(c) * d;
            const auto* point = points[v];
            for (int f = 0; f < d; ++f) sum[f] += w * point[f];
            result.weight[c] += w;
            ++result.members[c];
        }
    });
    for (Colour c = 0; c < k; ++c)
        for (int f = 0; result.weight[c] > 0 && f < d; ++f)
            result.mean[static_cast<std::size_t>(c) * d + f] /= result.weight[c];
    return result;
}

}  // namespace kempe
