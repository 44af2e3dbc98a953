#include <weir/graph/split.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/route.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using flows::by_epoch;
using items::contains;
using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::branch;
using weir::split;
using weir::split_order;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using lists = std::vector<ints>;

namespace {

std::size_t parity(int n) { return static_cast<std::size_t>(n % 2); }

// Works on each element of a part.
template <class F>
auto each(F f, weir::stage_options o = {}) {
    return weir::pipe(
        [f](ints part) {
            for (int& n : part) n = f(n);
            return part;
        },
        std::move(o));
}
auto times_2() {
    return each([](int n) { return 2 * n; });
}
auto plus_100() {
    return each([](int n) { return n + 100; });
}

// The numbers from 0 up to n, in batches.
auto in_batches(int n, std::size_t size) {
    return weir::source(std::views::iota(0, n)) | weir::aggregate(size);
}

// A longer part takes longer, so that branches overtake each other.
auto slowly(weir::stage_options o = {}) {
    return weir::pipe(
        [](ints part) -> task<ints> {
            int sum = 1;
            for (const int n : part) sum += 7 * n % 5;
            co_await weir::sleep_for(sum * 1ms);
            co_return part;
        },
        std::move(o));
}

}  // namespace

TEST_CASE("each element's result takes its place, or those of a branch come together, as is asked for") {
    virtual_time time;
    const auto parts = [](split_order order) {
        return split(parity, {.order = order}, branch("even", times_2()), branch("odd", plus_100()));
    };
    CHECK(take_all((in_batches(8, 4) | parts(split_order::branches) | weir::sink()).start(time)) ==
          lists{{0, 4, 101, 103}, {8, 12, 105, 107}});
    CHECK(take_all((in_batches(8, 4) | parts(split_order::elements) | weir::sink()).start(time)) ==
          lists{{0, 101, 4, 103}, {8, 105, 12, 107}});
    CHECK(take_all((in_batches(8, 4) | split(parity, branch("even", times_2()), branch("odd", plus_100())) |
                    weir::sink())
                       .start(time)) == lists{{0, 101, 4, 103}, {8, 105, 12, 107}});
}

TEST_CASE("a take in a branch gives as many batches, whichever branch and whatever is behind it") {
    const auto none = [](const ints&) { return false; };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        const auto of = [&time](auto a, auto b) {
            const auto parts = split(parity, {.order = split_order::branches}, branch("even", std::move(a)),
                                     branch("odd", std::move(b)));
            return take_all((in_batches(40, 4) | parts | weir::sink()).start(time));
        };
        CHECK(of(weir::take(2), times_2()) == lists{{0, 2, 2, 6}, {4, 6, 10, 14}});
        CHECK(of(times_2(), weir::take(2)) == lists{{0, 4, 1, 3}, {8, 12, 5, 7}});
        CHECK(of(weir::take(3), weir::take(2)) == lists{{0, 2, 1, 3}, {4, 6, 5, 7}});
        CHECK(of(weir::take(2) | times_2(), slowly()) == lists{{0, 4, 1, 3}, {8, 12, 5, 7}});
        CHECK(of(plus_100() | weir::take(2), weir::take(0)).empty());
        // What is behind the take drops its last item: the batch lacks this part only.
        CHECK(of(weir::take(2) | weir::filter(none), plus_100()) == lists{{101, 103}, {105, 107}});
        CHECK(of(slowly(), weir::take(2) | weir::skip(1)) == lists{{0, 2}, {4, 6, 5, 7}});
    }
}

TEST_CASE("a split whose branch has refused the mark behind a part divides no further batch") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        std::size_t chosen = 0;
        const auto choose = [&chosen](int n) {
            ++chosen;
            return parity(n);
        };
        // The branch has room for one part more than the take gives.
        const auto parts = split(choose, {.capacity = 2}, branch("even"), branch("odd", weir::take(2)));
        CHECK(take_all((in_batches(40, 4) | parts | weir::sink()).start(time)) ==
              lists{{0, 1, 2, 3}, {4, 5, 6, 7}});
        CHECK(chosen <= 12);
    }
}

TEST_CASE("a take in a split within a branch of another split gives as many batches to both") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        const auto in_branches = [](auto a, auto b) {
            return split(parity, {.order = split_order::branches}, branch("even", std::move(a)),
                         branch("odd", std::move(b)));
        };
        const auto of = [&time, &in_branches](auto a, auto b) {
            return take_all(
                (in_batches(40, 4) | in_branches(std::move(a), std::move(b)) | weir::sink()).start(time));
        };
        const lists two{{0, 4, 101, 103}, {8, 12, 105, 107}};
        CHECK(of(in_branches(weir::take(2) | times_2(), slowly()), plus_100()) == two);
        CHECK(of(in_branches(times_2(), weir::take(2)), plus_100()) == two);
        CHECK(of(times_2(), in_branches(slowly(), weir::take(2) | plus_100())) == two);
        CHECK(of(times_2(), in_branches(slowly(), in_branches(slowly(), weir::take(2) | plus_100()))) == two);
        CHECK(of(in_branches(weir::take(0), slowly()), plus_100()).empty());
        // The take ends within a part of the outer split: so does this part.
        const auto one_by_one = weir::disaggregate() | weir::aggregate(1);
        CHECK(of(one_by_one | in_branches(weir::take(3), slowly()), plus_100()) ==
              lists{{0, 2, 101, 103}, {4, 105, 107}});
        // The inner split gives nothing for the last batch.
        const auto none = weir::filter([](const ints&) { return false; });
        CHECK(of(in_branches(weir::take(2) | none, none), plus_100()) == lists{{101, 103}, {105, 107}});
    }
}

