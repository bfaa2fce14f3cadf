// A proper colouring with everything that depends on it kept in step: neighbour counts, cluster
// weights, means. Kempe chains are found, priced, swapped and undone here; which to try is
// decided elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "basics/distances.h"
#include "problem/instance.h"

namespace kempe {

// What a move is judged by.
enum class Objective {
    fixed_centroids,  // cost to given centroids (the paper's KSAssignment)
    inertia,  // exact change of the inertia: centroids follow every move (Hartigan and Wong)
};

// A Kempe chain in two colours, seen from one of them. Its vertices lie in Partition::chain().
struct Chain {
    Colour from = 0, to = 0;
    double weight = 0.0;  // weight that enters `from` less weight that leaves it
    int vertices = 0;     // vertices that enter `from` less vertices that leave it
};

template <class T>
class Partition {
 public:
    Partition(const Instance& instance, const Points<T>& points, int k)
        : instance_(instance),
          points_(points),
          k_(k),
          d_(instance.dimension),
          colour_(instance.size),
          slot_(instance.size, -1),
          mean_(std::size_t(k) * d_),
          centroid_(std::size_t(k) * d_),
          by_feature_(d_ <= kFewFeatures ? centroid_.size() : 0),
          weight_(k),
          size_(k),
          origin_(d_),
          shift_(d_),
          mark_(instance.size, 0) {
        std::int32_t next = 0;
        for (Vertex v : instance.constrained_vertices) slot_[v] = next++;
        neighbour_count_.resize(std::size_t(next) * k);
        chain_.reserve(instance.constrained_vertices.size() + 1);
        measure_spread();
    }

    // Start from a proper colouring, centroids at the means.
    void load(const Colour* colours) {
        std::copy_n(colours, instance_.size, colour_.begin());
        std::fill(neighbour_count_.begin(), neighbour_count_.end(), 0);
        for (Vertex v : instance_.constrained_vertices)
            for (Vertex u : instance_.graph.neighbours(v)) ++neighbours(v, colour_[u]);
        compute_means();
        for (Colour c = 0; c < k_; ++c) use_mean(c);
        log_.clear();
    }

    const std::vector<Colour>& colours() const { return colour_; }
    Colour colour(Vertex v) const { return colour_[v]; }
    double cluster_weight(Colour c) const { return weight_[c]; }
    const double* cluster_weights() const { return weight_.data(); }
    int cluster_size(Colour c) const { return size_[c]; }
    const double* centroid(Colour c) const { return centroid_.data() + std::size_t(c) * d_; }
    const double* by_feature() const { return by_feature_.empty() ? nullptr : by_feature_.data(); }
    const T* point(Vertex v) const { return points_[v]; }
    const std::vector<Vertex>& chain() const { return chain_; }

    // Position of a constrained vertex among them.
    std::size_t slot(Vertex v) const { return static_cast<std::size_t>(slot_[v]); }

    // Whether moving v to a colour needs no other vertex to move.
    bool moves_alone(Vertex v, Colour to) { return slot_[v] < 0 || neighbours(v, to) == 0; }

    double distance(Vertex v, Colour c) const {
        if (d_ > 8) return distance_between(points_[v], centroid(c), d_);
        return squared_distance(points_[v], centroid(c), d_);
    }

    // Inertia between supernodes, about the means: total spread less what the means explain.
    double inertia() const {
        double explained = 0.0;
        for (Colour c = 0; c < k_; ++c) {
            double square = 0.0;
            for (int f = 0; f < d_; ++f) {
                const double offset = mean_[std::size_t(c) * d_ + f] - origin_[f];
                square += offset * offset;
            }
            explained += weight_[c] * square;
        }
        return spread_ - explained;
    }

