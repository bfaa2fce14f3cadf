// Groups that pay a price for being in a cluster. A cluster with its centre at y takes from each
// group what its price exceeds its cost there by,
//     f_i(y) = price_i - weight_i |point_i - y|^2,
// so that phi(y), the sum of what is positive, is the most that any cluster there can take. If phi
// is at most s everywhere, no k clusters cost less than the sum of all prices less k s.
//
// Groups that cannot be together share what they pay: of a unit, groups that are pairwise apart,
// one pays at most. A hub is apart from so many others that two cases are distinguished: it is in
// the cluster and they are not, or it is not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "basics/pool.h"
#include "basics/stopper.h"
#include "basics/types.h"

namespace kempe {

struct PricedGroups {
    int size = 0;
    int dimension = 0;
    std::vector<double> points;  // size x dimension
    std::vector<double> weight;
    std::vector<double> price;
    std::vector<std::int32_t> unit;  // groups with the same number are pairwise apart
    std::vector<Vertex> hubs;
    std::vector<std::int64_t> hub_offsets{0};  // where the neighbours of each hub begin
    std::vector<Vertex> hub_neighbours;

    const double* point(Vertex i) const {
        return points.data() + static_cast<std::size_t>(i) * dimension;
    }
    std::span<const Vertex> neighbours(std::size_t hub) const {
        return {hub_neighbours.data() + hub_offsets[hub],
                hub_neighbours.data() + hub_offsets[hub + 1]};
    }
};

// Groups that lie near each other in blocks, so that those out of reach are passed over at once.
class NearbyGroups {
 public:
    explicit NearbyGroups(const PricedGroups& groups);

    // Takes new prices into account.
    void update();
    // Calls body(group, f) for every group with f > 0 at a position.
    template <class Body>
    void paying(const double* y, Body&& body) const;

 private:
    static constexpr int kBlock = 64;

    void arrange(std::span<Vertex> part);
    void close_block(std::span<const Vertex> part);
    bool out_of_reach(std::size_t block, const double* y) const;

    const PricedGroups& groups_;
    std::vector<Vertex> order_;        // kBlock for each block, -1 where it has fewer
    std::vector<double> coordinates_;  // dimension x kBlock for each block
    std::vector<double> weight_, price_;
    std::vector<double> low_, high_;  // corners of blocks
    std::vector<double> reach_;       // largest squared distance at which any of a block pays
};

// A set of groups in one cluster: the members that pay where their own mean is.
struct PricedSet {
    double value = 0.0;  // prices less costs
    double cost = 0.0;
    std::vector<double> centre;
    std::vector<Vertex> members;
};

// Climbs phi by mean shift: the centre moves to the mean of those that pay there, which never
// lowers what they pay in all.
class Climber {
 public:
    Climber(const PricedGroups& groups, const NearbyGroups& nearby);

    PricedSet climb(const double* start, int steps, Stopper& stopper);

 private:
    void look(const double* y);
    void choose_hubs();
    void keep_best_of_units();

    const PricedGroups& groups_;
    const NearbyGroups& nearby_;
    std::vector<Vertex> found_, members_;
    std::vector<double> payment_;  // of each group; 0 where it pays nothing
    std::vector<Vertex> best_;     // of each unit
    std::vector<std::uint8_t> excluded_;
};

// What a covering of space by boxes has shown.
struct Covering {
    bool proven = false;        // phi is at most the target
    std::int64_t boxes = 0;     // that were looked at
    std::int64_t looks = 0;     // at groups, in all of them
    std::vector<double> above;  // a position at which phi exceeds the target, if one was met
};

// Shows that phi is at most `target` everywhere: boxes that may exceed it are split.
Covering cover(const PricedGroups& groups, double target, std::int64_t most_boxes, Pool& pool,
               Stopper& stopper);

}  // namespace kempe
