#include "engine/finders/groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kempe {

// What follows is empty for rules without prices: nobody calls it.
template <class Rules>
GroupMoves<Rules>::GroupMoves(Ledger<Rules>& ledger) : ledger_(ledger) {
    if constexpr (Rules::Ties::kPriced) {
        const std::size_t n = ledger.instance.size, k = ledger.k;
        taken_.resize(n);
        marginal_.resize(n);
        reached_.resize(n);
        failed_.resize(n * k);
        node_.resize(n);
        cut_.resize(k * k);
    }
}

template <class Rules>
void GroupMoves<Rules>::forget() {
    std::fill(failed_.begin(), failed_.end(), 0);
    std::fill(cut_.begin(), cut_.end(), 0);
}

template <class Rules>
void GroupMoves<Rules>::begin_descent() {
    if constexpr (Rules::Ties::kPriced) {
        work_before_ = ledger_.work;
        grown_ = cut_up_ = {};
    }
}

template <class Rules>
std::size_t GroupMoves<Rules>::left(const Spent& spent) const {
    const auto allowed =
        kFreeSteps + static_cast<std::size_t>(kShare * static_cast<double>(work_of_singles()));
    return allowed > spent.work ? allowed - spent.work : 0;
}

template <class Rules>
void GroupMoves<Rules>::sweep(Stopper& stopper) {
    grow_groups(stopper);
    cut_clusters(stopper);
}

template <class Rules>
void GroupMoves<Rules>::grow_groups(Stopper& stopper) {
    if constexpr (Rules::Ties::kPriced) {
        const auto& tied = ledger_.state.ties().pairs().tied();
        const std::size_t first = grown_.next;
        grown_.next = 0;
        for (std::size_t i = 0; i < tied.size(); ++i) {
            const std::size_t position = (first + i) % tied.size();
            if (left(grown_) == 0) {
                grown_.next = position;
                return;
            }
            if (stopper.should_stop()) return;
            grow_all_from(tied[position]);
        }
    }
}

template <class Rules>
void GroupMoves<Rules>::grow_all_from(Vertex v) {
    const Clock& clock = ledger_.clock;
    grown_.work += ledger_.k;
    for (Colour c = 0; c < ledger_.k; ++c) {
        const Colour own = ledger_.state.colour(v);
        if (c == own) continue;
        Time& failed = failed_[std::size_t(v) * ledger_.k + c];
        if (failed >= clock.altered(c) && failed >= clock.altered(own)) continue;
        if (is_worth_growing(v, c) && !grow_from(v, c)) failed = clock.now();
    }
}

// Whether somebody in another cluster, or its centroid, is more to the liking of v than its own.
template <class Rules>
bool GroupMoves<Rules>::is_worth_growing(Vertex v, Colour to) const {
    if constexpr (Rules::Ties::kPriced) {
        const auto& ties = ledger_.state.ties();
        return ties.pull(v, to) > 0 || ties.pull(v, ledger_.state.colour(v)) < 0 ||
               switching_cost(v, to) < 0;
    }
    return false;
}

// The best of all groups that it grows through.
template <class Rules>
bool GroupMoves<Rules>::grow_from(Vertex v, Colour to) {
    from_ = ledger_.state.colour(v);
    to_ = to;
    group_.clear();
    reach_.clear();
    move_ = ledger_.state.begin_group(from_, to_);
    price_ = 0.0;
    take_along(v);
    std::size_t best = 0;
    double least = -ledger_.tolerance;
    while (group_.size() <= kLargestGroup) {
        const double change = ledger_.state.change(move_, price_, ledger_.reference);
        grown_.work += ledger_.instance.dimension + reach_.size();
        if (change < least) {
            least = change;
            best = group_.size();
        }
        const Vertex next = cheapest_to_take();
        if (next < 0 || group_.size() >= best + kMostInVain || left(grown_) == 0) break;
        take_along(next);
    }
    for (Vertex u : group_) taken_[u] = Taken::no;
    for (Vertex u : reach_) reached_[u] = false;
    group_.resize(best);
    return apply_if_better(group_, from_, to_);
}

// With v go those that a hard pair keeps out of the cluster that it enters. All others that are
// tied to them find it cheaper or dearer to come along.
template <class Rules>
void GroupMoves<Rules>::take_along(Vertex v) {
    if constexpr (Rules::Ties::kPriced) {
        const auto& state = ledger_.state;
        group_.push_back(v);
        taken_[v] = Taken::yes;
        for (std::size_t head = group_.size() - 1; head < group_.size(); ++head) {
            const Vertex u = group_[head];
            if (ledger_.instance.graph.degree(u) > 0)
                state.ties().counts().for_neighbours_in(u, other_side(u), state.colours().data(),
                                                        [&](Vertex x) {
                                                            if (taken_[x] != Taken::no) return true;
                                                            taken_[x] = Taken::yes;
                                                            group_.push_back(x);
                                                            return true;
                                                        });
            count(u);
        }
    }
}

