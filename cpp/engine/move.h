// Moves that a state can be asked about: of one vertex, of a chain between two clusters, and of
// several vertices among any clusters, which are a list of moves of one.
#pragma once

#include "basics/types.h"

namespace kempe {

// One vertex to another cluster.
struct SingleMove {
    Vertex vertex;
    Colour to;
};

// What exchanging two colours on a Kempe chain does to the two clusters, seen from one of them.
// Its vertices are those that the state has collected last, and the sum of their points is kept
// there.
struct ChainMove {
    Colour from = 0, to = 0;
    double weight = 0.0;  // weight that enters `from` less weight that leaves it
    int vertices = 0;     // vertices that enter `from` less vertices that leave it
    int rows = 0;         // the same of rows, where they are counted
};

}  // namespace kempe
