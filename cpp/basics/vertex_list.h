// A list of vertices that any of them enters and leaves in constant time.
#pragma once

#include <cstddef>
#include <vector>

#include "basics/types.h"

namespace kempe {

class VertexList {
 public:
    explicit VertexList(std::size_t n_vertices) : position_(n_vertices, kAbsent) {}

    bool empty() const { return vertices_.empty(); }
    std::size_t size() const { return vertices_.size(); }
    // In an order that depends on who came and went.
    auto begin() const { return vertices_.begin(); }
    auto end() const { return vertices_.end(); }

    // Have a vertex in the list, or not.
    void set(Vertex v, bool present) {
        if (present == (position_[v] != kAbsent)) return;
        if (present) {
            position_[v] = static_cast<int>(vertices_.size());
            vertices_.push_back(v);
            return;
        }
        const Vertex last = vertices_.back();
        vertices_[position_[v]] = last;
        position_[last] = position_[v];
        vertices_.pop_back();
        position_[v] = kAbsent;
    }

 private:
    static constexpr int kAbsent = -1;

    std::vector<Vertex> vertices_;
    std::vector<int> position_;  // of each vertex in the list
};

}  // namespace kempe
