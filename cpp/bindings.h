// Array types of the Python interface, and the functions that bind each part of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
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

// Hand a vector to NumPy without copying; the array owns it from then on.
template <class T>
Out1<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out1<T>(data, {size}, owner);
}

template <class T>
Out2<T> to_numpy(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out2<T>(data, {rows, columns}, owner);
}

// Offsets, vertices, colours and gains of moves as a tuple of arrays.
struct Moves;
nb::tuple to_tuple(Moves&& moves);

void bind_annealing(nb::module_& m);
void bind_instance(nb::module_& m);
void bind_supernodes(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_dsatur(nb::module_& m);
void bind_greedy(nb::module_& m);
void bind_stopper(nb::module_& m);
void bind_cliques(nb::module_& m);
void bind_cost_assignment(nb::module_& m);
void bind_exact_colouring(nb::module_& m);
void bind_tabu(nb::module_& m);
void bind_seeding(nb::module_& m);
void bind_sequential(nb::module_& m);
void bind_costs(nb::module_& m);
void bind_chains(nb::module_& m);
void bind_mwis(nb::module_& m);
void bind_simultaneous(nb::module_& m);
void bind_three_colour(nb::module_& m);
void bind_empty(nb::module_& m);

}  // namespace kempe
