#include "problem/soft_pairs.h"

#include <cmath>
#include <stdexcept>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "module.h"

namespace kempe {

SoftPairs::SoftPairs(int size, std::span<const Vertex> first, std::span<const Vertex> second,
                     std::span<const double> price)
    : offsets_(size + 1), ends_(2 * price.size()) {
    for (std::size_t i = 0; i < price.size(); ++i) {
        ++offsets_[first[i] + 1];
        ++offsets_[second[i] + 1];
        if (price[i] > 0) together_ += price[i];
    }
    for (int v = 0; v < size; ++v) {
        if (offsets_[v + 1] > 0) tied_.push_back(v);
        offsets_[v + 1] += offsets_[v];
    }
    std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < price.size(); ++i) {
        ends_[next[first[i]]++] = {second[i], price[i]};
        ends_[next[second[i]]++] = {first[i], price[i]};
    }
}

namespace {

void construct(SoftPairs* self, int size, In1<Vertex> first, In1<Vertex> second,
               In1<double> price) {
    if (size < 1) throw std::invalid_argument("there must be a supernode");
    if (first.shape(0) != second.shape(0) || first.shape(0) != price.shape(0))
        throw std::invalid_argument("first, second and price must be of one length");
    check_vertices(first, size);
    check_vertices(second, size);
    for (std::size_t i = 0; i < first.shape(0); ++i) {
        if (first.data()[i] == second.data()[i])
            throw std::invalid_argument("a soft pair has one supernode at both ends");
        if (!std::isfinite(price.data()[i])) throw std::invalid_argument("prices must be finite");
    }
    const std::size_t count = first.shape(0);
    unlocked([&] {
        new (self)
            SoftPairs(size, {first.data(), count}, {second.data(), count}, {price.data(), count});
    });
}

}  // namespace

void bind_soft_pairs(nb::module_& m) {
    nb::class_<SoftPairs>(m, "SoftPairs")
        .def("__init__", &construct, nb::arg("size"), nb::arg("first"), nb::arg("second"),
             nb::arg("price"));
}

}  // namespace kempe
