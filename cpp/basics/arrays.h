// Array types of the Python interface, and how kernels work without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace kempe {

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Keeps a vector alive for as long as NumPy looks at it.
template <class T>
nb::capsule owner_of(std::unique_ptr<std::vector<T>> values) {
    return nb::capsule(values.release(),
                       [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}

// Hand a vector to NumPy without copying; the array owns it from then on.
template <class T>
Out1<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    return Out1<T>(data, {size}, owner_of(std::move(owned)));
}

template <class T>
Out2<T> to_numpy(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    return Out2<T>(data, {rows, columns}, owner_of(std::move(owned)));
}

// Do work that touches no Python object while other threads of Python run.
template <class Work>
auto unlocked(Work&& work) {
    nb::gil_scoped_release release;
    return std::forward<Work>(work)();
}

}  // namespace kempe
