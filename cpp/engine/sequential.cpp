// Python's view of the sequential descent and the relocation search, for either floating-point
// type.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <variant>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "engine/descent.h"
#include "engine/relocation.h"
#include "module.h"

namespace kempe {
namespace {

template <class Rules>
struct Engine {
    Engine(const Instance& instance, const Points<typename Rules::Value>& points, int k)
        : descent(instance, points, k), relocation(instance, descent, k) {}
    Descent<Rules> descent;
    RelocationSearch<Rules> relocation;
    bool ready = false;  // for relocations from the clustering that it holds

    void load(const Colour* colours) {
        ready = false;
        descent.load(colours);
    }

    // Relocations come in batches. What the last one has left is a local optimum and needs no
    // second look.
    void prepare(const Colour* colours, Stopper& stopper) {
        const auto& held = descent.state().colours();
        if (ready && std::equal(held.begin(), held.end(), colours)) return;
        load(colours);
        descent.descend(stopper);
        relocation.begin();
    }
};

class SequentialSearch {
 public:
    SequentialSearch(const Instance& instance, int k) : instance_(instance), k_(k) {
        check_n_clusters(k);
        if (instance.sizes.limited() && instance.sizes.least.size() != static_cast<std::size_t>(k))
            throw std::invalid_argument("limits are those of another number of clusters");
        unlocked([&] {
            with_rules(instance, [&]<class Rules>(const auto& points) {
                engine_ = std::make_unique<Engine<Rules>>(instance, points, k);
            });
        });
    }

    Out1<Colour> settle(In1<Colour> colours, In2<double> centroids, Stopper& stopper) {
        return work_at(colours, centroids, [&](auto& descent) { descent.settle(stopper); });
    }

    nb::tuple repair(In1<Colour> colours, In2<double> centroids, Stopper& stopper) {
        int excess = 0;
        auto result =
            work_at(colours, centroids, [&](auto& descent) { excess = descent.repair(stopper); });
        return nb::make_tuple(std::move(result), excess);
    }

    Out1<Colour> assign_by_table(In1<Colour> colours, In2<double> centroids, bool thorough,
                                 Stopper& stopper) {
        return work_at(colours, centroids,
                       [&](auto& descent) { descent.assign_by_table(thorough, stopper); });
    }

    Out1<Colour> descend(In1<Colour> colours, Stopper& stopper) {
        check(colours);
        return work([&](auto& engine) {
            engine.load(colours.data());
            engine.descent.descend(stopper);
        });
    }

    nb::tuple work_done() const {
        return std::visit(
            [](const auto& engine) {
                const auto& groups = engine->descent.groups();
                return nb::make_tuple(groups.work_of_singles(), groups.work());
            },
            engine_);
    }

    double estimate(In1<Colour> colours, Colour removed, Vertex onto) {
        check(colours);
        if (removed < 0 || removed >= k_) throw std::invalid_argument("no such cluster");
        if (onto < 0 || onto >= instance_.size) throw std::invalid_argument("no such supernode");
        return unlocked([&] {
            return std::visit(
                [&](auto& engine) {
                    engine->load(colours.data());
                    return engine->relocation.estimate(removed, onto);
                },
                engine_);
        });
    }

    nb::tuple relocate(In1<Colour> colours, int tries, int patience, int failures, double target,
                       std::uint64_t seed, Stopper& stopper) {
        check(colours);
        int tried = 0;
        Random random(seed);
        auto result = work([&](auto& engine) {
            engine.prepare(colours.data(), stopper);
            tried = engine.relocation.run(tries, patience, target, random, stopper, failures);
            engine.ready = !stopper.stopped();
        });
        return nb::make_tuple(std::move(result), tried, failures);
    }

 private:
    void check(const In1<Colour>& colours) const { check_colours(colours, instance_.size, k_); }
    void check(const In2<double>& centroids) const {
        if (centroids.shape(0) != static_cast<std::size_t>(k_) ||
            centroids.shape(1) != static_cast<std::size_t>(instance_.dimension))
            throw std::invalid_argument("centroids must have shape (n_clusters, n_features)");
        check_finite(centroids);
    }
    template <class Body>
    Out1<Colour> work(Body&& body) {
        return to_numpy(unlocked([&] {
            return std::visit(
                [&](auto& engine) {
                    body(*engine);
                    return engine->descent.state().colours();
                },
                engine_);
        }));
    }

    // The same for a descent with the colours, and centroids placed.
    template <class Body>
    Out1<Colour> work_at(const In1<Colour>& colours, const In2<double>& centroids, Body&& body) {
        check(colours);
        check(centroids);
        return work([&](auto& engine) {
            engine.load(colours.data());
            for (Colour c = 0; c < k_; ++c)
                engine.descent.place_centroid(
                    c, centroids.data() + std::size_t(c) * instance_.dimension);
            body(engine.descent);
        });
    }

    const Instance& instance_;
    int k_;
    WithAnyRules<Engine> engine_;
};

}  // namespace

void bind_sequential(nb::module_& m) {
    nb::class_<SequentialSearch>(m, "SequentialSearch")
        .def(nb::init<const Instance&, int>(), nb::arg("instance"), nb::arg("n_clusters"),
             nb::keep_alive<1, 2>())
        .def("settle", &SequentialSearch::settle, nb::arg("colours"), nb::arg("centroids"),
             nb::arg("stopper"))
        .def("repair", &SequentialSearch::repair, nb::arg("colours"), nb::arg("centroids"),
             nb::arg("stopper"))
        .def("assign_by_table", &SequentialSearch::assign_by_table, nb::arg("colours"),
             nb::arg("centroids"), nb::arg("thorough"), nb::arg("stopper"))
        .def("descend", &SequentialSearch::descend, nb::arg("colours"), nb::arg("stopper"))
        .def("work_done", &SequentialSearch::work_done)
        .def("estimate", &SequentialSearch::estimate, nb::arg("colours"), nb::arg("removed"),
             nb::arg("onto"))
        .def("relocate", &SequentialSearch::relocate, nb::arg("colours"), nb::arg("tries"),
             nb::arg("patience"), nb::arg("failures"), nb::arg("target"), nb::arg("seed"),
             nb::arg("stopper"));
}

}  // namespace kempe
