// A trace of many items on threads, in the middle of which slots come and go: nothing overlaps, every step
// has both ends, and says of each item where it came from.
#include <weir/report/trace.hpp>

#include "support/catch.hpp"
#include "support/trace_check.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

namespace {

using number = std::uint64_t;
// The thread and the address sanitizer make a program many times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool is_slow = true;
#elif defined(__has_feature)
constexpr bool is_slow = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool is_slow = false;
#endif
constexpr number num_items = is_slow ? 100'000 : 1'000'000;

// Of each of its items, which one it was.
using seen = std::vector<std::atomic<number>>;

auto noting(seen& all) {
    return [&all](number n, const weir::invocation& call) {
        all[call.item()].store(n, std::memory_order_relaxed);
        return n;
    };
}

void run_and_check(number every, std::size_t most) {
    weir::thread_pool pool(3);
    seen a(num_items), b(num_items), c(num_items);
    const auto trace =
        std::make_shared<weir::trace_report>("", weir::trace_options{.every = every, .max_events = most});
    auto run = (weir::source(std::views::iota(number{0}, num_items), {.capacity = 16}) |
                weir::pipe(noting(a), {.name = "a", .concurrency = 2, .capacity = 16}) |
                weir::pipe(noting(b), {.name = "b", .concurrency = 3}) |
                weir::for_each(noting(c), {.name = "c", .concurrency = 2}))
                   .start(pool, {.reports = {trace}});
    for (std::size_t i = 0; i < 20; ++i) {
        run.set_concurrency("b", 1 + i % 4);
        run.set_capacity("a", 1 + i % 3 * 100);
    }
    CHECK(run.wait().items == num_items);
    run.stop();  // the report has heard of the end then
    const traces::trace t(trace->text(), false);
    CHECK(t.wrong == "");
    std::size_t untrue = 0;
    for (const traces::span& s : t.spans) {
        if (!s.is_item || s.name == "src") continue;
        const seen& of = s.name == "a" ? a : s.name == "b" ? b : c;
        if (s.from != "src " + std::to_string(of[s.item].load(std::memory_order_relaxed))) ++untrue;
    }
    for (const traces::step& s : t.steps) untrue += s.from->from != s.to->from ? 1U : 0U;
    CHECK(untrue == 0);
    // A thread that stood still for a thousand items has lost some; that is not wrong, but rare.
    if (t.dropped() != 0 || t.about.find("otherData")->find("flows_lost")->text != "0") return;
    const std::size_t followed = num_items / every;
    for (const char* const stage : {"src", "a", "b", "c"}) CHECK(t.visits(stage) == followed);
    CHECK(t.steps.size() == 3 * followed);
}

}  // namespace

TEST_CASE("of many items one in a hundred is followed from end to end") { run_and_check(100, 4'000'000); }

TEST_CASE("of many items that are all followed the last ones are there") { run_and_check(1, 200'000); }
