// Faults and stops in pipelines that branch, join, stand in each other, and have several consumers.
#include "reference.hpp"

#include "support/catch.hpp"

#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using faults::fragile;
using faults::item;
using faults::point;
using namespace std::chrono_literals;

namespace {

auto count(int from, int to, const char* name) {
    return weir::source(
        [to, name, i = from, part = fragile()]() mutable -> std::optional<item> {
            point(name);
            if (i == to) return std::nullopt;
            return item(i++);
        },
        {.name = name});
}

auto pass(const char* name, weir::duration time = 0ns,
          weir::output_order order = weir::output_order::completion) {
    return weir::pipe(
        [name, time](item i) -> weir::task<item> {
            co_await weir::sleep_for(time);
            point(name);
            co_return i;
        },
        {.name = name, .concurrency = 2, .output_order = order});
}

faults::reference merged() {
    return faults::make_reference(
        "merged",
        [] {
            return weir::merge({.name = "three joined into one",
                                .order = weir::merge_order::weighted,
                                .weights = {1, 2, 1}},
                               count(0, 4, "the first source of three") | pass("a stage of the first", 3ns),
                               count(100, 105, "the second of three"),
                               weir::merge(count(200, 202, "third"), count(300, 302, "fourth"))) |
                   pass("behind") | weir::sink();
        },
        faults::no_options, faults::by_get());
}

faults::reference zipped() {
    return faults::make_reference(
        "zipped",
        [] {
            return weir::zip({.name = "a zip with a long name"}, count(0, 5, "left"),
                             count(100, 106, "right") |
                                 pass("the stage on the right", 2ns, weir::output_order::input),
                             weir::source(std::vector<int>{1, 2, 3, 4, 5})) |
                   weir::pipe(
                       [](std::tuple<item, item, int> row) {
                           point("row");
                           std::optional<item> one;
                           if (std::get<2>(row) != 3)
                               one.emplace(std::get<0>(row).value() + std::get<1>(row).value());
                           return one;
                       },
                       {.name = "row"}) |
                   weir::sink();
        },
        faults::no_options, faults::by_loop());
}

faults::reference teed() {
    return faults::make_reference(
        "teed",
        [] {
            return count(0, 6, "source") |
                   weir::tee(pass("on the side of the tee", 2ns) | weir::aggregate(2),
                             {.name = "a tee with a long name"}) |
                   pass("main") | weir::sink();
        },
        faults::no_options, faults::by_get());
}

faults::reference routed() {
    return faults::make_reference(
        "routed",
        [] {
            const auto by_name = [part = fragile()](const item& i) -> weir::task<std::string> {
                co_await weir::sleep_for(1ns);
                point("a route with a long name");
                co_return i.value() % 2 == 0 ? "a branch that is even" : "odd";
            };
            const auto by_place = [](const item& i) {
                point("inner");
                return i.value() % 3;
            };
            return count(0, 8, "source") |
                   weir::route(by_name, {.name = "a route with a long name"},
                               weir::branch("a branch that is even", pass("even", 3ns)),
                               weir::branch("odd",
                                            weir::route(by_place, {.name = "inner"}, weir::branch("none"),
                                                        weir::branch("one", pass("one")),
                                                        weir::branch("two", weir::aggregate(2) |
                                                                                weir::disaggregate())))) |
                   weir::sink();
        },
        faults::no_options, faults::by_get());
}

using batch = std::vector<item>;

faults::reference divided() {
    return faults::make_reference(
        "divided",
        [] {
            const auto by_parity = [part = fragile()](const item& i) {
                point("a split with a long name");
                return i.value() % 2;
            };
            const auto work = [](const char* name) {
                return weir::pipe(
                    [name](batch b) -> weir::task<batch> {
                        co_await weir::sleep_for(2ns);
                        point(name);
                        co_return b;
                    },
                    {.name = name, .concurrency = 2});
            };
            return count(0, 9, "source") | weir::aggregate(4) |
                   weir::split(by_parity, {.name = "a split with a long name"},
                               weir::branch("even", work("the even ones' stage")),
                               weir::branch("odd", work("odd"))) |
                   weir::disaggregate() | weir::sink();
        },
        faults::no_options, faults::by_get());
}

// The same by a choice that has to be awaited.
faults::reference divided_later() {
    return faults::make_reference(
        "divided_later",
        [] {
            const auto by_parity = [part = fragile()](const item& i) -> weir::task<int> {
                const int place = i.value() % 2;
                co_await weir::sleep_for(1ns);
                point("a split with a long name");
                co_return place;
            };
            return count(0, 6, "source") | weir::aggregate(3) |
                   weir::split(by_parity, {.name = "a split with a long name"}, weir::branch("even"),
                               weir::branch("odd")) |
                   weir::disaggregate() | weir::sink();
        },
        faults::no_options, faults::by_get());
}

// Several coroutines that consume, and a thread after them.
struct by_three {
    template <class Run>
    static weir::task<> consume(Run& run, faults::outcome& o) {
        try {
            while (auto each = co_await run.next()) {
                o.take(each->value());
                co_await weir::sleep_for(1ns);
            }
        } catch (const weir::pipeline_failure& e) {
            o.fail(e);
        } catch (...) {
            o.throws(std::current_exception());
        }
    }
    template <class Run>
    void operator()(Run& run, faults::outcome& o, weir::executor& home) const {
        weir::sync_wait(home, weir::when_all(consume(run, o), consume(run, o), consume(run, o)));
    }
};

faults::reference shared_by_consumers() {
    return faults::make_reference(
        "consumers",
        [] { return count(0, 9, "source") | pass("a stage before the three", 1ns) | weir::sink(2); },
        faults::no_options, by_three());
}

// One pipeline's run is the source of another, started anew with each of its runs.
faults::reference nested() {
    faults::reference r;
    r.name = "nested";
    r.wrapped_by = "a source that is a run";
    r.attempt = [](const faults::conditions& c) {
        const auto inside = count(0, 6, "inner source") | pass("the inner stage's name", 1ns) | weir::sink();
        using inner_run = decltype(inside.start<faults::stepwise>(*c.home));
        struct runs_inside {
            decltype(inside)* pipeline;
            weir::executor* home;
            std::optional<inner_run> run;
            runs_inside(decltype(inside)* p, weir::executor* h) : pipeline(p), home(h) {}
            runs_inside(const runs_inside& other) : pipeline(other.pipeline), home(other.home) {}
            runs_inside(runs_inside&& other) noexcept : pipeline(other.pipeline), home(other.home) {}
            weir::task<std::optional<item>> operator()() {
                if (!run) run.emplace(pipeline->template start<faults::stepwise>(*home));
                auto got = co_await run->next();
                co_return got;
            }
        };
        return faults::attempt(
            c,
            [&] {
                return weir::source(runs_inside(&inside, c.home), {.name = "a source that is a run"}) |
                       pass("outer") | weir::sink();
            },
            faults::no_options, faults::by_get());
    };
    return r;
}

}  // namespace

