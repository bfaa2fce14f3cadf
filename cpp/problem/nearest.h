// The choice that every greedy assignment makes: the nearest centroid among the admissible ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "problem/instance.h"
#include "problem/tiles.h"

namespace kempe {

// Centroids as a kernel's argument, checked against the instance.
struct Centroids {
    const double* data;
    int count;
    int dimension;

    Centroids(const Instance& instance, const In2<double>& array)
        : data(array.data()),
          count(static_cast<int>(array.shape(0))),
          dimension(instance.dimension) {
        check_centroids(array, instance.dimension);
    }
    const double* operator[](Colour c) const {
        return data + static_cast<std::size_t>(c) * dimension;
    }
};

// Nearest centroid c with `admissible(c)`, the lowest on a tie; kUncoloured if there is none.
template <class T, class Distance, class Admissible>
Colour nearest_colour(const T* point, const Centroids& centroids, Distance distance_to,
                      Admissible&& admissible) {
    Colour best = kUncoloured;
    double best_distance = std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < centroids.count; ++c) {
        if (!admissible(c)) continue;
        const double distance = distance_to(point, centroids[c]);
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    return best;
}

template <class T, class Distance>
Colour nearest_colour(const T* point, const Centroids& centroids, Distance distance_to) {
    return nearest_colour(point, centroids, distance_to, [](Colour) { return true; });
}

// The same choice for many vertices, one by one.
template <class T, class Distance>
class NearestOneByOne {
 public:
    NearestOneByOne(const Points<T>& points, const Centroids& centroids, Distance distance)
        : points_(points), centroids_(centroids), distance_(distance) {}

    // Calls choose(i, nearest) for each vertex in turn, where nearest(admissible) is the nearest
    // admissible centroid of the i-th.
    template <class Choose>
    void for_each(std::span<const Vertex> vertices, Choose&& choose) const {
        for (std::size_t i = 0; i < vertices.size(); ++i)
            choose(i, [&](auto&& admissible) { return nearest(vertices[i], admissible); });
    }
    // The same in an order that is not known before: of the vertices that were prepared.
    template <class Late>
    void prepare(const Instance&, std::span<const Vertex>, Late&&) {}
    template <class Admissible>
    Colour of(Vertex v, Admissible&& admissible) const {
        return nearest(v, admissible);
    }

 private:
    template <class Admissible>
    Colour nearest(Vertex v, Admissible&& admissible) const {
        return nearest_colour(points_[v], centroids_, distance_, admissible);
    }

    const Points<T>& points_;
    const Centroids& centroids_;
    const Distance distance_;
};

// The same for large data of many features. Tiles tell roughly how far all centroids are, and only
// where that leaves several open they are measured.
template <class T>
class NearestByTiles {
 public:
    NearestByTiles(const Points<T>& points, const Centroids& centroids)
        : points_(points),
          centroids_(centroids),
          tiles_(placed(centroids)),
          bounds_(tiles_, centroids.data, centroids.count, centroids.dimension) {}

    template <class Choose>
    void for_each(std::span<const Vertex> vertices, Choose&& choose) const {
        tiles_.measure(points_, vertices, [&](std::size_t i, const T* squared) {
            choose(i, [&](auto&& admissible) { return nearest(vertices[i], squared, admissible); });
        });
    }
    // Every block asks whether it is late. Nobody asks for what is nearest any more once it is.
    template <class Late>
    void prepare(const Instance& instance, std::span<const Vertex> vertices, Late&& late) {
        const int k = centroids_.count;
        squared_.resize(vertices.size() * k);
        row_.resize(instance.size);
        for_blocks(*instance.pool, instance.blocks(vertices.size()),
                   [&](std::size_t begin, std::size_t end, int) {
                       if (late()) return;
                       for (std::size_t i = begin; i < end; ++i) row_[vertices[i]] = i * k;
                       tiles_.measure(points_, vertices.subspan(begin, end - begin),
                                      [&](std::size_t i, const T* squared) {
                                          std::copy_n(squared, k, &squared_[(begin + i) * k]);
                                      });
                   });
    }
    template <class Admissible>
    Colour of(Vertex v, Admissible&& admissible) const {
        return nearest(v, &squared_[row_[v]], admissible);
    }

 private:
    static CentroidTiles<T> placed(const Centroids& centroids) {
        CentroidTiles<T> tiles(centroids.count, centroids.dimension);
        tiles.place_all(centroids.data);
        return tiles;
    }

    template <class Admissible>
    Colour nearest(Vertex v, const T* squared, Admissible&& admissible) const {
        double limit = std::numeric_limits<double>::infinity();
        for (Colour c = 0; c < centroids_.count; ++c)
            if (bounds_.hold(squared[c]) && admissible(c))
                limit = std::min(limit, bounds_.at_most(c, squared[c]));
        Colour last = kUncoloured;
        int candidates = 0;
        const auto is_candidate = [&](Colour c) {
            const bool far = bounds_.hold(squared[c]) && bounds_.at_least(c, squared[c]) > limit;
            return !far && admissible(c);
        };
        for (Colour c = 0; c < centroids_.count && candidates < 2; ++c)
            if (is_candidate(c)) {
                last = c;
                ++candidates;
            }
        if (candidates < 2) return last;
        const auto distance = [&](const T* point, const double* centroid) {
            return squared_distance(point, centroid, centroids_.dimension);
        };
        return nearest_colour(points_[v], centroids_, distance, is_candidate);
    }

    const Points<T>& points_;
    const Centroids& centroids_;
    const CentroidTiles<T> tiles_;
    const TileBounds<T> bounds_;
    std::vector<T> squared_;        // of vertices that were prepared, to all centroids
    std::vector<std::size_t> row_;  // where those of a vertex are
};

// Calls `body` with the one that suits the data.
template <class Body>
decltype(auto) with_nearest(const Instance& instance, const Centroids& centroids, Body&& body) {
    if (instance.has_costly_distances())
        return with_points(instance, [&]<class T>(const Points<T>& points) {
            NearestByTiles<T> nearest(points, centroids);
            return body(nearest);
        });
    return with_distances(instance, [&](const auto& points, auto distance) {
        NearestOneByOne nearest(points, centroids, distance);
        return body(nearest);
    });
}

}  // namespace kempe