    // Place the reference of a cluster for fixed-centroid moves.
    void place_centroid(Colour c, const double* position) {
        std::copy_n(position, d_, centroid_.data() + std::size_t(c) * d_);
        copy_by_feature(c);
    }
    void place_centroid_on(Colour c, Vertex v) {
        const T* position = points_[v];
        for (int f = 0; f < d_; ++f) centroid_[std::size_t(c) * d_ + f] = position[f];
        copy_by_feature(c);
    }
    void use_mean(Colour c) { place_centroid(c, mean_.data() + std::size_t(c) * d_); }

    // The chain of one vertex.
    Chain single(Vertex v, Colour to) {
        const Colour from = colour_[v];
        const double w = instance_.weight[v];
        chain_.assign(1, v);
        const T* position = points_[v];
        const double* origin = centroid(from);
        for (int f = 0; f < d_; ++f) shift_[f] = -w * (position[f] - origin[f]);
        return {from, to, -w, -1};
    }

    // The chain of v in its colour and another, breadth first. `shift_` becomes the sum of
    // weight * (point - centroid of `from`), positive for what enters `from`, negative for what
    // leaves.
    Chain collect(Vertex v, Colour to) {
        std::fill(shift_.begin(), shift_.end(), 0.0);
        const double* origin = centroid(colour_[v]);
        return walk(v, to, [&](Vertex u, double w) { add_to_shift(u, w, origin); });
    }

    // The same without the points: `price` is the change at fixed centroids, from a table of
    // squared distances of the constrained vertices to the centroids, and `turnover` the sum of its
    // absolute terms.
    Chain collect_priced(Vertex v, Colour to, const float* table, double& price, double& turnover) {
        price = turnover = 0.0;
        const Colour from = colour_[v];
        return walk(v, to, [&](Vertex u, double w) {
            const float* row = table + slot(u) * k_;
            const double term = w * (static_cast<double>(row[from]) - row[to]);
            price += term;
            turnover += std::abs(term);
        });
    }
    // What `collect` would have gathered from the points.
    void gather_shift(const Chain& chain) {
        std::fill(shift_.begin(), shift_.end(), 0.0);
        const double* origin = centroid(chain.from);
        for (Vertex u : chain_)
            add_to_shift(u, colour_[u] == chain.from ? -instance_.weight[u] : instance_.weight[u],
                         origin);
    }

    double distance_to_mean(Colour c) const {
        return std::sqrt(distance_between(centroid(c), mean_.data() + std::size_t(c) * d_, d_));
    }

    // Whether swapping would leave a cluster without vertices, or without any weight.
    bool empties(const Chain& chain) const {
        return size_[chain.from] + chain.vertices <= 0 || size_[chain.to] - chain.vertices <= 0 ||
               weight_[chain.from] + chain.weight <= 0 || weight_[chain.to] - chain.weight <= 0;
    }

    // Change of the objective when the collected chain is swapped. With t = shift_, m = weight that
    // enters `from`, g = centroid(to) - centroid(from): at fixed centroids the swap costs
    // 2 t.g - m |g|^2; letting the centroids follow saves |t|^2 / (W_from + m) and
    // |t - m g|^2 / (W_to - m) on top. Infinite if it would leave a cluster without vertices or
    // weight.
    double change(const Chain& chain, Objective objective) const {
        constexpr double never = std::numeric_limits<double>::infinity();
        if (empties(chain)) return never;
        const double* a = centroid(chain.from);
        const double* b = centroid(chain.to);
        const double m = chain.weight;
        double tg = 0.0, gg = 0.0, tt = 0.0, rest = 0.0;
        for (int f = 0; f < d_; ++f) {
            const double g = b[f] - a[f], t = shift_[f], r = t - m * g;
            tg += t * g;
            gg += g * g;
            tt += t * t;
            rest += r * r;
        }
        const double fixed = 2 * tg - m * gg;
        if (objective == Objective::fixed_centroids) return fixed;
        const double saved = tt / (weight_[chain.from] + m) + rest / (weight_[chain.to] - m);
        // What is left must exceed the rounding error of what cancels.
        return fixed - saved + 1e-12 * (2 * std::abs(tg) + std::abs(m) * gg + saved);
    }

