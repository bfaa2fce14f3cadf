#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "module.h"

namespace nb = nanobind;

namespace kempe {
namespace {

#ifdef __GLIBC__

// What HiGHS 1.12 prints when it repairs a solution, whatever its options say (its issue 2783).
constexpr std::string_view kStrayLine =
    "HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n";

// The standard output without that line. Compiled code prints through a variable of the C library
// that the whole process shares, so a filter takes the place of the stream while a solver runs:
// whatever else is printed meanwhile, by any thread, goes on to the stream at once.
class Filter {
 public:
    void enter() {
        const std::lock_guard lock(mutex_);
        if (users_++ > 0) return;
        if (filter_ == nullptr) open();
        if (filter_ == nullptr) return;
        behind_.store(stdout);
        std::atomic_ref(stdout).store(filter_);
    }

    void leave() {
        const std::lock_guard lock(mutex_);
        if (users_ == 0 || --users_ > 0 || filter_ == nullptr) return;
        std::atomic_ref(stdout).store(behind_.load());
        std::fflush(filter_);
    }

 private:
    // It is never closed: a thread may still be printing into it when the last user leaves.
    void open() {
        cookie_io_functions_t functions{};
        functions.write = &Filter::write;
        filter_ = fopencookie(this, "w", functions);
        if (filter_ != nullptr) std::setvbuf(filter_, nullptr, _IOLBF, BUFSIZ);
    }

    static ssize_t write(void* self, const char* data, std::size_t size) {
        std::FILE* behind = static_cast<Filter*>(self)->behind_.load();
        std::string_view rest(data, size);
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
            std::string_view line = rest.substr(0, end);
            if (line.ends_with(kStrayLine)) line.remove_suffix(kStrayLine.size());
            std::fwrite(line.data(), 1, line.size(), behind);
            rest.remove_prefix(end);
        }
        return static_cast<ssize_t>(size);
    }

    std::mutex mutex_;
    int users_ = 0;
    std::FILE* filter_ = nullptr;
    std::atomic<std::FILE*> behind_ = nullptr;
};

#else

// Elsewhere the standard output cannot be replaced.
class Filter {
 public:
    void enter() {}
    void leave() {}
};

#endif

Filter& filter() {
    static Filter* const only = new Filter;  // for the whole life of the process, exit included
    return *only;
}

}  // namespace

void bind_stray_output(nb::module_& m) {
    m.def("begin_dropping_stray_lines", [] { filter().enter(); });
    m.def("end_dropping_stray_lines", [] { filter().leave(); });
}

}  // namespace kempe