TEST_CASE("a take in a route within a branch of a split ends the split with the batch of its last item") {
    const auto one_by_one = [] { return weir::disaggregate() | weir::aggregate(1); };
    const auto by_batch = [](const ints& part) { return part[0] / 4 % 2; };    // 0, 1, 0, 1, ...
    const auto by_element = [](const ints& part) { return part[0] / 2 % 2; };  // the first to 0, then to 1
    const auto to_0 = [](const ints&) { return 0; };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        const auto of = [&time](auto even, split_order order = split_order::branches) {
            return take_all(
                (in_batches(48, 4) |
                 split(parity, {.order = order}, branch("even", std::move(even)), branch("odd", plus_100())) |
                 weir::sink())
                    .start(time));
        };
        const auto of_route = [](auto chooser, auto a, auto b) {
            return weir::route(chooser, branch("a", std::move(a)), branch("b", std::move(b)));
        };
        const lists four{{0, 2, 101, 103}, {4, 6, 105, 107}, {8, 10, 109, 111}, {12, 14, 113, 115}};
        const lists three(four.begin(), four.end() - 1), two(four.begin(), four.end() - 2);
        CHECK(of(of_route(by_batch, weir::take(2), slowly())) == three);
        CHECK(of(of_route(by_batch, slowly(), weir::take(2))) == four);
        CHECK(of(of_route(by_batch, weir::take(2) | slowly(), weir::take(2))) == three);
        CHECK(of(of_route(to_0, slowly(), weir::take(0))).empty());
        CHECK(of(of_route(to_0, weir::take(0), slowly())).empty());
        // Parts with items for both branches: in their order, and back in one part.
        const auto one_part = weir::disaggregate() | weir::aggregate(2) | each([](int n) { return n; });
        const auto sorted = weir::pipe([](ints part) {
            std::ranges::sort(part);
            return part;
        });
        CHECK(of(one_by_one() | of_route(by_element, weir::take(2), slowly()) | one_part | sorted) == two);
        CHECK(of(one_by_one() | of_route(by_element, slowly(), weir::take(2)) | one_part | sorted) == two);
        CHECK(of(one_by_one() | of_route(by_element, slowly(), weir::take(2)) | one_part | sorted,
                 split_order::elements) == lists{{0, 101, 2, 103}, {4, 105, 6, 107}});
        // The route ends in the middle of a part, and so does the take.
        const auto last = of(one_by_one() | of_route(to_0, weir::take(3), slowly()));
        CHECK(last == lists{{0, 2, 101, 103}, {4, 105, 107}});
        // What comes behind the route doesn't end the next part, either.
        CHECK(of(one_by_one() | of_route(by_element, slowly(), slowly() | weir::take(1)) | one_part | sorted |
                 split(parity, {.order = split_order::branches}, branch("even", slowly()), branch("odd"))) ==
              lists{{0, 2, 101, 103}});
    }
}

TEST_CASE("the stages before a route in a branch of a split end when all branches of the route have ended") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        int made = 0;
        const auto makes_many = [&made](ints part) -> weir::generator<ints> {
            for (; made < 1'000; ++made) co_yield ints(1, part[0]);
        };
        const auto of = [&](auto routed) {
            made = 0;
            lists all;
            auto run = (in_batches(8, 4) |
                        split(parity, {.order = split_order::branches},
                              branch("even", weir::pipe(makes_many) | std::move(routed)), branch("odd")) |
                        weir::for_each([&all](const ints& batch) {
                            all.push_back(batch);
                        })).start(time);
            run.wait();
            time.run();  // whatever still goes on
            return all;
        };
        const auto in_turns = [n = 0](const ints&) mutable { return n++ % 2; };
        CHECK(of(weir::route(in_turns, branch("a"), branch("b")) | weir::take(3)) == lists{{0, 0, 0, 1, 3}});
        CHECK(made < 100);
        CHECK(of(weir::route(in_turns, branch("a", weir::take(1)), branch("b", weir::take(2)))) ==
              lists{{0, 0, 0, 1, 3}});
        CHECK(made < 100);
    }
}

