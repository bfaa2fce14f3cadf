#include "engine/residual.h"

#include <algorithm>
#include <cmath>

#include "basics/least.h"
#include "problem/cost.h"

namespace kempe {

Residual::Residual(int k, bool in_table)
    : nodes_(k + 1),
      in_table_(in_table),
      arc_(in_table ? static_cast<std::size_t>(nodes_) * nodes_ : 0, kNoArc),
      arcs_(in_table ? 0 : nodes_),
      distance_(nodes_),
      parent_(nodes_),
      nearer_(nodes_),
      seen_(nodes_) {}

void Residual::forget_arcs() {
    std::fill(arc_.begin(), arc_.end(), kNoArc);
    for (auto& arcs : arcs_) arcs.clear();
}

double Residual::listed_arc(Colour from, Colour to) const {
    const auto& arcs = arcs_[from];
    const auto found = std::lower_bound(arcs.begin(), arcs.end(), to,
                                        [](const Arc& arc, Colour end) { return arc.to < end; });
    return found != arcs.end() && found->to == to ? found->cost : kNoArc;
}

void Residual::list_arc(Colour from, Colour to, double cost) {
    auto& arcs = arcs_[from];
    const auto found = std::lower_bound(arcs.begin(), arcs.end(), to,
                                        [](const Arc& arc, Colour end) { return arc.to < end; });
    if (found != arcs.end() && found->to == to)
        found->cost = cost;
    else if (cost != kNoArc)
        arcs.insert(found, {to, cost});
}

double Residual::add_costs(double sum) const {
    for (Colour from = 0; from < slack(); ++from) {
        if (in_table_) {
            for (Colour to = 0; to < slack(); ++to)
                if (arc(from, to) != kNoArc) sum += std::abs(arc(from, to));
        } else {
            for (const auto& [to, cost] : arcs_[from])
                if (to != slack() && cost != kNoArc) sum += std::abs(cost);
        }
    }
    return sum;
}

// One pass over all arcs from nodes that became nearer; whether any did by more than rounding.
bool Residual::relax(int nodes) {
    for (Colour from = 0; from < nodes; ++from) {
        if (!nearer_[from]) continue;
        nearer_[from] = false;
        const bool any = !in_table_ || count_below(arc_.data() + index(from, 0), -distance_[from],
                                                   distance_.data(), nodes) > 0;
        if (any) relax_from(from, nodes);
    }
    return std::find(nearer_.begin(), nearer_.begin() + nodes, true) != nearer_.begin() + nodes;
}

void Residual::relax_from(Colour from, int nodes) {
    if (in_table_) {
        const double* costs = arc_.data() + index(from, 0);
        for (Colour to = 0; to < nodes; ++to) relax_arc(from, to, costs[to]);
    } else {
        for (const auto& [to, cost] : arcs_[from])
            if (to < nodes) relax_arc(from, to, cost);
    }
}

inline void Residual::relax_arc(Colour from, Colour to, double cost) {
    const double start = distance_[from], length = start + cost;
    if (!(length < distance_[to])) return;
    const double rounding = kCostRounding * (std::abs(start) + std::abs(distance_[to]));
    if (distance_[to] != kNoArc && !(length < distance_[to] - rounding)) return;
    distance_[to] = length;
    parent_[to] = from;
    nearer_[to] = true;
}

// Whether the parents go round in a circle somewhere; that circle.
bool Residual::find_cycle(int nodes) {
    std::fill(seen_.begin(), seen_.end(), 0);
    for (Colour start = 0; start < nodes; ++start) {
        Colour node = start;
        for (; node >= 0 && !seen_[node]; node = parent_[node]) seen_[node] = start + 1;
        if (node < 0 || seen_[node] != start + 1) continue;
        found_.clear();
        for (Colour next = node; found_.empty() || next != node; next = parent_[next])
            found_.push_back(next);
        std::reverse(found_.begin(), found_.end());
        return true;
    }
    return false;
}

double Residual::cost_of_cycle() const {
    double cost = 0.0;
    for (std::size_t i = 0; i < found_.size(); ++i)
        cost += arc(found_[i], found_[(i + 1) % found_.size()]);
    return cost;
}

std::span<const Colour> Residual::cycle_below(double bar) {
    std::fill(distance_.begin(), distance_.end(), 0.0);
    std::fill(nearer_.begin(), nearer_.end(), true);
    std::fill(parent_.begin(), parent_.end(), kUncoloured);
    for (int pass = 0; pass < nodes_ && relax(nodes_); ++pass)
        if (find_cycle(nodes_)) {
            if (cost_of_cycle() < bar) return found_;
            break;  // nothing but rounding
        }
    return {};
}

std::span<const Colour> Residual::cheapest_path(std::span<const double> begin,
                                                std::span<const double> end) {
    const int k = nodes_ - 1;
    std::copy(begin.begin(), begin.end(), distance_.begin());
    std::fill(nearer_.begin(), nearer_.end(), true);
    std::fill(parent_.begin(), parent_.end(), kUncoloured);
    for (int pass = 0; pass < k && relax(k); ++pass)
        if (find_cycle(k)) return {};
    Colour last = kUncoloured;
    double least = kNoArc;
    for (Colour c = 0; c < k; ++c)
        if (parent_[c] >= 0 && distance_[c] + end[c] < least) {
            least = distance_[c] + end[c];
            last = c;
        }
    return path_to(last);
}

std::span<const Colour> Residual::route(Colour from, Colour to) {
    std::fill(distance_.begin(), distance_.end(), kNoArc);
    std::fill(nearer_.begin(), nearer_.end(), false);
    std::fill(parent_.begin(), parent_.end(), kUncoloured);
    distance_[from] = 0.0;
    nearer_[from] = true;
    for (int pass = 0; pass < nodes_ && relax(nodes_); ++pass)
        if (find_cycle(nodes_)) return {};
    if (parent_[to] < 0) return {};
    return path_to(to);
}

std::span<const Colour> Residual::path_to(Colour last) {
    found_.clear();
    for (; last >= 0; last = parent_[last]) found_.push_back(last);
    std::reverse(found_.begin(), found_.end());
    return found_;
}

}  // namespace kempe