    // How far the two means moved in the last swap.
    double step_from() const { return step_from_; }
    double step_to() const { return step_to_; }

    // Swap the collected chain. With the inertia as objective the centroids follow.
    void swap(const Chain& chain, Objective objective) {
        move_means(chain);
        for (Vertex u : chain_) {
            if (logging_) log_.emplace_back(u, colour_[u]);
            recolour(u, colour_[u] == chain.from ? chain.to : chain.from);
        }
        weight_[chain.from] += chain.weight;
        weight_[chain.to] -= chain.weight;
        size_[chain.from] += chain.vertices;
        size_[chain.to] -= chain.vertices;
        if (objective == Objective::inertia) {
            use_mean(chain.from);
            use_mean(chain.to);
        }
    }

    // Between begin_trial() and end_trial(), recolourings are logged so that they can be undone.
    void begin_trial() {
        logging_ = true;
        log_.clear();
        saved_mean_ = mean_;
        saved_weight_ = weight_;
        saved_size_ = size_;
    }
    void end_trial(bool keep) {
        logging_ = false;
        if (keep) return;
        for (auto entry = log_.rbegin(); entry != log_.rend(); ++entry)
            recolour(entry->first, entry->second);
        mean_.swap(saved_mean_);
        weight_.swap(saved_weight_);
        size_.swap(saved_size_);
    }

    // Squared distances of all constrained vertices to all centroids, rounded.
    void fill_table(std::vector<float>& table) const {
        table.resize(instance_.constrained_vertices.size() * k_);
        const std::vector<T> rounded(centroid_.begin(), centroid_.end());
        float* row = table.data();
        for (Vertex v : instance_.constrained_vertices) {
            for (Colour c = 0; c < k_; ++c)
                row[c] = static_cast<float>(
                    distance_between(points_[v], rounded.data() + std::size_t(c) * d_, d_));
            row += k_;
        }
    }

 private:
    // Up to this many features, distances to all centroids are computed centroid-parallel.
    static constexpr int kFewFeatures = 48;

    std::int32_t& neighbours(Vertex v, Colour c) {
        return neighbour_count_[std::size_t(slot_[v]) * k_ + c];
    }

    void add_to_shift(Vertex u, double w, const double* origin) {
        const T* position = points_[u];
        for (int f = 0; f < d_; ++f) shift_[f] += w * (position[f] - origin[f]);
    }

    // Breadth first through the vertices of two colours. `add` sees each with its weight, negative
    // if it leaves `from`.
    template <class Add>
    Chain walk(Vertex v, Colour to, Add&& add) {
        next_stamp();
        Chain chain{colour_[v], to, 0.0, 0};
        chain_.assign(1, v);
        mark_[v] = stamp_;
        for (std::size_t head = 0; head < chain_.size(); ++head) {
            const Vertex u = chain_[head];
            const bool leaves = colour_[u] == chain.from;
            const double w = leaves ? -instance_.weight[u] : instance_.weight[u];
            chain.weight += w;
            chain.vertices += leaves ? -1 : 1;
            add(u, w);
            enqueue_neighbours(u, leaves ? to : chain.from);
        }
        return chain;
    }

    void next_stamp() {
        if (++stamp_ != 0) return;
        std::fill(mark_.begin(), mark_.end(), 0);
        stamp_ = 1;
    }

    // The count says how many there are, so the scan ends at the last of them.
    void enqueue_neighbours(Vertex u, Colour wanted) {
        std::int32_t left = neighbours(u, wanted);
        if (left == 0) return;
        for (Vertex x : instance_.graph.neighbours(u)) {
            if (colour_[x] != wanted) continue;
            if (mark_[x] != stamp_) {
                mark_[x] = stamp_;
                chain_.push_back(x);
            }
            if (--left == 0) return;
        }
    }

