// Whole chains on large data of many features, priced by a table.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "basics/stopper.h"
#include "engine/finders/ejection.h"
#include "engine/finders/priced_colouring.h"
#include "engine/ledger.h"

namespace kempe {

// Recolours the tied vertices more cheaply at centroids that stand still until the end, by ejection
// chains and Kempe chains. That lowers the inertia as well, but a move that improves only if the
// centroids follow is missed.
template <class Rules>
class TableSwaps {
 public:
    explicit TableSwaps(Ledger<Rules>& ledger);

    // Start from the vertices that are blocked. A thorough search also brings each vertex where it
    // wants to be, lets the others follow, and sees what comes of it.
    void sweep(bool thorough, Stopper& stopper);

 private:
    // Longer Kempe chains hardly ever improve anything, and there is one of nearly all vertices
    // where constraints are dense.
    static constexpr std::size_t kLongestChain = 32;
    // Most looks at vertices while the others follow one.
    static constexpr int kMostLooks = 2000;

    std::vector<SingleMove> find(bool thorough, Stopper& stopper);
    void settle(int looks, Stopper& stopper);
    void pin_each(Stopper& stopper);
    bool pin(Vertex v, Stopper& stopper);
    bool try_vertex(Vertex v);
    bool try_chain(Vertex v, Colour to);
    void sort_preferred(Vertex v);
    void enqueue(Vertex v);
    void forget_queue();
    void disturb_since(std::size_t moves);

    Ledger<Rules>& ledger_;
    const Instance& instance_;
    State<Rules>& state_;
    const int k_;
    PricedColouring<Rules> colouring_;
    Ejection<Rules> ejection_;
    Vertex pinned_ = -1;
    Time now_ = 0;
    std::vector<Time> disturbed_;  // per tied vertex: when it or a neighbour was recoloured
    std::vector<Time> failed_;     // per tied vertex and colour: when their chain was found not
                                   // to improve
    std::deque<Vertex> queue_;     // vertices that have not looked since they were disturbed
    std::vector<char> queued_;     // per tied vertex: whether it is there
    std::vector<Colour> preferred_;
};

KEMPE_DECLARE_FOR_ALL_RULES(TableSwaps);

}  // namespace kempe
