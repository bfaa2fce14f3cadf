// Mean points of clusters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "problem/instance.h"

namespace kempe {

struct Means {
    std::vector<double> mean;  // k x dimension; 0 for a cluster without weight
    std::vector<double> weight;
    std::vector<int> members;  // supernodes
};

Means cluster_means(const Instance& instance, const Colour* colours, int k);

// Adds up points by cluster: each(i, add) calls add(v, c, w) for what the i-th of `count` things
// adds to `sums` (k x dimension), w times the point of v to the sum of c. Points count from the
// origin of c, if there are origins (k x dimension). Parts of the things are added up apart, in a
// number of parts that depends on the sizes alone.
template <class T, class Each>
void add_by_cluster(const Instance& instance, const Points<T>& points, std::size_t count, int k,
                    const double* origins, double* sums, Each&& each) {
    constexpr std::size_t most = 64, values = 1 << 20, least = 1024;
    const int d = instance.dimension;
    const std::size_t size = static_cast<std::size_t>(k) * d;
    const auto add_range = [&](std::size_t begin, std::size_t end, double* to) {
        const auto add = [&](Vertex v, Colour c, double w) {
            double* sum = to + static_cast<std::size_t>(c) * d;
            const double* origin = origins ? origins + static_cast<std::size_t>(c) * d : nullptr;
            const T* point = points[v];
            if (origins)
                for (int f = 0; f < d; ++f) sum[f] += w * (point[f] - origin[f]);
            else
                for (int f = 0; f < d; ++f) sum[f] += w * point[f];
        };
        for (std::size_t i = begin; i < end; ++i) each(i, add);
    };
    const std::size_t parts =
        instance.is_large() ? std::clamp<std::size_t>(values / size, 1, most) : 1;
    const Blocks blocks{count, std::max(least, (count + parts - 1) / parts)};
    if (!instance.is_large() || blocks.count() <= 1) return add_range(0, count, sums);
    std::vector<double> partial(blocks.count() * size);
    instance.pool->run(blocks.count(), [&](int block, int) {
        add_range(blocks.begin(block), blocks.end(block), partial.data() + block * size);
    });
    for (int block = 0; block < blocks.count(); ++block)
        for (std::size_t i = 0; i < size; ++i) sums[i] += partial[block * size + i];
}

}  // namespace kempe
