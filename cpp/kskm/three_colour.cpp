// Three-colour chains (appendix A.2 of the paper): components of the subgraph on three colours,
// their colours rotated either way and then improved by two-colour swaps inside the component.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "basics/arrays.h"
#include "basics/checks.h"
#include "basics/distances.h"
#include "basics/stopper.h"
#include "kskm/chains.h"
#include "kskm/mwis.h"
#include "module.h"
#include "problem/instance.h"

namespace kempe {
namespace {

// More than any swap can gain, yet sums of it stay finite.
constexpr double kForbidden = 1e200;

using Triple = std::array<Colour, 3>;

// Weight and sum of the points of one cluster.
struct Total {
    double weight = 0.0;
    std::vector<double> sum;

    explicit Total(int dimension) : sum(dimension, 0.0) {}
    template <class T>
    void add(double w, const T* point) {
        weight += w;
        for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += w * point[f];
    }
    // The inertia is the sum of squared norms, which never changes, less this.
    double explained() const {
        double square = 0.0;
        for (double s : sum) square += s * s;
        return weight > 0 ? square / weight : 0.0;
    }
};

// One component, with its own numbering of vertices and the colours 0, 1 and 2.
class Component {
 public:
    Component(const Instance& instance, const Colour* colours, const Triple& triple,
              const std::vector<Vertex>& vertices, std::vector<Vertex>& local)
        : instance_(instance), vertices_(vertices), before_(vertices.size()) {
        for (std::size_t i = 0; i < vertices.size(); ++i) {
            local[vertices[i]] = static_cast<Vertex>(i);
            before_[i] = static_cast<Colour>(
                std::find(triple.begin(), triple.end(), colours[vertices[i]]) - triple.begin());
        }
        all_.resize(vertices.size());
        std::iota(all_.begin(), all_.end(), 0);
        offsets_.push_back(0);
        for (Vertex v : vertices) {
            for (Vertex u : instance.graph.neighbours(v))
                if (local[u] >= 0) targets_.push_back(local[u]);
            offsets_.push_back(static_cast<std::int64_t>(targets_.size()));
        }
        for (Vertex v : vertices) local[v] = -1;
    }

    // The colours after rotating by `turn` and improving; the gain in inertia, of which `clusters`
    // are the totals before.
    //
    // The computed gain, a function of the colours alone, rises with every turn of the loop, so no
    // colouring comes twice. That improvements raise it is true by arithmetic, not by rounding.
    double rotate(int turn, const std::vector<Total>& clusters, Stopper& stopper,
                  std::vector<Colour>& after) {
        after.resize(before_.size());
        for (std::size_t i = 0; i < after.size(); ++i) after[i] = (before_[i] + turn) % 3;
        std::vector<Total> now = totals(clusters, after);
        double gain = gain_of(now, clusters);
        std::vector<Colour> better(after);
        while (!stopper.should_stop() && improve(now, better)) {
            now = totals(clusters, better);
            const double higher = gain_of(now, clusters);
            if (!(higher > gain)) break;
            gain = higher;
            after = better;
        }
        return gain;
    }

 private:
    static double gain_of(const std::vector<Total>& now, const std::vector<Total>& before) {
        double gain = 0.0;
        for (int c = 0; c < 3; ++c) gain += now[c].explained() - before[c].explained();
        return gain;
    }

    std::vector<Total> totals(std::vector<Total> clusters, const std::vector<Colour>& after) const {
        with_points(instance_, [&](const auto& points) {
            for (std::size_t i = 0; i < after.size(); ++i) {
                if (after[i] == before_[i]) continue;
                const double w = instance_.weight[vertices_[i]];
                clusters[before_[i]].add(-w, points[vertices_[i]]);
                clusters[after[i]].add(w, points[vertices_[i]]);
            }
        });
        return clusters;
    }

    // One KSAssignment inside the component.
    bool improve(const std::vector<Total>& clusters, std::vector<Colour>& after) {
        const Graph graph{offsets_.data(), targets_.data(), static_cast<int>(after.size())};
        Colouring colouring(graph, all_, 3, after.data(), costs(clusters, after));
        colouring.find_improving_chains(chains_);
        if (chains_.size() == 0) return false;
        const Conflicts conflicts = find_conflicts(graph, view(chains_));
        const auto chosen =
            greedy_independent_set({chains_.gain, conflicts.offsets, conflicts.targets});
        chains_.for_chosen(chosen, [&](Vertex v, Colour c) { after[v] = c; });
        return true;
    }

    // A cluster that the rotation emptied has no centroid; nothing may move into it.
    CostTable costs(const std::vector<Total>& clusters, const std::vector<Colour>& after) const {
        const int d = instance_.dimension;
        std::vector<double> centroid(d), cost(3 * after.size());
        for (int c = 0; c < 3; ++c) {
            const bool empty = clusters[c].weight <= 0;
            for (int f = 0; f < d; ++f)
                centroid[f] = empty ? 0.0 : clusters[c].sum[f] / clusters[c].weight;
            with_points(instance_, [&](const auto& points) {
                for (std::size_t i = 0; i < vertices_.size(); ++i)
                    cost[3 * i + c] =
                        empty && after[i] != c
                            ? kForbidden
                            : instance_.weight[vertices_[i]] *
                                  squared_distance(points[vertices_[i]], centroid.data(), d);
            });
        }
        return {std::move(cost), 3};
    }

