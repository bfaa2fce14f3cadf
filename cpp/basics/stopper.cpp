#include "basics/stopper.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "basics/arrays.h"
#include "module.h"

namespace kempe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSignalInterval = std::chrono::milliseconds(100);

Clock::time_point after(double seconds) {
    // A year is forever, and does not overflow the clock. Not a number is no time at all.
    constexpr double forever = 3.2e7;
    const std::chrono::duration<double> span(seconds > 0 ? std::min(seconds, forever) : 0.0);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

}  // namespace

Stopper::Stopper(double seconds, Stopper* parent, bool overtime)
    : parent_(parent),
      depth_(parent ? parent->depth_ + 1 : 0),
      overtime_(overtime),
      deadline_(after(seconds)),
      next_signal_check_((Clock::now() + kSignalInterval).time_since_epoch().count()) {
    if (depth_ > kMostNested) throw std::invalid_argument("stoppers are nested too deeply");
}

double Stopper::remaining() const {
    const double own =
        std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
    return parent_ && !overtime_ ? std::min(own, parent_->remaining()) : own;
}

bool Stopper::look() {
    if (stopped()) return true;
    const auto now = Clock::now();
    const bool within_parent = parent_ && !overtime_;
    if (now >= deadline_ || (within_parent ? parent_->look() : root().look_at_signals(now))) stop();
    return stopped();
}

bool Stopper::look_at_signals(Clock::time_point now) {
    auto due = next_signal_check_.load(std::memory_order_relaxed);
    if (now.time_since_epoch().count() < due) return false;
    const auto next = (now + kSignalInterval).time_since_epoch().count();
    // Only one thread looks at the signals each time.
    return next_signal_check_.compare_exchange_strong(due, next) && handle_signals();
}

// Python runs signal handlers in its main thread only; elsewhere this finds nothing to do.
bool Stopper::handle_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        interrupted_.store(true, std::memory_order_relaxed);
    } else {
        pending_ = std::make_exception_ptr(nb::python_error());
        raised_in_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    // Last, since other threads act at once where nothing locks the interpreter.
    signalled_.store(true, std::memory_order_release);
    stop();  // also where it is a child in overtime that noticed
    return true;
}

void Stopper::raise_pending() {
    Stopper& top = root();
    if (top.raised_in_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
    top.raised_in_.store(std::thread::id(), std::memory_order_relaxed);
    // Not kept: the traceback of an exception that is raised leads back to this stopper.
    std::rethrow_exception(std::exchange(top.pending_, nullptr));
}

void bind_stopper(nb::module_& m) {
    constexpr double never = std::numeric_limits<double>::infinity();
    nb::class_<Stopper>(m, "Stopper")
        .def(nb::init<double>(), nb::arg("seconds") = never)
        .def(
            "child",
            [](Stopper& parent, double seconds, bool overtime) {
                return new Stopper(seconds, &parent, overtime);
            },
            nb::arg("seconds") = never, nb::arg("overtime") = false, nb::keep_alive<0, 1>(),
            nb::rv_policy::take_ownership)
        .def("look",
             [](Stopper& stopper) {
                 const bool stop = unlocked([&] { return stopper.look(); });
                 stopper.raise_pending();
                 return stop;
             })
        .def("raise_pending", &Stopper::raise_pending)
        .def("stop", &Stopper::stop)
        .def_prop_ro("stopped", &Stopper::stopped)
        .def_prop_ro("interrupted", &Stopper::interrupted)
        .def_prop_ro("remaining", &Stopper::remaining);
}

}  // namespace kempe
