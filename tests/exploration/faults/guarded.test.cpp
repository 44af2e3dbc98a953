// Faults and stops where failures are guarded against: called again, tolerated, limited in time, told of.
#include "reference.hpp"

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

using faults::forgiven_point;
using faults::fragile;
using faults::item;
using faults::point;
using namespace std::chrono_literals;

namespace {

auto count_to(int n) {
    return weir::source(
        [n, i = 0]() mutable -> std::optional<item> {
            point("source");
            if (i == n) return std::nullopt;
            return item(i++);
        },
        {.name = "source"});
}

// Whatever a stage does, someone is told before and after.
class observer final : public weir::hook {
  public:
    void stage_begins(const std::string& stage) override { point(stage.c_str()); }
    void stage_ends(const std::string& stage) override { point(stage.c_str()); }
    void before(const weir::invocation& call) override { point(call.stage().c_str()); }
    void after(const weir::invocation& call, const std::exception_ptr& error) override {
        if (error) {
            faults::second_point(call.stage().c_str());
        } else {
            point(call.stage().c_str());
        }
    }
};

faults::reference hooked() {
    return faults::make_reference(
        "hooked",
        [] {
            return count_to(4) |
                   weir::pipe(
                       [](item i, const weir::invocation& call) -> weir::task<item> {
                           point(call.stage().c_str());
                           co_await weir::sleep_for(2ns);
                           co_return i;
                       },
                       {.name = "a stage that is watched", .concurrency = 2}) |
                   weir::filter([](const item&) { return true; }, {.name = "filter"}) | weir::sink();
        },
        [](weir::run_options& options) {
            options.hooks.push_back(std::make_shared<observer>());
            options.hooks.push_back(std::make_shared<observer>());
            options.on_failure = [part = fragile()](const weir::failure&) { point("on_failure"); };
        },
        faults::by_get());
}

faults::reference retried() {
    auto r = faults::make_reference(
        "retried",
        [] {
            const auto fetch = [part = fragile()](const item& i) -> weir::task<item> {
                forgiven_point("a stage that is called again");
                co_await weir::sleep_for(2ns);
                forgiven_point("a stage that is called again");
                co_return item(i.value());
            };
            const auto at_once = [](const item& i) {
                forgiven_point("second");
                return item(i.value());
            };
            const auto always = [part = fragile()](const std::exception_ptr&) { return true; };
            return count_to(4) |
                   weir::pipe(weir::retry(fetch, {.attempts = 4, .delay = 5ns, .when = always}),
                              {.name = "a stage that is called again", .concurrency = 2}) |
                   weir::pipe(weir::retry(at_once, {.attempts = 4, .delay = 0ns}), {.name = "second"}) |
                   weir::sink();
        },
        faults::no_options, faults::by_loop());
    r.forgives_allocations = true;
    return r;
}

// Some failures are tolerated by a stage, others by the run.
faults::reference tolerant() {
    auto r = faults::make_reference(
        "tolerant",
        [] {
            return count_to(5) |
                   weir::pipe(
                       [](item i) -> weir::task<item> {
                           forgiven_point("its own limit");
                           co_await weir::sleep_for(1ns);
                           forgiven_point("its own limit");
                           co_return i;
                       },
                       {.name = "its own limit",
                        .concurrency = 2,
                        .output_order = weir::output_order::input,
                        .max_failures = 3}) |
                   weir::pipe(
                       [](item i) {
                           forgiven_point("that of the run");
                           return i;
                       },
                       {.name = "that of the run"}) |
                   weir::sink();
        },
        [](weir::run_options& options) {
            options.max_failures = weir::rate(0.9);
            options.on_failure = [](const weir::failure&) { point("on_failure"); };
        },
        faults::by_get());
    r.forgives_allocations = true;
    return r;
}

// Each slot has its own function; each invocation a limit; laps are told of.
faults::reference limited() {
    auto r = faults::make_reference(
        "limited",
        [] {
            const auto make = [part = fragile()] {
                point("a stage with a time limit");
                return [part = std::make_unique<int>(1)](item i) -> weir::task<item> {
                    co_await weir::sleep_for(4ns);
                    point("a stage with a time limit");
                    co_return i;
                };
            };
            return count_to(4) |
                   weir::pipe(weir::per_slot(make),
                              {.name = "a stage with a time limit", .concurrency = 2, .time_limit = 10ns}) |
                   weir::sink();
        },
        [](weir::run_options& options) {
            options.lap = 3ns;
            options.on_lap = [](const weir::pipeline_stats&) { point("on_lap"); };
        },
        faults::by_get());
    r.ends_later = true;
    return r;
}

// Bytes are counted, and what is nearest to the end goes first.
faults::reference bounded() {
    return faults::make_reference(
        "bounded",
        [] {
            return count_to(6) |
                   weir::pipe(
                       [](item i) {
                           point("a stage with a limit in bytes");
                           return i;
                       },
                       {.name = "a stage with a limit in bytes", .max_bytes = 1}) |
                   weir::pipe(
                       [](item i) -> weir::task<item> {
                           point("next");
                           co_await weir::sleep_for(1ns);
                           co_return i;
                       },
                       {.name = "next", .concurrency = 2}) |
                   weir::sink();
        },
        [](weir::run_options& options) {
            options.max_bytes = 3 * sizeof(item);
            options.later_stages_first = true;
        },
        faults::by_get());
}

// Stages get more slots and fewer, and their queues more places, while the items come.
struct by_turns {
    template <class Run>
    void operator()(Run& run, faults::outcome& o, weir::executor&) const {
        std::size_t n = 0;
        while (auto each = run.get()) {
            o.take(each->value());
            ++n;
            try {
                if (n == 1) run.set_concurrency("a stage that is resized", 4);
                if (n == 3) run.set_capacity("a stage that is resized", 5);
                if (n == 5) run.set_concurrency("a stage that is resized", 1);
                if (n == 7) run.set_concurrency("a stage that is resized", 6);
            } catch (...) {
                o.throws(std::current_exception());
            }
        }
    }
};

faults::reference resized() {
    return faults::make_reference(
        "resized",
        [] {
            return count_to(20) |
                   weir::pipe(
                       [](item i) -> weir::task<item> {
                           point("a stage that is resized");
                           co_await weir::sleep_for(3ns);
                           co_return i;
                       },
                       {.name = "a stage that is resized"}) |
                   weir::sink();
        },
        faults::no_options, by_turns());
}

}  // namespace

