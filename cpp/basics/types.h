// The two numbers that everything is about.
#pragma once

#include <cstdint>

namespace kempe {

using Vertex = std::int32_t;  // a supernode
using Colour = std::int32_t;  // a cluster

constexpr Colour kUncoloured = -1;

}  // namespace kempe
