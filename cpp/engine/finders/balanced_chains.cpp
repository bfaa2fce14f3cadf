#include "engine/finders/balanced_chains.h"

#include <algorithm>
#include <limits>

namespace kempe {

template <class Rules>
BalancedChains<Rules>::BalancedChains(Ledger<Rules>& ledger, Exchanges<Rules>& exchanges)
    : ledger_(ledger),
      exchanges_(exchanges),
      members_(ledger.k),
      target_(ledger.instance.size, kUncoloured),
      listed_(ledger.instance.size) {
    const auto counts_more = [&](Vertex v) { return ledger.state.limits().rows(v) > 1; };
    const auto& free = ledger.instance.free_vertices;
    has_several_ = !ledger.instance.constrained_vertices.empty() ||
                   std::any_of(free.begin(), free.end(), counts_more);
}

template <class Rules>
void BalancedChains<Rules>::forget() {
    std::fill(failed_.begin(), failed_.end(), 0);
}

template <class Rules>
void BalancedChains<Rules>::sweep(Stopper& stopper) {
    if (!has_several_) return;
    const auto& state = ledger_.state;
    const NearClusters& near = exchanges_.near();
    if (failed_.size() != near.places() || (version_ != near.version() && !near.in_tables()))
        failed_.assign(near.places(), 0);
    version_ = near.version();
    for (auto& members : members_) members.clear();
    for (Vertex v = 0; v < ledger_.instance.size; ++v) members_[state.colour(v)].push_back(v);
    for (Colour first = 0; first < ledger_.k; ++first) {
        for (Colour second : near.around(first)) {
            if (stopper.should_stop()) return;
            Time& failed = failed_[near.place(std::min(first, second), std::max(first, second))];
            const Time altered =
                std::max(ledger_.clock.altered(first), ledger_.clock.altered(second));
            if (failed > 0 && failed >= altered) continue;
            failed = ledger_.clock.now();
            if (try_pair(first, second)) return;  // members have changed
        }
    }
}

template <class Rules>
bool BalancedChains<Rules>::try_pair(Colour first, Colour second) {
    collect_items(first, second);
    if (!is_promising()) return false;
    fill_table();
    return apply_best(first, second);
}

template <class Rules>
void BalancedChains<Rules>::collect_items(Colour first, Colour second) {
    auto& state = ledger_.state;
    items_.clear();
    vertices_.clear();
    for (Colour side : {first, second})
        for (Vertex v : members_[side]) {
            if (listed_[v]) continue;
            if (ledger_.instance.graph.degree(v) == 0) {
                add_item({&v, 1}, first, second);
            } else {
                state.collect_up_to(v, first + second - side,
                                    std::numeric_limits<std::size_t>::max());
                for (Vertex u : state.chain()) listed_[u] = true;
                add_item(state.chain(), first, second);
            }
        }
    for (Vertex v : vertices_) listed_[v] = false;
    keep_cheapest_units();
}

template <class Rules>
void BalancedChains<Rules>::add_item(std::span<const Vertex> vertices, Colour first,
                                     Colour second) {
    auto& state = ledger_.state;
    Item item{0.0, 0, static_cast<int>(vertices_.size()), 0};
    moves_.clear();
    for (Vertex v : vertices) {
        const bool leaves = state.colour(v) == first;
        item.rows += leaves ? state.limits().rows(v) : -state.limits().rows(v);
        moves_.push_back({v, leaves ? second : first});
        vertices_.push_back(v);
    }
    item.price = state.cost_in_place(moves_);
    item.end = static_cast<int>(vertices_.size());
    items_.push_back(item);
}

// Single rows are alike but for their prices: of more than the table has rows none can be used, and
// of few other things only few are needed.
template <class Rules>
void BalancedChains<Rules>::keep_cheapest_units() {
    const auto is_unit = [](const Item& item) {
        return item.end - item.begin == 1 && std::abs(item.rows) == 1;
    };
    const auto is_useless = [](const Item& item) {
        return std::abs(item.rows) > kMostRows || (item.rows == 0 && item.price >= 0);
    };
    std::erase_if(items_, is_useless);
    std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
        return std::pair(is_unit(a), a.price) < std::pair(is_unit(b), b.price);
    });
    int out = 0, in = 0;
    std::erase_if(items_, [&](const Item& item) {
        return is_unit(item) && (item.rows > 0 ? ++out : ++in) > kMostRows;
    });
}

