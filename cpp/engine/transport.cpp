#include "engine/transport.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "basics/arrays.h"
#include "module.h"
#include "problem/cost.h"
#include "problem/nearest.h"

namespace kempe {

Transport::Transport(const Instance& instance, int k, Cost cost, std::vector<Colour> nearest)
    : instance_(instance),
      sizes_(instance.sizes),
      k_(k),
      cost_(std::move(cost)),
      colour_(std::move(nearest)),
      own_(instance.size),
      members_(k),
      position_(instance.size),
      lists_(std::size_t(k) * k),
      residual_(k, true),
      begin_(k),
      end_(k) {
    for (Vertex v = 0; v < instance.size; ++v) {
        position_[v] = members_[colour_[v]].size();
        members_[colour_[v]].push_back(v);
    }
}

// A path takes one row from where there are too many, or to where there are too few, so there are
// no more such paths than rows. Others, and cycles, which only rounding can leave, lower the cost.
std::vector<Colour> Transport::solve(Stopper& stopper) {
    if (!set_ends()) return std::move(colour_);
    for_blocks(*instance_.pool, instance_.blocks(instance_.size),
               [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t v = begin; v < end; ++v)
                       own_[v] = cost_(static_cast<Vertex>(v), colour_[v]);
               });
    // Each cluster is a block, whoever works on it.
    instance_.pool->run(instance_.is_large() ? k_ : 1, [&](int block, int) {
        const bool all = !instance_.is_large();
        for (Colour c = all ? 0 : block; c < (all ? k_ : block + 1); ++c) {
            if (stopper.should_stop()) return;
            for (Colour other = 0; other < k_; ++other)
                if (other != c) make(c, other);
        }
    });
    for (Colour c = 0; c < k_ && !stopper.stopped(); ++c) set_arcs_from(c);
    tolerance_ = kCostRounding * std::accumulate(own_.begin(), own_.end(), 0.0) / own_.size();
    while (!stopper.should_stop() && send_once(set_ends())) {
    }
    spread_rest();
    return std::move(colour_);
}

// Where paths may begin and end; whether limits are broken. Paths that mend both ends come first:
// what is left can then be too many somewhere or too few, but not both. Once neither is, rows go
// from where some can be spared to where there is room as long as that pays: one path for two may
// have been the longer way.
bool Transport::set_ends() {
    bool over = false, under = false;
    for (Colour c = 0; c < k_; ++c) {
        over |= is_over(c);
        under |= is_under(c);
    }
    for (Colour c = 0; c < k_; ++c) {
        begin_[c] = (over ? is_over(c) : has_spare(c)) ? 0.0 : kNever;
        end_[c] = (under ? is_under(c) : has_room(c)) ? 0.0 : kNever;
    }
    return over || under;
}

bool Transport::send_once(bool mends) {
    const auto path = residual_.cheapest_path(begin_, end_);
    if (!path.empty()) {
        if (!mends && !(cost_of_path(path) < -tolerance_)) return false;
        move_along(path, false);
        return true;
    }
    const auto cycle = residual_.cycle_below(-tolerance_);
    if (cycle.empty()) return false;
    move_along(cycle, true);
    return true;
}

double Transport::cost_of_path(std::span<const Colour> nodes) const {
    double cost = 0.0;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
        cost += residual_.arc(nodes[i], nodes[i + 1]);
    return cost;
}

void Transport::move_along(std::span<const Colour> nodes, bool closed) {
    const std::size_t arcs = closed ? nodes.size() : nodes.size() - 1;
    moving_.clear();
    for (std::size_t i = 0; i < arcs; ++i) {
        const Colour to = nodes[(i + 1) % nodes.size()];
        moving_.push_back(lists_[std::size_t(nodes[i]) * k_ + to].heap.front().vertex);
    }
    for (std::size_t i = 0; i < arcs; ++i) move(moving_[i], nodes[(i + 1) % nodes.size()]);
    for (Colour c : nodes) set_arcs_from(c);
}

void Transport::move(Vertex v, Colour to) {
    leave(v);
    enter(v, to);
    own_[v] = cost_(v, to);
    for (Colour c = 0; c < k_; ++c) {
        if (c == to) continue;
        List& list = lists_[std::size_t(to) * k_ + c];
        const double price = cost_(v, c) - own_[v];
        if (!(price < list.bar)) continue;
        list.heap.push_back({price, v});
        std::push_heap(list.heap.begin(), list.heap.end());
    }
}

void Transport::leave(Vertex v) {
    auto& members = members_[colour_[v]];
    const Vertex last = members.back();
    members[position_[v]] = last;
    position_[last] = position_[v];
    members.pop_back();
}

void Transport::enter(Vertex v, Colour c) {
    colour_[v] = c;
    position_[v] = members_[c].size();
    members_[c].push_back(v);
}

// All members that are cheap to send, or all of them if they are few. Lists grow only where they
// are used up.
void Transport::make(Colour from, Colour to) {
    const auto cheaper = [](const Candidate& a, const Candidate& b) { return b < a; };
    auto& [heap, bar, length] = lists_[std::size_t(from) * k_ + to];
    const std::size_t most = 2 * length;  // that are kept until half of them are left out
    heap.clear();
    heap.reserve(std::min(most, members_[from].size()));
    bar = kNever;
    const auto leave_out = [&] {
        std::nth_element(heap.begin(), heap.begin() + length, heap.end(), cheaper);
        bar = heap[length].price;
        heap.resize(length);
    };
    for (Vertex v : members_[from]) {
        const double price = cost_(v, to) - own_[v];
        if (!(price < bar)) continue;
        heap.push_back({price, v});
        if (heap.size() == most) leave_out();
    }
    if (heap.size() > length) leave_out();
    std::make_heap(heap.begin(), heap.end());
    length *= kGrowth;
}

