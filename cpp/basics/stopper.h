// Tells a long-running kernel when to stop: at a deadline, or when the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>

namespace kempe {

class Stopper {
 public:
    explicit Stopper(double seconds = std::numeric_limits<double>::infinity());

    // Cheap enough for inner loops: looks at the clock on every 256th call of a thread, and at
    // pending signals ten times a second.
    bool should_stop() {
        thread_local unsigned calls = 0;
        if (stopped_.load(std::memory_order_relaxed)) return true;
        return (++calls & 255u) == 0 && look();
    }
    // As above, but looks at once.
    bool look();

    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
    double remaining() const;  // seconds, never negative

 private:
    using Clock = std::chrono::steady_clock;
    bool pending_interrupt();

    Clock::time_point deadline_;
    std::atomic<Clock::rep> next_signal_check_;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> interrupted_{false};
};

}  // namespace kempe
