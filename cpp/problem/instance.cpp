#include "problem/instance.h"

#include <cmath>
#include <stdexcept>

#include "basics/arrays.h"
#include "module.h"

namespace kempe {
namespace {

void classify_vertices(Instance& instance) {
    for (Vertex v = 0; v < instance.size; ++v) {
        auto& list =
            instance.graph.degree(v) ? instance.constrained_vertices : instance.free_vertices;
        list.push_back(v);
    }
}

template <class T>
std::vector<T> copied(const In1<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

void check_weights(const std::vector<double>& weight) {
    for (const double w : weight)
        if (!(w >= 0) || !std::isfinite(w))
            throw std::invalid_argument("weights must be finite and not negative");
}

void check_sources(const std::vector<std::int32_t>& source, std::size_t rows, std::size_t merged) {
    for (const std::int32_t s : source) {
        if (static_cast<std::size_t>(s >= 0 ? s : ~s) >= (s >= 0 ? rows : merged))
            throw std::invalid_argument("a source is neither a row nor a merged point");
    }
}

template <class T>
void check_shapes(const In2<T>& rows, const In2<T>& merged, const In1<std::int32_t>& source,
                  const In1<double>& weight, const StoredGraph& graph) {
    const std::size_t size = source.shape(0);
    if (size == 0 || rows.shape(1) == 0)
        throw std::invalid_argument("there must be a supernode and a feature");
    if (weight.shape(0) != size || static_cast<std::size_t>(graph.size()) != size)
        throw std::invalid_argument(
            "weight, source and graph disagree on the number of supernodes");
    if (merged.shape(1) != rows.shape(1))
        throw std::invalid_argument("rows and merged have different numbers of features");
}

template <class T>
void construct(Instance* self, In2<T> rows, In2<T> merged, In1<std::int32_t> source,
               In1<double> weight, const StoredGraph& graph, int n_threads,
               const Instance* beside) {
    check_shapes(rows, merged, source, weight, graph);
    auto pool = beside ? beside->pool : std::make_shared<Pool>(n_threads);
    // Copied before they are looked at: another thread may write to the arrays meanwhile.
    std::vector<std::int32_t> own_source;
    std::vector<double> own_weight;
    unlocked([&] {
        own_source = copied(source);
        own_weight = copied(weight);
        check_sources(own_source, rows.shape(0), merged.shape(0));
        check_weights(own_weight);
    });
    new (self) Instance();
    self->own_source = std::make_shared<const std::vector<std::int32_t>>(std::move(own_source));
    self->own_weight = std::make_shared<const std::vector<double>>(std::move(own_weight));
    self->size = graph.size();
    self->dimension = static_cast<int>(rows.shape(1));
    self->weight = self->own_weight->data();
    self->graph = graph.view();
    self->pool = std::move(pool);
    const Points<T> points{rows.data(), merged.data(), self->own_source->data(), self->dimension};
    if constexpr (sizeof(T) == sizeof(float)) {
        self->single = true;
        self->points32 = points;
    } else {
        self->points64 = points;
    }
    classify_vertices(*self);
}

// Once, before anything is made of the instance.
void limit_sizes(Instance& instance, In1<std::int32_t> rows, In1<std::int32_t> least,
                 In1<std::int32_t> most) {
    if (rows.shape(0) != static_cast<std::size_t>(instance.size))
        throw std::invalid_argument("rows must have one number per supernode");
    if (least.shape(0) != most.shape(0) || least.shape(0) == 0)
        throw std::invalid_argument("least and most must have one number per cluster");
    const auto copied = [](const In1<std::int32_t>& values, int smallest) {
        std::vector<int> result(values.data(), values.data() + values.shape(0));
        if (std::any_of(result.begin(), result.end(), [&](int x) { return x < smallest; }))
            throw std::invalid_argument("sizes must not be negative, nor rows less than 1");
        return result;
    };
    instance.sizes = {copied(rows, 1), copied(least, 0), copied(most, 0)};
}

// The same problem with pairs that may be broken.
Instance with_soft(const Instance& instance, const SoftPairs& soft) {
    if (soft.size() != instance.size)
        throw std::invalid_argument("soft pairs and graph disagree on the number of supernodes");
    Instance copy(instance);
    copy.soft = soft.tied().empty() ? nullptr : &soft;
    return copy;
}

}  // namespace

void bind_instance(nb::module_& m) {
    // keep_alive: the instance borrows the points and the graph.
    const auto borrow = [](auto& cls, auto constructor) {
        cls.def("__init__", constructor, nb::arg("rows").noconvert(), nb::arg("merged").noconvert(),
                nb::arg("source").noconvert(), nb::arg("weight").noconvert(), nb::arg("graph"),
                nb::arg("n_threads") = 1, nb::arg("beside") = nb::none(), nb::keep_alive<1, 2>(),
                nb::keep_alive<1, 3>(), nb::keep_alive<1, 6>());
    };
    nb::class_<Instance> cls(m, "Instance");
    borrow(cls, &construct<float>);
    borrow(cls, &construct<double>);
    cls.def("limit_sizes", &limit_sizes, nb::arg("rows"), nb::arg("least"), nb::arg("most"));
    cls.def_prop_ro("is_large", &Instance::is_large)
        .def("with_soft", &with_soft, nb::arg("soft"), nb::keep_alive<0, 1>(),
             nb::keep_alive<0, 2>())
        .def("enter", [](const Instance& instance) { instance.pool->occupy(1); })
        .def("leave", [](const Instance& instance) { instance.pool->occupy(-1); });
}

}  // namespace kempe
