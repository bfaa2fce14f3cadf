// Iterated relocation: take a centroid away, put it on a supernode, descend, keep what improves. Of
// several pairs of centroid and supernode only the most promising is tried.
#pragma once

#include <vector>

#include "basics/random.h"
#include "engine/descent.h"
#include "engine/screening.h"

namespace kempe {

template <class Rules>
class RelocationSearch {
 public:
    RelocationSearch(const Instance& instance, Descent<Rules>& descent, int k);

    // Take note of the local optimum that was loaded.
    void begin();

    // Try up to `tries` relocations from there on, until `patience` in a row
    // failed or the inertia is down to `target`. Returns how many were tried; `failures` counts
    // those in a row that failed, and goes on from what it was.
    int run(int tries, int patience, double target, Random& random, Stopper& stopper,
            int& failures);

    // What a relocation from the loaded local optimum is expected to change the inertia by.
    double estimate(Colour removed, Vertex onto);

 private:
    struct Relocation {
        Colour removed;
        Vertex onto;
    };

    Relocation draw_pair(Random& random) const;
    Relocation choose(Random& random);
    bool attempt(double& best, Random& random, Stopper& stopper);
    void sum_costs();
    double cheapest_merge(Colour c) const;
    void sum_removal_chances();

    const Instance& instance_;
    Descent<Rules>& descent_;
    const int k_;
    const int draws_;  // pairs, of which one is tried
    Screening<Rules> screening_;
    std::vector<double> cost_, removal_;  // cumulative
};

KEMPE_DECLARE_FOR_ALL_RULES(RelocationSearch);

}  // namespace kempe
