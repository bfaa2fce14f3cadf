// Largest flow from a source to a sink through a small network (Dinic 1970), and the cut that
// bounds it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace kempe {

// Nodes are 0..n-1; source and sink are kept apart from them. Keeps its memory from one network to
// the next.
class MaxFlow {
 public:
    static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

    void begin(int nodes) {
        nodes_ = nodes;
        largest_ = 0.0;
        first_.assign(nodes + 2, kNone);
        arcs_.clear();
    }
    // It costs `supply` to cut a node off the source, and `demand` to cut it off the sink.
    void attach(int node, double supply, double demand) {
        if (supply > 0) connect(source(), node, supply, 0.0);
        if (demand > 0) connect(node, sink(), demand, 0.0);
    }
    // It costs so much to part two nodes, whichever of them stays with the source.
    void join(int one, int other, double capacity) { connect(one, other, capacity, capacity); }

    // Returns whether it came to an end before it had looked at more than so many arcs.
    bool run(std::size_t most_looks) {
        looks_ = 0;
        while (measure_levels()) {
            next_ = first_;
            while (push(source(), kUnbounded) > 0)
                if (looks_ > most_looks) return false;
        }
        return true;
    }
    // Arcs that the last run has looked at.
    std::size_t looks() const { return looks_; }
    // After a run: whether a node stays with the source in the cheapest cut.
    bool stays(int node) const { return level_[node] != kNone; }

 private:
    static constexpr int kNone = -1;
    // What is left below this share of the largest capacity is rounding.
    static constexpr double kRounding = 1e-12;

    struct Arc {
        int to, next;
        double left;
    };

    int source() const { return nodes_; }
    int sink() const { return nodes_ + 1; }

    void connect(int from, int to, double forth, double back) {
        arcs_.push_back({to, first_[from], forth});
        first_[from] = static_cast<int>(arcs_.size()) - 1;
        arcs_.push_back({from, first_[to], back});
        first_[to] = static_cast<int>(arcs_.size()) - 1;
        if (forth < kUnbounded) largest_ = std::max(largest_, forth);
    }

    bool measure_levels() {
        level_.assign(nodes_ + 2, kNone);
        queue_.assign(1, source());
        level_[source()] = 0;
        for (std::size_t head = 0; head < queue_.size(); ++head)
            for (int a = first_[queue_[head]]; a != kNone; a = arcs_[a].next) {
                const Arc& arc = arcs_[a];
                ++looks_;
                if (!is_open(arc) || level_[arc.to] != kNone) continue;
                level_[arc.to] = level_[queue_[head]] + 1;
                queue_.push_back(arc.to);
            }
        return level_[sink()] != kNone;
    }

    bool is_open(const Arc& arc) const { return arc.left > kRounding * largest_; }

    // Depth first, as far as the levels lead; at most as deep as there are nodes.
    double push(int node, double most) {
        if (node == sink()) return most;
        for (int& a = next_[node]; a != kNone; a = arcs_[a].next) {
            const Arc& arc = arcs_[a];
            ++looks_;
            if (!is_open(arc) || level_[arc.to] != level_[node] + 1) continue;
            const double pushed = push(arc.to, std::min(most, arc.left));
            if (pushed > 0) {
                arcs_[a].left -= pushed;
                arcs_[a ^ 1].left += pushed;
                return pushed;
            }
        }
        return 0.0;
    }

    int nodes_ = 0;
    double largest_ = 0.0;
    std::size_t looks_ = 0;
    std::vector<Arc> arcs_;
    std::vector<int> first_, next_, level_, queue_;
};

}  // namespace kempe
