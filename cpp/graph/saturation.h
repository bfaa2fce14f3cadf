// Colouring in saturation order (Brelaz 1979): next comes the vertex whose neighbours have most
// different colours. How its own colour is chosen is up to the caller.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace kempe {

// Numbers below a limit, of which the lowest is found by a look at a few words. No memory is spent
// before the first one enters.
class NumberSet {
 public:
    void insert(int number, std::size_t limit) {
        if (words_.empty()) {
            words_.resize(limit / kBits + 1);
            filled_.resize(words_.size() / kBits + 1);
        }
        const std::size_t word = number / kBits, block = word / kBits;
        words_[word] |= bit(number);
        filled_[block] |= bit(word);
        first_ = std::min(first_, block);
    }
    void erase(int number) {
        const std::size_t word = number / kBits;
        words_[word] &= ~bit(number);
        if (words_[word] == 0) filled_[word / kBits] &= ~bit(word);
    }
    // -1 if there is none.
    int lowest() {
        for (; first_ < filled_.size(); ++first_) {
            if (filled_[first_] == 0) continue;
            const std::size_t word = first_ * kBits + std::countr_zero(filled_[first_]);
            return static_cast<int>(word * kBits + std::countr_zero(words_[word]));
        }
        return -1;
    }

 private:
    static constexpr std::size_t kBits = 64;
    static std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << number % kBits; }

    std::vector<std::uint64_t> words_;   // a bit for each number
    std::vector<std::uint64_t> filled_;  // a bit for each word that is not 0
    std::size_t first_ = 0;              // the words of filled_ before it are 0
};

// Uncoloured vertices by saturation, then degree, then lowest number.
//
// Vertices without an edge never enter, and apart from their rank, which is one number, no memory
// is spent on them.
class SaturationQueue {
 public:
    SaturationQueue(const Graph& graph, int k);

    // The next vertex, or -1 when all are coloured.
    Vertex pop(const std::vector<Colour>& colours);
    // Whether each colour is that of a neighbour.
    const char* used(Vertex v) const { return used_.data() + position(rank_[v], 0); }
    void coloured(Vertex v, Colour c, const std::vector<Colour>& colours);

 private:
    std::size_t position(int rank, Colour c) const {
        return static_cast<std::size_t>(rank) * k_ + c;
    }

    const Graph graph_;
    int k_;
    std::vector<Vertex> by_rank_;  // by degree, then number
    std::vector<int> rank_;        // per vertex; meaningless where there is no edge
    // The following by rank.
    std::vector<int> saturation_;
    std::vector<char> used_;
    std::vector<NumberSet> levels_;  // ranks by saturation
    int highest_ = 0;                // no level above has vertices
};

// `choose(v, admissible)` returns a colour or kUncoloured. Vertices without an edge keep the colour
// they have. Returns the vertex that found none, or -1.
template <class Choose>
Vertex colour_by_saturation(const Graph& graph, int k, std::vector<Colour>& colours,
                            Choose&& choose) {
    SaturationQueue queue(graph, k);
    for (Vertex v; (v = queue.pop(colours)) >= 0;) {
        const char* used = queue.used(v);
        const Colour c = choose(v, [used](Colour c) { return !used[c]; });
        if (c == kUncoloured) return v;
        colours[v] = c;
        queue.coloured(v, c, colours);
    }
    return -1;
}

}  // namespace kempe