TEST_CASE("each fault of a hook is told, and nothing is lost") { explore_faults(hooked()); }
TEST_CASE("each fault of what is called again is made up for, and nothing is lost") {
    explore_faults(retried());
}
TEST_CASE("each fault that is tolerated leaves the others alone") { explore_faults(tolerant()); }
TEST_CASE("each fault in what is limited in time is told, and nothing is lost") { explore_faults(limited()); }
TEST_CASE("each fault in what is limited in bytes is told, and nothing is lost") {
    explore_faults(bounded());
}
TEST_CASE("each fault in a stage that is resized is told, and nothing is lost") { explore_faults(resized()); }

TEST_CASE("a change of the concurrency for which memory lacks changes nothing, and can be made again") {
    std::size_t points = 0;
    for (bool has_fired = true; has_fired; ++points) {
        weir::virtual_time clock;
        faults::calm_executor home(clock);
        int at_work = 0;
        int most = 0;
        const auto work = [&](int i) -> weir::task<int> {
            most = std::max(most, ++at_work);
            co_await weir::sleep_for(5ns);
            --at_work;
            co_return i;
        };
        auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(work, {.name = "work"}) | weir::sink())
                       .start(home);
        REQUIRE(run.get() == 0);
        faults::empty_frame_pool();
        faults::engine::here().plan({{faults::kind::allocation, points}});
        has_fired = false;
        try {
            const faults::armed now;
            run.set_concurrency("work", 5);
        } catch (const std::bad_alloc&) {
            has_fired = true;
        }
        faults::engine::here().plan({});
        CHECK(run.stats().stages.at(1).per_slot.size() == (has_fired ? 1U : 5U));
        if (has_fired) run.set_concurrency("work", 5);
        int count = 1;
        while (run.get()) ++count;
        CHECK(count == 40);
        CHECK(most == 5);
    }
    CHECK(points > 8);  // a slot and a frame for each of four
}

TEST_CASE("hooks can be stopped at each step") { explore_stops(hooked()); }
TEST_CASE("what is called again can be stopped at each step") { explore_stops(retried()); }
TEST_CASE("what is tolerant can be stopped at each step") { explore_stops(tolerant()); }
TEST_CASE("what is limited in time can be stopped at each step") { explore_stops(limited()); }
TEST_CASE("what is limited in bytes can be stopped at each step") { explore_stops(bounded()); }
TEST_CASE("what is resized can be stopped at each step") { explore_stops(resized()); }
