#include "engine/finders/move_lists.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "basics/least.h"

namespace kempe {

template <class Rules>
MoveLists<Rules>::MoveLists(const Ledger<Rules>& ledger, const NearClusters& near,
                            std::vector<Vertex> vertices, int rows, Pricing pricing)
    : ledger_(ledger),
      near_(near),
      vertices_(std::move(vertices)),
      rows_(rows),
      pricing_(pricing),
      length_(length(ledger.instance, ledger.k)),
      made_(ledger.k),
      stale_(ledger.k),
      distance_(ledger.k),
      cost_(ledger.k) {
    make_places();
}

template <class Rules>
void MoveLists<Rules>::make_places() {
    version_ = near_.version();
    lists_.assign(near_.places(), {});
    kept_.assign(lists_.size(), false);
    bar_.assign(lists_.size(), -kNever);
    furnish(lists_, memory_, length_);
}

// Where all pairs have places, those that are not near any more are no longer kept in step.
template <class Rules>
void MoveLists<Rules>::follow_near() {
    if (version_ == near_.version()) return;
    if (!near_.in_tables()) {
        make_places();
        return forget();
    }
    version_ = near_.version();
    const int k = ledger_.k;
    for (Colour from = 0; from < k; ++from)
        for (Colour to = 0; to < k; ++to)
            if (!near_.are_near(from, to)) kept_[near_.place(from, to)] = false;
}

template <class Rules>
int MoveLists<Rules>::length(const Instance& instance, int k) {
    if (!instance.is_large()) return kLength;
    const auto room = static_cast<int>(kLargeMemory / (std::size_t(k) * k));
    return std::clamp(room, kLength, kLargeLength);
}

template <class Rules>
void MoveLists<Rules>::furnish(std::vector<List>& lists, std::vector<Candidate>& memory,
                               int length) {
    memory.resize(lists.size() * length);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        lists[i].entry = memory.data() + i * length;
        lists[i].length = length;
    }
}

template <class Rules>
void MoveLists<Rules>::forget() {
    std::fill(made_.begin(), made_.end(), 0);
    std::fill(kept_.begin(), kept_.end(), false);
    for (List& known : lists_) known.begin(true);
}

template <class Rules>
void MoveLists<Rules>::refresh() {
    const auto& state = ledger_.state;
    const int k = ledger_.k;
    follow_near();
    stale_list_.clear();
    for (Colour c = 0; c < k; ++c) {
        stale_[c] = made_[c] == 0 || ledger_.clock.altered(c) > made_[c];
        if (stale_[c]) stale_list_.push_back(c);
        made_[c] = ledger_.clock.now();
    }
    std::fill(bar_.begin(), bar_.end(), -kNever);
    for (Colour from = 0; from < k; ++from)
        for (Colour to : near_.around(from)) open(from, to);
    if (stale_list_.empty()) return;
    const bool few = kFew * stale_list_.size() < std::size_t(k);
    for (Vertex v : vertices_) {
        if (few && !stale_[state.colour(v)])
            look_at_stale(v);
        else if (near_.in_tables())
            look_at_all(v);
        else
            look_at_near(v);
    }
}

// Begin a list anew if a cluster has changed. One between clusters that were not near to each other
// is made when somebody asks for it.
template <class Rules>
inline void MoveLists<Rules>::open(Colour from, Colour to) {
    const std::size_t pair = near_.place(from, to);
    if (stale_[from] || stale_[to]) {
        bar_[pair] = likely_bar(from, to);
        lists_[pair].begin(bar_[pair] == kNever);
    } else if (!kept_[pair]) {
        lists_[pair].begin(false);
    }
    kept_[pair] = true;
}

// Those that were cheap are so still, and tell where a list is likely to end. Nobody dearer need be
// sorted in, and the list says that it is not complete.
template <class Rules>
double MoveLists<Rules>::likely_bar(Colour from, Colour to) const {
    const List& old = lists_[near_.place(from, to)];
    if (old.count < kUsual) return kNever;
    const auto& state = ledger_.state;
    double bar = -kNever;
    for (int position : {kUsual / 2, kUsual - 1}) {
        const Vertex v = old.entry[position].vertex;
        if (!may_go(v, from, to)) return kNever;
        bar = std::max(bar, price(v, to, state.distance(v, from), state.distance(v, to)));
    }
    return std::nextafter(bar, kNever);
}