TEST_CASE("a failure behind a split within a branch ends no part of the outer split") {
    virtual_time time;
    const auto inner =
        split(parity, {.order = split_order::branches}, branch("even", each([](int n) {
                                                                   if (n == 6)
                                                                       throw std::runtime_error("six");
                                                                   return n;
                                                               })),
              branch("odd"));
    const auto one_by_one = weir::disaggregate() | weir::aggregate(1);
    auto run =
        (in_batches(40, 4) |
         split(parity, {.order = split_order::branches}, branch("even", one_by_one | inner), branch("odd")) |
         weir::sink())
            .start(time);
    CHECK(take_until_failure(run).taken == lists{{0, 2, 1, 3}});
}

TEST_CASE("a chooser for the whole batch is asked once for all its elements, and may be awaited") {
    virtual_time time;
    std::size_t calls = 0;
    const auto check = [&](auto chooser) {
        calls = 0;
        const auto pipeline = in_batches(8, 4) |
                              split(chooser, branch("even", times_2()), branch("odd", plus_100())) |
                              weir::sink();
        CHECK(take_all(pipeline.start(time)) == lists{{0, 101, 4, 103}, {8, 105, 12, 107}});
        CHECK(calls == 2);
    };
    check([&calls](const ints& batch) {
        ++calls;
        std::vector<std::string> names;
        for (const int n : batch) names.emplace_back(n % 2 == 0 ? "even" : "odd");
        return names;
    });
    check([&calls](const ints& batch) {
        ++calls;
        std::vector<bool> is_odd;
        for (const int n : batch) is_odd.push_back(n % 2 == 1);
        return is_odd;
    });
    check([&calls](const ints& batch) -> task<std::vector<std::size_t>> {
        ++calls;
        std::vector<std::size_t> places;
        for (const int n : batch) places.push_back(parity(n));
        co_await weir::sleep_for(1ms);
        co_return places;
    });
}

TEST_CASE("a chooser that chooses for more or fewer elements than there are fails the batch, and no other") {
    for (const int more : {-1, 1}) {
        virtual_time time;
        const auto chooser = [more](const ints& batch) {
            const auto size = static_cast<int>(batch.size()) + (batch.front() == 3 ? more : 0);
            return std::vector<int>(static_cast<std::size_t>(size), 0);
        };
        std::string said;
        auto run = (in_batches(9, 3) | split(chooser, {.max_failures = 1}, branch("all"), branch("none")) |
                    weir::sink())
                       .start(time, {.on_failure = [&said](const weir::failure& f) { said = f.message(); }});
        CHECK(take_all(run) == lists{{0, 1, 2}, {6, 7, 8}});
        CHECK(said == "weir: a split's function chose " + std::to_string(3 + more) +
                          " branches for the 3 elements of a batch; it gives one for each, in their order");
    }
}

TEST_CASE("a branch is given an empty part where it gets nothing, and a batch may be empty") {
    virtual_time time;
    std::vector<std::size_t> sizes;
    const auto look = weir::pipe([&sizes](ints part) {
        sizes.push_back(part.size());
        return part;
    });
    for (const split_order order : {split_order::elements, split_order::branches}) {
        sizes.clear();
        const auto all = take_all(
            (weir::source(lists{{0, 2}, {}, {1, 3}, {4}}) |
             split(parity, {.order = order}, branch("even", times_2()), branch("odd", look)) | weir::sink())
                .start(time));
        CHECK(all == lists{{0, 4}, {1, 3}, {8}});
        CHECK(sizes == std::vector<std::size_t>{0, 0, 2, 0});
    }
}

TEST_CASE("a split with two slots is refused") {
    virtual_time time;
    auto pipeline = in_batches(12, 3) |
                    split([](int n) { return n % 2; }, {.name = "cut"}, branch("even"), branch("odd")) |
                    weir::sink();
    pipeline.options("cut").concurrency = 2;
    CHECK(items::message_of([&] {
              static_cast<void>(pipeline.start(time));
          }).find("weir: stage 'cut' splits: it divides one batch after the other, its concurrency is 1") !=
          std::string::npos);
}

TEST_CASE("branches are found by name, may have no stages, and may be alone") {
    virtual_time time;
    CHECK(take_all((in_batches(4, 4) |
                    split([](int n) { return n < 2 ? "low" : "high"; }, branch("high", plus_100()),
                          branch("low")) |
                    weir::sink())
                       .start(time)) == lists{{0, 1, 102, 103}});
    CHECK(take_all(
              (in_batches(5, 2) | split([](int) { return false; }, branch("all", times_2())) | weir::sink())
                  .start(time)) == lists{{0, 2}, {4, 6}, {8}});
    CHECK(take_all((in_batches(0, 2) | split(parity, branch("a"), branch("b")) | weir::sink()).start(time))
              .empty());
    CHECK_THROWS_AS(split(parity, branch("a"), branch("a")), std::invalid_argument);
}

