#include <weir/stages/stage_kind.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <utility>

using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

task<int> paced(int n) {
    co_await weir::sleep_for(10ms);
    co_return n;
}

// The stage of that name in the middle, and at the end; `check` is given a run of each, and what ends it.
template <class F, class Check>
void in_both(F f, const weir::stage_options& options, Check check) {
    {
        virtual_time time;
        auto run = (numbers(20) | weir::pipe(f, options) | weir::sink(50)).start(time);
        check(time, run, [&run] { return run.drain().items; });
    }
    {
        virtual_time time;
        auto run = (numbers(20) | weir::for_each(f, options)).start(time);
        check(time, run, [&run] { return run.wait().items; });
    }
}

}  // namespace

TEST_CASE("each slot may have a function of its own, made anew when it comes back into service") {
    int made = 0;
    const auto make = [&made] {
        ++made;
        return [](int n) { return paced(n); };
    };
    const auto check = [&made](virtual_time& time, auto& run, auto end) {
        time.run_until(time.now() + 25ms);
        CHECK(made == 2);
        run.set_concurrency("work", 1);
        time.run_until(time.now() + 20ms);
        run.set_concurrency("work", 3);
        CHECK(end() == 20);
        CHECK(made == 4);
        made = 0;
    };
    in_both(weir::per_slot(make), {.name = "work", .concurrency = 2}, check);
}

TEST_CASE("a function that can't be made for a slot stops the run") {
    const auto make = [made = 0]() mutable {
        if (++made == 2) throw std::runtime_error("second");
        return [](int n) { return paced(n); };
    };
    const auto check = [](virtual_time&, auto& run, auto end) {
        CHECK(items::contains(items::message_of([&end] { static_cast<void>(end()); }), "'work'"));
        CHECK(run.outcome() == weir::run_outcome::failed);
    };
    in_both(weir::per_slot(make), {.name = "work", .concurrency = 2}, check);
}

TEST_CASE("a time limit is not negative, whatever comes of the function") {
    const auto start = [] { in_both(paced, {.name = "work", .time_limit = -1ms}, [](auto&&...) {}); };
    CHECK(items::message_of(start) ==
          "weir: stage 'work' has a negative time limit; 0 means that there is none");
}
