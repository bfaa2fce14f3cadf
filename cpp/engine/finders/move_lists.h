// Of each cluster, the vertices that would leave it for each other one at the lowest price.
#pragma once

#include <limits>
#include <vector>

#include "engine/ledger.h"
#include "engine/near_clusters.h"

namespace kempe {

// How a move of one vertex is priced: as if the centroids stayed, which is what it costs where
// another takes its place, or with the means following, which is what it costs alone.
enum class Pricing { fixed, following };

// A few for each pair of clusters that are near to each other. They are made anew only where a
// cluster has changed, and kept in step with moves that are noted. All vertices of one object have
// as many rows.
template <class Rules>
class MoveLists {
 public:
    struct Candidate {
        double price;
        Vertex vertex;
    };

    MoveLists(const Ledger<Rules>& ledger, const NearClusters& near, std::vector<Vertex> vertices,
              int rows, Pricing pricing);
    // Lists point into memory that moves with them, and is not copied.
    MoveLists(const MoveLists&) = delete;
    MoveLists(MoveLists&&) = default;

    int rows() const { return rows_; }
    // Make anew what is out of date.
    void refresh();
    // Nothing is known any more.
    void forget();
    // Whether soft pairs count.
    void heed_pulls(bool heed) {
        if (!Rules::Ties::kPriced || heed == heeds_pulls_) return;
        heeds_pulls_ = heed;
        forget();
    }
    // The cheapest move from one cluster to another; vertex -1 if there is none.
    Candidate cheapest(Colour from, Colour to);
    // The vertex of the nth cheapest, the first being the 0th; -1 if so many are not known.
    Vertex nth(Colour from, Colour to, int position);
    // Leave it out until the lists are made anew.
    void drop_cheapest(Colour from, Colour to);
    // A vertex has moved.
    void note_move(Vertex v, Colour from);

 private:
    // Few lists lose more than one or two; one that has run out is likely to lose as many again.
    // On large data making one anew takes long, so it becomes longer, unless there are so many
    // that all together would take longer to clear than to make anew.
    static constexpr int kUsual = 6, kLength = 12, kLargeLength = 256;
    static constexpr std::size_t kLargeMemory = 1 << 20;
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    // Where fewer clusters than one in so many have changed, they are looked at one by one.
    static constexpr std::size_t kFew = 4;
    struct List {
        Candidate* entry = nullptr;  // cheapest first
        int length = 0;              // as many as there is room for
        int count = 0;
        bool complete = true;  // whether nothing was left out

        void begin(bool complete_so_far) {
            count = 0;
            complete = complete_so_far;
        }
    };

    static int length(const Instance& instance, int k);
    void make_places();
    void follow_near();
    // Gives each list its part of the memory.
    static void furnish(std::vector<List>& lists, std::vector<Candidate>& memory, int length);
    List& list(Colour from, Colour to) { return lists_[near_.place(from, to)]; }
    bool belongs(Vertex v) const { return ledger_.state.limits().rows(v) == rows_; }
    bool may_go(Vertex v, Colour from, Colour to) const {
        return ledger_.state.colour(v) == from && ledger_.state.ties().admit(v, to);
    }
    double likely_bar(Colour from, Colour to) const;
    void open(Colour from, Colour to);
    void look_at_all(Vertex v);
    void look_at_stale(Vertex v);
    void look_at_near(Vertex v);
    void list_anew(Candidate candidate, Colour from, Colour to);
    double price_all(Vertex v);
    double leaving_gain(Vertex v, double squared) const;
    double price(Vertex v, Colour to, double own, double other) const;
    static void insert(List& list, Candidate candidate);
    static void place(List& list, Candidate candidate);
    void offer(Vertex v, Colour to, double price);
    void refill(Colour from, Colour to);
    void collect(std::size_t begin, std::size_t end, Colour from, Colour to, List& found) const;

    const Ledger<Rules>& ledger_;
    const NearClusters& near_;
    const std::vector<Vertex> vertices_;
    const int rows_;
    const Pricing pricing_;
    bool heeds_pulls_ = true;   // where there are any
    const int length_;          // of lists
    std::int64_t version_ = 0;  // of what is near
    std::vector<List> lists_;   // of places of pairs
    std::vector<Candidate> memory_;
    std::vector<char> kept_;   // by place: whether a list was kept in step since it was made
    std::vector<Time> made_;   // per cluster
    std::vector<char> stale_;  // per cluster
    std::vector<Colour> stale_list_;
    std::vector<List> parts_;  // of a list, from each block of vertices
    std::vector<Candidate> memory_of_parts_;
    std::vector<double> bar_;              // by place: what lists made anew are closed to
    std::vector<double> distance_, cost_;  // of one vertex, per cluster
};

KEMPE_DECLARE_FOR_SIZED_RULES(MoveLists);

}  // namespace kempe