TEST_CASE("by branches, a branch may drop elements, or parts, and what is left of nothing is dropped") {
    virtual_time time;
    const auto no_fours = weir::pipe([](ints part) -> std::optional<ints> {
        std::erase_if(part, [](int n) { return n % 4 == 0; });
        if (part.empty()) return std::nullopt;
        return part;
    });
    const auto few = weir::pipe([](ints part) -> std::optional<ints> {
        if (part.empty()) return std::nullopt;
        return part;
    });
    const auto parts =
        split(parity, {.order = split_order::branches}, branch("even", no_fours), branch("odd", few));
    CHECK(take_all((weir::source(lists{{0, 1, 2, 3, 4, 5, 6}, {0, 4}, {1}, {}, {2}}) | parts | weir::sink())
                       .start(time)) == lists{{2, 6, 1, 3, 5}, {1}, {2}});
}

TEST_CASE("by elements, a branch that gives more or fewer than it was given fails the batch in a sentence") {
    const auto drops_4 = weir::pipe([](ints part) {
        std::erase(part, 4);
        return part;
    });
    const auto doubles_1 = weir::pipe([](ints part) {
        if (!part.empty() && part.front() == 1) part.push_back(1);
        return part;
    });
    virtual_time time;
    const auto pipeline = [&](weir::split_options o) {
        return in_batches(9, 3) |
               split(parity, std::move(o), branch("even", drops_4), branch("odd", doubles_1)) | weir::sink();
    };
    std::vector<std::string> why;
    std::vector<std::uint64_t> which;
    std::string stage;
    const auto note = [&](const weir::failure& f) {
        why.push_back(message_of([&f] { std::rethrow_exception(f.error); }));
        which.push_back(f.item);
        stage = f.stage;
    };
    CHECK(take_all(pipeline({.max_failures = 2}).start(time, {.on_failure = note})) == lists{{6, 7, 8}});
    REQUIRE(why.size() == 2);
    CHECK(why.at(0) ==
          "weir: branch 1 of a split was given 1 elements of a batch and gave 2; with .order = "
          "weir::split_order::branches that is allowed");
    CHECK(contains(why.at(1), "branch 0 of a split was given 1 elements of a batch and gave 0"));
    CHECK(which == std::vector<std::uint64_t>{0, 1});
    CHECK(stage == "split#2_join");
    const auto end = take_until_failure(pipeline({.max_failures = 1}).start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "split#2_join");
    CHECK(end.taken.empty());
}

TEST_CASE("a part that fails in its branch leaves the others, or fails the batch") {
    virtual_time time;
    const auto no_3 = weir::pipe(
        [](ints part) {
            if (std::ranges::find(part, 3) != part.end()) throw std::runtime_error("three");
            return part;
        },
        {.name = "no_3", .max_failures = weir::unlimited});
    CHECK(take_all((in_batches(8, 4) |
                    split(parity, {.order = split_order::branches}, branch("even"), branch("odd", no_3)) |
                    weir::sink())
                       .start(time)) == lists{{0, 2}, {4, 6, 5, 7}});
    CHECK(take_all((in_batches(8, 4) |
                    split(parity, {.max_failures = weir::unlimited}, branch("even"), branch("odd", no_3)) |
                    weir::sink())
                       .start(time)) == lists{{4, 5, 6, 7}});
    // All parts of a batch failed.
    CHECK(take_all((in_batches(4, 2) |
                    split([](int) { return 0; }, {.order = split_order::branches}, branch("odd", no_3)) |
                    weir::sink())
                       .start(time)) == lists{{0, 1}});
}

TEST_CASE("a choice that fails is a failure of its batch") {
    virtual_time time;
    const auto chooser = [](int n) {
        if (n == 4) throw std::runtime_error("four");
        return n == 7 ? 2 : n % 2;
    };
    std::vector<std::uint64_t> which;
    const auto note = [&which](const weir::failure& f) { which.push_back(f.item); };
    const auto pipeline = [&](weir::split_options o) {
        return in_batches(12, 3) | split(chooser, std::move(o), branch("even"), branch("odd")) | weir::sink();
    };
    CHECK(take_all(pipeline({.max_failures = weir::unlimited}).start(time, {.on_failure = note})) ==
          lists{{0, 1, 2}, {9, 10, 11}});
    CHECK(which == std::vector<std::uint64_t>{1, 2});
    const auto end = take_until_failure(pipeline({.name = "cut"}).start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "cut");
    CHECK(end.inside == "four");
    CHECK(end.taken == lists{{0, 1, 2}});
}

