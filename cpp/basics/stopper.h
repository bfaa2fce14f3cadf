// Tells a long-running kernel when to stop: at a deadline, when another thread says so, or when a
// signal handler of Python raises an exception, as that of Ctrl-C does.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <thread>

namespace kempe {

// A stopper with a parent has a deadline of its own and stops when its parent does; in overtime
// only when a signal comes, whatever the parent's deadline. Signals are the business of the one
// without a parent, from which all others learn of them. Stoppers nest to a depth of 100.
class Stopper {
 public:
    explicit Stopper(double seconds = std::numeric_limits<double>::infinity(),
                     Stopper* parent = nullptr, bool overtime = false);

    // Cheap enough for inner loops: looks at the clock on every 256th call of a thread, and at
    // pending signals ten times a second.
    bool should_stop() {
        thread_local unsigned calls = 0;
        if (stopped_.load(std::memory_order_acquire)) return true;
        return (++calls & 255u) == 0 && look();
    }
    // As above, but looks at once.
    bool look();

    // Whoever sees that it has stopped also sees whether that was Ctrl-C.
    void stop() { stopped_.store(true, std::memory_order_release); }
    bool stopped() const {
        return stopped_.load(std::memory_order_acquire) ||
               (parent_ && (overtime_ ? signalled() : parent_->stopped()));
    }
    // Whether it was Ctrl-C. The caller returns what it has, and Python code asks.
    bool interrupted() const { return root().interrupted_.load(std::memory_order_relaxed); }
    double remaining() const;  // seconds, never negative

    // Raise what a signal handler has raised meanwhile, unless it was Ctrl-C; once, and in the
    // thread that the handler ran in, where Python would have raised it too. For Python code: the
    // caller is attached to the interpreter.
    void raise_pending();

 private:
    using Clock = std::chrono::steady_clock;

    Stopper& root() { return parent_ ? parent_->root() : *this; }
    const Stopper& root() const { return parent_ ? parent_->root() : *this; }
    bool signalled() const { return root().signalled_.load(std::memory_order_acquire); }
    bool look_at_signals(Clock::time_point now);
    bool handle_signals();

    // Questions go up from child to parent, and so does the end of their lives.
    static constexpr int kMostNested = 100;

    Stopper* const parent_;
    const int depth_;
    const bool overtime_;
    const Clock::time_point deadline_;
    std::atomic<bool> stopped_{false};
    // The following are used without a parent only.
    std::atomic<Clock::rep> next_signal_check_;
    std::atomic<bool> signalled_{false};    // a handler has raised an exception
    std::atomic<bool> interrupted_{false};  // that of Ctrl-C
    // Any thread may ask whether an exception waits for it, and only the one that it waits for
    // touches it. So no lock is needed, least of all the interpreter's, which may be off.
    std::atomic<std::thread::id> raised_in_{std::thread::id()};
    std::exception_ptr pending_;
};

}  // namespace kempe
