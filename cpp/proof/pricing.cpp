// Groups in blocks, and the climb to sets that pay much.
#include "proof/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/multiversion.h"
#include "module.h"

namespace kempe {
namespace {

// What each group of a block pays at a position.
KEMPE_MULTIVERSION
void payments(const double* coordinates, const double* weight, const double* price, const double* y,
              int dimension, int block, double* out) {
    for (int i = 0; i < block; ++i) out[i] = 0.0;
    for (int f = 0; f < dimension; ++f) {
        const double* column = coordinates + static_cast<std::size_t>(f) * block;
        for (int i = 0; i < block; ++i) {
            const double difference = column[i] - y[f];
            out[i] += difference * difference;
        }
    }
    for (int i = 0; i < block; ++i) out[i] = price[i] - weight[i] * out[i];
}

}  // namespace

NearbyGroups::NearbyGroups(const PricedGroups& groups) : groups_(groups) {
    std::vector<Vertex> all(groups.size);
    std::iota(all.begin(), all.end(), 0);
    arrange(all);
    update();
}

// Halves along the widest feature, until a part fits into a block. Ends: halves are smaller.
void NearbyGroups::arrange(std::span<Vertex> part) {
    if (part.size() <= kBlock) {
        if (!part.empty()) close_block(part);
        return;
    }
    int widest = 0;
    double width = -1.0;
    for (int f = 0; f < groups_.dimension; ++f) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (Vertex i : part) {
            low = std::min(low, groups_.point(i)[f]);
            high = std::max(high, groups_.point(i)[f]);
        }
        if (high - low > width) width = high - low, widest = f;
    }
    const auto middle = part.begin() + part.size() / 2;
    std::nth_element(part.begin(), middle, part.end(), [&](Vertex a, Vertex b) {
        return groups_.point(a)[widest] < groups_.point(b)[widest];
    });
    arrange({part.begin(), middle});
    arrange({middle, part.end()});
}

void NearbyGroups::close_block(std::span<const Vertex> part) {
    const int d = groups_.dimension;
    const std::size_t first = order_.size(), corner = low_.size();
    order_.resize(first + kBlock, -1);
    weight_.resize(first + kBlock, 0.0);
    price_.resize(first + kBlock, 0.0);
    coordinates_.resize((first + kBlock) * d, 0.0);
    low_.resize(corner + d, std::numeric_limits<double>::infinity());
    high_.resize(corner + d, -std::numeric_limits<double>::infinity());
    std::copy(part.begin(), part.end(), order_.begin() + first);
    for (std::size_t place = 0; place < part.size(); ++place) {
        weight_[first + place] = groups_.weight[part[place]];
        for (int f = 0; f < d; ++f) {
            const double x = groups_.point(part[place])[f];
            coordinates_[first * d + f * kBlock + place] = x;
            low_[corner + f] = std::min(low_[corner + f], x);
            high_[corner + f] = std::max(high_[corner + f], x);
        }
    }
}

void NearbyGroups::update() {
    reach_.assign(order_.size() / kBlock, -1.0);
    for (std::size_t place = 0; place < order_.size(); ++place) {
        if (order_[place] < 0) continue;
        const double price = groups_.price[order_[place]];
        price_[place] = price;
        double& reach = reach_[place / kBlock];
        reach = std::max(reach, price / weight_[place]);
    }
}

bool NearbyGroups::out_of_reach(std::size_t block, const double* y) const {
    const double* low = low_.data() + block * groups_.dimension;
    const double* high = high_.data() + block * groups_.dimension;
    double squared = 0.0;
    for (int f = 0; f < groups_.dimension; ++f) {
        const double outside = std::max({low[f] - y[f], y[f] - high[f], 0.0});
        squared += outside * outside;
    }
    return squared >= reach_[block];
}

template <class Body>
void NearbyGroups::paying(const double* y, Body&& body) const {
    double payment[kBlock];
    const int d = groups_.dimension;
    for (std::size_t block = 0; block < reach_.size(); ++block) {
        if (out_of_reach(block, y)) continue;
        const std::size_t first = block * kBlock;
        payments(coordinates_.data() + first * d, weight_.data() + first, price_.data() + first, y,
                 d, kBlock, payment);
        for (int i = 0; i < kBlock; ++i)
            if (payment[i] > 0.0) body(order_[first + i], payment[i]);
    }
}

Climber::Climber(const PricedGroups& groups, const NearbyGroups& nearby)
    : groups_(groups), nearby_(nearby) {
    payment_.assign(groups.size, 0.0);
    best_.assign(groups.size, -1);
    excluded_.assign(groups.size, 0);
}

