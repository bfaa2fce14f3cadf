// A colouring that is changed step by step at the prices of a table, and can be taken back.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/partition.h"

namespace kempe {

// Prices are weighted squared distances of the constrained vertices to centroids that stand still,
// rounded to single precision. On data of many features it is the points that make a move
// expensive, and here none is looked at. Changes the colours of a partition and nothing else, so it
// must be taken back before the partition is used for anything else.
template <class T>
class PricedColouring {
 public:
    // Differences below this share of what they are made of are rounding.
    static constexpr double kRounding = 1e-5;

    PricedColouring(const Instance& instance, Partition<T>& partition, int k);

    // Start from the partition as it is now.
    void begin();

    // Price of a move to another colour, and squared distances to all centroids, to some scale.
    double price(Vertex v, Colour to) const {
        const float* row = distances(v);
        return instance_.weight[v] * (double(row[to]) - double(row[partition_.colour(v)]));
    }
    const float* distances(Vertex v) const { return table_.data() + partition_.slot(v) * k_; }
    // Whether another centroid is nearer than the own one, beyond rounding.
    bool prefers(Vertex v, Colour c) const {
        return distances(v)[c] < distances(v)[partition_.colour(v)] * (1 - kRounding);
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

    // Take everything back, and tell the vertices with other colours in the end.
    struct Recolouring {
        Vertex vertex;
        Colour to;
    };
    std::vector<Recolouring> end();

 private:
    struct Move {
        Vertex vertex;
        Colour from;
        double total, turnover;  // before
    };

    const Instance& instance_;
    Partition<T>& partition_;
    const int k_;
    std::vector<float> table_;
    std::vector<int> size_;       // per cluster
    std::vector<double> weight_;  // per cluster
    std::vector<Move> journal_;
    double total_ = 0.0;     // price of all moves
    double turnover_ = 0.0;  // the same, of absolute prices
};

extern template class PricedColouring<float>;
extern template class PricedColouring<double>;

}  // namespace kempe
