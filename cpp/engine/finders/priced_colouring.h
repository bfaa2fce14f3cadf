// A colouring that is changed step by step at the prices of a table, and can be taken back.
#pragma once

#include <cmath>
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
    bool has_improved(std::size_t since) const {
        return since < moves() && improves(journal_[since].before, sums_);
    }
    // The same of moves that are not made yet: of each of the vertices to the colour that `to`
    // gives. Moves change a count of every neighbour, prices are a look at the table.
    template <class To>
    bool would_improve(const std::vector<Vertex>& vertices, To&& to) const {
        Sums sums = sums_;
        for (Vertex v : vertices) sums.add(price(v, to(v)));
        return improves(sums_, sums);
    }
    double total() const { return sums_.total; }

    // Take everything back, and tell what came of it: the vertices with other colours in the end.
    std::vector<SingleMove> end();

 private:
    // Differences below this share of what they are made of are the rounding of single precision.
    static constexpr double kTableRounding = 1e-5;

    // Prices of moves, added up.
    struct Sums {
        double total = 0.0;
        double turnover = 0.0;  // of absolute prices

        void add(double price) {
            total += price;
            turnover += std::abs(price);
        }
    };
    struct Step {
        Vertex vertex;
        Colour from;
        Sums before;
    };

    static bool improves(const Sums& before, const Sums& after) {
        return after.total - before.total < -kTableRounding * (after.turnover - before.turnover);
    }
    void fill_table();

    const Instance& instance_;
    State<Rules>& state_;
    const int k_;
    [[no_unique_address]] const typename Rules::Limits limits_;
    std::vector<float> table_;    // per tied vertex and cluster
    std::vector<int> size_;       // per cluster
    std::vector<double> weight_;  // per cluster
    std::vector<Step> journal_;
    Sums sums_;  // of all moves
};

KEMPE_DECLARE_FOR_ALL_RULES(PricedColouring);

}  // namespace kempe
