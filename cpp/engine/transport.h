// The cheapest way to give rows, each by itself, to centroids of which each has limited room.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "basics/stopper.h"
#include "engine/residual.h"
#include "problem/instance.h"

namespace kempe {

// A transport problem, solved exactly by successive shortest paths between clusters: rows begin at
// their nearest centroids, and whoever is too many goes where that costs least, through others if
// need be. Paths are found on the clusters alone, so there is no table of rows times clusters.
class Transport {
 public:
    // With more, lists of all pairs of clusters would fill the memory.
    static constexpr int kMostClusters = 400;

    // What row v costs in cluster c.
    using Cost = std::function<double(Vertex v, Colour c)>;

    // `nearest` is the cheapest cluster of each row.
    Transport(const Instance& instance, int k, Cost cost, std::vector<Colour> nearest);

    // When time is up, rows that are still too many go wherever there is room.
    std::vector<Colour> solve(Stopper& stopper);

 private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    // Candidates of a list when it is made first, and how many times as many when it has run out.
    static constexpr std::size_t kFirstLength = 8, kGrowth = 4;

    struct Candidate {
        double price;
        Vertex vertex;
        bool operator<(const Candidate& other) const { return price > other.price; }
    };
    // Members of one cluster by what it costs to send them to another: a heap of all that cost less
    // than `bar`, and of some that have left meanwhile.
    struct List {
        std::vector<Candidate> heap;
        double bar = -kNever;
        std::size_t length = kFirstLength;
    };

    int rows(Colour c) const { return static_cast<int>(members_[c].size()); }
    bool is_over(Colour c) const { return rows(c) > sizes_.most[c]; }
    bool is_under(Colour c) const { return rows(c) < sizes_.least[c]; }
    bool has_room(Colour c) const { return rows(c) < sizes_.most[c]; }
    bool has_spare(Colour c) const { return rows(c) > sizes_.least[c]; }

    bool set_ends();
    bool send_once(bool mends);
    double cost_of_path(std::span<const Colour> nodes) const;
    void move_along(std::span<const Colour> nodes, bool closed);
    void move(Vertex v, Colour to);
    void leave(Vertex v);
    void enter(Vertex v, Colour c);
    void make(Colour from, Colour to);
    double cheapest(Colour from, Colour to);
    void set_arcs_from(Colour c);
    void spread_rest();

    const Instance& instance_;
    const Sizes& sizes_;
    const int k_;
    const Cost cost_;
    std::vector<Colour> colour_;
    std::vector<double> own_;  // what each row costs where it is
    std::vector<std::vector<Vertex>> members_;
    std::vector<std::size_t> position_;  // of each row among the members
    std::vector<List> lists_;            // k x k
    Residual residual_;
    std::vector<double> begin_, end_;  // of paths
    double tolerance_ = 0.0;           // smaller changes of the cost are none
    std::vector<Vertex> moving_;
};

}  // namespace kempe
