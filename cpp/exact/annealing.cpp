// Simulated annealing for the assignment with a given cost per vertex and cluster. Edges within a
// cluster are allowed at a price that grows while the temperature falls, so that the search can
// pass between colourings that no sequence of Kempe swaps connects.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "basics/checks.h"
#include "basics/random.h"
#include "basics/stopper.h"
#include "graph/graph.h"
#include "graph/neighbour_counts.h"
#include "module.h"

namespace kempe {
namespace {

struct Schedule {
    int sweeps;
    double hot, cold;         // temperatures
    double cheap, expensive;  // prices of an edge within a cluster
};

class Annealing {
 public:
    Annealing(const Graph& graph, const double* costs, int k, const Colour* start,
              std::uint64_t seed)
        : size_(graph.size),
          k_(k),
          costs_(costs),
          random_(seed),
          colour_(start, start + size_),
          best_(colour_),
          neighbours_(graph, EveryVertex(graph), k, start) {
        std::int64_t ends = 0;
        for (Vertex v = 0; v < size_; ++v) {
            ends += neighbours_[v][colour_[v]];
            cost_ += costs_[at(v, colour_[v])];
        }
        conflicts_ = ends / 2;
        tolerance_ = kTolerance * mean_cost();
        best_cost_ = conflicts_ == 0 ? cost_ : std::numeric_limits<double>::infinity();
    }

    void run(const Schedule& schedule, Stopper& stopper) {
        const double steps = std::max(1, schedule.sweeps - 1);
        const double cooling = std::pow(schedule.cold / schedule.hot, 1.0 / steps);
        const double rise = std::pow(schedule.expensive / schedule.cheap, 1.0 / steps);
        double temperature = schedule.hot, price = schedule.cheap;
        for (int i = 0; i < schedule.sweeps && !stopper.should_stop(); ++i) {
            for (Vertex trial = 0; trial < size_; ++trial) try_move(temperature, price);
            temperature *= cooling;
            price *= rise;
        }
    }

    const std::vector<Colour>& best() const { return best_; }

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
        const double change = costs_[at(v, target)] - costs_[at(v, colour_[v])];
        const int conflicts = neighbours_[v][target] - neighbours_[v][colour_[v]];
        const double energy = change + price * conflicts;
        if (energy > 0.0 && random_.uniform() >= std::exp(-energy / temperature)) return;
        neighbours_.recolour(v, colour_[v], target);
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
    double cost_ = 0.0, best_cost_ = 0.0, tolerance_ = 0.0;
    std::int64_t conflicts_ = 0;
};

Out1<Colour> anneal(const StoredGraph& stored, In2<double> costs, In1<Colour> colours, int sweeps,
                    double hot, double cold, double cheap, double expensive, std::uint64_t seed,
                    Stopper& stopper) {
    const Graph graph = stored.view();
    check_costs(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    if (sweeps < 0) throw std::invalid_argument("sweeps must not be negative");
    if (!(cold > 0 && hot >= cold && cheap > 0 && expensive >= cheap))
        throw std::invalid_argument("temperatures and prices must be positive and in order");
    return to_numpy(unlocked([&] {
        Annealing search(graph, costs.data(), k, colours.data(), seed);
        if (k > 1 && graph.size > 0) search.run({sweeps, hot, cold, cheap, expensive}, stopper);
        return search.best();
    }));
}

}  // namespace

void bind_annealing(nb::module_& m) {
    m.def("anneal", &anneal, nb::arg("graph"), nb::arg("costs"), nb::arg("colours"),
          nb::arg("sweeps"), nb::arg("hot"), nb::arg("cold"), nb::arg("cheap"),
          nb::arg("expensive"), nb::arg("seed"), nb::arg("stopper"));
}

}  // namespace kempe