TEST_CASE(
    "a choice that fails has its batch's number, whatever epoch it is in, and counts as a task that failed") {
    virtual_time time;
    std::vector<std::uint64_t> failed;
    const auto chooser = [](int n) {
        if (n == 2) throw std::runtime_error("two");
        return 0;
    };
    auto run =
        (weir::source(weir::epochs(ints{1, 2, 3}, 3)) | weir::aggregate(1) |
         split(chooser, {.name = "cut"}, branch("all")) | weir::sink())
            .start(time, {.max_failures = weir::unlimited,
                          .on_failure = [&failed](const weir::failure& f) { failed.push_back(f.item); }});
    CHECK(take_all(run).size() == 6);
    CHECK(failed == std::vector<std::uint64_t>{1, 4, 7});
    for (const auto& stage : run.stats().stages) {
        if (stage.name != "cut") continue;
        CHECK(stage.num_tasks == 9);
        CHECK(stage.num_failures == 3);
        CHECK(stage.task_times.count() == 6);
    }
}

// What is no coroutine of ours.
struct at_once {
    int place;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const {
        if (place > 2) throw std::runtime_error("beyond");
        return place;
    }
};

TEST_CASE("a choice may have to be awaited, element after element, and its time is the stage's") {
    const auto later = [](const int& n) -> task<std::string> {
        co_await weir::sleep_for(1ms);
        if (n == 4) throw std::runtime_error("four");
        co_return n % 2 == 0 ? "even" : "odd";
    };
    const auto pipeline = in_batches(9, 3) |
                          split(later, {.max_failures = weir::unlimited}, branch("even", times_2()),
                                branch("odd", plus_100())) |
                          weir::sink();
    virtual_time time;
    auto run = pipeline.start(time);
    CHECK(take_all(run) == lists{{0, 101, 4}, {12, 107, 16}});
    const auto stats = run.stats();
    CHECK(stats.stages.at(2).name == "split#2");
    CHECK(stats.stages.at(2).num_tasks == 3);
    CHECK(stats.stages.at(2).num_failures == 1);
    CHECK(stats.stages.at(2).times().await == 8ms);  // the second batch ended with its second element
    CHECK(stats.stages.at(2).task_time == 6ms);
    CHECK(flows::add_up(stats));
    CHECK(take_all(pipeline.start<weir::unmeasured>(time)) == lists{{0, 101, 4}, {12, 107, 16}});

    const auto from = weir::source(weir::epochs(lists{{0, 1}, {2}, {3, 0}, {}}, 2));
    const auto in_epochs = from |
                           split([](int n) { return at_once{n}; },
                                 {.order = split_order::branches, .max_failures = weir::unlimited},
                                 branch("a"), branch("b"), branch("c")) |
                           weir::sink();
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time other(seed);
        const auto epochs = by_epoch(in_epochs.start(other));
        REQUIRE(epochs.size() == 2);
        for (const auto& epoch : epochs) CHECK(epoch.second == lists{{0, 1}, {2}});
    }
}

TEST_CASE("a split whose choice never comes is left, on virtual time and on a pool") {
    const auto never = [](const int&) -> task<int> {
        co_await weir::sleep_for(1h);
        co_return 0;
    };
    const auto pipeline = in_batches(9, 3) | split(never, branch("a")) | weir::sink();
    virtual_time time;
    auto run = pipeline.start(time);
    CHECK_FALSE(run.get(1s).has_value());
    run.stop();
    CHECK(run.stats().stages.at(2).num_tasks <= 1);
}

TEST_CASE("parts are batched anew inside of a branch, and never mix with those of other batches") {
    virtual_time time;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time shuffled(seed);
        const auto regroup = weir::disaggregate() | weir::aggregate(2);
        CHECK(take_all((in_batches(20, 10) |
                        split(parity, branch("even", regroup | slowly()), branch("odd", slowly())) |
                        weir::sink())
                           .start(shuffled)) ==
              lists{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}});
        // By items: no part is left whole, and empty ones vanish on the way.
        const auto single =
            weir::disaggregate() | weir::pipe([](int n) { return n + 1; }) | weir::aggregate(3);
        CHECK(take_all((weir::source(lists{{1}, {0, 1, 2}, {}, {4, 6, 8, 10}}) |
                        split(parity, branch("even", single), branch("odd")) | weir::sink())
                           .start(shuffled)) == lists{{1}, {1, 1, 3}, {5, 7, 9, 11}});
    }
}

TEST_CASE("batches leave in their order, whatever the slots inside of the branches do") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        for (const split_order order : {split_order::elements, split_order::branches}) {
            const auto all = take_all(
                (in_batches(60, 3) |
                 split([](int n) { return n % 3; }, {.order = order}, branch("a", slowly({.concurrency = 4})),
                       branch("b", slowly({.concurrency = 2}) | slowly({.concurrency = 3})), branch("c")) |
                 weir::sink())
                    .start(time));
            REQUIRE(all.size() == 20);
            for (int i = 0; i < 20; ++i) {
                CHECK(all.at(static_cast<std::size_t>(i)) == ints{3 * i, 3 * i + 1, 3 * i + 2});
            }
        }
    }
}

