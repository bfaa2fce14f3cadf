// Tabu search for a clustering that breaks the cheapest set of pairs: move a vertex at the end of a
// broken pair to the cluster that pulls it most, and do not move it back for a while.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "basics/checks.h"
#include "basics/random.h"
#include "basics/stopper.h"
#include "basics/vertex_list.h"
#include "module.h"
#include "problem/soft_pairs.h"

namespace kempe {
namespace {

constexpr std::int64_t kLongStep = 10'000;

class BreakingSearch {
 public:
    BreakingSearch(const SoftPairs& pairs, int k, const Colour* start, std::uint64_t seed)
        : pairs_(pairs),
          k_(k),
          random_(seed),
          colour_(start, start + pairs.size()),
          best_(colour_),
          pull_(static_cast<std::size_t>(pairs.size()) * k, 0.0),
          tabu_until_(pull_.size(), 0),
          n_broken_(pairs.size(), 0),
          troubled_(pairs.size()) {
        for (Vertex v = 0; v < pairs.size(); ++v) {
            for (const auto& [u, price] : pairs.of(v)) {
                pull(v)[colour_[u]] += price;
                if (is_broken(v, u, price)) {
                    ++n_broken_[v];
                    cost_ += 0.5 * std::abs(price);
                }
            }
            refresh(v);
        }
        best_cost_ = cost_;
        // Sums of prices that are no whole numbers differ in their last digits.
        improvement_ = 1e-9 * std::max(cost_, 1e-300);
    }

    void run(std::int64_t iterations, Stopper& stopper) {
        for (iteration_ = 1; iteration_ <= iterations && !troubled_.empty(); ++iteration_) {
            if (is_time_up(stopper)) break;
            const Move move = best_move();
            if (move.vertex < 0) continue;  // everything is tabu; some of it expires soon
            apply(move);
            if (cost_ < best_cost_ - improvement_) {
                best_cost_ = cost_;
                best_ = colour_;
            }
        }
    }

    const std::vector<Colour>& best() const { return best_; }

 private:
    struct Move {
        Vertex vertex = -1;
        Colour colour = -1;
        double change = std::numeric_limits<double>::infinity();
    };

    // A step looks at every cluster of every vertex in trouble: where these are many, hundreds of
    // steps are too long to go on without a look at the clock.
    bool is_time_up(Stopper& stopper) const {
        const bool long_step = static_cast<std::int64_t>(troubled_.size()) * k_ > kLongStep;
        return long_step ? stopper.look() : stopper.should_stop();
    }

    double* pull(Vertex v) { return &pull_[static_cast<std::size_t>(v) * k_]; }

    bool is_broken(Vertex v, Vertex u, double price) const {
        return (colour_[v] == colour_[u]) != (price > 0);
    }

    // The best move of a vertex in trouble, ties at random; a tabu move only if it beats the best.
    Move best_move() {
        Move best;
        std::uint32_t ties = 0;
        for (Vertex v : troubled_) {
            const double* pulls = pull(v);
            const std::int64_t* until = &tabu_until_[static_cast<std::size_t>(v) * k_];
            const double now = pulls[colour_[v]];
            for (Colour c = 0; c < k_; ++c) {
                const double change = now - pulls[c];
                if (change > best.change || c == colour_[v]) continue;
                if (until[c] > iteration_ && cost_ + change >= best_cost_ - improvement_) continue;
                if (change < best.change) ties = 0;
                if (random_.below(++ties) == 0) best = {v, c, change};
            }
        }
        return best;
    }

    void apply(const Move& move) {
        const Vertex v = move.vertex;
        const Colour old = colour_[v];
        for (const auto& [u, price] : pairs_.of(v)) {
            const bool before = is_broken(v, u, price);
            pull(u)[old] -= price;
            pull(u)[move.colour] += price;
            const bool after = (move.colour == colour_[u]) != (price > 0);
            if (before == after) continue;
            n_broken_[u] += after ? 1 : -1;
            n_broken_[v] += after ? 1 : -1;
            refresh(u);
        }
        colour_[v] = move.colour;
        cost_ += move.change;
        refresh(v);
        const auto tenure = static_cast<std::int64_t>(random_.below(10)) +
                            static_cast<std::int64_t>(0.3 * static_cast<double>(troubled_.size()));
        tabu_until_[static_cast<std::size_t>(v) * k_ + old] = iteration_ + 1 + tenure;
    }

    void refresh(Vertex v) { troubled_.set(v, n_broken_[v] > 0); }

    const SoftPairs& pairs_;
    int k_;
    Random random_;
    std::vector<Colour> colour_, best_;
    std::vector<double> pull_;  // of each vertex to each cluster
    std::vector<std::int64_t> tabu_until_;
    std::vector<int> n_broken_;
    VertexList troubled_;  // with broken pairs
    double cost_ = 0.0, best_cost_ = 0.0, improvement_ = 0.0;
    std::int64_t iteration_ = 0;
};

Out1<Colour> fewest_broken(const SoftPairs& pairs, int k, In1<Colour> start, std::uint64_t seed,
                           std::int64_t iterations, Stopper& stopper) {
    check_n_clusters(k);
    check_colours(start, pairs.size(), k);
    return to_numpy(unlocked([&] {
        BreakingSearch search(pairs, k, start.data(), seed);
        search.run(iterations, stopper);
        return std::vector<Colour>(search.best());
    }));
}

}  // namespace

void bind_fewest_broken(nb::module_& m) {
    m.def("fewest_broken", &fewest_broken, nb::arg("pairs"), nb::arg("n_clusters"),
          nb::arg("start"), nb::arg("seed"), nb::arg("iterations"), nb::arg("stopper"));
}

}  // namespace kempe