TEST_CASE("each fault in what is merged is told, and nothing is lost") { explore_faults(merged()); }
TEST_CASE("each fault in what is zipped is told, and nothing is lost") { explore_faults(zipped()); }
TEST_CASE("each fault on both ways of a tee is told, and nothing is lost") { explore_faults(teed()); }
TEST_CASE("each fault in routes and branches is told, and nothing is lost") { explore_faults(routed()); }
TEST_CASE("each fault where batches are divided is told, and nothing is lost") { explore_faults(divided()); }
TEST_CASE("each fault where the choice of a split is awaited is told, and nothing is lost") {
    explore_faults(divided_later());
}
TEST_CASE("each fault with several consumers is told, and nothing is lost") {
    explore_faults(shared_by_consumers());
}
TEST_CASE("each fault in a run inside of a run is told, and nothing is lost") { explore_faults(nested()); }

TEST_CASE("what is merged can be stopped at each step") { explore_stops(merged()); }
TEST_CASE("what is zipped can be stopped at each step") { explore_stops(zipped()); }
TEST_CASE("a tee can be stopped at each step") { explore_stops(teed()); }
TEST_CASE("routes can be stopped at each step") { explore_stops(routed()); }
TEST_CASE("what is divided can be stopped at each step") { explore_stops(divided()); }
TEST_CASE("what is divided by choices that are awaited can be stopped at each step") {
    explore_stops(divided_later());
}
TEST_CASE("several consumers can be left by their run at each step") { explore_stops(shared_by_consumers()); }
TEST_CASE("a run inside of a run can be stopped at each step") { explore_stops(nested()); }
