#include "basics/pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(_WIN32)
#include <process.h>
#define KEMPE_PROCESS_ID _getpid
#else
#include <unistd.h>
#define KEMPE_PROCESS_ID getpid
#endif

namespace kempe {
namespace {

// One loop: whoever is free takes the next block.
struct Loop {
    const Pool::Body& body;
    const int blocks;
    std::atomic<int> next{0};
    int helpers = 0;             // guarded by the crew's mutex, like the next
    std::exception_ptr failure;  // the first

    bool has_blocks() const { return next.load(std::memory_order_relaxed) < blocks; }
    void work(int worker) {
        for (int block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
            body(block, worker);
    }
};

}  // namespace

struct Pool::Crew {
    Crew(int size, int occupied) : threads(size), occupied(occupied) {
        try {
            for (int worker = 1; worker < size; ++worker)
                helpers.emplace_back([this, worker] { help(worker); });
        } catch (const std::system_error&) {
            // The machine has no more threads to give: those that there are will do.
        }
    }
    ~Crew() {
        {
            const std::lock_guard lock(mutex);
            closing = true;
        }
        wanted.notify_all();
        for (std::thread& helper : helpers) helper.join();
    }

    void run(Loop& loop) {
        std::unique_lock lock(mutex);
        const auto place = loops.insert(loops.end(), &loop);
        lock.unlock();
        wanted.notify_all();
        work(loop, 0);
        lock.lock();
        loops.erase(place);
        left.wait(lock, [&] { return loop.helpers == 0; });
    }
    void occupy(int change) {
        {
            const std::lock_guard lock(mutex);
            occupied += change;
        }
        wanted.notify_all();
    }

    // A block that fails ends its loop.
    void work(Loop& loop, int worker) {
        try {
            loop.work(worker);
        } catch (...) {
            loop.next.store(loop.blocks, std::memory_order_relaxed);
            const std::lock_guard lock(mutex);
            if (!loop.failure) loop.failure = std::current_exception();
        }
    }
    Loop* open_loop() const {
        if (helping >= threads - std::max(1, occupied)) return nullptr;
        for (Loop* loop : loops)
            if (loop->has_blocks()) return loop;
        return nullptr;
    }
    void help(int worker) {
        std::unique_lock lock(mutex);
        while (true) {
            Loop* loop = nullptr;
            wanted.wait(lock, [&] { return closing || (loop = open_loop()); });
            if (closing) return;
            ++loop->helpers;
            ++helping;
            lock.unlock();
            work(*loop, worker);
            lock.lock();
            --helping;
            if (--loop->helpers == 0) left.notify_all();
        }
    }

    const int threads;
    std::mutex mutex;
    std::condition_variable wanted, left;  // a helper is; the last helper has left a loop
    std::list<Loop*> loops;
    int helping = 0;
    int occupied;
    bool closing = false;
    std::vector<std::thread> helpers;
};

// What one process knows of a pool. A child process has no threads of its parent, can neither end
// them nor wait for them, and finds their mutexes as they were at the moment of the fork, perhaps
// locked for ever. So it never looks at what its parent knew, and begins anew.
struct Pool::State {
    explicit State(int threads) : threads(threads) {}

    Crew& crew() {
        const std::lock_guard lock(starting);
        if (!crew_) crew_ = std::make_unique<Crew>(threads, occupied);
        return *crew_;
    }
    void occupy(int change) {
        const std::lock_guard lock(starting);
        occupied += change;
        if (crew_) crew_->occupy(change);
    }

    const int threads;
    const int process = KEMPE_PROCESS_ID();
    std::mutex starting;
    std::unique_ptr<Crew> crew_;
    int occupied = 0;  // before there is a crew
};

Pool::Pool(int threads) : threads_(std::min(threads, kMostThreads)), state_(nullptr) {
    if (threads < 1) throw std::invalid_argument("n_threads must be positive");
    state_ = new State(threads_);
}

Pool::~Pool() {
    State* state = state_.load();
    if (state->process == KEMPE_PROCESS_ID()) delete state;
}

Pool::State& Pool::state() {
    State* known = state_.load(std::memory_order_acquire);
    if (known->process == KEMPE_PROCESS_ID()) return *known;
    auto own = std::make_unique<State>(threads_);
    // Another thread of this process may have been faster; what the parent knew is left alone.
    if (state_.compare_exchange_strong(known, own.get())) return *own.release();
    return *known;
}

void Pool::run(int blocks, const Body& body) {
    Loop loop{body, blocks};
    if (threads_ == 1 || blocks <= 1) return loop.work(0);
    state().crew().run(loop);
    if (loop.failure) std::rethrow_exception(loop.failure);
}

void Pool::occupy(int change) {
    state().occupy(change);
}

}  // namespace kempe
