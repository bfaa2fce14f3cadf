#include "engine/ties.h"

#include <algorithm>
#include <limits>

namespace kempe {

double SoftTies::strongest_pull(Vertex v, Colour own) const {
    if (!is_soft(v)) return 0.0;
    const double* row = pulls_[v];
    double strongest = -std::numeric_limits<double>::infinity();
    for (Colour c = 0; c < own; ++c) strongest = std::max(strongest, row[c]);
    for (Colour c = own + 1; c < k_; ++c) strongest = std::max(strongest, row[c]);
    return strongest;
}

double SoftTies::price(Vertex v, Colour own) const {
    double together = 0.0;
    for (const auto& [u, price] : pairs().of(v)) together += std::max(price, 0.0);
    return std::max(0.0, together - pull(v, own));
}

// Two ends of a pair that both change their colours are as near to each other as before.
double SoftTies::change(const KempeChain& chain, const Colour* colours, Colour from,
                        Colour to) const {
    double change = 0.0;
    for (Vertex v : chain.vertices()) {
        if (!is_soft(v)) continue;
        const Colour own = colours[v], other = own == from ? to : from;
        change += pulls_[v][own] - pulls_[v][other];
        if (chain.vertices().size() == 1) continue;
        for (const auto& [u, price] : pairs().of(v))
            if (chain.contains(u)) change += colours[u] == own ? -price : price;
    }
    return change;
}

// Pulls tell of partners as they are. Where both ends of a pair move, each has half of what becomes
// of it instead.
double SoftTies::change(std::span<const SingleMove> moves, const Colour* colours) {
    for (const auto& [v, to] : moves) target_[v] = to;
    double gained = 0.0;
    for (const auto& [v, to] : moves) {
        if (!is_soft(v)) continue;
        const Colour own = colours[v];
        gained += pulls_[v][to] - pulls_[v][own];
        for (const auto& [u, price] : pairs().of(v)) {
            if (target_[u] == kUncoloured) continue;
            const int joined = colours[u] == own, seen = (colours[u] == to) - joined;
            gained += price * (0.5 * ((target_[u] == to) - joined) - seen);
        }
    }
    for (const auto& [v, to] : moves) target_[v] = kUncoloured;
    return -gained;
}

}  // namespace kempe
