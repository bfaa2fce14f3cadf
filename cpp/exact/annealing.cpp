// Simulated annealing for the assignment with a given cost per vertex and cluster. Edges within a
// cluster are allowed at a price that grows while the temperature falls, so that the search can
// pass between colourings that no sequence of Kempe swaps connects.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "basics/random.h"
#include "basics/stopper.h"
#include "graph/graph_arguments.h"
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
    Annealing(const GraphArgument& argument, const double* costs, int k, const Colour* start,
              std::uint64_t seed)
        : graph_(argument.graph),
          size_(argument.size),
          k_(k),
          costs_(costs),
          random_(seed),
          colour_(start, start + size_),
          best_(colour_),
          count_(static_cast<std::size_t>(size_) * k, 0) {
        for (Vertex v = 0; v < size_; ++v)
            for (Vertex u : graph_.neighbours(v)) ++count_[at(v, colour_[u])];
        std::int64_t ends = 0;
        for (Vertex v = 0; v < size_; ++v) {
            ends += count_[at(v, colour_[v])];
            cost_ += costs_[at(v, colour_[v])];
        }
        conflicts_ = ends / 2;
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

    std::vector<Colour>&& best() { return std::move(best_); }

 private:
    std::size_t at(Vertex v, Colour c) const { return static_cast<std::size_t>(v) * k_ + c; }

    void try_move(double temperature, double price) {
        const auto v = static_cast<Vertex>(random_.below(size_));
        auto target = static_cast<Colour>(random_.below(k_ - 1));
        target += target >= colour_[v];
        const double change = costs_[at(v, target)] - costs_[at(v, colour_[v])];
        const int conflicts = count_[at(v, target)] - count_[at(v, colour_[v])];
        const double energy = change + price * conflicts;
        if (energy > 0.0 && random_.uniform() >= std::exp(-energy / temperature)) return;
        move(v, target);
        cost_ += change;
        conflicts_ += conflicts;
        if (conflicts_ == 0 && cost_ < best_cost_ - 1e-9) {
            best_cost_ = cost_;
            best_ = colour_;
        }
    }

    void move(Vertex v, Colour target) {
        for (Vertex u : graph_.neighbours(v)) {
            --count_[at(u, colour_[v])];
            ++count_[at(u, target)];
        }
        colour_[v] = target;
    }

    Graph graph_;
    int size_, k_;
    const double* costs_;
    Random random_;
    std::vector<Colour> colour_, best_;
    std::vector<int> count_;
    double cost_ = 0.0, best_cost_ = 0.0;
    std::int64_t conflicts_ = 0;
};

Out1<Colour> anneal(In1<std::int64_t> offsets, In1<Vertex> targets, In2<double> costs,
                    In1<Colour> colours, int sweeps, double hot, double cold, double cheap,
                    double expensive, std::uint64_t seed, Stopper& stopper) {
    const GraphArgument graph = graph_argument(offsets, targets);
    check_shape(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    if (!(cold > 0 && hot >= cold && cheap > 0 && expensive >= cheap))
        throw std::invalid_argument("temperatures and prices must be positive and in order");
    nb::gil_scoped_release release;
    Annealing search(graph, costs.data(), k, colours.data(), seed);
    if (k > 1 && graph.size > 0) search.run({sweeps, hot, cold, cheap, expensive}, stopper);
    nb::gil_scoped_acquire acquire;
    return to_numpy(search.best());
}

}  // namespace

void bind_annealing(nb::module_& m) {
    m.def("anneal", &anneal, nb::arg("offsets"), nb::arg("targets"), nb::arg("costs"),
          nb::arg("colours"), nb::arg("sweeps"), nb::arg("hot"), nb::arg("cold"), nb::arg("cheap"),
          nb::arg("expensive"), nb::arg("seed"), nb::arg("stopper"));
}

}  // namespace kempe
