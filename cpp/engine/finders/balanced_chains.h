// Several Kempe chains and free vertices of two clusters at once, so that limits hold which each of
// them alone would break.
#pragma once

#include <span>
#include <vector>

#include "basics/stopper.h"
#include "engine/finders/exchanges.h"
#include "engine/ledger.h"

namespace kempe {

// A knapsack: what is swapped between two clusters, each thing with its price and the rows that it
// takes from one to the other, so that the sum of prices is least for each number of rows. Rows
// that are too many then go back through other clusters, if that is worth it.
template <class Rules>
class BalancedChains {
 public:
    BalancedChains(Ledger<Rules>& ledger, Exchanges<Rules>& exchanges);

    void sweep(Stopper& stopper);
    // Which pairs of clusters had nothing.
    void forget();

 private:
    struct Item {
        double price;
        int rows;        // that it takes from the first cluster to the second
        int begin, end;  // its vertices
    };

    // More rows than these are not moved from one to the other at once.
    static constexpr int kMostRows = 63;
    static constexpr int kWidth = 2 * kMostRows + 1;
    // So many may go back through other clusters.
    static constexpr int kMostReturned = 4;

    bool try_pair(Colour first, Colour second);
    void collect_items(Colour first, Colour second);
    void add_item(std::span<const Vertex> vertices, Colour first, Colour second);
    void keep_cheapest_units();
    bool is_promising() const;
    void fill_table();
    bool apply_best(Colour first, Colour second);
    bool try_transfer(int rows, int returned, Colour first, Colour second);
    void collect_choice(int rows, Colour first, Colour second);
    bool stays_proper();

    double& best(std::size_t items, int rows) { return table_[items * kWidth + rows + kMostRows]; }

    Ledger<Rules>& ledger_;
    Exchanges<Rules>& exchanges_;
    bool has_several_ = false;  // whether there is anything but single rows in no pair
    std::vector<std::vector<Vertex>> members_;  // per cluster
    std::vector<Time> failed_;                  // by place of a pair of clusters
    std::int64_t version_ = 0;                  // of what is near
    std::vector<Item> items_;
    std::vector<Vertex> vertices_;  // of items
    std::vector<double> table_;     // least price of the first few items, per number of rows
    std::vector<SingleMove> moves_;
    std::vector<Colour> target_;  // per vertex, while a set of moves is looked at
    std::vector<char> listed_;    // per vertex: in an item already
};

KEMPE_DECLARE_FOR_SIZED_RULES(BalancedChains);

}  // namespace kempe
