// Cutting planes of the relaxation, one family: a centre i and members J, |J| >= 2,
//     sum_{j in J} Z_ij <= Z_ii + sum_{j<l in J} Z_jl,   Z_ij = Y_ij / sqrt(w_i w_j),
// which holds for every clustering. Members of a cannot-link clique of k make it an equality.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "basics/types.h"

namespace kempe {

// Which pairs of groups are kept apart, and the scale in which a clustering is 1 / weight.
struct WeighedGroups {
    int size = 0;
    int k = 0;
    std::vector<float> scale;          // 1 / sqrt(weight)
    std::vector<std::uint8_t> cannot;  // size x size

    bool apart(Vertex i, Vertex j) const {
        return cannot[static_cast<std::size_t>(i) * size + j] != 0;
    }
};

// Cuts as index lists, centre by centre in the order in which they were found.
struct CutList {
    std::vector<Vertex> centres;
    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> members;

    std::size_t size() const { return centres.size(); }
    std::span<const Vertex> members_of(std::size_t t) const {
        return {members.data() + offsets[t], members.data() + offsets[t + 1]};
    }
    void add(Vertex centre, std::span<const Vertex> of) {
        centres.push_back(centre);
        members.insert(members.end(), of.begin(), of.end());
        offsets.push_back(static_cast<std::int64_t>(members.size()));
    }
};

// The cuts of a running bound, their multipliers, and the projection onto what they allow.
class CutPool {
 public:
    explicit CutPool(WeighedGroups groups) : groups_(std::move(groups)) {}

    // Add cuts that are not there yet; returns how many were.
    int add(const CutList& cuts, std::span<const double> multipliers);
    // Take multipliers out of a matrix and let sweeps of coordinate ascent change them: `work`
    // begins as the matrix and ends as it less all multiplied cuts. Returns the largest change of
    // a multiplier, times the norm of its cut, in the last sweep.
    double sweep(float* work, int sweeps);
    // Forget cuts whose multiplier has been zero at `patience` calls in a row.
    int drop(int patience);
    void clear();
    // Let no diagonal entry be below or above these; none is where there are no numbers.
    void limit_diagonal(std::vector<float> least, std::vector<float> most) {
        least_ = std::move(least);
        most_ = std::move(most);
    }
    // What an entry becomes where the matrix is projected, apart from the cuts.
    float clipped(std::size_t row, std::size_t column, float value) const {
        if (row != column || least_.empty()) return std::max(value, 0.0f);
        return std::clamp(value, least_[row], most_[row]);
    }
    void scale_multipliers(double factor) {
        for (double& m : multipliers_) m *= factor;
    }

    const WeighedGroups& groups() const { return groups_; }
    const CutList& cuts() const { return cuts_; }
    const std::vector<double>& multipliers() const { return multipliers_; }

 private:
    // Coefficients of a cut in a symmetric matrix, those of pairs that are apart left out: Y is
    // zero there.
    struct Entry {
        std::int32_t row, column;
        float coefficient;  // of the pair, both triangles together
    };
    void compile(Vertex centre, std::span<const Vertex> members);
    void append(Vertex row, Vertex column, double coefficient);
    bool is_equality(std::span<const Vertex> members) const;
    void subtract(float* work) const;
    template <bool kLimited>
    double swept(float* work, int sweeps);
    void step(float* work, std::size_t t, double change) const;

    const WeighedGroups groups_;
    CutList cuts_;
    std::vector<double> multipliers_;
    std::vector<std::int64_t> first_{0};
    std::vector<Entry> entries_;
    std::vector<double> squared_norm_;
    std::vector<std::uint8_t> free_;
    std::vector<std::int32_t> idle_;
    std::vector<float> least_, most_;
    std::unordered_set<std::uint64_t> known_;
};

}  // namespace kempe
