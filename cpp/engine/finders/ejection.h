// Ejection chains: a vertex enters a cluster, and whoever stands in its way there goes elsewhere.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/finders/priced_colouring.h"

namespace kempe {

// A Kempe chain gives everyone in the way the colour that the first vertex has left. Here each goes
// to the cluster that is best for it, where it may in turn send others away, and so on for a few
// steps.
template <class Rules>
class Ejection {
 public:
    Ejection(const State<Rules>& state, PricedColouring<Rules>& colouring, int k);

    // Bring a vertex into a cluster, if that and what follows from it lowers the cost. Returns
    // whether it does; otherwise all is as before. `pinned` stays where it is.
    bool improve(Vertex v, Colour to, Vertex pinned);
    // The same whatever the cost, by others that can leave alone.
    bool force(Vertex v, Colour to);

 private:
    // Beyond this depth, and where more stand in the way, hardly anything is found.
    static constexpr int kDepth = 4, kMostBlockers = 4;
    // Most vertices that one search sends somewhere; hardly any needs so many.
    static constexpr int kMostSteps = 256;

    void begin(Vertex pinned);
    bool enter(Vertex v, Colour to, double limit, int depth);
    bool is_in_vain(Vertex v, Colour to, double limit, int depth) const;
    bool can_leave_alone(Vertex u, Vertex v) const;
    double cheapest_price(Vertex u) const;
    bool make_room(Vertex v, double limit, int depth);
    bool send_away(Vertex v, double limit, int depth);
    Colour nearest_alone(Vertex v) const;
    const std::vector<Colour>& nearer(Vertex v, Colour than, int depth);
    bool stays(Vertex v) const;

    const State<Rules>& state_;
    PricedColouring<Rules>& colouring_;
    const int k_;
    Vertex pinned_ = -1;
    std::size_t first_ = 0;  // of its moves
    int steps_ = 0;
    std::vector<std::vector<Colour>> order_;  // per depth
};

KEMPE_DECLARE_FOR_ALL_RULES(Ejection);

}  // namespace kempe
