// Simulated annealing for the assignment with a given cost per vertex and cluster. Edges within a
// cluster are allowed at a price that grows while the temperature falls, so that the search can
// pass between colourings that no sequence of Kempe swaps connects.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/random.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "graph/neighbour_counts.h"
#include "problem/pulls.h"

namespace kempe {

// What the temperature and the price of an edge within a cluster do while sweeps go by.
struct Cooling {
    int sweeps;
    double hot, cold;         // temperatures
    double cheap, expensive;  // prices

    void check() const {
        if (sweeps < 0) throw std::invalid_argument("sweeps must not be negative");
        if (!(cold > 0 && hot >= cold && cheap > 0 && expensive >= cheap))
            throw std::invalid_argument("temperatures and prices must be positive and in order");
    }

    // A short end to this one in which the last conflicts vanish.
    Cooling quench() const { return {sweeps / 10, cold, cold / 10, expensive, 10 * expensive}; }

    // Call `use` with the temperature and the price of each sweep.
    template <class Use>
    void follow(Stopper& stopper, Use&& use) const {
        const double steps = std::max(1, sweeps - 1);
        const double cooling = std::pow(cold / hot, 1.0 / steps);
        const double rise = std::pow(expensive / cheap, 1.0 / steps);
        double temperature = hot, price = cheap;
        for (int i = 0; i < sweeps && !stopper.should_stop(); ++i) {
            use(temperature, price);
            temperature *= cooling;
            price *= rise;
        }
    }
};

// `SoftPulls` says what pulls vertices into clusters, `Pulls` or `NoPulls`; what a soft pair costs
// is measured in units of the costs.
template <class SoftPulls>
class Annealing {
 public:
    Annealing(const Graph& graph, const double* costs, int k, const Colour* start,
              std::uint64_t seed, SoftPulls pulls, double unit = 1.0)
        : size_(graph.size),
          k_(k),
          costs_(costs),
          random_(seed),
          colour_(start, start + size_),
          best_(colour_),
          neighbours_(graph, EveryVertex(graph), k, start),
          pulls_(std::move(pulls)),
          unit_(unit) {
        pulls_.load(start);
        std::int64_t ends = 0;
        for (Vertex v = 0; v < size_; ++v) {
            ends += neighbours_[v][colour_[v]];
            cost_ += costs_[at(v, colour_[v])];
        }
        if constexpr (SoftPulls::kPriced) cost_ -= pulls_.satisfied() / unit_;
        conflicts_ = ends / 2;
        tolerance_ = kTolerance * mean_cost();
        best_cost_ = conflicts_ == 0 ? cost_ : std::numeric_limits<double>::infinity();
    }

    void run(const Cooling& cooling, Stopper& stopper) {
        cooling.follow(stopper,
                       [&](double temperature, double price) { sweep(temperature, price); });
    }

    // As many moves as there are vertices.
    void sweep(double temperature, double price) {
        for (Vertex trial = 0; trial < size_; ++trial) try_move(temperature, price);
    }

    // The cheapest proper colouring so far.
    const std::vector<Colour>& best() const { return best_; }
    // The present one, and the edges within its clusters.
    const std::vector<Colour>& colours() const { return colour_; }
    std::int64_t conflicts() const { return conflicts_; }
    const SoftPulls& pulls() const { return pulls_; }

 private:
    // The running cost carries the rounding errors of all moves, so what counts as cheaper is
    // cheaper by this share of the mean cost.
    static constexpr double kTolerance = 1e-9;

    std::size_t at(Vertex v, Colour c) const { return static_cast<std::size_t>(v) * k_ + c; }

    // Of the clusters that are allowed.
    double mean_cost() const {
        double total = 0.0;
        std::size_t count = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(size_) * k_; ++i) {
            if (!std::isfinite(costs_[i])) continue;
            total += std::abs(costs_[i]);
            ++count;
        }
        return count ? total / static_cast<double>(count) : 0.0;
    }

    void try_move(double temperature, double price) {
        const auto v = static_cast<Vertex>(random_.below(size_));
        auto target = static_cast<Colour>(random_.below(k_ - 1));
        target += target >= colour_[v];
        double change = costs_[at(v, target)] - costs_[at(v, colour_[v])];
        if constexpr (SoftPulls::kPriced) change -= pulls_.gain(v, colour_[v], target) / unit_;
        const int conflicts = neighbours_[v][target] - neighbours_[v][colour_[v]];
        const double energy = change + price * conflicts;
        if (energy > 0.0 && random_.uniform() >= std::exp(-energy / temperature)) return;
        neighbours_.recolour(v, colour_[v], target);
        pulls_.recolour(v, colour_[v], target);
        colour_[v] = target;
        cost_ += change;
        conflicts_ += conflicts;
        if (conflicts_ == 0 && cost_ < best_cost_ - tolerance_) {
            best_cost_ = cost_;
            best_ = colour_;
        }
    }

    int size_, k_;
    const double* costs_;
    Random random_;
    std::vector<Colour> colour_, best_;
    NeighbourCounts<EveryVertex> neighbours_;
    [[no_unique_address]] SoftPulls pulls_;
    double unit_;
    double cost_ = 0.0, best_cost_ = 0.0, tolerance_ = 0.0;
    std::int64_t conflicts_ = 0;
};

}  // namespace kempe