TEST_CASE("the ends of epochs keep their places between batches") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        const auto epoch = [](std::uint64_t e) {
            const int first = 10 * static_cast<int>(e);
            return std::views::iota(first, first + (e == 1 ? 0 : 5));
        };
        const auto pipeline =
            weir::source(weir::epochs(epoch, 4)) | weir::aggregate(2) |
            split(parity, branch("even", slowly({.concurrency = 3})), branch("odd", plus_100())) |
            weir::sink();
        const std::vector<std::pair<std::size_t, lists>> expected = {{0, {{0, 101}, {2, 103}, {4}}},
                                                                     {1, {}},
                                                                     {2, {{20, 121}, {22, 123}, {24}}},
                                                                     {3, {{30, 131}, {32, 133}, {34}}}};
        CHECK(by_epoch(pipeline.start(time)) == expected);
    }
}

TEST_CASE("batches that vanish don't keep an epoch, or a checkpoint, from ending") {
    virtual_time time;
    using draws = std::vector<weir::draw>;
    const auto choose = [](const weir::draw& d) { return d.index % 2; };
    const auto drop = weir::pipe([](draws part) -> std::optional<draws> {
        if (part.empty()) return part;
        return std::nullopt;
    });
    const auto throws = weir::pipe([](draws part) {
        if (!part.empty()) throw std::runtime_error("odd");
        return part;
    });
    const auto is_done = [&](const auto& parts) {
        auto run = (weir::source(weir::draws(weir::sampler({.size = 10, .shuffle = false}), 1)) |
                    weir::aggregate(1) | parts | weir::sink())
                       .start(time, {.max_failures = weir::unlimited});
        CHECK(take_all(run).size() == 5);
        auto rest =
            (weir::source(
                 weir::draws(weir::sampler({.size = 10, .shuffle = false, .resume = run.checkpoint()}), 1)) |
             weir::sink())
                .start(time);
        return take_all(rest).empty();
    };
    CHECK(is_done(split(choose, {.order = split_order::branches}, branch("even"), branch("odd", drop))));
    CHECK(is_done(split(choose, {.order = split_order::branches}, branch("even"), branch("odd", throws))));
    CHECK(is_done(split(choose, {.order = split_order::elements}, branch("even"), branch("odd", drop))));
    CHECK(is_done(split(choose, {.order = split_order::elements}, branch("even"), branch("odd", throws))));
    const auto refuses = [](const weir::draw& d) -> int {
        if (d.index % 2 == 1) throw std::runtime_error("odd");
        return 0;
    };
    CHECK(is_done(split(refuses, branch("even"))));
}

TEST_CASE("a batch of which a part was lost is not given, and none of it is taken for a checkpoint") {
    virtual_time time;
    using draws = std::vector<weir::draw>;
    const auto choose = [](const weir::draw& d) { return d.index % 2; };
    const auto batches =
        weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) | weir::aggregate(4);
    const weir::split_options by_branch{.order = split_order::branches, .max_failures = weir::unlimited};

    // By a failure, which leaves to the branch's other branches what they have.
    const auto fails = weir::pipe([](weir::draw d) -> task<weir::draw> {
        co_await weir::sleep_for(1ms);
        if (d.index == 0) throw std::runtime_error("bad");
        co_return d;
    });
    const auto divided =
        weir::disaggregate() |
        weir::route([](const weir::draw& d) { return d.index / 2; }, branch("low", fails), branch("high")) |
        weir::aggregate(4);
    auto failed = (batches | split(choose, by_branch, branch("even", divided), branch("odd")) | weir::sink())
                      .start(time);
    CHECK_THROWS_AS(failed.get(), weir::pipeline_failure);
    CHECK(failed.checkpoint().watermark() == 0);

    // By a stop, of which a function hears before the run does.
    for (const auto order : {split_order::branches, split_order::elements}) {
        const weir::stop_source asks;
        const auto token = asks.get_token();
        const auto gives_up = weir::pipe([token](draws part) -> task<draws> {
            co_await weir::sleep_for(1s);
            if (token.stop_requested()) part.clear();
            co_return part;
        });
        const weir::split_options settings{.order = order, .max_failures = weir::unlimited};
        const auto pipeline =
            batches | split(choose, settings, branch("even"), branch("odd", gives_up)) | weir::sink();
        auto stopped = pipeline.start(time, {.stop = token});
        bool took = false;
        const auto goes_on = [&]() noexcept {
            took = stopped.get(2s).status() == weir::channel_status::success;
        };
        const weir::stop_callback first(token, goes_on);
        asks.request_stop();
        stopped.stop();
        CHECK_FALSE(took);
        CHECK(stopped.checkpoint().watermark() == 0);
        CHECK(stopped.checkpoint().ahead().empty());
    }
}

