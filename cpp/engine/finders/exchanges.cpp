#include "engine/finders/exchanges.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kempe {

template <class Rules>
Exchanges<Rules>::Exchanges(Ledger<Rules>& ledger)
    : ledger_(ledger),
      residual_(ledger.k, NearClusters::in_tables(ledger.k)),
      near_(ledger.k),
      begin_(ledger.k),
      end_(ledger.k) {
    std::map<int, std::vector<Vertex>> classes;
    auto last = classes.end();  // nearly always that of the next
    for (Vertex v = 0; v < ledger.instance.size; ++v) {
        const int rows = ledger.state.limits().rows(v);
        if (last == classes.end() || last->first != rows) last = classes.try_emplace(rows).first;
        last->second.push_back(v);
    }
    std::vector<std::pair<std::size_t, int>> order;
    for (const auto& [rows, vertices] : classes) order.emplace_back(vertices.size(), -rows);
    std::sort(order.rbegin(), order.rend());
    order.resize(std::min(order.size(), kMostClasses));
    for (const auto& [count, rows] : order) {
        fixed_.emplace_back(ledger, near_, classes[-rows], -rows, Pricing::fixed);
        following_.emplace_back(ledger, near_, classes[-rows], -rows, Pricing::following);
    }
}

template <class Rules>
void Exchanges<Rules>::forget() {
    for (Lists& lists : fixed_) lists.forget();
    for (Lists& lists : following_) lists.forget();
    arcs_of_units_ = 0;
}

// What pays at fixed centroids pays with the means following. Only then comes what pays for no
// other reason. With the means following, single vertices are looked at again in between: they know
// what has changed and cost less than lists that are made anew.
template <class Rules>
void Exchanges<Rules>::sweep(Stopper& stopper) {
    const bool follows = ledger_.reference == Reference::means;
    near_.update(ledger_.state.centroid(0), ledger_.instance.dimension);
    bool moved = false;
    for (Lists& lists : fixed_)
        while (cancel_cycles(lists, stopper)) {
            moved = true;
            if (follows) break;
        }
    for (Lists& lists : following_)
        if (follows && !moved) cancel_cycles(lists, stopper);
}

// Prices are those of the beginning, so a few cycles may turn out not to pay any more.
template <class Rules>
bool Exchanges<Rules>::cancel_cycles(Lists& lists, Stopper& stopper) {
    lists.refresh();
    set_arcs(lists);
    bool moved = false;
    for (int failures = 0; failures < kMostFailures * ledger_.k && !stopper.should_stop();) {
        const auto cycle = residual_.cycle_below(-ledger_.tolerance);
        if (cycle.empty()) break;
        collect_moves(lists, cycle, true);
        if (ledger_.state.change(moves_, ledger_.reference) < -ledger_.tolerance) {
            apply_moves(lists);
            moved = true;
        } else {
            drop_dearest(lists);
            ++failures;
        }
    }
    return moved && !stopper.stopped();
}

template <class Rules>
void Exchanges<Rules>::set_arcs(Lists& lists) {
    arcs_of_units_ = 0;
    residual_.forget_arcs();
    for (Colour c = 0; c < ledger_.k; ++c) set_arcs_of(lists, c);
}

template <class Rules>
void Exchanges<Rules>::set_arcs_of(Lists& lists, Colour c) {
    for (Colour other : near_.around(c)) {
        residual_.set_arc(c, other, lists.cheapest(c, other).price);
        residual_.set_arc(other, c, lists.cheapest(other, c).price);
    }
    const auto& limits = ledger_.state.limits();
    const int rows = ledger_.state.cluster_rows(c), needed = lists.rows();
    const Colour slack = residual_.slack();
    residual_.set_arc(c, slack, limits.room(c, rows) >= needed ? 0.0 : Residual::kNoArc);
    residual_.set_arc(slack, c, limits.spare(c, rows) >= needed ? 0.0 : Residual::kNoArc);
}

template <class Rules>
void Exchanges<Rules>::collect_moves(Lists& lists, std::span<const Colour> nodes, bool closed) {
    moves_.clear();
    const std::size_t arcs = closed ? nodes.size() : nodes.size() - 1;
    for (std::size_t i = 0; i < arcs; ++i) {
        const Colour from = nodes[i], to = nodes[(i + 1) % nodes.size()];
        if (from == residual_.slack() || to == residual_.slack()) continue;
        moves_.push_back({lists.cheapest(from, to).vertex, to});
    }
}

template <class Rules>
void Exchanges<Rules>::apply_moves(Lists& lists) {
    std::vector<Colour> touched, left;
    for (const auto& [v, to] : moves_) {
        left.push_back(ledger_.state.colour(v));
        touched.push_back(left.back());
        touched.push_back(to);
    }
    ledger_.apply(moves_);
    for (std::size_t i = 0; i < moves_.size(); ++i) lists.note_move(moves_[i].vertex, left[i]);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (Colour c : touched) set_arcs_of(lists, c);
}

