// From must-link pairs to supernodes, and the mean points of those of several rows. Linear in the
// number of pairs: millions of pairs are ordinary.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "basics/types.h"
#include "module.h"

namespace kempe {
namespace {

class DisjointSets {
 public:
    explicit DisjointSets(std::size_t size) : parent_(size) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    Vertex find(Vertex x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    // The smaller root wins, so the root of a set is its first row.
    void unite(Vertex a, Vertex b) {
        a = find(a);
        b = find(b);
        if (a == b) return;
        if (b < a) std::swap(a, b);
        parent_[b] = a;
    }

 private:
    std::vector<Vertex> parent_;
};

// Supernode of every row, numbered by the first row of each.
template <class I>
std::pair<std::vector<Vertex>, Vertex> supernode_of_rows(std::size_t rows, const I* pairs,
                                                         std::size_t count) {
    DisjointSets sets(rows);
    for (std::size_t p = 0; p < count; ++p)
        sets.unite(static_cast<Vertex>(pairs[2 * p]), static_cast<Vertex>(pairs[2 * p + 1]));
    std::vector<Vertex> supernode(rows);
    Vertex next = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const Vertex root = sets.find(static_cast<Vertex>(r));
        supernode[r] = root == static_cast<Vertex>(r) ? next++ : supernode[root];
    }
    return {std::move(supernode), next};
}

template <class I>
nb::tuple supernodes(std::size_t rows, In2<I> must_link) {
    if (rows > static_cast<std::size_t>(std::numeric_limits<Vertex>::max()))
        throw std::invalid_argument("there are too many rows");
    auto [supernode, count] = unlocked([&] {
        check_pairs(must_link, rows);
        return supernode_of_rows(rows, must_link.data(), must_link.shape(0));
    });
    return nb::make_tuple(to_numpy(std::move(supernode)), count);
}

// Weighted mean of one group of rows (plain if it has no weight), and the inertia inside it.
template <class T>
double merge_group(const In2<T>& rows, std::span<const std::int32_t> members, const double* weight,
                   std::vector<double>& sum, T* mean) {
    const std::size_t d = rows.shape(1);
    const auto row = [&](std::size_t i) {
        return rows.data() + static_cast<std::size_t>(members[i]) * d;
    };
    double total = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i) total += weight[i];
    const bool weightless = total <= 0;
    if (weightless) total = static_cast<double>(members.size());
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const double w = weightless ? 1.0 : weight[i];
        for (std::size_t f = 0; f < d; ++f) sum[f] += w * row(i)[f];
    }
    for (std::size_t f = 0; f < d; ++f) mean[f] = static_cast<T>(sum[f] / total);
    double within = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i)
        within += weight[i] * squared_distance(row(i), mean, static_cast<int>(d));
    return within;
}

template <class T>
void check_members(const In2<T>& rows, const In1<std::int32_t>& members,
                   const In1<std::int32_t>& group, const In1<double>& weight, std::size_t groups) {
    const std::size_t n = members.shape(0);
    if (group.shape(0) != n || weight.shape(0) != n)
        throw std::invalid_argument("members, group and weight disagree in length");
    if (groups > n) throw std::invalid_argument("every group must have a member");
    for (std::size_t i = 0; i < n; ++i) {
        if (members.data()[i] < 0 || static_cast<std::size_t>(members.data()[i]) >= rows.shape(0))
            throw std::invalid_argument("a member is not a row");
        if (group.data()[i] < 0 || static_cast<std::size_t>(group.data()[i]) >= groups)
            throw std::invalid_argument("a group is out of range");
    }
}

// Means of groups of rows and the inertia inside the groups. Members come group by group, so that
// one sum at a time is enough.
template <class T>
nb::tuple merge_rows(In2<T> rows, In1<std::int32_t> members, In1<std::int32_t> group,
                     In1<double> weight, std::size_t groups) {
    const std::size_t d = rows.shape(1), n = members.shape(0);
    std::vector<T> mean;
    const double within = unlocked([&] {
        check_members(rows, members, group, weight, groups);
        mean.resize(groups * d);
        std::vector<double> sum(d);
        double total = 0.0;
        for (std::size_t begin = 0, end; begin < n; begin = end) {
            const std::int32_t g = group.data()[begin];
            for (end = begin; end < n && group.data()[end] == g;) ++end;
            total += merge_group(rows, {members.data() + begin, end - begin}, weight.data() + begin,
                                 sum, mean.data() + g * d);
        }
        return total;
    });
    return nb::make_tuple(to_numpy(std::move(mean), groups, d), within);
}

template <class T>
void bind_merge_rows(nb::module_& m) {
    m.def("merge_rows", &merge_rows<T>, nb::arg("rows").noconvert(), nb::arg("members"),
          nb::arg("group"), nb::arg("weight"), nb::arg("groups"));
}

}  // namespace

void bind_supernodes(nb::module_& m) {
    m.def("supernodes", &supernodes<std::int32_t>, nb::arg("rows"),
          nb::arg("must_link").noconvert());
    m.def("supernodes", &supernodes<std::int64_t>, nb::arg("rows"),
          nb::arg("must_link").noconvert());
    bind_merge_rows<float>(m);
    bind_merge_rows<double>(m);
}

}  // namespace kempe
