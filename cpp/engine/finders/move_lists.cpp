#include "engine/finders/move_lists.h"

#include <algorithm>
#include <utility>

namespace kempe {

template <class Rules>
MoveLists<Rules>::MoveLists(const Ledger<Rules>& ledger, std::vector<Vertex> vertices, int rows,
                            Pricing pricing)
    : ledger_(ledger),
      vertices_(std::move(vertices)),
      rows_(rows),
      pricing_(pricing),
      lists_(std::size_t(ledger.k) * ledger.k),
      made_(ledger.k),
      stale_(ledger.k),
      distance_(ledger.k) {}

template <class Rules>
void MoveLists<Rules>::forget() {
    std::fill(made_.begin(), made_.end(), 0);
}

template <class Rules>
void MoveLists<Rules>::refresh() {
    const auto& state = ledger_.state;
    const int k = ledger_.k;
    stale_list_.clear();
    for (Colour c = 0; c < k; ++c) {
        stale_[c] = made_[c] == 0 || ledger_.clock.altered(c) > made_[c];
        if (stale_[c]) stale_list_.push_back(c);
        made_[c] = ledger_.clock.now();
    }
    if (stale_list_.empty()) return;
    for (Colour from = 0; from < k; ++from)
        for (Colour to = 0; to < k; ++to)
            if (stale_[from] || stale_[to]) list(from, to) = List();
    for (Vertex v : vertices_) {
        const Colour own = state.colour(v);
        if (stale_[own]) {
            state.distances(v, distance_.data());
            for (Colour c = 0; c < k; ++c)
                if (c != own && state.ties().admit(v, c))
                    insert(list(own, c), {price(v, c, distance_[own], distance_[c]), v});
        } else {
            const double near = state.distance(v, own);
            for (Colour c : stale_list_)
                if (state.ties().admit(v, c))
                    insert(list(own, c), {price(v, c, near, state.distance(v, c)), v});
        }
    }
}

template <class Rules>
inline double MoveLists<Rules>::price(Vertex v, Colour to, double own, double other) const {
    const auto& state = ledger_.state;
    if (pricing_ == Pricing::following)
        return state.entering_cost(v, to, other, Reference::means) -
               state.leaving_gain(v, own, Reference::means);
    const double fixed = ledger_.instance.weight[v] * (other - own);
    if constexpr (Rules::Ties::kPriced)
        if (heeds_pulls_)
            return fixed + state.ties().pull(v, state.colour(v)) - state.ties().pull(v, to);
    return fixed;
}

template <class Rules>
inline void MoveLists<Rules>::insert(List& list, Candidate candidate) {
    auto& [entry, count, complete] = list;
    if (count == kLength) {
        complete = false;
        if (!(candidate.price < entry[kLength - 1].price)) return;
        --count;
    } else if (!complete && !(count > 0 && candidate.price < entry[count - 1].price)) {
        return;  // those left out may be cheaper
    }
    int place = count++;
    for (; place > 0 && candidate.price < entry[place - 1].price; --place)
        entry[place] = entry[place - 1];
    entry[place] = candidate;
}

template <class Rules>
typename MoveLists<Rules>::Candidate MoveLists<Rules>::cheapest(Colour from, Colour to) {
    List& found = list(from, to);
    for (bool again = true; again; again = false) {
        int gone = 0;
        while (gone < found.count && !may_go(found.entry[gone].vertex, from, to)) ++gone;
        if (gone > 0) {
            std::copy(found.entry.begin() + gone, found.entry.begin() + found.count,
                      found.entry.begin());
            found.count -= gone;
        }
        if (found.count > 0) return found.entry[0];
        if (!found.complete) refill(from, to);
    }
    return found.count > 0 ? found.entry[0]
                           : Candidate{std::numeric_limits<double>::infinity(), -1};
}

template <class Rules>
Vertex MoveLists<Rules>::nth(Colour from, Colour to, int position) {
    const List& known = list(from, to);
    for (int i = 0; i < known.count; ++i)
        if (may_go(known.entry[i].vertex, from, to) && position-- == 0)
            return known.entry[i].vertex;
    return -1;
}

template <class Rules>
void MoveLists<Rules>::drop_cheapest(Colour from, Colour to) {
    List& found = list(from, to);
    std::copy(found.entry.begin() + 1, found.entry.begin() + found.count, found.entry.begin());
    --found.count;
    found.complete = true;  // or it would come back
}

template <class Rules>
void MoveLists<Rules>::refill(Colour from, Colour to) {
    List& found = list(from, to);
    found = List();
    const auto& state = ledger_.state;
    for (Vertex v : vertices_)
        if (may_go(v, from, to))
            insert(found, {price(v, to, state.distance(v, from), state.distance(v, to)), v});
}

// At the price of now, whatever the list knows of v from an earlier time.
template <class Rules>
void MoveLists<Rules>::offer(Vertex v, Colour to) {
    const auto& state = ledger_.state;
    const Colour own = state.colour(v);
    if (own == to || !state.ties().admit(v, to)) return;
    List& found = list(own, to);
    const auto end = found.entry.begin() + found.count;
    const auto rest = std::remove_if(found.entry.begin(), end,
                                     [&](const Candidate& known) { return known.vertex == v; });
    found.count = static_cast<int>(rest - found.entry.begin());
    insert(found, {price(v, to, state.distance(v, own), state.distance(v, to)), v});
}

template <class Rules>
void MoveLists<Rules>::note_move(Vertex v, Colour from) {
    for (Vertex u : ledger_.instance.graph.neighbours(v))
        if (belongs(u)) offer(u, from);
    if (!belongs(v)) return;
    for (Colour c = 0; c < ledger_.k; ++c) offer(v, c);
}

KEMPE_FOR_SIZED_RULES(MoveLists);

}  // namespace kempe