template <class Rules>
void Exchanges<Rules>::drop_dearest(Lists& lists) {
    const auto dearest = std::max_element(moves_.begin(), moves_.end(),
                                          [&](const SingleMove& a, const SingleMove& b) {
                                              const auto& state = ledger_.state;
                                              return residual_.arc(state.colour(a.vertex), a.to) <
                                                     residual_.arc(state.colour(b.vertex), b.to);
                                          });
    const Colour from = ledger_.state.colour(dearest->vertex), to = dearest->to;
    lists.drop_cheapest(from, to);
    residual_.set_arc(from, to, lists.cheapest(from, to).price);
}

template <class Rules>
typename Exchanges<Rules>::Lists* Exchanges<Rules>::units() {
    const auto found = std::find_if(fixed_.begin(), fixed_.end(),
                                    [](const Lists& lists) { return lists.rows() == 1; });
    if (found == fixed_.end()) return nullptr;
    if (arcs_of_units_ != ledger_.clock.now() || near_of_units_ != near_.version()) {
        found->refresh();
        set_arcs(*found);
        arcs_of_units_ = ledger_.clock.now();
        near_of_units_ = near_.version();
    }
    return &*found;
}

template <class Rules>
double Exchanges<Rules>::route_cost(Colour from, Colour to) {
    if (!units()) return Residual::kNoArc;
    const auto way = residual_.route(from, to);
    if (way.empty()) return Residual::kNoArc;
    double cost = 0.0;
    for (std::size_t i = 0; i + 1 < way.size(); ++i) cost += residual_.arc(way[i], way[i + 1]);
    return cost;
}

template <class Rules>
bool Exchanges<Rules>::add_route(Colour from, Colour to, int count,
                                 std::vector<SingleMove>& moves) {
    Lists* lists = units();
    if (!lists) return false;
    const auto way = residual_.route(from, to);
    const auto& state = ledger_.state;
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
        const Colour a = way[i], b = way[i + 1];
        if (a == residual_.slack()) {
            if (state.limits().spare(b, state.cluster_rows(b)) < count) return false;
        } else if (b == residual_.slack()) {
            if (state.limits().room(a, state.cluster_rows(a)) < count) return false;
        } else {
            for (int nth = 0; nth < count; ++nth) {
                const Vertex v = lists->nth(a, b, nth);
                if (v < 0) return false;
                moves.push_back({v, b});
            }
        }
    }
    return !way.empty();
}

template <class Rules>
int Exchanges<Rules>::excess() const {
    int total = 0;
    for (Colour c = 0; c < ledger_.k; ++c)
        total += ledger_.state.limits().excess(c, ledger_.state.cluster_rows(c));
    return total;
}

// Soft pairs are left aside: moves that they tie to each other do not add up, and what sends rows
// by the shortest paths relies on that.
//
// Where pairs keep rows out of all clusters nearby, they go farther.
template <class Rules>
int Exchanges<Rules>::repair(Stopper& stopper) {
    ledger_.reference = Reference::placed;
    near_.update(ledger_.state.centroid(0), ledger_.instance.dimension);
    int left = repair_among_near(stopper);
    while (left > 0 && !stopper.stopped() &&
           near_.join_more(ledger_.state.centroid(0), ledger_.instance.dimension))
        left = repair_among_near(stopper);
    return left;
}

template <class Rules>
int Exchanges<Rules>::repair_among_near(Stopper& stopper) {
    for (Lists& lists : fixed_) lists.heed_pulls(false);
    for (bool moved = true; moved && excess() > 0 && !stopper.stopped();) {
        moved = false;
        for (Lists& lists : fixed_) moved |= send_rows(lists, stopper);
    }
    for (Lists& lists : fixed_) lists.heed_pulls(true);
    return excess();
}

// Centroids stand still, but the clock says that they have moved, so lists are fresh as long as
// moves are noted.
template <class Rules>
bool Exchanges<Rules>::send_rows(Lists& lists, Stopper& stopper) {
    lists.refresh();
    set_arcs(lists);
    bool moved = false;
    while (excess() > 0 && !stopper.should_stop() && send_once(lists)) moved = true;
    return moved;
}

// The cheapest of those paths that mend most. A cycle of negative cost is taken first.
template <class Rules>
bool Exchanges<Rules>::send_once(Lists& lists) {
    const double scale = residual_.add_costs(1.0);
    for (Colour c = 0; c < ledger_.k; ++c) {
        begin_[c] = scale * change_of_excess(c, -lists.rows());
        end_[c] = scale * change_of_excess(c, lists.rows());
    }
    const auto path = residual_.cheapest_path(begin_, end_);
    if (!path.empty()) {
        const int mended = change_of_excess(path.front(), -lists.rows()) +
                           change_of_excess(path.back(), lists.rows());
        if (mended >= 0) return false;
        collect_moves(lists, path, false);
    } else {
        const auto cycle = residual_.cycle_below(-ledger_.tolerance);
        if (cycle.empty()) return false;
        collect_moves(lists, cycle, true);
    }
    apply_moves(lists);
    return true;
}

template <class Rules>
int Exchanges<Rules>::change_of_excess(Colour c, int rows) const {
    const auto& limits = ledger_.state.limits();
    const int now = ledger_.state.cluster_rows(c);
    return limits.excess(c, now + rows) - limits.excess(c, now);
}

KEMPE_FOR_SIZED_RULES(Exchanges);

}  // namespace kempe
