// The random part of a perturbation of centroids (Algorithm 3 of the paper).
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/types.h"
#include "module.h"

namespace kempe {
namespace {

template <class T>
void check_shapes(const In2<T>& rows, const In1<Colour>& labels, const In1<double>& coefficients,
                  const In2<double>& centroids) {
    const std::size_t n = rows.shape(0);
    if (labels.shape(0) != n || coefficients.shape(0) != n || centroids.shape(1) != rows.shape(1))
        throw std::invalid_argument("rows, labels, coefficients and centroids disagree in shape");
    for (std::size_t r = 0; r < n; ++r)
        if (labels.data()[r] < 0 ||
            static_cast<std::size_t>(labels.data()[r]) >= centroids.shape(0))
            throw std::invalid_argument("a label is outside 0..n_clusters-1");
}

// For each cluster, sum over its rows of coefficient * (row - centroid of the cluster). With
// standard normal coefficients the result has the scatter matrix of the cluster as covariance, and
// no matrix of size d x d is ever formed.
template <class T>
Out2<double> combine_rows(In2<T> rows, In1<Colour> labels, In1<double> coefficients,
                          In2<double> centroids) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = centroids.shape(0);
    check_shapes(rows, labels, coefficients, centroids);
    std::vector<double> result(k * d, 0.0);
    unlocked([&] {
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t c = static_cast<std::size_t>(labels.data()[r]);
            const double a = coefficients.data()[r];
            const T* row = rows.data() + r * d;
            const double* centroid = centroids.data() + c * d;
            double* out = result.data() + c * d;
            for (std::size_t f = 0; f < d; ++f) out[f] += a * (row[f] - centroid[f]);
        }
    });
    return to_numpy(std::move(result), k, d);
}

template <class T>
void bind_combine_rows(nb::module_& m) {
    m.def("combine_rows", &combine_rows<T>, nb::arg("rows").noconvert(), nb::arg("labels"),
          nb::arg("coefficients"), nb::arg("centroids"));
}

}  // namespace

void bind_perturb(nb::module_& m) {
    bind_combine_rows<float>(m);
    bind_combine_rows<double>(m);
}

}  // namespace kempe