// Finds who pays at a position, as the rules allow.
void Climber::look(const double* y) {
    for (Vertex i : found_) payment_[i] = 0.0;
    found_.clear();
    nearby_.paying(y, [&](Vertex i, double payment) {
        payment_[i] = payment;
        found_.push_back(i);
    });
    std::sort(found_.begin(), found_.end());
    choose_hubs();
    keep_best_of_units();
    for (Vertex i : found_) excluded_[i] = 0;
}

// A hub is taken if it pays more than those it excludes, as far as units let these pay.
void Climber::choose_hubs() {
    if (groups_.hubs.empty()) return;
    keep_best_of_units();
    for (std::size_t h = 0; h < groups_.hubs.size(); ++h) {
        const Vertex hub = groups_.hubs[h];
        if (payment_[hub] <= 0.0 || excluded_[hub]) continue;
        double others = 0.0;
        for (Vertex j : groups_.neighbours(h))
            if (!excluded_[j] && best_[groups_.unit[j]] == j) others += payment_[j];
        if (others > payment_[hub]) {
            excluded_[hub] = 1;
        } else {
            for (Vertex j : groups_.neighbours(h))
                if (payment_[j] > 0.0) excluded_[j] = 1;
        }
    }
}

void Climber::keep_best_of_units() {
    for (Vertex i : found_) best_[groups_.unit[i]] = -1;
    for (Vertex i : found_) {
        Vertex& best = best_[groups_.unit[i]];
        if (!excluded_[i] && (best < 0 || payment_[i] > payment_[best])) best = i;
    }
    members_.clear();
    for (Vertex i : found_)
        if (best_[groups_.unit[i]] == i) members_.push_back(i);
}

PricedSet Climber::climb(const double* start, int steps, Stopper& stopper) {
    const int d = groups_.dimension;
    PricedSet set;
    set.centre.assign(start, start + d);
    for (int step = 0; step < steps; ++step) {
        look(set.centre.data());
        if (members_ == set.members) break;
        set.members = members_;
        double weight = 0.0;
        std::vector<double> mean(d, 0.0);
        for (Vertex i : set.members) {
            weight += groups_.weight[i];
            for (int f = 0; f < d; ++f) mean[f] += groups_.weight[i] * groups_.point(i)[f];
        }
        if (set.members.empty()) break;
        for (int f = 0; f < d; ++f) set.centre[f] = mean[f] / weight;
        if (stopper.look()) break;
    }
    for (Vertex i : set.members) {
        double squared = 0.0;
        for (int f = 0; f < d; ++f) {
            const double difference = groups_.point(i)[f] - set.centre[f];
            squared += difference * difference;
        }
        set.cost += groups_.weight[i] * squared;
        set.value += groups_.price[i];
    }
    set.value -= set.cost;
    return set;
}

