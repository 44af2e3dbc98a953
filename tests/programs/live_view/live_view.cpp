// A run of some seconds that shows itself, for tmux.py: `live_view SECONDS`.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/live_view.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <stdexcept>

using namespace std::chrono_literals;

namespace {

auto takes(std::chrono::microseconds d, int fails_each = 0) {
    return [d, fails_each](int n) -> weir::task<int> {
        co_await weir::sleep_for(d);
        if (fails_each != 0 && n % fails_each == 0) throw std::runtime_error("unreadable");
        co_return n;
    };
}

}  // namespace

int main(int count, char** arguments) {
    const int seconds = count > 1 ? std::atoi(arguments[1]) : 5;
    const int items = seconds * 1000 / 5;
    const auto loader = weir::source(std::views::iota(0, items), {.name = "list"}) |
                        weir::pipe(takes(18ms, 50), {.name = "download", .concurrency = 4}) |
                        weir::pipe(takes(3ms), {.name = "decode"}) |
                        weir::pipe(takes(1ms), {.name = "resize"}) | weir::for_each([](int) {});
    weir::thread_pool pool(2);
    const auto view = std::make_shared<weir::live_view>(
        weir::live_view_options{.total = static_cast<std::uint64_t>(items)});
    auto run = loader.start(pool, {.max_failures = weir::unlimited, .lap = 100ms, .reports = {view}});
    run.wait();
    run.stop();
}
