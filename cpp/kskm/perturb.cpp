// What perturbations of centroids (Algorithm 3 of the paper) sum up over the rows.
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/types.h"
#include "module.h"

namespace kempe {
namespace {

template <class T>
void check_shapes(const In2<T>& rows, const In1<Colour>& labels, const In1<double>& coefficients,
                  std::size_t k) {
    const std::size_t n = rows.shape(0);
    if (labels.shape(0) != n || coefficients.shape(0) != n)
        throw std::invalid_argument("rows, labels and coefficients disagree in shape");
    for (std::size_t r = 0; r < n; ++r)
        if (labels.data()[r] < 0 || static_cast<std::size_t>(labels.data()[r]) >= k)
            throw std::invalid_argument("a label is outside 0..n_clusters-1");
}

// Calls add(coefficient, row, cluster, out), which adds what a row means for its cluster.
template <class T, class Add>
Out2<double> summed(const In2<T>& rows, const In1<Colour>& labels, const In1<double>& coefficients,
                    std::size_t k, Add&& add) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    std::vector<double> result(k * d, 0.0);
    unlocked([&] {
        for (std::size_t r = 0; r < n; ++r) {
            const auto c = static_cast<std::size_t>(labels.data()[r]);
            add(coefficients.data()[r], rows.data() + r * d, c, result.data() + c * d);
        }
    });
    return to_numpy(std::move(result), k, d);
}

// For each cluster, sum over its rows of coefficient * (row - centroid of the cluster). With
// standard normal coefficients the result has the scatter matrix of the cluster as covariance, and
// no matrix of size d x d is ever formed.
template <class T>
Out2<double> combine_rows(In2<T> rows, In1<Colour> labels, In1<double> coefficients,
                          In2<double> centroids) {
    const std::size_t d = rows.shape(1), k = centroids.shape(0);
    if (centroids.shape(1) != d)
        throw std::invalid_argument("rows and centroids disagree in shape");
    check_shapes(rows, labels, coefficients, k);
    return summed(rows, labels, coefficients, k,
                  [&](double a, const T* row, std::size_t c, double* out) {
                      const double* centroid = centroids.data() + c * d;
                      for (std::size_t f = 0; f < d; ++f) out[f] += a * (row[f] - centroid[f]);
                  });
}

// For each cluster and feature, sum over its rows of weight * square. Squares have the precision of
// the data.
template <class T>
Out2<double> sum_squares(In2<T> rows, In1<Colour> labels, In1<double> weights, int k) {
    check_n_clusters(k);
    check_shapes(rows, labels, weights, k);
    return summed(rows, labels, weights, k, [&](double w, const T* row, std::size_t, double* out) {
        for (std::size_t f = 0; f < rows.shape(1); ++f) {
            const T square = row[f] * row[f];
            out[f] += w * static_cast<double>(square);
        }
    });
}

template <class T>
void bind_for_rows(nb::module_& m) {
    m.def("combine_rows", &combine_rows<T>, nb::arg("rows").noconvert(), nb::arg("labels"),
          nb::arg("coefficients"), nb::arg("centroids"));
    m.def("sum_squares", &sum_squares<T>, nb::arg("rows").noconvert(), nb::arg("labels"),
          nb::arg("weights"), nb::arg("n_clusters"));
}

}  // namespace

void bind_perturb(nb::module_& m) {
    bind_for_rows<float>(m);
    bind_for_rows<double>(m);
}

}  // namespace kempe
