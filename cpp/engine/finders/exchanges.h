// Moves of several vertices round a cycle of clusters, where limits let nobody move alone.
#pragma once

#include <span>
#include <vector>

#include "basics/stopper.h"
#include "engine/finders/move_lists.h"
#include "engine/ledger.h"
#include "engine/near_clusters.h"
#include "engine/residual.h"

namespace kempe {

template <class Rules>
class Exchanges {
 public:
    explicit Exchanges(Ledger<Rules>& ledger);

    // Apply what pays until nothing does.
    void sweep(Stopper& stopper);
    // Move vertices at the least cost until all limits hold. Returns how many rows are still too
    // many or too few.
    int repair(Stopper& stopper);
    // Lists of moves.
    void forget();

    // What it costs to send single rows from one cluster to another by the cheapest way, one each;
    // infinite if there is none. And the moves that send so many, unless there are too few.
    double route_cost(Colour from, Colour to);
    bool add_route(Colour from, Colour to, int count, std::vector<SingleMove>& moves);

    // By how many rows clusters break their limits.
    int excess() const;
    // Clusters between which rows are exchanged, as of the last sweep.
    const NearClusters& near() const { return near_; }

 private:
    using Lists = MoveLists<Rules>;

    // Vertices of so many rows as few others have are left to others.
    static constexpr std::size_t kMostClasses = 4;
    // In a row, per cluster, that looked as if they would pay.
    static constexpr int kMostFailures = 4;

    // The lists of single rows, arcs set; nothing if there are no single rows.
    Lists* units();
    bool cancel_cycles(Lists& lists, Stopper& stopper);
    int repair_among_near(Stopper& stopper);
    bool send_rows(Lists& lists, Stopper& stopper);
    bool send_once(Lists& lists);
    void set_arcs(Lists& lists);
    void set_arcs_of(Lists& lists, Colour c);
    void collect_moves(Lists& lists, std::span<const Colour> nodes, bool closed);
    void apply_moves(Lists& lists);
    void drop_dearest(Lists& lists);
    int change_of_excess(Colour c, int rows) const;

    Ledger<Rules>& ledger_;
    Residual residual_;
    NearClusters near_;
    std::vector<Lists> fixed_, following_;  // one for each number of rows
    std::vector<SingleMove> moves_;
    std::vector<double> begin_, end_;
    Time arcs_of_units_ = 0;           // when they were set last
    std::int64_t near_of_units_ = -1;  // among which clusters
};

KEMPE_DECLARE_FOR_SIZED_RULES(Exchanges);

}  // namespace kempe