// Nearly always nothing is below the bars, so all are compared before any is looked at.
template <class Rules>
inline void MoveLists<Rules>::look_at_all(Vertex v) {
    const Colour own = ledger_.state.colour(v);
    const double gain = price_all(v);
    const double* bar = bar_.data() + std::size_t(own) * ledger_.k;
    for (std::int64_t below = count_below(cost_.data(), gain, bar, ledger_.k), c = 0; below > 0;
         ++c) {
        if (!(cost_[c] - gain < bar[c])) continue;
        --below;
        list_anew({cost_[c] - gain, v}, own, static_cast<Colour>(c));
    }
}

template <class Rules>
inline void MoveLists<Rules>::look_at_stale(Vertex v) {
    const auto& state = ledger_.state;
    const Colour own = state.colour(v);
    const double near = state.distance(v, own);
    for (Colour c : stale_list_) {
        if (!near_.are_near(own, c)) continue;
        const double cost = price(v, c, near, state.distance(v, c));
        if (cost < bar_[near_.place(own, c)]) list_anew({cost, v}, own, c);
    }
}

// Where there are many clusters, most are not near.
template <class Rules>
inline void MoveLists<Rules>::look_at_near(Vertex v) {
    const auto& state = ledger_.state;
    const Colour own = state.colour(v);
    const double near = state.distance(v, own);
    for (Colour c : near_.around(own)) {
        const double cost = price(v, c, near, state.distance(v, c));
        if (cost < bar_[near_.place(own, c)]) list_anew({cost, v}, own, c);
    }
}

// Into a list that is made anew, if it may go; whoever follows must be cheaper than the last.
template <class Rules>
inline void MoveLists<Rules>::list_anew(Candidate candidate, Colour from, Colour to) {
    if (!ledger_.state.ties().admit(candidate.vertex, to)) return;
    List& found = list(from, to);
    found.count = std::min(found.count, kUsual - 1);
    place(found, candidate);
    if (found.count < kUsual) return;
    found.complete = false;
    bar_[near_.place(from, to)] = found.entry[kUsual - 1].price;
}

// What entering each cluster costs v, in cost_; what leaving its own gains.
template <class Rules>
inline double MoveLists<Rules>::price_all(Vertex v) {
    const auto& state = ledger_.state;
    const double w = ledger_.instance.weight[v];
    const Colour own = state.colour(v);
    state.distances(v, distance_.data());
    if (pricing_ == Pricing::following)
        entering_costs(distance_.data(), state.cluster_weights(), w, ledger_.k, cost_.data());
    else
        for (Colour c = 0; c < ledger_.k; ++c) cost_[c] = w * distance_[c];
    if constexpr (Rules::Ties::kPriced)
        if (heeds_pulls_) state.ties().take_off(v, cost_.data());
    return leaving_gain(v, distance_[own]);
}

template <class Rules>
inline double MoveLists<Rules>::leaving_gain(Vertex v, double squared) const {
    const auto& state = ledger_.state;
    if (pricing_ == Pricing::following) return state.leaving_gain(v, squared, Reference::means);
    const double gain = ledger_.instance.weight[v] * squared;
    if constexpr (Rules::Ties::kPriced)
        if (heeds_pulls_) return gain - state.ties().pull(v, state.colour(v));
    return gain;
}

template <class Rules>
inline double MoveLists<Rules>::price(Vertex v, Colour to, double own, double other) const {
    const auto& state = ledger_.state;
    const double gain = leaving_gain(v, own);
    if (pricing_ == Pricing::following)
        return state.entering_cost(v, to, other, Reference::means) - gain;
    const double cost = ledger_.instance.weight[v] * other;
    if constexpr (Rules::Ties::kPriced)
        if (heeds_pulls_) return cost - state.ties().pull(v, to) - gain;
    return cost - gain;
}

