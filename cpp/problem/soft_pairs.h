// Soft pairs: knowledge that may be wrong. Each may be broken, at a price.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "basics/types.h"

namespace kempe {

// Pairs of supernodes in compressed sparse rows, each in the rows of both its ends. The price of a
// pair is what breaking it costs: positive for pairs that belong together, negative for pairs that
// belong apart. Never changes.
class SoftPairs {
 public:
    struct End {
        Vertex vertex;
        double price;
    };

    SoftPairs(int size, std::span<const Vertex> first, std::span<const Vertex> second,
              std::span<const double> price);

    int size() const { return static_cast<int>(offsets_.size()) - 1; }
    std::span<const End> of(Vertex v) const {
        return {ends_.data() + offsets_[v], ends_.data() + offsets_[v + 1]};
    }
    // Vertices with a soft pair.
    const std::vector<Vertex>& tied() const { return tied_; }
    // What it costs to break all pairs that belong together.
    double together() const { return together_; }

 private:
    std::vector<std::int64_t> offsets_;
    std::vector<End> ends_;
    std::vector<Vertex> tied_;
    double together_ = 0.0;
};

}  // namespace kempe
