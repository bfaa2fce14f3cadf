#include "exact/annealing.h"

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"

namespace kempe {
namespace {

Out1<Colour> anneal(const StoredGraph& stored, In2<double> costs, In1<Colour> colours, int sweeps,
                    double hot, double cold, double cheap, double expensive, std::uint64_t seed,
                    Stopper& stopper) {
    const Graph graph = stored.view();
    check_costs(costs, graph.size);
    const int k = static_cast<int>(costs.shape(1));
    check_colours(colours, graph.size, k);
    const Cooling cooling{sweeps, hot, cold, cheap, expensive};
    cooling.check();
    return to_numpy(unlocked([&] {
        Annealing search(graph, costs.data(), k, colours.data(), seed);
        if (k > 1 && graph.size > 0) search.run(cooling, stopper);
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
