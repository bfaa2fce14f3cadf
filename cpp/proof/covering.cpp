// Branch and bound over the position of a centre, in boxes.
//
// In a box each group pays for sure (f >= 0 everywhere), nothing (f <= 0 everywhere), or perhaps.
// A sum of f is a concave quadratic whose largest value in a box is known, coordinate by
// coordinate. What pays perhaps is at most its chord: max(0, f) <= t (f - least) with t = most /
// (most - least), where least < 0 < most are the extreme values of f in the box; and that is such a
// quadratic too. Of two members of a unit, max(f, g) = g + max(0, f - g) has a chord in the same
// way.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/multiversion.h"
#include "proof/pricing.h"

namespace kempe {
namespace {

// constant + 2 linear'y - weight |y|^2, which is concave if the weight is not negative.
struct Quadratic {
    double weight = 0.0, constant = 0.0;
    std::vector<double> linear;

    explicit Quadratic(int dimension) : linear(dimension, 0.0) {}

    void add(const Quadratic& other, double factor) {
        weight += factor * other.weight;
        constant += factor * other.constant;
        for (std::size_t f = 0; f < linear.size(); ++f) linear[f] += factor * other.linear[f];
    }
    double term(std::size_t f, double y) const { return (2.0 * linear[f] - weight * y) * y; }
    double at(const std::vector<double>& y) const {
        double value = constant;
        for (std::size_t f = 0; f < linear.size(); ++f) value += term(f, y[f]);
        return value;
    }
};

struct Box {
    std::vector<double> low, high;
};

struct Range {
    double least, most;
};

Range range_of(const Quadratic& q, const Box& box) {
    Range range{q.constant, q.constant};
    for (std::size_t f = 0; f < q.linear.size(); ++f) {
        const double a = q.term(f, box.low[f]), b = q.term(f, box.high[f]);
        double least = std::min(a, b), most = std::max(a, b);
        const double turn = q.weight != 0.0 ? q.linear[f] / q.weight : box.low[f];
        if (turn > box.low[f] && turn < box.high[f]) {
            const double there = q.term(f, turn);
            least = std::min(least, there), most = std::max(most, there);
        }
        range.least += least, range.most += most;
    }
    return range;
}

std::vector<double> highest_point(const Quadratic& q, const Box& box) {
    std::vector<double> y(q.linear.size());
    for (std::size_t f = 0; f < y.size(); ++f)
        y[f] = q.weight > 0.0 ? std::clamp(q.linear[f] / q.weight, box.low[f], box.high[f])
                              : (q.linear[f] > 0.0 ? box.high[f] : box.low[f]);
    return y;
}

// Squared distance of a point to the nearest and farthest places of a box, by coordinate.
KEMPE_MULTIVERSION
void squares_to_box(const double* x, const double* middle, const double* half, int dimension,
                    double* near, double* far) {
    for (int f = 0; f < dimension; ++f) {
        const double off = std::fabs(x[f] - middle[f]);
        const double outside = off > half[f] ? off - half[f] : 0.0;
        near[f] = outside * outside;
        far[f] = (off + half[f]) * (off + half[f]);
    }
}

struct Task {
    Box box;
    Quadratic sure;              // sum of those that pay for sure
    std::vector<Vertex> others;  // those that may pay, units next to each other
    int depth = 0;
};

class Coverer {
 public:
    Coverer(const PricedGroups& groups, double target)
        : groups_(groups), d_(groups.dimension), target_(target), hubs_of_(groups.size, 0) {
        if (groups.hubs.size() > kMostHubs) throw std::invalid_argument("there are too many hubs");
        number_.assign(groups.size, -1);
        for (auto* values : {&near_, &far_, &middle_, &half_}) values->assign(d_, 0.0);
        for (std::size_t h = 0; h < groups.hubs.size(); ++h) {
            number_[groups.hubs[h]] = static_cast<int>(h);
            for (Vertex j : groups.neighbours(h)) hubs_of_[j] |= 1u << h;
        }
        square_.resize(groups.size);
        for (Vertex i = 0; i < groups.size; ++i)
            square_[i] =
                std::inner_product(groups.point(i), groups.point(i) + d_, groups.point(i), 0.0);
    }

    // The box of all groups: a centre outside of it is farther from all of them than its
    // projection onto the box.
    Task root() const {
        const double inf = std::numeric_limits<double>::infinity();
        Task task{{std::vector<double>(d_, inf), std::vector<double>(d_, -inf)}, Quadratic(d_), {}};
        for (Vertex i = 0; i < groups_.size; ++i) {
            if (groups_.price[i] <= 0.0) continue;
            task.others.push_back(i);
            for (int f = 0; f < d_; ++f) {
                task.box.low[f] = std::min(task.box.low[f], groups_.point(i)[f]);
                task.box.high[f] = std::max(task.box.high[f], groups_.point(i)[f]);
            }
        }
        std::sort(task.others.begin(), task.others.end(), [&](Vertex a, Vertex b) {
            return std::pair(groups_.unit[a], a) < std::pair(groups_.unit[b], b);
        });
        return task;
    }