    void recolour(Vertex v, Colour to) {
        const Colour from = colour_[v];
        colour_[v] = to;
        if (slot_[v] < 0) return;
        for (Vertex u : instance_.graph.neighbours(v)) {
            std::int32_t* count = &neighbours(u, 0);
            --count[from];
            ++count[to];
        }
    }

    // shift_ is relative to the reference of `from`, which need not be its mean.
    void move_means(const Chain& chain) {
        double* a = mean_.data() + std::size_t(chain.from) * d_;
        double* b = mean_.data() + std::size_t(chain.to) * d_;
        const double* origin = centroid(chain.from);
        const double m = chain.weight;
        const double into_from = 1.0 / (weight_[chain.from] + m);
        const double into_to = 1.0 / (weight_[chain.to] - m);
        double square_a = 0.0, square_b = 0.0;
        for (int f = 0; f < d_; ++f) {
            const double t = shift_[f] + m * origin[f];  // weighted sum that enters `from`
            const double step_a = (t - m * a[f]) * into_from;
            const double step_b = (m * b[f] - t) * into_to;
            a[f] += step_a;
            b[f] += step_b;
            square_a += step_a * step_a;
            square_b += step_b * step_b;
        }
        step_from_ = std::sqrt(square_a);
        step_to_ = std::sqrt(square_b);
    }

    void compute_means() {
        std::fill(mean_.begin(), mean_.end(), 0.0);
        std::fill(weight_.begin(), weight_.end(), 0.0);
        std::fill(size_.begin(), size_.end(), 0);
        for (Vertex v = 0; v < instance_.size; ++v) {
            const Colour c = colour_[v];
            const double w = instance_.weight[v];
            weight_[c] += w;
            ++size_[c];
            const T* position = points_[v];
            double* sum = mean_.data() + std::size_t(c) * d_;
            for (int f = 0; f < d_; ++f) sum[f] += w * position[f];
        }
        for (Colour c = 0; c < k_; ++c) {
            const double scale = weight_[c] > 0 ? 1.0 / weight_[c] : 0.0;
            for (int f = 0; f < d_; ++f) mean_[std::size_t(c) * d_ + f] *= scale;
        }
    }

    void copy_by_feature(Colour c) {
        if (by_feature_.empty()) return;
        for (int f = 0; f < d_; ++f)
            by_feature_[std::size_t(f) * k_ + c] = centroid_[std::size_t(c) * d_ + f];
    }

    // Weighted mean of all points, and the inertia about it: the inertia of one cluster.
    void measure_spread() {
        double total = 0.0;
        for (Vertex v = 0; v < instance_.size; ++v) {
            total += instance_.weight[v];
            for (int f = 0; f < d_; ++f) origin_[f] += instance_.weight[v] * points_[v][f];
        }
        for (double& x : origin_) x /= total;
        for (Vertex v = 0; v < instance_.size; ++v)
            spread_ += instance_.weight[v] * squared_distance(points_[v], origin_.data(), d_);
    }

    const Instance& instance_;
    const Points<T> points_;
    const int k_, d_;

    std::vector<Colour> colour_;
    std::vector<std::int32_t> slot_;             // row in neighbour_count_, -1 for free vertices
    std::vector<std::int32_t> neighbour_count_;  // neighbours of a vertex in each colour
    std::vector<double> mean_;                   // k x d, always exact
    std::vector<double> centroid_;               // k x d, what costs refer to
    std::vector<double> by_feature_;             // the same, d x k, when there are few features
    std::vector<double> weight_;
    std::vector<int> size_;  // vertices of each cluster
    std::vector<double> origin_;
    double spread_ = 0.0;

    bool logging_ = false;
    std::vector<std::pair<Vertex, Colour>> log_;
    std::vector<double> saved_mean_, saved_weight_;
    std::vector<int> saved_size_;

    double step_from_ = 0.0, step_to_ = 0.0;
    std::vector<double> shift_;
    std::vector<Vertex> chain_;
    std::vector<std::uint32_t> mark_;
    std::uint32_t stamp_ = 0;
};

}  // namespace kempe
