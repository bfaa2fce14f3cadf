// Whole chains on large data of many features, priced by a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "basics/stopper.h"
#include "engine/ejection.h"
#include "engine/priced_colouring.h"

namespace kempe {

// Looks for a cheaper colouring of the constrained vertices at centroids that stand still, by
// ejection chains and Kempe chains. A move that improves only if the centroids follow is missed.
template <class T>
class TableSearch {
 public:
    using Recolourings = std::vector<typename PricedColouring<T>::Recolouring>;

    TableSearch(const Instance& instance, Partition<T>& partition, int k);

    // What to recolour, starting from the vertices that are blocked. A thorough search also brings
    // each vertex where it wants to be, lets the others follow, and sees what comes of it.
    Recolourings run(const std::vector<char>& blocked, bool thorough, Stopper& stopper);

 private:
    using Time = std::uint32_t;
    // Longer Kempe chains hardly ever improve anything, and there is one of nearly all vertices
    // where constraints are dense.
    static constexpr std::size_t kLongestChain = 32;
    // Most looks at vertices while the others follow one.
    static constexpr int kMostLooks = 2000;

    void settle(int looks, Stopper& stopper);
    void pin_each(Stopper& stopper);
    bool pin(Vertex v, Stopper& stopper);
    bool try_vertex(Vertex v);
    bool try_chain(Vertex v, Colour to);
    void sort_preferred(Vertex v);
    void enqueue(Vertex v);
    void forget_queue();
    void disturb_since(std::size_t moves);

    const Instance& instance_;
    Partition<T>& partition_;
    const int k_;
    PricedColouring<T> colouring_;
    Ejection<T> ejection_;
    Vertex pinned_ = -1;
    Time now_ = 0;
    std::vector<Time> disturbed_;  // per constrained vertex: when it or a neighbour was recoloured
    std::vector<Time> failed_;  // per constrained vertex and colour: when their chain was found not
                                // to improve
    std::deque<Vertex> queue_;  // vertices that have not looked since they were disturbed
    std::vector<char> queued_;  // per constrained vertex: whether it is there
    std::vector<Colour> preferred_;
};

extern template class TableSearch<float>;
extern template class TableSearch<double>;

}  // namespace kempe
