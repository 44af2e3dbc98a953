#include <weir/simulation/explorer.hpp>

#include "support/catch.hpp"

#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

namespace sim = weir::simulation;
using sim::detail::explorer;

namespace {

weir::task<> step() { co_await weir::yield(); }

// Draws eight numbers, of which two matter: it fails if both are large.
void draws(sim::world& w) {
    weir::sync_wait(w, step());
    std::size_t sum = 0;
    for (int i = 0; i < 8; ++i) {
        const std::size_t n = w.draw(10);
        if (i == 2 || i == 6) sum += n;
    }
    sim::world::check(sum < 12, "the two aren't large");
}

}  // namespace

TEST_CASE("of what fails only the decisions are left that it takes, and those as small as they can be") {
    try {
        explorer(draws, {.schedules = 10'000}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(e.cause() == "the two aren't large");
        CHECK(std::string(e.what()).find("2 decisions other") != std::string::npos);
        CHECK_THROWS_AS(explorer(draws, {.replay = e.schedule()}).explore(), sim::schedule_failure);
    }
}

TEST_CASE(
    "the cause of a failure names the text and the type of what was thrown, and of what is nested in it") {
    const auto cause_of = [](std::function<void(sim::world&)> run) {
        try {
            explorer(run, {.schedules = 1}).explore();
        } catch (const sim::schedule_failure& e) {
            return e.cause();
        }
        return std::string();
    };
    CHECK(cause_of([](sim::world&) { throw 42; }) == "42 (thrown as int)");
    const auto nests = [](sim::world&) {
        try {
            throw std::string("inner");
        } catch (...) {
            std::throw_with_nested(std::runtime_error("outer"));
        }
    };
    CHECK(cause_of(nests) == "outer: inner (thrown as std::string)");
    const auto breaks = [](sim::world& w) {
        w.always([] { throw 7; });
        weir::sync_wait(w, step());
    };
    CHECK(cause_of(breaks).ends_with(": 7 (thrown as int)"));
}

TEST_CASE("the cause of a failure is that of its shortest schedule") {
    const auto fails = [](sim::world& w) {
        weir::sync_wait(w, step());
        if (w.draw(10) >= 5) throw std::runtime_error("of thousand: " + std::to_string(w.draw(1'000)));
    };
    try {
        explorer(fails, {.schedules = 1'000}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(e.cause().starts_with("of thousand: 0"));
        CHECK(e.schedule() == "0:5");
    }
}

TEST_CASE("without an attempt to make it shorter a schedule stays what it was when it failed") {
    try {
        explorer(draws, {.schedules = 10'000, .attempts_to_shrink = 0}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(std::string(e.what()).find("2 decisions other") == std::string::npos);
    }
}

TEST_CASE("all there is is tried once, one decision after the other") {
    const auto few = [](sim::world& w) {
        weir::sync_wait(w, step());
        static_cast<void>(w.draw(3));
        static_cast<void>(w.draw(2));
    };
    const auto done = explorer(few, {.strategy = sim::strategy::exhaustive}).explore();
    CHECK(done.complete);
    CHECK(done.schedules == 6);
    CHECK_THROWS_AS(explorer(few, {.schedules = 0}), std::invalid_argument);
}