// Add a vertex of the group to what its move costs, and tell those who are tied to it.
template <class Rules>
void GroupMoves<Rules>::count(Vertex u) {
    if constexpr (Rules::Ties::kPriced) {
        auto& state = ledger_.state;
        const auto& ties = state.ties();
        const Colour own = state.colour(u);
        state.join_group(move_, u);
        price_ += ties.pull(u, own) - ties.pull(u, other_side(u));
        const auto pairs = ties.pairs().of(u);
        grown_.work += pairs.size() + ledger_.instance.dimension;
        for (const auto& [x, price] : pairs) {
            if (!is_on_a_side(x)) continue;
            if (!reached_[x]) reach(x);
            // Pulls tell of partners as they are: two that change sides are as near as before.
            const double both = (state.colour(x) == own ? -2 : 2) * price;
            marginal_[x] += both;
            if (taken_[x] == Taken::counted) price_ += both;
        }
        taken_[u] = Taken::counted;
    }
}

template <class Rules>
void GroupMoves<Rules>::reach(Vertex x) {
    if constexpr (Rules::Ties::kPriced) {
        const auto& state = ledger_.state;
        reached_[x] = true;
        reach_.push_back(x);
        grown_.work += 2 * ledger_.instance.dimension;
        const Colour other = other_side(x), own = state.colour(x);
        marginal_[x] =
            switching_cost(x, other) + state.ties().pull(x, own) - state.ties().pull(x, other);
    }
}

template <class Rules>
Vertex GroupMoves<Rules>::cheapest_to_take() const {
    Vertex cheapest = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Vertex u : reach_)
        if (taken_[u] == Taken::no && marginal_[u] < least) {
            least = marginal_[u];
            cheapest = u;
        }
    return cheapest;
}

template <class Rules>
double GroupMoves<Rules>::switching_cost(Vertex v, Colour to) const {
    const auto& state = ledger_.state;
    return ledger_.instance.weight[v] *
           (state.distance(v, to) - state.distance(v, state.colour(v)));
}

template <class Rules>
void GroupMoves<Rules>::cut_clusters(Stopper& stopper) {
    if constexpr (Rules::Ties::kPriced) {
        const Clock& clock = ledger_.clock;
        const int k = ledger_.k;
        const std::size_t first = cut_up_.next;
        cut_up_.next = 0;
        for (std::size_t i = 0; i < cut_.size(); ++i) {
            const std::size_t position = (first + i) % cut_.size();
            const Colour a = static_cast<Colour>(position / k),
                         b = static_cast<Colour>(position % k);
            Time& failed = cut_[position];
            if (b >= a || (failed >= clock.altered(a) && failed >= clock.altered(b))) continue;
            if (left(cut_up_) == 0) {
                cut_up_.next = position;
                return;
            }
            if (stopper.look()) return;
            if (!cut(a, b)) failed = clock.now();
        }
    }
}

// Which vertices of two clusters to exchange, as the centroids stand. It costs the price of a pair
// to part its ends, if they are now as the pair wants them. Where they are not, parting them gains
// it: that is no cost a cut could have, so the more willing end has the gain and the other the
// cost, which is never too good to be true.
template <class Rules>
bool GroupMoves<Rules>::cut(Colour a, Colour b) {
    if constexpr (Rules::Ties::kPriced) {
        from_ = a;
        to_ = b;
        group_.clear();
        cost_.clear();
        const auto gather = [&](Vertex v) {
            if (!is_on_a_side(v)) return;
            node_[v] = static_cast<int>(group_.size());
            group_.push_back(v);
            cost_.push_back(switching_cost(v, other_side(v)));
        };
        const auto& ties = ledger_.state.ties();
        for (Vertex v : ties.pairs().tied()) gather(v);
        for (Vertex v : ledger_.instance.constrained_vertices)
            if (!ties.is_soft(v)) gather(v);
        flow_.begin(static_cast<int>(group_.size()));
        for (Vertex v : group_) join_pairs(v);
        for (std::size_t i = 0; i < group_.size(); ++i)
            flow_.attach(static_cast<int>(i), std::max(0.0, -cost_[i]), std::max(0.0, cost_[i]));
        const bool complete = flow_.run(left(cut_up_));
        cut_up_.work +=
            flow_.looks() + group_.size() * ledger_.instance.dimension + ties.pairs().tied().size();
        if (!complete) return false;
        std::erase_if(group_, [&](Vertex v) { return !flow_.stays(node_[v]); });
        return apply_if_better(group_, a, b);
    }
    return false;
}

// Each pair once, from the end of the lower number.
template <class Rules>
void GroupMoves<Rules>::join_pairs(Vertex v) {
    if constexpr (Rules::Ties::kPriced) {
        const auto& state = ledger_.state;
        for (const auto& [u, price] : state.ties().pairs().of(v)) {
            if (u < v || !is_on_a_side(u)) continue;
            const bool joined = state.colour(u) == state.colour(v);
            if (joined == (price > 0)) {
                flow_.join(node_[v], node_[u], std::abs(price));
            } else {
                const bool first = cost_[node_[v]] < cost_[node_[u]];
                cost_[node_[first ? v : u]] -= std::abs(price);
                cost_[node_[first ? u : v]] += std::abs(price);
            }
        }
        for (Vertex u : ledger_.instance.graph.neighbours(v))
            if (u > v && is_on_a_side(u)) flow_.join(node_[v], node_[u], MaxFlow::kUnbounded);
    }
}

template <class Rules>
bool GroupMoves<Rules>::apply_if_better(const Vertices& group, Colour a, Colour b) {
    if (group.empty()) return false;
    const ChainMove move = ledger_.state.collect_these(group, a, b);
    if (!(ledger_.state.change(move, ledger_.reference) < -ledger_.tolerance)) return false;
    ledger_.apply(move);
    return true;
}

KEMPE_FOR_ALL_RULES(GroupMoves);

}  // namespace kempe
