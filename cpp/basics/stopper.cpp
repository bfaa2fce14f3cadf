#include "basics/stopper.h"

#include <algorithm>

#include "basics/arrays.h"
#include "module.h"

namespace kempe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSignalInterval = std::chrono::milliseconds(100);

Clock::time_point after(double seconds) {
    // A year is forever, and does not overflow the clock.
    constexpr double forever = 3.2e7;
    const std::chrono::duration<double> span(std::clamp(seconds, 0.0, forever));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

}  // namespace

Stopper::Stopper(double seconds)
    : deadline_(after(seconds)),
      next_signal_check_((Clock::now() + kSignalInterval).time_since_epoch().count()) {}

double Stopper::remaining() const {
    return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
}

bool Stopper::look() {
    if (stopped()) return true;
    const auto now = Clock::now();
    if (now >= deadline_) {
        stop();
        return true;
    }
    auto due = next_signal_check_.load(std::memory_order_relaxed);
    if (now.time_since_epoch().count() < due) return false;
    const auto next = (now + kSignalInterval).time_since_epoch().count();
    // Only one thread looks at the signals each time.
    if (next_signal_check_.compare_exchange_strong(due, next) && pending_interrupt()) {
        interrupted_.store(true, std::memory_order_relaxed);
        stop();
    }
    return stopped();
}

// Python runs signal handlers in its main thread only; elsewhere this finds nothing to do. The
// exception is dropped here: the caller returns what it has and Python code asks `interrupted`.
bool Stopper::pending_interrupt() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    PyErr_Clear();
    return true;
}

void bind_stopper(nb::module_& m) {
    nb::class_<Stopper>(m, "Stopper")
        .def(nb::init<double>(), nb::arg("seconds") = std::numeric_limits<double>::infinity())
        .def("look", &Stopper::look, nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &Stopper::stop)
        .def_prop_ro("stopped", &Stopper::stopped)
        .def_prop_ro("interrupted", &Stopper::interrupted)
        .def_prop_ro("remaining", &Stopper::remaining);
}

}  // namespace kempe