TEST_CASE("a hook that throws behind the choice fails its batch, and no other") {
    class fails_second : public weir::hook {
      public:
        void after(const weir::invocation& call, const std::exception_ptr&) override {
            if (call.stage() == "split#2" && call.item() == 1) throw std::runtime_error("hook");
        }
    };
    virtual_time time;
    CHECK(take_all((in_batches(9, 3) | split(parity, branch("even", times_2()), branch("odd", plus_100())) |
                    weir::sink())
                       .start(time, {.max_failures = 1, .hooks = {std::make_shared<fails_second>()}})) ==
          lists{{0, 101, 4}, {12, 107, 16}});
}

TEST_CASE("a hook that throws at the join fails its batch, and no other") {
    class fails_once : public weir::hook {
      public:
        explicit fails_once(bool before) : before_(before) {}
        void before(const weir::invocation& call) override { meet(call, true); }
        void after(const weir::invocation& call, const std::exception_ptr&) override { meet(call, false); }
        int num_calls() const { return num_calls_; }

      private:
        void meet(const weir::invocation& call, bool before) {
            if (call.stage() != "s_join" || before != before_) return;
            CHECK(call.input<ints>() == nullptr);  // it has parts of several branches
            ++num_calls_;
            if (call.item() == 1 && !std::exchange(threw_, true)) throw std::runtime_error("hook");
        }
        const bool before_;
        bool threw_ = false;
        int num_calls_ = 0;
    };
    virtual_time time;
    const auto divided = split(parity, {.name = "s"}, branch("even", times_2()), branch("odd", plus_100()));
    const auto in_epochs = weir::source(weir::epochs(ints{0, 1, 2, 3}, 2)) | weir::aggregate(2);
    for (const bool before : {true, false}) {
        const auto fails = std::make_shared<fails_once>(before);
        const weir::run_options settings{.max_failures = 1, .hooks = {fails}};
        CHECK(take_all((in_batches(9, 3) | divided | weir::sink()).start(time, settings)) ==
              lists{{0, 101, 4}, {12, 107, 16}});
        CHECK(fails->num_calls() == 3);
    }
    for (const bool before : {true, false}) {
        const auto fails = std::make_shared<fails_once>(before);
        const weir::run_options settings{.max_failures = weir::unlimited, .hooks = {fails}};
        const auto by_branch = weir::split_options{.order = split_order::branches};
        const auto lenient = split([](int) { return 0; }, by_branch, branch("all", divided), branch("none"));
        CHECK(take_all((in_batches(9, 3) | lenient | weir::sink()).start(time, settings)) ==
              lists{{0, 101, 4}, {12, 107, 16}});
    }
    // The end of an epoch is no task of the join.
    for (const bool before : {true, false}) {
        const auto fails = std::make_shared<fails_once>(before);
        auto run = (in_epochs | divided | weir::sink()).start(time, {.max_failures = 1, .hooks = {fails}});
        const auto epochs = by_epoch(run);
        REQUIRE(epochs.size() == 2);
        CHECK(epochs.at(0).second == lists{{0, 101}});
        CHECK(epochs.at(1).second == lists{{0, 101}, {4, 103}});
        CHECK(fails->num_calls() == 4);
        CHECK(run.stats().stages.at(run.stages().size() - 2).num_tasks == 4);
    }
}

TEST_CASE("a batch that a hook fails at the join is done for a checkpoint") {
    class fails_all : public weir::hook {
      public:
        void after(const weir::invocation& call, const std::exception_ptr&) override {
            if (call.stage() == "s_join") throw std::runtime_error("hook");
        }
    };
    virtual_time time;
    auto run =
        (weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) | weir::aggregate(2) |
         split([](const weir::draw&) { return 0; }, {.name = "s"}, branch("all")) | weir::sink())
            .start(time, {.max_failures = weir::unlimited, .hooks = {std::make_shared<fails_all>()}});
    CHECK(take_all(run).empty());
    CHECK(run.checkpoint().watermark() == 4);
}

TEST_CASE("splits stand in branches of splits and routes") {
    virtual_time time;
    const auto inner =
        split([](int n) { return n % 4 == 0; }, branch("two", plus_100()), branch("four", times_2()));
    CHECK(take_all((in_batches(10, 5) | split(parity, branch("even", inner), branch("odd")) | weir::sink())
                       .start(time)) == lists{{0, 1, 102, 3, 8}, {5, 106, 7, 16, 9}});
    auto all = take_all(
        (in_batches(6, 2) |
         weir::route([](const ints& b) { return b.front() == 2; }, branch("split", inner), branch("pass")) |
         weir::sink())
            .start(time));
    std::ranges::sort(all);
    CHECK(all == lists{{0, 101}, {2, 3}, {8, 105}});
    // A route inside: a part goes one way or the other.
    const auto by_size = weir::route([](const ints& part) { return part.size() > 1; }, branch("few"),
                                     branch("many", plus_100()));
    CHECK(take_all((in_batches(5, 3) | split(parity, branch("even", by_size), branch("odd", by_size)) |
                    weir::sink())
                       .start(time)) == lists{{100, 1, 102}, {3, 4}});
}

