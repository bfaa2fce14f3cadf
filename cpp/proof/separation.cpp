// Search for violated cuts: all triangles of a centre, and larger sets grown greedily, which finds
// cannot-link cliques too, since Z is zero between their members.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/stopper.h"
#include "module.h"
#include "proof/cuts.h"

namespace kempe {
namespace {

// The best few of many, by excess.
template <class Item>
class Best {
 public:
    explicit Best(std::size_t most) : most_(most) {}

    void clear(float bar) {
        bar_ = bar;
        items_.clear();
    }
    float bar() const { return bar_; }
    void offer(Item item) {
        if (!(item.excess > bar_)) return;
        items_.push_back(std::move(item));
        if (items_.size() >= 4 * most_ + 16) shrink();
    }
    const std::vector<Item>& take() {
        shrink();
        return items_;
    }

 private:
    void shrink() {
        if (items_.size() <= most_) return;
        std::nth_element(items_.begin(), items_.begin() + most_, items_.end(),
                         [](const Item& a, const Item& b) { return a.excess > b.excess; });
        bar_ = std::max(bar_, items_[most_].excess);
        items_.resize(most_);
    }

    const std::size_t most_;
    float bar_ = 0.0f;
    std::vector<Item> items_;
};

// Looks at one centre at a time, and only at groups that share enough with it to matter. The
// excess of a cut is measured as a share of Z_ii.
class Separation {
 public:
    Separation(const float* y, const double* weight, int size, float least, int per_centre)
        : y_(y), size_(size), least_(least), triangles_(per_centre), sets_(per_centre) {
        for (int i = 0; i < size; ++i)
            scale_.push_back(static_cast<float>(1.0 / std::sqrt(weight[i])));
    }

    // Where time is up, the cuts of the centres so far are all there are.
    void run(bool larger, Stopper& stopper) {
        for (Vertex i = 0; i < size_ && !stopper.look(); ++i) {
            if (!look_around(i)) continue;
            find_triangles();
            for (const Triangle& t : triangles_.take())
                keep(i, t.excess, std::array{near_[t.a], near_[t.b]});
            if (!larger) continue;
            grow_sets();
            for (const Set& set : sets_.take()) keep(i, set.excess, set.members);
        }
    }

    CutList cuts;
    std::vector<float> excesses;

 private:
    struct Triangle {
        float excess;
        std::int32_t a, b;
    };
    struct Set {
        float excess;
        std::vector<Vertex> members;
    };

    // Negative entries are the business of other multipliers.
    float z(Vertex i, Vertex j) const {
        const float y = y_[static_cast<std::size_t>(i) * size_ + j];
        return std::max(y, 0.0f) * scale_[i] * scale_[j];
    }

    // The groups near a centre, nearest first, in units of Z_ii.
    bool look_around(Vertex i) {
        const float own = z(i, i);
        near_.clear();
        for (Vertex j = 0; j < size_; ++j)
            if (j != i && z(i, j) > least_ * own) near_.push_back(j);
        if (!(own > 0.0f) || near_.size() < 2) return false;
        std::sort(near_.begin(), near_.end(),
                  [&](Vertex a, Vertex b) { return z(i, a) > z(i, b); });
        const std::size_t n = near_.size();
        share_.resize(n);
        between_.resize(n * n);
        for (std::size_t a = 0; a < n; ++a) {
            share_[a] = z(i, near_[a]) / own;
            for (std::size_t b = 0; b < n; ++b)
                between_[a * n + b] = a == b ? 0.0f : z(near_[a], near_[b]) / own;
        }
        return true;
    }

    void find_triangles() {
        const std::size_t n = near_.size();
        triangles_.clear(least_);
        for (std::size_t a = 0; a < n; ++a) {
            const float* row = between_.data() + a * n;
            for (std::size_t b = a + 1; b < n; ++b) {
                const float sum = share_[a] + share_[b] - 1.0f;
                if (!(sum > triangles_.bar())) break;
                triangles_.offer(
                    {sum - row[b], static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)});
            }
        }
    }

    // From each near group on, add what raises the excess most.
    void grow_sets() {
        const std::size_t n = near_.size();
        sets_.clear(least_);
        for (std::size_t seed = 0; seed < n; ++seed) {
            gain_ = share_;
            Set set{-1.0f, {}};
            for (std::size_t next = seed; gain_[next] > 0.0f;) {
                set.excess += gain_[next];
                set.members.push_back(near_[next]);
                const float* row = between_.data() + next * n;
                for (std::size_t b = 0; b < n; ++b) gain_[b] -= row[b];
                gain_[next] = -1.0f;
                next = std::max_element(gain_.begin(), gain_.end()) - gain_.begin();
            }
            if (set.members.size() >= 3) sets_.offer(std::move(set));
        }
    }

    void keep(Vertex centre, float excess, std::span<const Vertex> members) {
        cuts.add(centre, members);
        excesses.push_back(excess);
    }

    const float* y_;
    const int size_;
    const float least_;
    Best<Triangle> triangles_;
    Best<Set> sets_;
    std::vector<float> scale_, share_, between_, gain_;
    std::vector<Vertex> near_;
};

nb::tuple violated_cuts(In2<float> matrix, In1<double> weight, float least, int per_centre,
                        bool larger, Stopper& stopper) {
    const int n = static_cast<int>(weight.shape(0));
    if (matrix.shape(0) != weight.shape(0) || matrix.shape(1) != weight.shape(0))
        throw std::invalid_argument("the matrix must have a row and a column for each group");
    if (per_centre < 0) throw std::invalid_argument("per_centre must not be negative");
    Separation separation(matrix.data(), weight.data(), n, least, per_centre);
    unlocked([&] { separation.run(larger, stopper); });
    CutList& cuts = separation.cuts;
    return nb::make_tuple(to_numpy(std::move(cuts.centres)), to_numpy(std::move(cuts.offsets)),
                          to_numpy(std::move(cuts.members)),
                          to_numpy(std::move(separation.excesses)));
}

}  // namespace

void bind_separation(nb::module_& m) {
    m.def("violated_cuts", &violated_cuts, nb::arg("matrix"), nb::arg("weight"), nb::arg("least"),
          nb::arg("per_centre"), nb::arg("larger"), nb::arg("stopper"));
}

}  // namespace kempe
