// Ejection chains: a vertex enters a cluster, and whoever stands in its way there goes elsewhere.
#pragma once

#include <cstddef>
#include <vector>

#include "memetic/partition.h"

namespace kempe {

// A Kempe chain gives everyone in the way the colour that the first vertex has left. Here each goes
// to the cluster that is best for it, where it may in turn send others away, and so on for a few
// steps. Costs are those of a table: squared distances of the constrained vertices to centroids that
// stand still, as Partition::fill_table makes it.
template <class T>
class Ejection {
 public:
    struct Move {
        Vertex vertex;
        Colour from, to;
    };

    Ejection(const Instance& instance, Partition<T>& partition, int k);

    // Moves that bring a vertex into a cluster, keep the colouring proper and together lower the
    // cost by more than a share of its absolute terms. Empty if none are found. Nothing is moved.
    const std::vector<Move>& find(Vertex v, Colour to, const float* table, double share);

 private:
    // Beyond this depth, and where more stand in the way, hardly anything is found.
    static constexpr int kDepth = 4, kMostBlockers = 4;
    // Most vertices that one search sends somewhere; hardly any needs so many.
    static constexpr int kMostSteps = 256;
    static constexpr double kRounding = 1e-12;

    bool enter(Vertex v, Colour to, double limit, int depth);
    bool make_room(Vertex v, double limit, int depth);
    bool send_away(Vertex v, double limit, int depth);
    const std::vector<Colour>& by_cost(Vertex v, int depth);
    double cost(Vertex v, Colour to) const;
    bool has_moved(Vertex v) const;
    void undo(std::size_t length);
    bool empties_none();

    const Instance& instance_;
    Partition<T>& partition_;
    const int k_;
    const float* table_ = nullptr;
    int steps_ = 0;
    double price_ = 0.0;  // of the moves
    std::vector<Move> moves_;
    std::vector<std::vector<Colour>> order_;  // per depth
    std::vector<double> leaving_;             // per cluster: weight
};

extern template class Ejection<float>;
extern template class Ejection<double>;

}  // namespace kempe
