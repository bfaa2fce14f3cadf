// A few threads that work through blocks of one loop, kept alive between loops.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace kempe {

// The threads start with the first loop that has several blocks, so small problems never have any.
// Several threads may call `run` at once, and all their loops share the helpers.
//
// What a block computes must not depend on who computes it, and what blocks have summed must be
// added up in the order of the blocks: then results do not depend on the number of threads.
class Pool {
 public:
    // At most so many threads are at work at the same time, callers included.
    explicit Pool(int threads);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int threads() const { return threads_; }

    // Calls body(block, worker) for each block of 0..blocks-1 once, in any order. Workers of one
    // loop have different numbers below threads(); 0 is the caller. Raises what a block raised.
    using Body = std::function<void(int block, int worker)>;
    void run(int blocks, const Body& body);

    // So many more threads of Python work on this problem, or fewer: helpers step back for them.
    // One is expected without being announced.
    void occupy(int change);

 private:
    static constexpr int kMostThreads = 1024;

    struct Crew;
    struct State;
    State& state();

    const int threads_;
    std::atomic<State*> state_;
};

// A range in blocks of equal length, the last one shorter.
struct Blocks {
    std::size_t size, length;

    int count() const { return static_cast<int>((size + length - 1) / length); }
    std::size_t begin(int block) const { return block * length; }
    std::size_t end(int block) const { return std::min(size, begin(block) + length); }
};

// Calls body(begin, end, worker) for all blocks.
template <class Body>
void for_blocks(Pool& pool, const Blocks& blocks, Body&& body) {
    pool.run(blocks.count(),
             [&](int block, int worker) { body(blocks.begin(block), blocks.end(block), worker); });
}

// Adds up what body(begin, end) gives for each block, in the order of the blocks.
template <class Body>
double sum_blocks(Pool& pool, const Blocks& blocks, Body&& body) {
    std::vector<double> parts(blocks.count());
    pool.run(blocks.count(),
             [&](int block, int) { parts[block] = body(blocks.begin(block), blocks.end(block)); });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace kempe
