// An item's walk through the library, written down: tests/house/walk/run.py compiles this with
// -finstrument-functions, and reads what it writes: a line for each call of a function (+) and each return (-).
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstdio>
#include <ranges>

namespace {

bool recording = false;

}  // namespace

extern "C" {
[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void* function, void*) {
    if (recording) std::printf("+%p\n", function);
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void* function, void*) {
    if (recording) std::printf("-%p\n", function);
}
}

namespace {

// Of 64 items those from the 17th to the 48th: the beginning and the end are no item's.
template <class Run>
weir::task<> consume(Run& run) {
    for (int taken = 0;; ++taken) {
        recording = taken >= 16 && taken < 48;
        const auto x = co_await run.next();
        if (!x) break;
    }
}

}  // namespace

int main() {
    weir::virtual_time time;
    const auto next = [](int x) { return x + 1; };
    auto pipeline = weir::source(std::views::iota(0, 64), {.capacity = 1}) | weir::pipe(next) |
                    weir::pipe(next) | weir::sink(2);
    auto run = pipeline.start(time);
    weir::sync_wait(time, consume(run));
}
