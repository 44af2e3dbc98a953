// Shows a pipeline that ends with `for_each` instead of a sink: its last function acts on each item.
// The run needs no consumer and ends by itself; a thread or a coroutine can wait for its end.
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

std::string render(int page) { return std::string(static_cast<std::size_t>(page), '#'); }

// Stands for a store on the network: writing suspends the coroutine, and fails for a page that is too large.
class store {
  public:
    weir::task<> write(std::string page) {
        co_await weir::sleep_for(1ms);
        if (page.size() > 98) throw std::length_error("a page of more than 98 bytes");
        bytes_ += page.size();
    }
    std::size_t bytes() const { return bytes_; }

  private:
    std::atomic<std::size_t> bytes_{0};
};

weir::task<std::uint64_t> pages_written(weir::run<void>& run) {
    const weir::run_result all = co_await run;  // resumes on this coroutine's executor
    co_return all.items;
}

}  // namespace

int main() {
    store pages;
    const auto write = [&pages](std::string page) { return pages.write(std::move(page)); };
    // clang-format off
    const auto pipeline = weir::source(std::views::iota(1, 101))
                        | weir::pipe(render, {.name = "render"})
                        | weir::for_each(write, {.name = "write", .concurrency = 4, .max_failures = 10});
    // clang-format on
    weir::thread_pool pool(2);

    auto run = pipeline.start(pool);
    const weir::run_result all = run.wait();  // blocks this thread; throws if too many failed
    std::cout << all.items << " pages written, " << all.stats.stages.back().num_failures
              << " were too large\n\n"
              << all.stats;

    auto again = pipeline.start(pool);
    const std::uint64_t items = weir::sync_wait(pool, pages_written(again));

    // A run with a sink must be consumed or drained.
    auto drained = (weir::source(std::views::iota(0, 10)) | weir::sink()).start(pool);
    return items == 98 && pages.bytes() == 2 * 98 * 99 / 2 && drained.drain().items == 10 ? 0 : 1;
}
