// idle [SECONDS]: pools that have nothing to do, and a run whose consumer waits for an item that doesn't
// come: ten seconds long. Fails if the process takes more than 0.5 % of a processor meanwhile, or more
// than 50 context switches a second; and if the run doesn't go on after that.
#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace {

struct used {
    std::chrono::steady_clock::time_point when = std::chrono::steady_clock::now();
    rusage by_process{};

    used() { getrusage(RUSAGE_SELF, &by_process); }
    double cpu_seconds() const {
        const auto seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
        };
        return seconds(by_process.ru_utime) + seconds(by_process.ru_stime);
    }
    long switches() const { return by_process.ru_nvcsw + by_process.ru_nivcsw; }
};

weir::async_generator<int> from(weir::channel<int>& in) {
    while (const auto item = co_await in.get()) co_yield *item;
}

int next(int n) { return n + 1; }

// The run with its coroutines asleep: of one stage on each pool.
bool stays_idle(weir::duration time) {
    weir::thread_pool pool;
    weir::blocking_pool io(4);
    weir::channel<int> in(4);
    auto pipeline = weir::source(from(in)) | weir::pipe(next, {.concurrency = 4, .executor = &io}) |
                    weir::pipe(next, {.concurrency = 2}) | weir::sink(3);
    auto run = std::move(pipeline).start(pool);
    const bool put = in.blocking_put(1) == weir::channel_status::success;
    const bool first = put && run.get() == 3;

    const used before;
    const bool none = run.get(time).status() == weir::channel_status::timed_out;
    const used after;

    const double seconds = std::chrono::duration<double>(after.when - before.when).count();
    const double share = (after.cpu_seconds() - before.cpu_seconds()) / seconds;
    const double switches = static_cast<double>(after.switches() - before.switches()) / seconds;
    const bool again = in.blocking_put(2) == weir::channel_status::success && run.get() == 4;
    in.close();
    const bool ended = !run.get();
    std::cout << seconds << " s: " << share * 100 << " % of a processor, " << switches
              << " context switches a second; the run "
              << (first && none && again && ended ? "goes on" : "does NOT go on") << '\n';
    return first && none && again && ended && share < 0.005 && switches < 50;
}

}  // namespace

int main(int argc, char** argv) try {
    const double seconds = argc > 1 ? std::stod(argv[1]) : 10;
    return stays_idle(weir::duration(static_cast<std::int64_t>(seconds * 1e9))) ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