    const Instance& instance_;
    const std::vector<Vertex>& vertices_;
    std::vector<Vertex> all_;
    std::vector<std::int64_t> offsets_;
    std::vector<Vertex> targets_;
    std::vector<Colour> before_;
    Moves chains_;
};

class ThreeColourSearch {
 public:
    ThreeColourSearch(const Instance& instance, const Colour* colours, int k, Stopper& stopper)
        : instance_(instance),
          colours_(colours),
          stopper_(stopper),
          k_(static_cast<Colour>(k)),
          totals_(k, Total(instance.dimension)),
          willing_(static_cast<std::size_t>(k) * k),
          stamp_(instance.size, -1),
          local_(instance.size, -1) {
        with_points(instance, [&](const auto& points) {
            for (Vertex v = 0; v < instance.size; ++v)
                totals_[colours[v]].add(instance.weight[v], points[v]);
            find_willing(points);
        });
    }

    // `fresh` marks the clusters that changed since the last search, all of them at first.
    Moves search(const bool* fresh) {
        for (Colour i = 0; i < k_; ++i)
            for (Colour j = i + 1; j < k_; ++j)
                for (Colour l = j + 1; l < k_; ++l) {
                    if (!fresh[i] && !fresh[j] && !fresh[l]) continue;
                    if (stopper_.look()) return std::move(moves_);
                    visit({i, j, l});
                }
        return std::move(moves_);
    }

 private:
    // A component can only become cheaper, for centroids as they are, if one of its vertices lies
    // closer to another centroid than to its own. In most triples none does.
    template <class Points>
    void find_willing(const Points& points) {
        const int d = instance_.dimension;
        std::vector<double> centroids(static_cast<std::size_t>(k_) * d);
        for (Colour c = 0; c < k_; ++c)
            for (int f = 0; f < d; ++f)
                if (totals_[c].weight > 0)
                    centroids[c * d + f] = totals_[c].sum[f] / totals_[c].weight;
        for (Vertex v : instance_.constrained_vertices) {
            const Colour own = colours_[v];
            const double cost = squared_distance(points[v], &centroids[own * d], d);
            for (Colour c = 0; c < k_; ++c)
                if (c != own && totals_[c].weight > 0 &&
                    squared_distance(points[v], &centroids[c * d], d) < cost)
                    willing_[own * k_ + c].push_back(v);
        }
    }

    void visit(const Triple& triple) {
        ++triples_;
        for (Colour from : triple)
            for (Colour to : triple)
                for (Vertex v : willing_[from * k_ + to])
                    if (stamp_[v] != triples_) {
                        grow(triple, v);
                        // A single vertex has no rotation that two-colour swaps have not tried.
                        if (component_.size() > 1) try_rotations(triple);
                    }
    }

    void grow(const Triple& triple, Vertex start) {
        component_.assign(1, start);
        stamp_[start] = triples_;
        for (std::size_t next = 0; next < component_.size(); ++next)
            for (Vertex u : instance_.graph.neighbours(component_[next])) {
                if (stamp_[u] == triples_) continue;
                const Colour c = colours_[u];
                if (c != triple[0] && c != triple[1] && c != triple[2]) continue;
                stamp_[u] = triples_;
                component_.push_back(u);
            }
    }

    void try_rotations(const Triple& triple) {
        Component component(instance_, colours_, triple, component_, local_);
        const std::vector<Total> clusters{totals_[triple[0]], totals_[triple[1]],
                                          totals_[triple[2]]};
        double scale = 0.0;
        for (const Total& total : clusters) scale += total.explained();
        for (int turn : {1, 2}) {
            const double gain = component.rotate(turn, clusters, stopper_, after_);
            if (gain > 1e-12 * scale) record(triple, gain);
        }
    }

    // Vertices that ended in their old colour belong to the move all the same: that they stay is
    // part of what makes it proper.
    void record(const Triple& triple, double gain) {
        for (std::size_t i = 0; i < component_.size(); ++i) {
            moves_.vertices.push_back(component_[i]);
            moves_.colours.push_back(triple[after_[i]]);
        }
        moves_.close(gain);
    }

    const Instance& instance_;
    const Colour* colours_;
    Stopper& stopper_;
    Colour k_;
    std::vector<Total> totals_;
    std::vector<std::vector<Vertex>> willing_;  // by own colour and the one that is closer
    std::vector<int> stamp_;                    // the triple in which a vertex was last visited
    std::vector<Vertex> local_, component_;
    std::vector<Colour> after_;
    int triples_ = -1;
    Moves moves_;
};

nb::tuple three_colour_moves(const Instance& instance, In1<Colour> colours, In1<bool> fresh,
                             Stopper& stopper) {
    const int k = static_cast<int>(fresh.shape(0));
    check_n_clusters(k);
    check_colours(colours, instance.size, k);
    return to_tuple(unlocked([&] {
        return ThreeColourSearch(instance, colours.data(), k, stopper).search(fresh.data());
    }));
}

}  // namespace

void bind_three_colour(nb::module_& m) {
    m.def("three_colour_moves", &three_colour_moves, nb::arg("instance"), nb::arg("colours"),
          nb::arg("fresh"), nb::arg("stopper"));
}

}  // namespace kempe