namespace {

constexpr int kMostThreads = 256;

void check_all_finite(std::span<const double> values, const char* message) {
    for (double value : values)
        if (!std::isfinite(value)) throw std::invalid_argument(message);
}

// The class that Python sees; used by one thread of Python at a time.
class Pricing {
 public:
    Pricing(In2<double> points, In1<double> weight, int threads) : pool_(checked_threads(threads)) {
        const std::size_t n = weight.shape(0);
        if (points.shape(0) != n || points.shape(1) == 0)
            throw std::invalid_argument("points must have one row for each weight, and a column");
        if (n == 0 || n > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("there must be groups, and not too many");
        groups_.size = static_cast<int>(n);
        groups_.dimension = static_cast<int>(points.shape(1));
        groups_.points.assign(points.data(), points.data() + points.size());
        groups_.weight.assign(weight.data(), weight.data() + n);
        check_all_finite(groups_.points, "points must be finite");
        for (double w : groups_.weight)
            if (!(w > 0.0 && std::isfinite(w)))
                throw std::invalid_argument("weights must be positive");
        groups_.price.assign(n, 0.0);
        groups_.unit.resize(n);
        std::iota(groups_.unit.begin(), groups_.unit.end(), 0);
        nearby_ = std::make_unique<NearbyGroups>(groups_);
    }

    // Which groups share what they pay, and which are hubs with which neighbours.
    void arrange(In1<std::int32_t> unit, In1<Vertex> hubs, In1<std::int64_t> offsets,
                 In1<Vertex> neighbours) {
        if (unit.shape(0) != groups_.unit.size())
            throw std::invalid_argument("every group needs a unit");
        for (std::size_t i = 0; i < unit.shape(0); ++i)
            if (unit.data()[i] < 0 || unit.data()[i] >= groups_.size)
                throw std::invalid_argument("units are numbered below the number of groups");
        check_vertices(hubs, groups_.size);
        check_vertices(neighbours, groups_.size);
        check_offsets({offsets.data(), offsets.shape(0)}, neighbours.shape(0));
        if (offsets.shape(0) != hubs.shape(0) + 1)
            throw std::invalid_argument("every hub needs its neighbours");
        groups_.unit.assign(unit.data(), unit.data() + unit.shape(0));
        groups_.hubs.assign(hubs.data(), hubs.data() + hubs.shape(0));
        groups_.hub_offsets.assign(offsets.data(), offsets.data() + offsets.shape(0));
        groups_.hub_neighbours.assign(neighbours.data(), neighbours.data() + neighbours.shape(0));
    }

    nb::tuple climb(In1<double> prices, In2<double> starts, int steps, Stopper& stopper) {
        take(prices);
        if (starts.shape(1) != static_cast<std::size_t>(groups_.dimension))
            throw std::invalid_argument("starts have the wrong number of features");
        check_all_finite({starts.data(), starts.size()}, "starts must be finite");
        std::vector<PricedSet> sets(starts.shape(0));
        unlocked([&] { climb_all(starts.data(), steps, stopper, sets); });
        return as_arrays(sets);
    }

    nb::tuple cover(In1<double> prices, double target, std::int64_t most_boxes, Stopper& stopper) {
        take(prices);
        if (std::isnan(target)) throw std::invalid_argument("the target is not a number");
        Covering found =
            unlocked([&] { return kempe::cover(groups_, target, most_boxes, pool_, stopper); });
        return nb::make_tuple(found.proven, found.boxes, found.looks,
                              to_numpy(std::move(found.above)));
    }

 private:
    static int checked_threads(int threads) {
        if (threads < 1) throw std::invalid_argument("there must be a thread");
        return std::min(threads, kMostThreads);
    }

    void take(const In1<double>& prices) {
        if (prices.shape(0) != groups_.price.size())
            throw std::invalid_argument("every group needs a price");
        check_all_finite({prices.data(), prices.shape(0)}, "prices must be finite");
        groups_.price.assign(prices.data(), prices.data() + prices.shape(0));
        nearby_->update();
    }

    void climb_all(const double* starts, int steps, Stopper& stopper,
                   std::vector<PricedSet>& sets) {
        std::vector<std::unique_ptr<Climber>> climbers(pool_.threads());
        pool_.run(static_cast<int>(sets.size()), [&](int number, int worker) {
            if (!climbers[worker]) climbers[worker] = std::make_unique<Climber>(groups_, *nearby_);
            if (stopper.stopped()) return;
            const double* start = starts + static_cast<std::size_t>(number) * groups_.dimension;
            sets[number] = climbers[worker]->climb(start, steps, stopper);
        });
    }

    nb::tuple as_arrays(std::vector<PricedSet>& sets) const {
        std::vector<double> values, costs, centres;
        std::vector<std::int64_t> offsets{0};
        std::vector<Vertex> members;
        for (const PricedSet& set : sets) {
            if (set.members.empty()) continue;
            values.push_back(set.value);
            costs.push_back(set.cost);
            centres.insert(centres.end(), set.centre.begin(), set.centre.end());
            members.insert(members.end(), set.members.begin(), set.members.end());
            offsets.push_back(static_cast<std::int64_t>(members.size()));
        }
        const std::size_t count = values.size();
        return nb::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(costs)),
                              to_numpy(std::move(centres), count, groups_.dimension),
                              to_numpy(std::move(offsets)), to_numpy(std::move(members)));
    }

    PricedGroups groups_;
    std::unique_ptr<NearbyGroups> nearby_;
    Pool pool_;
};

}  // namespace

void bind_pricing(nb::module_& m) {
    nb::class_<Pricing>(m, "Pricing")
        .def(nb::init<In2<double>, In1<double>, int>(), nb::arg("points"), nb::arg("weight"),
             nb::arg("threads"))
        .def("arrange", &Pricing::arrange, nb::arg("unit"), nb::arg("hubs"), nb::arg("offsets"),
             nb::arg("neighbours"))
        .def("climb", &Pricing::climb, nb::arg("prices"), nb::arg("starts"), nb::arg("steps"),
             nb::arg("stopper"))
        .def("cover", &Pricing::cover, nb::arg("prices"), nb::arg("target"), nb::arg("most_boxes"),
             nb::arg("stopper"));
}

}  // namespace kempe