// Single rows alone are looked at elsewhere.
template <class Rules>
bool BalancedChains<Rules>::is_promising() const {
    bool pays = false, several = false;
    for (const Item& item : items_) {
        pays |= item.price < -ledger_.tolerance;
        several |= item.end - item.begin > 1 || std::abs(item.rows) > 1;
    }
    return pays && several;
}

template <class Rules>
void BalancedChains<Rules>::fill_table() {
    constexpr double never = std::numeric_limits<double>::infinity();
    table_.assign((items_.size() + 1) * kWidth, never);
    best(0, 0) = 0.0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const auto [price, rows, begin, end] = items_[i];
        const int low = std::max(-kMostRows, -kMostRows + rows);
        const int high = std::min(kMostRows, kMostRows + rows);
        std::copy_n(&best(i, -kMostRows), kWidth, &best(i + 1, -kMostRows));
        for (int r = low; r <= high; ++r) {
            const double with = best(i, r - rows) + price;
            if (with < best(i + 1, r)) best(i + 1, r) = with;
        }
    }
}

// The most promising first, of those that stay within the limits and of those that send rows back.
template <class Rules>
bool BalancedChains<Rules>::apply_best(Colour first, Colour second) {
    const auto& state = ledger_.state;
    const auto& limits = state.limits();
    const int one = state.cluster_rows(first), other = state.cluster_rows(second);
    const int most = std::min(limits.spare(first, one), limits.room(second, other));
    const int least = -std::min(limits.spare(second, other), limits.room(first, one));
    const double forth = exchanges_.route_cost(second, first);
    const double back = exchanges_.route_cost(first, second);
    double promised = -ledger_.tolerance;
    int rows = 0, returned = 0;
    bool found = false;
    for (int r = std::max(-kMostRows, least - kMostReturned);
         r <= std::min(kMostRows, most + kMostReturned); ++r) {
        const int over = r > most ? r - most : r < least ? r - least : 0;
        double price = best(items_.size(), r);
        if (over != 0) price += std::abs(over) * (over > 0 ? forth : back);
        if (!(price < promised)) continue;
        promised = price;
        rows = r;
        returned = over;
        found = true;
    }
    return found && try_transfer(rows, returned, first, second);
}

template <class Rules>
bool BalancedChains<Rules>::try_transfer(int rows, int returned, Colour first, Colour second) {
    collect_choice(rows, first, second);
    if (returned > 0 && !exchanges_.add_route(second, first, returned, moves_)) return false;
    if (returned < 0 && !exchanges_.add_route(first, second, -returned, moves_)) return false;
    if (!stays_proper()) return false;
    if (!(ledger_.state.change(moves_, ledger_.reference) < -ledger_.tolerance)) return false;
    ledger_.apply(moves_);
    return true;
}

template <class Rules>
void BalancedChains<Rules>::collect_choice(int rows, Colour first, Colour second) {
    moves_.clear();
    for (std::size_t i = items_.size(); i > 0; --i) {
        if (best(i, rows) == best(i - 1, rows)) continue;
        const Item& item = items_[i - 1];
        for (int j = item.begin; j < item.end; ++j) {
            const Vertex v = vertices_[j];
            const Colour own = ledger_.state.colour(v);
            moves_.push_back({v, first + second - own});
        }
        rows -= item.rows;
    }
}

// Whether nobody moves twice, nor next to a neighbour.
template <class Rules>
bool BalancedChains<Rules>::stays_proper() {
    bool proper = true;
    for (const auto& [v, to] : moves_) {
        proper &= target_[v] == kUncoloured;
        target_[v] = to;
    }
    const auto& state = ledger_.state;
    for (const auto& [v, to] : moves_)
        for (Vertex u : ledger_.instance.graph.neighbours(v))
            proper &= to != (target_[u] == kUncoloured ? state.colour(u) : target_[u]);
    for (const auto& [v, to] : moves_) target_[v] = kUncoloured;
    return proper;
}

KEMPE_FOR_SIZED_RULES(BalancedChains);

}  // namespace kempe
