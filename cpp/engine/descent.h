// Sequential Kempe descent: one move after the other, each applied at once if it lowers the
// objective. Which finder looks for moves next, and when to stop.
#pragma once

#include <limits>
#include <optional>
#include <type_traits>

#include "basics/stopper.h"
#include "engine/finders/balanced_chains.h"
#include "engine/finders/chains.h"
#include "engine/finders/exchanges.h"
#include "engine/finders/groups.h"
#include "engine/finders/large.h"
#include "engine/finders/merges.h"
#include "engine/finders/small.h"
#include "engine/finders/table.h"
#include "engine/ledger.h"
#include "engine/trial.h"

namespace kempe {

// Holds all working memory, so that descending again allocates nothing. One object per thread.
template <class Rules>
class Descent {
 public:
    using T = typename Rules::Value;

    Descent(const Instance& instance, const Points<T>& points, int k);

    const State<Rules>& state() const { return ledger_.state; }
    const GroupMoves<Rules>& groups() const { return groups_; }

    void load(const Colour* colours);
    // Move the centroid of a cluster; vertices will look at it again.
    void place_centroid(Colour c, const double* position);

    // Apply improving moves at the centroids as they are until there is none.
    void settle(Stopper& stopper) { run(Reference::placed, stopper); }
    // From what was loaded to a local optimum of the objective.
    void descend(Stopper& stopper);
    // From a proper colouring that breaks limits on rows to one that keeps them, at the centroids
    // as they are. Returns by how many rows they are still broken.
    int repair(Stopper& stopper);
    // Only what large data of many features does with chains: recolour the tied vertices at the
    // prices of a table.
    void assign_by_table(bool thorough, Stopper& stopper);

    // A trial starts from a local optimum and is kept or undone as a whole.
    void begin_trial();
    // Move the centroid of a cluster onto a vertex, let the colouring follow, then the centroids.
    void relocate(Colour c, Vertex onto, Stopper& stopper);
    void end_trial(bool keep);

    // Take note of the local optimum that the next trial starts from, if that is not yet done.
    void note_optimum() { trial_.note_optimum(); }
    const Neighbourhood<Rules>& neighbourhood() const { return trial_.neighbourhood(); }

 private:
    // Limits on rows need finders of their own.
    static constexpr bool kSized = State<Rules>::kCountsRows;
    struct Nothing {
        explicit Nothing(Ledger<Rules>&) {}
    };
    struct SizedFinders {
        explicit SizedFinders(Ledger<Rules>& ledger)
            : exchanges(ledger), balanced(ledger, exchanges) {}
        Exchanges<Rules> exchanges;
        BalancedChains<Rules> balanced;
    };

    // Changes of the objective below this share of what an average vertex costs are none.
    static constexpr double kSmallestShare = 1e-12;
    // Where a descent has come down below this share of its start, it goes on at a finer scale.
    static constexpr double kFarBelow = 1e-3;
    // With so many values of many features, a table is cheaper than points.
    static constexpr double kManyValues = 2e6;
    // Nothing that works takes so many passes over the vertices.
    static constexpr int kTrustedPasses = 1000;
    // A trial within this share of its start is worth a thorough look at chains.
    static constexpr double kNearlyAsLow = 1e-3;
    // A trial on large data is given up above this share of its start, if at the present rate it
    // would take so many more passes to get below it; one of clusters of limited sizes, if it would
    // take so many more rounds of all finders.
    static constexpr double kHopelessShare = 3e-3, kHopelessPasses = 40;
    static constexpr double kLostRounds = 3;

    // Share of the last one in what groups usually gain.
    static constexpr double kRecent = 0.1;

    void run(Reference reference, Stopper& stopper);
    void move_singles(Stopper& stopper);
    bool anybody_moves_alone() const;
    void move_chains(Stopper& stopper);
    void exchange(Stopper& stopper);
    void move_groups(Stopper& stopper);
    bool is_worth_a_thorough_look() const;
    bool goes_down();
    bool is_hopeless();
    bool is_lost();
    double smallest_change() const;
    void restart();

    const Instance& instance_;
    Ledger<Rules> ledger_;
    SmallSweep<Rules> small_;
    std::optional<LargeSweep<Rules>> large_;  // of large data
    ChainSwaps<Rules> chains_;
    TableSwaps<Rules> table_;
    [[no_unique_address]] std::conditional_t<kSized, SizedFinders, Nothing> sized_;
    GroupMoves<Rules> groups_;
    Merges<Rules> merges_;
    Trial<Rules> trial_;
    const bool uses_table_;
    int passes_ = 0;               // of the present run, over all vertices
    double last_objective_ = 0.0;  // after the last pass over large data
    double last_round_ = 0.0;      // the objective after the last round of all finders
    double usual_gain_ = 0.01;     // share of the objective that moving groups takes off
    double lowest_ = 0.0;          // as measured after passes that were not trusted
};

KEMPE_DECLARE_FOR_ALL_RULES(Descent);

}  // namespace kempe