    // Looks at a box; what it is split into is added to `open`. Whatever it is called with: the
    // depth ends it.
    void process(Task task, std::vector<Task>& open) {
        looks += static_cast<std::int64_t>(task.others.size());
        const double bound = bound_of(task);
        if (bound <= target_) return;
        const int hub = hub_to_decide(task);
        if (hub >= 0) return decide(std::move(task), hub, open);
        const bool exact = task.others.empty() || task.depth >= kDeepest;
        if (exact || task.depth % kLookEvery == 0) {
            std::vector<double> y = highest_point(total_, task.box);
            if (exact || value_at(task, y) > target_) {
                above = std::move(y);
                return;
            }
        }
        split(std::move(task), open);
    }

    std::int64_t looks = 0;
    std::vector<double> above;

 private:
    static constexpr std::size_t kMostHubs = 32;
    static constexpr int kDeepest = 400, kLookEvery = 4;

    // Bounds what is paid in the box, and takes out of the task what is certain there.
    double bound_of(Task& task) {
        enter(task.box);
        total_ = Quadratic(d_);
        scores_.assign(d_, 0.0);
        kept_.clear();
        const std::vector<Vertex>& others = task.others;
        for (std::size_t first = 0, next; first < others.size(); first = next) {
            const std::int32_t unit = groups_.unit[others[first]];
            for (next = first + 1; next < others.size() && groups_.unit[others[next]] == unit;)
                ++next;
            add_unit(task, {others.data() + first, others.data() + next});
        }
        total_.add(task.sure, 1.0);
        task.others = kept_;
        return range_of(total_, task.box).most;
    }

    void add_unit(Task& task, std::span<const Vertex> unit) {
        if (unit.size() == 1) return add_single(task, unit[0]);
        paying_.clear();
        for (Vertex i : unit)
            if (range_of_group(i).most > 0.0) paying_.push_back(i);
        if (paying_.size() > 1)
            add_several(task);
        else if (!paying_.empty())
            add_single(task, paying_[0]);
    }

    // Extreme values of f; `near_` and `far_` are the least and largest squares by coordinate.
    Range range_of_group(Vertex i) {
        const double* x = groups_.point(i);
        squares_to_box(x, middle_.data(), half_.data(), d_, near_.data(), far_.data());
        double near = 0.0, far = 0.0;
        for (int f = 0; f < d_; ++f) near += near_[f], far += far_[f];
        return {groups_.price[i] - groups_.weight[i] * far,
                groups_.price[i] - groups_.weight[i] * near};
    }

    void enter(const Box& box) {
        for (int f = 0; f < d_; ++f) {
            middle_[f] = 0.5 * (box.low[f] + box.high[f]);
            half_[f] = 0.5 * (box.high[f] - box.low[f]);
        }
    }

    void add_group(Quadratic& to, Vertex i, double factor, double less) const {
        const double w = factor * groups_.weight[i];
        const double* x = groups_.point(i);
        to.weight += w;
        to.constant += factor * (groups_.price[i] - less) - w * square_[i];
        for (int f = 0; f < d_; ++f) to.linear[f] += w * x[f];
    }

    void add_single(Task& task, Vertex i) {
        const Range range = range_of_group(i);
        if (range.most <= 0.0) return;
        if (range.least >= 0.0 && number_[i] < 0) return add_group(task.sure, i, 1.0, 0.0);
        kept_.push_back(i);
        const double least = std::min(range.least, 0.0);
        const double width = range.most - least, share = range.most / width;
        add_group(total_, i, share, least);
        note_width(i, share * -least / width);
    }

    // What the chord loses is put down to the coordinates in proportion to how f changes in them.
    void note_width(Vertex i, double factor) {
        for (int f = 0; f < d_; ++f)
            scores_[f] += factor * groups_.weight[i] * (far_[f] - near_[f]);
    }

    void add_several(Task& task) {
        Quadratic h(d_), f(d_), difference(d_);
        std::vector<Vertex> in_question{paying_[0]};
        add_group(h, paying_[0], 1.0, 0.0);
        for (std::size_t next = 1; next < paying_.size(); ++next) {
            f = Quadratic(d_);
            add_group(f, paying_[next], 1.0, 0.0);
            difference = f;
            difference.add(h, -1.0);
            const Range range = range_of(difference, task.box);
            if (range.most <= 0.0) {
                // Below one group it is below it in every part of the box; a chord will sink.
                if (in_question.size() > 1) in_question.push_back(paying_[next]);
                continue;
            }
            if (range.least >= 0.0) {
                h = f, in_question = {paying_[next]};
                continue;
            }
            const double share = range.most / (range.most - range.least);
            h.add(difference, share);
            h.constant -= share * range.least;
            in_question.push_back(paying_[next]);
        }
        if (in_question.size() == 1) return add_single(task, in_question[0]);
        const Range range = range_of(h, task.box);
        const double least = std::min(range.least, 0.0);
        const double share = range.most / (range.most - least);
        total_.add(h, share);
        total_.constant -= share * least;
        for (Vertex i : in_question) {
            kept_.push_back(i);
            const Range own = range_of_group(i);
            if (own.most > own.least) note_width(i, 0.25);
        }
    }

