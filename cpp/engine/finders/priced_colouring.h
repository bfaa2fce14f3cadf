// A colouring that is changed step by step at the prices of a table, and can be taken back.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/state.h"

namespace kempe {

// Prices are weighted squared distances of the constrained vertices to centroids that stand still,
// rounded to single precision. On data of many features it is the points that make a move
// expensive, and here none is looked at. Changes the colours of a state and nothing else, so it
// must be taken back before the state is used for anything else.
template <class Rules>
class PricedColouring {
 public:
    using T = typename Rules::Value;

    PricedColouring(const Instance& instance, State<Rules>& state, int k);

    // Start from the state as it is now.
    void begin();

    // Price of a move to another colour, and squared distances to all centroids, to some scale.
    double price(Vertex v, Colour to) const {
        const float* row = distances(v);
        return instance_.weight[v] * (double(row[to]) - double(row[state_.colour(v)]));
    }
    const float* distances(Vertex v) const { return table_.data() + state_.ties().slot(v) * k_; }
    // Whether another centroid is nearer than the own one, beyond rounding.
    bool prefers(Vertex v, Colour c) const {
        return distances(v)[c] < distances(v)[state_.colour(v)] * (1 - kTableRounding);
    }

    // No cluster is left without vertices or weight: then this does nothing and returns false.
    bool move(Vertex v, Colour to);
    // So many moves were made; those after a number of them are taken back.
    std::size_t moves() const { return journal_.size(); }
    void take_back(std::size_t moves);
    Vertex moved(std::size_t move) const { return journal_[move].vertex; }
    // Whether the moves after so many lower the cost, beyond rounding.
    bool has_improved(std::size_t since) const;
    double total() const { return total_; }

    // Take everything back, and tell what came of it: the vertices with other colours in the end.
    std::vector<SingleMove> end();

 private:
    // Differences below this share of what they are made of are the rounding of single precision.
    static constexpr double kTableRounding = 1e-5;

    struct Step {
        Vertex vertex;
        Colour from;
        double total, turnover;  // before
    };

    void fill_table();

    const Instance& instance_;
    State<Rules>& state_;
    const int k_;
    [[no_unique_address]] const typename Rules::Limits limits_;
    std::vector<float> table_;    // per tied vertex and cluster
    std::vector<int> size_;       // per cluster
    std::vector<double> weight_;  // per cluster
    std::vector<Step> journal_;
    double total_ = 0.0;     // price of all moves
    double turnover_ = 0.0;  // the same, of absolute prices
};

KEMPE_DECLARE_FOR_ALL_RULES(PricedColouring);

}  // namespace kempe
