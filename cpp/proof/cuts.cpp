#include "proof/cuts.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "basics/arrays.h"
#include "module.h"

namespace kempe {
namespace {

// A name for a cut, whatever the order of its members.
std::uint64_t fingerprint(Vertex centre, std::span<const Vertex> members) {
    const auto mixed = [](std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    };
    std::uint64_t sum = mixed(static_cast<std::uint64_t>(centre) + 0x9e3779b97f4a7c15u);
    for (Vertex j : members) sum += mixed(mixed(static_cast<std::uint64_t>(j) + 1) ^ 0x5bd1e995u);
    return sum;
}

}  // namespace

int CutPool::add(const CutList& cuts, std::span<const double> multipliers) {
    int added = 0;
    for (std::size_t t = 0; t < cuts.size(); ++t) {
        const auto members = cuts.members_of(t);
        if (!known_.insert(fingerprint(cuts.centres[t], members)).second) continue;
        compile(cuts.centres[t], members);
        cuts_.add(cuts.centres[t], members);
        multipliers_.push_back(multipliers.empty() ? 0.0 : multipliers[t]);
        idle_.push_back(0);
        ++added;
    }
    return added;
}

void CutPool::append(Vertex row, Vertex column, double coefficient) {
    if (row != column && groups_.apart(row, column)) return;
    coefficient *= static_cast<double>(groups_.scale[row]) * groups_.scale[column];
    squared_norm_.back() += coefficient * coefficient * (row == column ? 1.0 : 0.5);
    entries_.push_back({row, column, static_cast<float>(coefficient)});
}

void CutPool::compile(Vertex centre, std::span<const Vertex> members) {
    squared_norm_.push_back(0.0);
    append(centre, centre, -1.0);
    for (std::size_t a = 0; a < members.size(); ++a) {
        append(centre, members[a], 1.0);
        for (std::size_t b = 0; b < a; ++b) append(members[a], members[b], -1.0);
    }
    first_.push_back(static_cast<std::int64_t>(entries_.size()));
    free_.push_back(is_equality(members));
}

bool CutPool::is_equality(std::span<const Vertex> members) const {
    if (static_cast<int>(members.size()) != groups_.k) return false;
    for (std::size_t a = 0; a < members.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (!groups_.apart(members[a], members[b])) return false;
    return true;
}

void CutPool::step(float* work, std::size_t t, double change) const {
    const std::size_t n = groups_.size;
    for (std::int64_t e = first_[t]; e < first_[t + 1]; ++e) {
        const Entry& entry = entries_[e];
        if (entry.row == entry.column) {
            work[entry.row * n + entry.row] -= static_cast<float>(change * entry.coefficient);
            continue;
        }
        const float half = static_cast<float>(0.5 * change * entry.coefficient);
        work[entry.row * n + entry.column] -= half;
        work[entry.column * n + entry.row] -= half;
    }
}

void CutPool::subtract(float* work) const {
    for (std::size_t t = 0; t < multipliers_.size(); ++t)
        if (multipliers_[t] != 0.0) step(work, t, multipliers_[t]);
}

double CutPool::sweep(float* work, int sweeps) {
    subtract(work);
    return least_.empty() ? swept<false>(work, sweeps) : swept<true>(work, sweeps);
}

template <bool kLimited>
double CutPool::swept(float* work, int sweeps) {
    const std::size_t n = groups_.size;
    double largest = 0.0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        largest = 0.0;
        for (std::size_t t = 0; t < multipliers_.size(); ++t) {
            // What the cut is exceeded by where entries are clipped.
            double excess = 0.0;
            for (std::int64_t e = first_[t]; e < first_[t + 1]; ++e) {
                const Entry& entry = entries_[e];
                float value = work[entry.row * n + entry.column];
                if constexpr (kLimited) value = clipped(entry.row, entry.column, value);
                if (value > 0.0f) excess += static_cast<double>(entry.coefficient) * value;
            }
            double change = excess / squared_norm_[t];
            if (!free_[t]) change = std::max(change, -multipliers_[t]);
            if (change == 0.0) continue;
            multipliers_[t] += change;
            step(work, t, change);
            largest = std::max(largest, std::abs(change) * std::sqrt(squared_norm_[t]));
        }
    }
    return largest;
}

int CutPool::drop(int patience) {
    CutList kept;
    std::vector<double> multipliers;
    std::vector<std::int32_t> idle;
    for (std::size_t t = 0; t < cuts_.size(); ++t) {
        const std::int32_t calls = multipliers_[t] == 0.0 ? idle_[t] + 1 : 0;
        if (calls >= patience) continue;
        kept.add(cuts_.centres[t], cuts_.members_of(t));
        multipliers.push_back(multipliers_[t]);
        idle.push_back(calls);
    }
    const int dropped = static_cast<int>(cuts_.size() - kept.size());
    if (dropped > 0) {
        clear();
        add(kept, multipliers);
    }
    idle_ = std::move(idle);
    return dropped;
}

void CutPool::clear() {
    cuts_ = {};
    multipliers_.clear();
    first_ = {0};
    entries_.clear();
    squared_norm_.clear();
    free_.clear();
    idle_.clear();
    known_.clear();
}

namespace {

using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

WeighedGroups make_groups(In1<double> weight, In2<std::uint8_t> cannot, int k) {
    WeighedGroups groups;
    groups.size = static_cast<int>(weight.shape(0));
    groups.k = k;
    if (cannot.shape(0) != weight.shape(0) || cannot.shape(1) != weight.shape(0))
        throw std::invalid_argument("cannot must have a row and a column for each group");
    for (std::size_t i = 0; i < weight.shape(0); ++i) {
        if (!(weight.data()[i] > 0.0)) throw std::invalid_argument("weights must be positive");
        groups.scale.push_back(static_cast<float>(1.0 / std::sqrt(weight.data()[i])));
    }
    groups.cannot.assign(cannot.data(), cannot.data() + cannot.size());
    return groups;
}

void check_matrix(const WeighedGroups& groups, std::size_t rows, std::size_t columns) {
    const auto n = static_cast<std::size_t>(groups.size);
    if (rows != n || columns != n)
        throw std::invalid_argument("the matrix must have a row and a column for each group");
}

CutList make_cuts(const WeighedGroups& groups, In1<Vertex> centres, In1<std::int64_t> offsets,
                  In1<Vertex> members) {
    CutList cuts;
    const auto valid = [&](Vertex v) { return v >= 0 && v < groups.size; };
    if (offsets.shape(0) != centres.shape(0) + 1 || offsets.data()[0] != 0)
        throw std::invalid_argument("offsets must begin at 0 and have one more entry than centres");
    for (std::size_t t = 0; t < centres.shape(0); ++t) {
        const std::int64_t from = offsets.data()[t], to = offsets.data()[t + 1];
        if (to < from + 1 || to > static_cast<std::int64_t>(members.shape(0)))
            throw std::invalid_argument("a cut must have members");
        const Vertex centre = centres.data()[t];
        const std::span<const Vertex> of(members.data() + from, members.data() + to);
        std::vector<Vertex> sorted(of.begin(), of.end());
        sorted.push_back(centre);
        std::sort(sorted.begin(), sorted.end());
        if (!valid(sorted.front()) || !valid(sorted.back()) ||
            std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
            throw std::invalid_argument("a cut must name different groups");
        cuts.add(centre, of);
    }
    return cuts;
}

int add(CutPool& pool, In1<Vertex> centres, In1<std::int64_t> offsets, In1<Vertex> members,
        In1<double> multipliers) {
    const CutList cuts = make_cuts(pool.groups(), centres, offsets, members);
    if (multipliers.shape(0) != cuts.size())
        throw std::invalid_argument("there must be a multiplier for each cut");
    return pool.add(cuts, {multipliers.data(), multipliers.shape(0)});
}

// The point of the polyhedron near a matrix, as near as the sweeps bring it, and what the matrix
// less all multiplied cuts is: `work`, of which `nearest` is the non-negative part.
// More would only hold up Ctrl-C: the sweeps approach a point, and the caller comes again.
constexpr int kMostSweeps = 10'000;

double project(CutPool& pool, In2<float> matrix, Matrix work, Matrix nearest, int sweeps) {
    if (sweeps < 0 || sweeps > kMostSweeps)
        throw std::invalid_argument("sweeps must be between 0 and 10000");
    const WeighedGroups& groups = pool.groups();
    check_matrix(groups, matrix.shape(0), matrix.shape(1));
    check_matrix(groups, work.shape(0), work.shape(1));
    check_matrix(groups, nearest.shape(0), nearest.shape(1));
    return unlocked([&] {
        std::copy_n(matrix.data(), matrix.size(), work.data());
        const double change = pool.sweep(work.data(), sweeps);
        for (std::size_t e = 0; e < matrix.size(); ++e)
            nearest.data()[e] = groups.cannot[e] ? 0.0f : std::max(work.data()[e], 0.0f);
        const std::size_t n = matrix.shape(0);
        for (std::size_t i = 0; i < n; ++i)
            nearest.data()[i * n + i] = pool.clipped(i, i, work.data()[i * n + i]);
        return change;
    });
}

void limit_diagonal(CutPool& pool, In1<float> least, In1<float> most) {
    const auto n = static_cast<std::size_t>(pool.groups().size);
    if (least.shape(0) != n || most.shape(0) != n)
        throw std::invalid_argument("there must be limits for each group");
    for (std::size_t i = 0; i < n; ++i)
        if (!(least.data()[i] >= 0.0f && least.data()[i] <= most.data()[i]))
            throw std::invalid_argument("limits must be 0 at least, and the upper ones no less");
    pool.limit_diagonal({least.data(), least.data() + n}, {most.data(), most.data() + n});
}

nb::tuple arrays(const CutPool& pool) {
    auto copy = pool.cuts();
    auto multipliers = pool.multipliers();
    return nb::make_tuple(to_numpy(std::move(copy.centres)), to_numpy(std::move(copy.offsets)),
                          to_numpy(std::move(copy.members)), to_numpy(std::move(multipliers)));
}

}  // namespace

void bind_cuts(nb::module_& m) {
    nb::class_<CutPool>(m, "CutPool")
        .def(
            "__init__",
            [](CutPool* self, In1<double> weight, In2<std::uint8_t> cannot, int k) {
                new (self) CutPool(make_groups(weight, cannot, k));
            },
            nb::arg("weight"), nb::arg("cannot"), nb::arg("n_clusters"))
        .def("__len__", [](const CutPool& pool) { return pool.cuts().size(); })
        .def("add", &add, nb::arg("centres"), nb::arg("offsets"), nb::arg("members"),
             nb::arg("multipliers"))
        .def("project", &project, nb::arg("matrix"), nb::arg("work"), nb::arg("nearest"),
             nb::arg("sweeps"))
        .def("limit_diagonal", &limit_diagonal, nb::arg("least"), nb::arg("most"))
        .def("drop", &CutPool::drop, nb::arg("patience"))
        .def("scale_multipliers", &CutPool::scale_multipliers, nb::arg("factor"))
        .def("arrays", &arrays);
}

}  // namespace kempe
