// What has changed, who has looked since, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "basics/types.h"

namespace kempe {

using Time = std::uint32_t;

// Time passes with every move. A vertex looks again at a cluster only if that cluster or its own
// has changed since it last looked.
class Clock {
 public:
    Clock(int vertices, int k) : changed_(k), recoloured_(k), looked_(vertices), recent_(k) {}

    Time now() const { return now_; }
    void advance() { ++now_; }
    // Whether time may run out in a trial from now on.
    bool is_late() const { return now_ > kLatest; }

    // Everything has changed, and nobody has looked.
    void restart() {
        now_ = 1;
        settled_ = 0;
        std::fill(changed_.begin(), changed_.end(), now_);
        std::fill(recoloured_.begin(), recoloured_.end(), now_);
        std::fill(looked_.begin(), looked_.end(), 0);
        for (Colour c = 0; c < static_cast<Colour>(recent_.size()); ++c) recent_[c] = c;
    }

    // The centroid or the weight of a cluster has changed.
    void touch(Colour c) {
        changed_[c] = now_;
        int position = 0;
        while (recent_[position] != c) ++position;
        for (; position > 0; --position) recent_[position] = recent_[position - 1];
        recent_[0] = c;
    }
    Time changed(Colour c) const { return changed_[c]; }
    // A vertex has come or gone.
    void recolour(Colour c) { recoloured_[c] = now_; }
    // When a cluster has changed in any way.
    Time altered(Colour c) const { return std::max(changed_[c], recoloured_[c]); }

    // So many clusters have changed after `since`, as far as there are no more than `most`.
    int count_changed_since(Time since, int most) const {
        const int k = static_cast<int>(recent_.size());
        int count = 0;
        while (count < k && count <= most && changed_[recent_[count]] > since) ++count;
        return count;
    }
    // Clusters, the most recently changed first.
    Colour recent(int position) const { return recent_[position]; }
    template <class Use>
    void for_changed_since(Time since, Use&& use) const {
        for (Colour c : recent_) {
            if (changed_[c] <= since) return;
            use(c);
        }
    }
    // Clusters that changed after `since` change once more, now.
    template <class Use>
    void change_again(Time since, Use&& use) {
        for_changed_since(since, use);
        for (Colour c : recent_) {
            if (changed_[c] <= since) return;
            changed_[c] = now_;
        }
    }

    // When a vertex last looked. At the beginning of a trial all have.
    Time looked(Vertex v) const { return std::max(looked_[v], settled_); }
    void look(Vertex v) { looked_[v] = now_; }
    bool has_news_for(Vertex v) const { return changed_[recent_[0]] > looked(v); }

    // A trial begins: every vertex has looked at everything.
    void settle() { settled_ = now_; }
    Time settled() const { return settled_; }
    bool has_looked_in_trial(Vertex v) const { return looked_[v] > settled_; }

 private:
    static constexpr Time kLatest = std::numeric_limits<Time>::max() / 2;

    Time now_ = 0;
    Time settled_ = 0;              // when the running trial began
    std::vector<Time> changed_;     // per cluster
    std::vector<Time> recoloured_;  // per cluster
    std::vector<Time> looked_;      // per vertex; what is earlier than settled_ means settled_
    std::vector<Colour> recent_;
};

}  // namespace kempe
