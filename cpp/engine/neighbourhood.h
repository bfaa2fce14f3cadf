// Who is where in a local optimum, and how far from the centroid: so that a change in one place
// need not be looked at by vertices that it cannot concern.
#pragma once

#include <span>
#include <vector>

#include "engine/state.h"

namespace kempe {

template <class Rules>
class Neighbourhood {
 public:
    struct Member {
        Vertex vertex;
        double radius;  // distance to the centroid
    };

    Neighbourhood(const Instance& instance, int k);

    // Take note of a clustering whose centroids are its means.
    void note(const State<Rules>& state);

    // All members of a cluster.
    std::span<const Member> members(Colour c) const {
        return {members_.data() + offsets_[c],
                static_cast<std::size_t>(offsets_[c + 1] - offsets_[c])};
    }
    // Call `use` with each member of a cluster that is farther from the centroid than `radius`.
    template <class Use>
    void for_members_beyond(Colour c, double radius, Use&& use) const {
        if (widest_[c] <= radius) return;
        for (const Member& member : members(c))
            if (member.radius > radius) use(member);
    }
    // The largest weight of a member.
    double heaviest(Colour c) const { return heaviest_[c]; }

 private:
    void count(const State<Rules>& state);

    const Instance& instance_;
    const int k_;
    std::vector<Member> members_;  // cluster by cluster
    std::vector<int> offsets_, next_;
    std::vector<double> widest_, heaviest_;
};

KEMPE_DECLARE_FOR_ALL_RULES(Neighbourhood);

}  // namespace kempe