TEST_CASE("a failure in a branch ends the split, and delivers the batches before it") {
    const auto fails = weir::pipe(
        [](ints part) {
            if (std::ranges::find(part, 7) != part.end()) throw std::runtime_error("seven");
            return part;
        },
        {.name = "fails"});
    const auto hour = weir::pipe([](ints part) -> task<ints> {
        co_await weir::sleep_for(1h);
        co_return part;
    });
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        for (const bool slow_first : {false, true}) {
            const auto chooser = [slow_first](int n) { return (n % 2 == 0) == slow_first ? 0 : 1; };
            const auto start = [&](auto a, auto b) {
                return (weir::source(std::views::iota(0)) | weir::aggregate(2) |
                        split(chooser, {.capacity = 1}, branch("a", std::move(a)),
                              branch("b", std::move(b))) |
                        weir::sink(10))
                    .start(time);
            };
            const auto judge = [](const auto& end) {
                REQUIRE(end.failed);
                CHECK(end.failed->stage() == "fails");
                CHECK(end.taken.size() <= 3);
                CHECK(!end.taken.empty());
                CHECK(end.taken.at(0) == ints{0, 1});
            };
            if (slow_first) {
                judge(take_until_failure(start(hour, fails)));
            } else {
                judge(take_until_failure(start(fails, hour)));
            }
        }
    }
}

TEST_CASE("a consumer that leaves early ends splits, on virtual time and on a pool") {
    items::ledger book(100'000);
    using boxes = std::vector<items::counted>;
    const auto made = weir::pipe([&book](int) {
        boxes all;
        for (int i = 0; i < 3; ++i) all.emplace_back(book);
        return all;
    });
    const auto same = weir::pipe([](boxes b) { return b; }, {.concurrency = 2});
    const auto pipeline =
        weir::source(std::views::iota(0)) | made |
        split([](const items::counted& c) { return c.number() % 2; }, branch("a", same | same), branch("b")) |
        weir::sink();
    {
        virtual_time time;
        auto run = pipeline.start(time);
        for (int i = 0; i < 20; ++i) CHECK(run.get()->size() == 3);
    }
    {
        weir::thread_pool pool(2);
        auto run = pipeline.start(pool);
        for (int i = 0; i < 20; ++i) CHECK(run.get()->size() == 3);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("the figures of a split know its batches, and no marks inside of it") {
    virtual_time time;
    auto pipeline = in_batches(8, 2) |
                    split(parity, {.name = "s"}, branch("even", slowly({.name = "slow"})), branch("odd")) |
                    weir::sink();
    pipeline.options("slow").concurrency = 2;
    auto run = pipeline.start(time);
    CHECK(take_all(run).size() == 4);
    const auto stats = run.stats();
    CHECK(run.stages() == std::vector<std::string>{"src", "aggregate#1", "s", "slow", "s_join", "sink"});
    const auto& cut = stats.stages.at(2);
    const auto& join = stats.stages.at(4);
    CHECK(cut.kind == "split");
    CHECK(join.kind == "join");
    CHECK(cut.num_tasks == 4);
    CHECK(join.num_tasks == 4);
    CHECK(stats.stages.at(3).num_tasks == 4);
    CHECK(stats.channels.at(cut.outputs.at(0)).name == "even");
    CHECK(stats.channels.at(cut.outputs.at(1)).num_put == 4);
    CHECK(stats.channels.at(cut.outputs.at(1)).num_get == 4);
    CHECK(stats.channels.at(join.inputs.at(0)).name == "slow");
    CHECK(flows::add_up(stats));
}

TEST_CASE("a split without statistics does the same") {
    virtual_time time;
    const auto pipeline =
        in_batches(8, 4) | split(parity, branch("even", times_2()), branch("odd", plus_100())) | weir::sink();
    CHECK(take_all(pipeline.start<weir::unmeasured>(time)) == lists{{0, 101, 4, 103}, {8, 105, 12, 107}});
}

TEST_CASE("a batch may be a std::vector of bool") {
    using bits = std::vector<bool>;
    const auto order = GENERATE(split_order::elements, split_order::branches);
    const bits some = {true, false, false, true, true};
    const auto inverted = weir::pipe([](bits part) {
        part.flip();
        return part;
    });
    const auto check = [&](auto chooser) {
        virtual_time time;
        auto run = (weir::source(std::vector<bits>{some}) |
                    split(std::move(chooser), {.order = order}, branch("off"), branch("on", inverted)) |
                    weir::sink())
                       .start(time);
        CHECK(take_all(run) == std::vector<bits>{bits(5)});  // the true ones were inverted
    };
    check([](bool on) { return on ? 1 : 0; });
    check([](bool on) -> task<int> { co_return on ? 1 : 0; });
    check([](const bits& all) { return std::vector<int>(all.begin(), all.end()); });
}