    // The undecided hub that pays most among those which exclude others; -1 if there is none.
    int hub_to_decide(const Task& task) {
        if (groups_.hubs.empty()) return -1;
        std::uint32_t excluding = 0;
        for (Vertex i : task.others) excluding |= hubs_of_[i];
        int best = -1;
        double most = 0.0;
        for (Vertex i : task.others) {
            if (number_[i] < 0 || !(excluding >> number_[i] & 1u)) continue;
            const double pays = range_of_group(i).most;
            if (pays > most) most = pays, best = number_[i];
        }
        return best;
    }

    void decide(Task task, int hub, std::vector<Task>& open) {
        const Vertex group = groups_.hubs[hub];
        Task in{task.box, task.sure, {}, task.depth + 1};
        add_group(in.sure, group, 1.0, 0.0);
        for (Vertex i : task.others)
            if (i != group && !(hubs_of_[i] >> hub & 1u)) in.others.push_back(i);
        std::erase(task.others, group);
        ++task.depth;
        open.push_back(std::move(task));
        open.push_back(std::move(in));
    }

    // What is paid at a position, hubs as if nothing were excluded by them.
    double value_at(const Task& task, const std::vector<double>& y) const {
        double value = task.sure.at(y);
        double best = 0.0;
        for (std::size_t place = 0; place < task.others.size(); ++place) {
            const Vertex i = task.others[place];
            if (place && groups_.unit[i] != groups_.unit[task.others[place - 1]])
                value += std::exchange(best, 0.0);
            double squared = 0.0;
            for (int f = 0; f < d_; ++f)
                squared += (groups_.point(i)[f] - y[f]) * (groups_.point(i)[f] - y[f]);
            best = std::max(best, groups_.price[i] - groups_.weight[i] * squared);
        }
        return value + best;
    }

    void split(Task task, std::vector<Task>& open) {
        int across = 0;
        double most = -1.0;
        for (int f = 0; f < d_; ++f)
            if (task.box.high[f] > task.box.low[f] && scores_[f] > most)
                most = scores_[f], across = f;
        const double middle = 0.5 * (task.box.low[across] + task.box.high[across]);
        ++task.depth;
        Task other = task;
        task.box.high[across] = middle;
        other.box.low[across] = middle;
        open.push_back(std::move(task));
        open.push_back(std::move(other));
    }

    const PricedGroups& groups_;
    const int d_;
    const double target_;
    std::vector<std::uint32_t> hubs_of_;  // hubs that a group is apart from, as bits
    std::vector<int> number_;             // of a hub among the hubs, else -1
    std::vector<double> square_;
    Quadratic total_{0};
    std::vector<double> scores_, near_, far_, middle_, half_;
    std::vector<Vertex> kept_, paying_;
};

// Boxes that are shared out; enough of them to keep all threads busy.
constexpr std::size_t kShared = 128;

}  // namespace

Covering cover(const PricedGroups& groups, double target, std::int64_t most_boxes, Pool& pool,
               Stopper& stopper) {
    Covering result;
    std::atomic<std::int64_t> boxes{0};
    std::atomic<bool> ended{false};
    std::mutex mutex;
    // Takes boxes from the front or the back of a list until it is long enough, or all is shown.
    const auto work = [&](Coverer& coverer, std::vector<Task>& open, std::size_t enough) {
        std::size_t front = 0;  // Ends: each box is counted, and at most so many are looked at.
        while (front < open.size() && !ended) {
            if (enough && open.size() - front >= enough) break;
            if (++boxes > most_boxes || stopper.look()) {
                ended = true;
                break;
            }
            Task task = enough ? std::move(open[front++]) : std::move(open.back());
            if (!enough) open.pop_back();
            coverer.process(std::move(task), open);
            if (!coverer.above.empty()) ended = true;
        }
        open.erase(open.begin(), open.begin() + front);
        const std::lock_guard lock(mutex);
        result.looks += std::exchange(coverer.looks, 0);
        if (!coverer.above.empty()) result.above = coverer.above;
    };
    Coverer first(groups, target);
    std::vector<Task> open;
    if (target < std::numeric_limits<double>::infinity()) open.push_back(first.root());
    if (!open.empty() && open[0].others.empty()) open.clear();  // nobody pays anywhere
    work(first, open, kShared);
    std::vector<std::unique_ptr<Coverer>> coverers(pool.threads());
    pool.run(static_cast<int>(open.size()), [&](int number, int worker) {
        if (!coverers[worker]) coverers[worker] = std::make_unique<Coverer>(groups, target);
        std::vector<Task> own;
        own.push_back(std::move(open[number]));
        work(*coverers[worker], own, 0);
    });
    result.boxes = boxes;
    result.proven = !ended && target >= 0.0;
    return result;
}

}  // namespace kempe
