// A run that shows itself, for tmux.py, and what that costs:
//     live_view SECONDS     a run of so long, which prints a line every second
//     live_view cost        what a picture of ten stages costs, drawn on a terminal that this makes
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/live_view.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

auto takes(std::chrono::microseconds d, int fails_each = 0) {
    return [d, fails_each](int n) -> weir::task<int> {
        co_await weir::sleep_for(d);
        if (fails_each != 0 && n % fails_each == 0) throw std::runtime_error("unreadable");
        co_return n;
    };
}

void show(int seconds) {
    const int a_second = 200;
    const int items = seconds * a_second;
    weir::thread_pool pool(2);
    const auto view = std::make_shared<weir::live_view>(
        weir::live_view_options{.total = static_cast<std::uint64_t>(items)});
    const auto tell = [view](int n) {
        if (n % a_second == a_second - 1) view->print("item " + std::to_string(n));
    };
    const auto loader = weir::source(std::views::iota(0, items), {.name = "list"}) |
                        weir::pipe(takes(18ms, 50), {.name = "download", .concurrency = 4}) |
                        weir::pipe(takes(3ms), {.name = "d\xC3\xA9"
                                                        "code \xE5\x9B\xBE\x1b[2J"}) |
                        weir::pipe(takes(1ms), {.name = "resize"}) | weir::for_each(tell);
    auto run = loader.start(pool, {.max_failures = weir::unlimited, .lap = 100ms, .reports = {view}});
    run.wait();
    run.stop();
}

// In which a quarter of a second passes whenever it is asked.
struct quarters {
    using mutex = std::mutex;
    static std::int64_t now() noexcept { return time += 250'000'000; }
    static inline std::int64_t time = 0;
};

double processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int measure() {
    const int mine = posix_openpt(O_RDWR | O_NOCTTY);
    if (mine < 0 || grantpt(mine) != 0 || unlockpt(mine) != 0) return 1;
    const int its = open(ptsname(mine), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe)
    winsize size{};
    size.ws_col = 80;
    size.ws_row = 24;
    if (its < 0 || ioctl(its, TIOCSWINSZ, &size) != 0) return 1;
    setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe)

    weir::thread_pool pool(2);
    const auto one = [](int n) { return n; };
    auto run = (weir::source(std::views::iota(0, 20'000)) | weir::pipe(one) | weir::pipe(one) |
                weir::pipe(one) | weir::pipe(one) | weir::pipe(one) | weir::pipe(one) | weir::pipe(one) |
                weir::pipe(one) | weir::for_each([](int) {
                })).start(pool);
    run.wait();

    weir::detail::basic_live_view<quarters> view({.total = 1'000'000, .file = its});
    const weir::pipeline_stats none;
    view.begins(none);
    double spent = 0;
    std::size_t bytes = 0;
    constexpr int pictures = 2000;
    for (int i = 0; i < pictures; ++i) {
        static char seen[65536];
        const double before = processor_time();
        view.lap(run.stats() - none);
        spent += processor_time() - before;
        const ssize_t n = read(mine, seen, sizeof seen);
        bytes += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    std::printf("%zu stages, %zu bytes: %.0f us a picture, %.3f %% of a core at four a second\n",
                run.stats().stages.size(), bytes / pictures, spent / pictures * 1e6,
                spent / pictures * 4 * 100);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const std::string_view what = arguments[1];
    if (what == "cost") return measure();
    show(std::atoi(arguments[1]));
    return 0;
}
