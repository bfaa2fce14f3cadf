// Simultaneous Kempe assignment (Algorithm 2 of the paper), and the descents built on it. All
// chains, all conflicts, one independent set, apply, repeat.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/random.h"
#include "basics/stopper.h"
#include "kskm/chains.h"
#include "kskm/mwis.h"
#include "module.h"
#include "problem/means.h"

namespace kempe {
namespace {

using Mask = std::vector<char>;
using Chooser = std::function<Mask(const Moves&, const Conflicts&)>;

Mask greedy_choice(const Moves& moves, const Conflicts& conflicts) {
    return greedy_independent_set({moves.gain, conflicts.offsets, conflicts.targets});
}

// What is chosen together must be compatible, or the colouring would not stay proper.
Mask checked_mask(const nb::object& answer, const Conflicts& conflicts) {
    In1<bool> array;
    if (!nb::try_cast(answer, array, /*convert=*/false) ||
        array.shape(0) + 1 != conflicts.offsets.size())
        throw std::invalid_argument("choose must return an array of bool, one for each chain");
    const Mask mask(array.data(), array.data() + array.shape(0));
    for (std::size_t s = 0; s < mask.size(); ++s)
        for (std::int64_t i = conflicts.offsets[s]; mask[s] && i < conflicts.offsets[s + 1]; ++i)
            if (mask[conflicts.targets[i]])
                throw std::invalid_argument("choose must not return chains that conflict");
    return mask;
}

template <class Costs>
class SimultaneousDescent {
 public:
    SimultaneousDescent(const Instance& instance, int k, const Colour* colours,
                        const Chooser& choose, std::optional<Random> random = std::nullopt)
        : instance_(instance),
          k_(k),
          choose_(choose),
          random_(random),
          colouring_(instance.graph, instance.constrained_vertices, k, colours, Costs(instance, k)),
          changed_(k, 0),
          kept_(colouring_.colours()) {}

    // Those of the last descent or step.
    const std::vector<Colour>& colours() const { return kept_; }

    void step_once(const double* centroids) {
        place(centroids);
        step();
        kept_ = colouring_.colours();
    }

    void settle(const double* centroids, Stopper& stopper) {
        repeat(stopper, [&] { place(centroids); }, [] {});
    }

    // The inner loop of Algorithm 1.
    void descend(Stopper& stopper) {
        repeat(stopper, [&] { place_means(); }, [&] { follow_means(); });
    }

 private:
    // Let centroids `begin`, step, let them `follow`, and go on as long as that lowers the cost.
    //
    // By arithmetic every step that swaps anything lowers it, and so do centroids that follow.
    // By rounding it may rise all the same: the mean of equal points lies a hair beside them, and
    // two clusters of such points can exchange them for ever. So the computed cost decides, and it
    // falls with every turn: what falls from number to number of a computer comes to an end. Costs
    // that can tell no longer whether it falls begin anew.
    template <class Begin, class Follow>
    void repeat(Stopper& stopper, Begin&& begin, Follow&& follow) {
        begin();
        while (!stopper.look() && step()) {
            follow();
            if (!costs().have_fallen(colouring_.colours())) return;
            kept_ = colouring_.colours();
            if (costs().are_worn()) begin();
        }
    }

    // One KSAssignment. Returns whether anything was swapped.
    bool step() {
        colouring_.find_improving_chains(chains_);
        bool improved = chains_.size() > 0 && swap_compatible();
        // A free vertex has no conflicts, so its best swap is the one to its nearest centroid.
        for (Vertex v : instance_.free_vertices) {
            const Colour c = colouring_.cheapest(v);
            if (c == colouring_.colours()[v]) continue;
            recolour(v, c);
            improved = true;
        }
        return improved;
    }

    bool swap_compatible() {
        const Mask chosen = choose_(chains_, find_conflicts(instance_.graph, view(chains_)));
        chains_.for_chosen(chosen, [&](Vertex v, Colour c) { recolour(v, c); });
        return std::find(chosen.begin(), chosen.end(), 1) != chosen.end();
    }

    void recolour(Vertex v, Colour c) {
        changed_[colouring_.colours()[v]] = changed_[c] = 1;
        colouring_.recolour(v, c);
    }

    void place(const double* centroids) { costs().place(centroids, colouring_.colours()); }

    void place_means() {
        const Means means = costs().means(colouring_.colours());
        place(means.mean.data());
        place_empty(means);
    }

    // Only clusters that changed have new centroids, and only their costs are computed again.
    void follow_means() {
        const Means means = costs().means(colouring_.colours());
        std::vector<Colour> moved;
        for (Colour c = 0; c < k_; ++c) {
            if (means.members[c] > 0 && changed_[c]) moved.push_back(c);
            changed_[c] = 0;
        }
        costs().move(means.mean.data(), moved);
        place_empty(means);
    }