// What the cheapest move costs, which is the first of its list then.
double Transport::cheapest(Colour from, Colour to) {
    List& list = lists_[std::size_t(from) * k_ + to];
    for (;;) {
        while (!list.heap.empty() && colour_[list.heap.front().vertex] != from) {
            std::pop_heap(list.heap.begin(), list.heap.end());
            list.heap.pop_back();
        }
        if (!list.heap.empty()) return list.heap.front().price;
        if (list.bar == kNever) return kNever;
        make(from, to);
    }
}

void Transport::set_arcs_from(Colour c) {
    for (Colour other = 0; other < k_; ++other)
        if (other != c) residual_.set_arc(c, other, cheapest(c, other));
}

void Transport::spread_rest() {
    while (set_ends()) {
        const auto from = std::find(begin_.begin(), begin_.end(), 0.0) - begin_.begin();
        const auto to = std::find(end_.begin(), end_.end(), 0.0) - end_.begin();
        const Vertex v = members_[from].back();
        leave(v);
        enter(v, static_cast<Colour>(to));
    }
}

namespace {

void check(const Instance& instance, const Centroids& centroids) {
    const Sizes& sizes = instance.sizes;
    const auto k = static_cast<std::size_t>(centroids.count);
    if (!sizes.limited() || sizes.least.size() != k)
        throw std::invalid_argument("limits are those of another number of clusters");
    if (!instance.constrained_vertices.empty() || instance.soft != nullptr ||
        std::any_of(sizes.rows.begin(), sizes.rows.end(), [](int rows) { return rows != 1; }))
        throw std::invalid_argument("rows must be by themselves, in no pair");
    long long least = 0, most = 0;
    for (std::size_t c = 0; c < k; ++c) {
        if (sizes.least[c] > sizes.most[c]) throw std::invalid_argument("least is above most");
        least += sizes.least[c];
        most += sizes.most[c];
    }
    if (least > instance.size || most < instance.size)
        throw std::invalid_argument("the limits leave no room for all rows");
}

// Row after row, those nearest to a centroid first, each to the nearest that has room. Clusters
// with too few get all that are left as soon as these are no more than they lack. When time is up,
// the first cluster with room is near enough.
template <class Points, class Distance>
std::vector<Colour> nearest_with_room(const Instance& instance, const Centroids& centroids,
                                      const Points& points, Distance distance, Stopper& stopper) {
    const Sizes& sizes = instance.sizes;
    const auto near = [&](Vertex v) {
        double least = std::numeric_limits<double>::infinity();
        for (Colour c = 0; c < centroids.count && !stopper.stopped(); ++c)
            least = std::min(least, static_cast<double>(distance(points[v], centroids[c])));
        return least;
    };
    std::vector<std::pair<double, Vertex>> order(instance.size);
    for_blocks(*instance.pool, instance.blocks(instance.size),
               [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t v = begin; v < end; ++v) {
                       stopper.should_stop();
                       order[v] = {near(static_cast<Vertex>(v)), static_cast<Vertex>(v)};
                   }
               });
    std::sort(order.begin(), order.end());
    std::vector<Colour> colour(instance.size, kUncoloured);
    std::vector<int> rows(centroids.count);
    long long lacking = std::accumulate(sizes.least.begin(), sizes.least.end(), 0LL);
    long long left = instance.size;
    Colour with_room = 0;
    for (const auto& [_, v] : order) {
        const bool all_are_needed = left <= lacking;
        const auto admits = [&](Colour c) {
            return rows[c] < (all_are_needed ? sizes.least[c] : sizes.most[c]);
        };
        Colour c = kUncoloured;
        if (!stopper.should_stop()) c = nearest_colour(points[v], centroids, distance, admits);
        // What is full for all is full for those that are needed.
        while (c < 0 && rows[with_room] >= sizes.most[with_room]) ++with_room;
        for (Colour first = with_room; c < 0; ++first)
            if (admits(first)) c = first;
        lacking -= rows[c] < sizes.least[c];
        ++rows[c];
        --left;
        colour[v] = c;
    }
    return colour;
}

Out1<Colour> transport(const Instance& instance, In2<double> array, Stopper& stopper) {
    const Centroids centroids(instance, array);
    check(instance, centroids);
    return to_numpy(unlocked([&] {
        return with_distances(instance, [&](const auto& points, auto distance) {
            if (centroids.count > Transport::kMostClusters)
                return nearest_with_room(instance, centroids, points, distance, stopper);
            std::vector<Colour> nearest(instance.size);
            for_blocks(*instance.pool, instance.blocks(instance.size),
                       [&](std::size_t begin, std::size_t end, int) {
                           for (std::size_t v = begin; v < end; ++v)
                               nearest[v] = stopper.should_stop()
                                                ? static_cast<Colour>(v % centroids.count)
                                                : nearest_colour(points[v], centroids, distance);
                       });
            const auto cost = [&](Vertex v, Colour c) {
                return instance.weight[v] * distance(points[v], centroids[c]);
            };
            return Transport(instance, centroids.count, cost, std::move(nearest)).solve(stopper);
        });
    }));
}

}  // namespace

void bind_transport(nb::module_& m) {
    m.def("transport", &transport, nb::arg("instance"), nb::arg("centroids"), nb::arg("stopper"));
}

}  // namespace kempe
