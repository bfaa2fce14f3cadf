// Something tried from a local optimum, which is kept or undone as a whole.
#pragma once

#include <limits>
#include <vector>

#include "engine/ledger.h"
#include "engine/neighbourhood.h"

namespace kempe {

// Most of a clustering is as it was after the change that is tried, so vertices that it cannot
// concern are not looked at.
template <class Rules>
class Trial {
 public:
    explicit Trial(Ledger<Rules>& ledger);

    // Every vertex must have looked at everything.
    void begin();
    void end(bool keep);
    // The objective where the running trial began; infinite where none is running.
    double start() const { return start_; }

    // Take note of the local optimum that the next trial starts from, if that is not yet done.
    void note_optimum();
    void forget_optimum() { noted_ = false; }
    const Neighbourhood<Rules>& neighbourhood() const { return neighbourhood_; }

    // Find those that clusters which have changed since then may concern.
    void gather_visits();
    const std::vector<Vertex>& visits() const { return visits_; }

    // Let the centroids follow that have stood still. Untouched clusters have their means as
    // reference already.
    void release_centroids();

 private:
    void keep_bounds();
    double safe_radius(Colour c) const;
    double stretch(Colour own, Colour other) const;

    Ledger<Rules>& ledger_;
    Neighbourhood<Rules> neighbourhood_;
    bool noted_ = false;  // whether the neighbourhood is that of the state
    double start_ = std::numeric_limits<double>::infinity();
    std::vector<Vertex> visits_;
};

KEMPE_DECLARE_FOR_ALL_RULES(Trial);

}  // namespace kempe
