#include "problem/instance.h"

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
void construct(Instance* self, In2<T> rows, In2<T> merged, In1<std::int32_t> source,
               In1<double> weight, In1<std::int64_t> offsets, In1<Vertex> targets) {
    const std::size_t size = source.shape(0);
    if (weight.shape(0) != size || offsets.shape(0) != size + 1)
        throw std::invalid_argument(
            "weight, source and offsets disagree on the number of supernodes");
    if (merged.shape(1) != rows.shape(1))
        throw std::invalid_argument("rows and merged have different numbers of features");
    new (self) Instance();
    self->size = static_cast<int>(size);
    self->dimension = static_cast<int>(rows.shape(1));
    self->weight = weight.data();
    self->graph = {offsets.data(), targets.data(), self->size};
    const Points<T> points{rows.data(), merged.data(), source.data(), self->dimension};
    if constexpr (sizeof(T) == sizeof(float)) {
        self->single = true;
        self->points32 = points;
    } else {
        self->points64 = points;
    }
    classify_vertices(*self);
}

}  // namespace

void bind_instance(nb::module_& m) {
    // keep_alive: the instance borrows its arrays.
    const auto borrow = [](auto& cls, auto constructor) {
        cls.def("__init__", constructor, nb::arg("rows").noconvert(), nb::arg("merged").noconvert(),
                nb::arg("source").noconvert(), nb::arg("weight").noconvert(),
                nb::arg("offsets").noconvert(), nb::arg("targets").noconvert(),
                nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
                nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());
    };
    nb::class_<Instance> cls(m, "Instance");
    borrow(cls, &construct<float>);
    borrow(cls, &construct<double>);
}

}  // namespace kempe