template <class Rules>
inline void MoveLists<Rules>::insert(List& list, Candidate candidate) {
    if (list.count == list.length) {
        list.complete = false;
        if (!(candidate.price < list.entry[list.length - 1].price)) return;
        --list.count;
    } else if (!list.complete &&
               !(list.count > 0 && candidate.price < list.entry[list.count - 1].price)) {
        return;  // those left out may be cheaper
    }
    place(list, candidate);
}

template <class Rules>
inline void MoveLists<Rules>::place(List& list, Candidate candidate) {
    int position = list.count++;
    for (; position > 0 && candidate.price < list.entry[position - 1].price; --position)
        list.entry[position] = list.entry[position - 1];
    list.entry[position] = candidate;
}

template <class Rules>
typename MoveLists<Rules>::Candidate MoveLists<Rules>::cheapest(Colour from, Colour to) {
    List& found = list(from, to);
    for (bool again = true; again; again = false) {
        int gone = 0;
        while (gone < found.count && !may_go(found.entry[gone].vertex, from, to)) ++gone;
        if (gone > 0) {
            std::copy(found.entry + gone, found.entry + found.count, found.entry);
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
    std::copy(found.entry + 1, found.entry + found.count, found.entry);
    --found.count;
    found.complete = true;  // or it would come back
}

// Large data in blocks: the cheapest of all are among the cheapest of each, and come in their
// order.
template <class Rules>
void MoveLists<Rules>::refill(Colour from, Colour to) {
    List& found = list(from, to);
    found.begin(true);
    const Blocks blocks = ledger_.instance.blocks(vertices_.size());
    if (blocks.count() <= 1) return collect(0, vertices_.size(), from, to, found);
    if (parts_.empty()) {
        parts_.resize(blocks.count());
        furnish(parts_, memory_of_parts_, length_);
    }
    ledger_.instance.pool->run(blocks.count(), [&](int block, int) {
        parts_[block].begin(true);
        collect(blocks.begin(block), blocks.end(block), from, to, parts_[block]);
    });
    bool complete = true;
    for (const List& part : parts_) {
        complete &= part.complete;
        for (int i = 0; i < part.count; ++i) insert(found, part.entry[i]);
    }
    found.complete &= complete;
}

template <class Rules>
void MoveLists<Rules>::collect(std::size_t begin, std::size_t end, Colour from, Colour to,
                               List& found) const {
    const auto& state = ledger_.state;
    for (std::size_t i = begin; i < end; ++i) {
        const Vertex v = vertices_[i];
        if (may_go(v, from, to))
            insert(found, {price(v, to, state.distance(v, from), state.distance(v, to)), v});
    }
}

// At the price of now, whatever the list knows of v from an earlier time.
template <class Rules>
void MoveLists<Rules>::offer(Vertex v, Colour to, double price) {
    const auto& state = ledger_.state;
    const Colour own = state.colour(v);
    if (!near_.are_near(own, to) || !state.ties().admit(v, to)) return;
    List& found = list(own, to);
    const auto rest = std::remove_if(found.entry, found.entry + found.count,
                                     [&](const Candidate& known) { return known.vertex == v; });
    found.count = static_cast<int>(rest - found.entry);
    insert(found, {price, v});
}

template <class Rules>
void MoveLists<Rules>::note_move(Vertex v, Colour from) {
    const auto& state = ledger_.state;
    for (Vertex u : ledger_.instance.graph.neighbours(v))
        if (belongs(u))
            offer(u, from,
                  price(u, from, state.distance(u, state.colour(u)), state.distance(u, from)));
    if (!belongs(v)) return;
    const auto around = near_.around(state.colour(v));
    if (near_.in_tables()) {
        const double gain = price_all(v);
        for (Colour c : around) offer(v, c, cost_[c] - gain);
    } else {
        const double near = state.distance(v, state.colour(v));
        for (Colour c : around) offer(v, c, price(v, c, near, state.distance(v, c)));
    }
}

KEMPE_FOR_SIZED_RULES(MoveLists);

}  // namespace kempe
