#include "exact/annealing.h"

#include <stdexcept>
#include <utility>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"

namespace kempe {
namespace {

Out1<Colour> anneal(const StoredGraph& stored, In2<double> costs, In1<Colour> colours, int sweeps,
                    double hot, double cold, double cheap, double expensive, std::uint64_t seed,
                    Stopper& stopper, const SoftPairs* soft) {
    const Graph graph = stored.view();
    check_costs(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    const Cooling cooling{sweeps, hot, cold, cheap, expensive};
    cooling.check();
    if (soft && soft->size() != graph.size)
        throw std::invalid_argument("soft pairs and the graph must have as many supernodes");
    const auto best_with = [&](auto pulls) {
        Annealing search(graph, costs.data(), k, colours.data(), seed, std::move(pulls));
        if (k > 1 && graph.size > 0) search.run(cooling, stopper);
        return search.best();
    };
    return to_numpy(
        unlocked([&] { return soft ? best_with(Pulls(*soft, k)) : best_with(NoPulls()); }));
}

}  // namespace

void bind_annealing(nb::module_& m) {
    m.def("anneal", &anneal, nb::arg("graph"), nb::arg("costs"), nb::arg("colours"),
          nb::arg("sweeps"), nb::arg("hot"), nb::arg("cold"), nb::arg("cheap"),
          nb::arg("expensive"), nb::arg("seed"), nb::arg("stopper"), nb::arg("soft") = nb::none());
}

}  // namespace kempe