    // The paper leaves open where the centroid of an empty cluster is. Here it is a vertex, so that
    // the next step fills it with a gain: the one that costs most, a different one for each empty
    // cluster, or any.
    void place_empty(const Means& means) {
        std::vector<Colour> empty;
        for (Colour c = 0; c < k_; ++c)
            if (means.members[c] == 0) empty.push_back(c);
        if (empty.empty()) return;
        const int d = instance_.dimension;
        std::vector<double> centroids = means.mean;
        const std::vector<Vertex> vertices =
            random_ ? any_vertices(empty.size()) : costliest_vertices(empty.size());
        with_points(instance_, [&](const auto& points) {
            for (std::size_t i = 0; i < empty.size(); ++i)
                std::copy_n(points[vertices[std::min(i, vertices.size() - 1)]], d,
                            centroids.data() + static_cast<std::size_t>(empty[i]) * d);
        });
        costs().move(centroids.data(), empty);
    }

    std::vector<Vertex> any_vertices(std::size_t count) {
        std::vector<Vertex> chosen(count);
        for (Vertex& v : chosen)
            v = static_cast<Vertex>(random_->below(static_cast<std::uint32_t>(instance_.size)));
        return chosen;
    }

    std::vector<Vertex> costliest_vertices(std::size_t count) {
        std::vector<Vertex> costly(instance_.size);
        std::iota(costly.begin(), costly.end(), 0);
        count = std::min(count, costly.size());
        std::partial_sort(costly.begin(), costly.begin() + count, costly.end(),
                          [&](Vertex a, Vertex b) {
                              const double x = colouring_.own_cost(a), y = colouring_.own_cost(b);
                              return x != y ? x > y : a < b;
                          });
        costly.resize(count);
        return costly;
    }

    Costs& costs() { return colouring_.costs(); }

    const Instance& instance_;
    int k_;
    const Chooser& choose_;
    std::optional<Random> random_;  // draws the vertices that empty clusters take
    Colouring<Costs> colouring_;
    Moves chains_;
    std::vector<char> changed_;  // clusters that gained or lost a vertex since the last update
    std::vector<Colour> kept_;   // of lowest cost so far
};

using Choice = std::optional<nb::callable>;

// A function of Python that chooses moves, given their gains and conflicts: a mask of those it
// takes. It works with the interpreter's lock, and gets arrays that it may keep.
Chooser chooser(const Choice& choose) {
    if (!choose) return greedy_choice;
    return [&](const Moves& moves, const Conflicts& conflicts) {
        nb::gil_scoped_acquire acquire;
        const nb::object answer =
            (*choose)(to_numpy(std::vector(moves.gain)), to_numpy(std::vector(conflicts.offsets)),
                      to_numpy(std::vector(conflicts.targets)));
        return checked_mask(answer, conflicts);
    };
}

template <class Work>
Out1<Colour> run(const Instance& instance, const In1<Colour>& colours, int k, const Choice& choose,
                 Work&& work, std::optional<Random> random = std::nullopt) {
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    const Chooser how = chooser(choose);
    const auto worked = [&]<class Costs>() {
        SimultaneousDescent<Costs> descent(instance, k, colours.data(), how, random);
        work(descent);
        return descent.colours();
    };
    return to_numpy(unlocked([&] {
        return instance.has_costly_distances() ? worked.template operator()<BoundedCosts>()
                                               : worked.template operator()<CostTable>();
    }));
}

Out1<Colour> simultaneous_step(const Instance& instance, In1<Colour> colours, In2<double> centroids,
                               Choice choose) {
    check_centroids(centroids, instance.dimension);
    return run(instance, colours, static_cast<int>(centroids.shape(0)), choose,
               [&](auto& descent) { descent.step_once(centroids.data()); });
}

Out1<Colour> simultaneous_settle(const Instance& instance, In1<Colour> colours,
                                 In2<double> centroids, Stopper& stopper, Choice choose) {
    check_centroids(centroids, instance.dimension);
    return run(instance, colours, static_cast<int>(centroids.shape(0)), choose,
               [&](auto& descent) { descent.settle(centroids.data(), stopper); });
}

Out1<Colour> simultaneous_descend(const Instance& instance, In1<Colour> colours, int k,
                                  Stopper& stopper, Choice choose,
                                  std::optional<std::uint64_t> seed) {
    const auto random = seed ? std::optional<Random>(*seed) : std::nullopt;
    return run(
        instance, colours, k, choose, [&](auto& descent) { descent.descend(stopper); }, random);
}

}  // namespace

void bind_assignment(nb::module_& m) {
    m.def("simultaneous_step", &simultaneous_step, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"), nb::arg("choose") = nb::none());
    m.def("simultaneous_settle", &simultaneous_settle, nb::arg("instance"), nb::arg("colours"),
          nb::arg("centroids"), nb::arg("stopper"), nb::arg("choose") = nb::none());
    m.def("simultaneous_descend", &simultaneous_descend, nb::arg("instance"), nb::arg("colours"),
          nb::arg("n_clusters"), nb::arg("stopper"), nb::arg("choose") = nb::none(),
          nb::arg("seed") = nb::none());
}

}  // namespace kempe
