#include <weir/graph/merge.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using flows::by_epoch;
using items::contains;
using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::duration;
using weir::merge_order;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using epochs_of_ints = std::vector<std::pair<std::size_t, ints>>;

namespace {

// from, from + 1, ..., one each `d`: the first at d.
auto one_each(duration d, int from, int count) {
    return weir::source(std::views::iota(from, from + count)) | weir::pipe([d](int n) -> task<int> {
               co_await weir::sleep_for(d);
               co_return n;
           });
}

auto numbers(int from, int count) { return weir::source(std::views::iota(from, from + count)); }

auto fails_at(int bad) {
    return weir::pipe(
        [bad](int n) {
            if (n == bad) throw std::runtime_error("bad " + std::to_string(n));
            return n;
        },
        {.name = "fails"});
}

// Epoch e of a source has the items base + 10 * e, ..., as many as `sizes` says, one each `d`.
auto epochs_at(duration d, int base, std::vector<int> sizes) {
    const std::uint64_t count = sizes.size();
    return weir::source(weir::epochs(
               [base, sizes](std::uint64_t e) {
                   const int first = base + 10 * static_cast<int>(e);
                   return std::views::iota(first, first + sizes.at(e));
               },
               count)) |
           weir::pipe([d](int n) -> task<int> {
               if (d > 0ns) co_await weir::sleep_for(d);
               co_return n;
           });
}

epochs_of_ints sorted(epochs_of_ints all) {
    for (auto& [number, items] : all) std::ranges::sort(items);
    return all;
}

ints sorted(ints all) {
    std::ranges::sort(all);
    return all;
}

}  // namespace

TEST_CASE("what is merged by arrival comes as it is there") {
    virtual_time time;
    const auto pipeline = weir::merge(one_each(30ms, 0, 3), one_each(20ms, 10, 4)) | weir::sink();
    // 20: 10; 30: 0; 40: 11; 60: both; 80: 13; 90: 2
    const ints all = take_all(pipeline.start(time));
    REQUIRE(all.size() == 7);
    CHECK(ints(all.begin(), all.begin() + 3) == ints{10, 0, 11});
    CHECK(sorted({all[3], all[4]}) == ints{1, 12});
    CHECK(ints(all.begin() + 5, all.end()) == ints{13, 2});
    CHECK(time.now() == weir::time_point(90ms));
}

TEST_CASE(
    "two inputs, three, an empty one and none but that, with stages before and behind, give all there is") {
    const auto halves = [](int from, int count) {
        return weir::source(std::views::iota(from, from + count)) |
               weir::pipe([](int n) { return n / 2; }, {.concurrency = 2});
    };
    const auto behind = weir::pipe([](int n) { return n + 1; }, {.concurrency = 3});
    const auto all_of = [](auto pipeline) {
        virtual_time time;
        weir::thread_pool pool(2);
        ints exact = sorted(take_all(pipeline.start(time)));
        CHECK(sorted(take_all(pipeline.start(pool))) == exact);
        return exact;
    };
    CHECK(all_of(weir::merge(halves(0, 4), halves(100, 4)) | behind | weir::sink()) ==
          ints{1, 1, 2, 2, 51, 51, 52, 52});
    CHECK(all_of(weir::merge(halves(0, 2), halves(100, 0), halves(200, 2)) | behind | weir::sink()) ==
          ints{1, 1, 101, 101});
    CHECK(all_of(weir::merge(halves(0, 0), halves(0, 0)) | behind | weir::sink()).empty());
}

TEST_CASE("the order of each input is kept, whatever the order between them") {
    for (const merge_order order : {merge_order::arrival, merge_order::round_robin, merge_order::weighted,
                                    merge_order::priority, merge_order::random}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            virtual_time time(seed);
            const auto all =
                take_all((weir::merge({.order = order}, numbers(0, 20), numbers(100, 7), numbers(200, 13)) |
                          weir::sink())
                             .start(time));
            ints seen[3];
            for (const int n : all) seen[n / 100].push_back(n % 100);
            for (int i = 0; i < 3; ++i) {
                ints expected(i == 0 ? 20U : i == 1 ? 7U : 13U);
                std::iota(expected.begin(), expected.end(), 0);
                CHECK(seen[i] == expected);
            }
        }
    }
}

TEST_CASE("in turns one of each comes, whoever is slow; who has ended is left out") {
    virtual_time time;
    const auto turns = [&time](auto... inputs) {
        return take_all(
            (weir::merge({.order = merge_order::round_robin}, std::move(inputs)...) | weir::sink())
                .start(time));
    };
    CHECK(turns(numbers(0, 3), one_each(10ms, 10, 3), numbers(20, 3)) ==
          ints{0, 10, 20, 1, 11, 21, 2, 12, 22});
    CHECK(turns(numbers(0, 4), numbers(10, 2), numbers(20, 4)) == ints{0, 10, 20, 1, 11, 21, 2, 22, 3, 23});
    CHECK(turns(numbers(0, 4), numbers(10, 1), numbers(20, 2), numbers(30, 4)) ==
          ints{0, 10, 20, 30, 1, 21, 31, 2, 32, 3, 33});
    CHECK(turns(numbers(0, 1), numbers(10, 4), numbers(20, 4)) == ints{0, 10, 20, 11, 21, 12, 22, 13, 23});
    CHECK(turns(numbers(0, 0), numbers(10, 2), numbers(20, 0)) == ints{10, 11});
    CHECK(turns(numbers(5, 3)) == ints{5, 6, 7});
    CHECK(turns(numbers(0, 0), numbers(0, 0)).empty());
}

TEST_CASE("by weights each comes as often as its weight says, spread evenly") {
    virtual_time time;
    const auto names = [&time](std::vector<double> weights, int n, auto... firsts) {
        std::string text;
        auto run = (weir::merge({.order = merge_order::weighted, .weights = std::move(weights)},
                                numbers(firsts, 100)...) |
                    weir::sink())
                       .start(time);
        for (const int each : run) {
            text += static_cast<char>('a' + each / 100);
            if (--n == 0) break;
        }
        return text;
    };
    // As nginx does it.
    CHECK(names({5, 1, 1}, 14, 0, 100, 200) == "aabacaaaabacaa");
    CHECK(names({1, 1, 1}, 6, 0, 100, 200) == "abcabc");
    CHECK(names({}, 6, 0, 100, 200) == "abcabc");
    CHECK(names({3, 1}, 8, 0, 100) == "aabaaaba");
    // In each window of the weights' sum each has its share.
    const std::string many = names({7, 2, 4}, 13 * 6, 0, 100, 200);
    for (std::size_t i = 0; i + 13 <= many.size(); i += 13) {
        const std::string window = many.substr(i, 13);
        CHECK(std::ranges::count(window, 'a') == 7);
        CHECK(std::ranges::count(window, 'b') == 2);
        CHECK(std::ranges::count(window, 'c') == 4);
    }
}

TEST_CASE("by lot the mix follows the weights, the same on every schedule, and all of each input comes") {
    const auto pipeline = weir::merge({.order = merge_order::random, .weights = {0.5, 0.3, 0.2}, .seed = 11},
                                      numbers(0, 20), one_each(1ms, 100, 400), numbers(1000, 400)) |
                          weir::sink();
    ints first;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        virtual_time time(seed);
        const ints all = take_all(pipeline.start(time));
        REQUIRE(all.size() == 820);
        if (seed == 0) first = all;
        CHECK(all == first);
    }
    const auto of = [&first](int begin, int n) {
        ints its;
        for (const int each : first) {
            if (each >= begin && each < begin + n) its.push_back(each);
        }
        return its;
    };
    // One that ends early takes nobody with it, and those that are left share by their weights.
    for (const auto& [begin, n] : {std::pair(0, 20), std::pair(100, 400), std::pair(1000, 400)}) {
        const ints its = of(begin, n);
        REQUIRE(its.size() == static_cast<std::size_t>(n));
        CHECK(std::ranges::is_sorted(its));
    }
    const auto end_of_first = std::ranges::find(first, 19);
    CHECK(end_of_first - first.begin() < 80);
    const auto second_after = std::count_if(end_of_first, end_of_first + 400, [](int n) { return n < 1000; });
    CHECK(second_after > 200);
    CHECK(second_after < 280);
}

TEST_CASE("a merge by lot to the first end stops where the turn comes to the one that has ended") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto pipeline =
            weir::merge({.order = merge_order::random, .seed = seed, .until_first_end = true}, numbers(0, 5),
                        numbers(10, 5)) |
            weir::sink();
        ints first;
        for (std::uint64_t schedule = 0; schedule < 5; ++schedule) {
            virtual_time time(schedule);
            const ints all = take_all(pipeline.start(time));
            if (schedule == 0) first = all;
            CHECK(all == first);
        }
        CHECK((std::ranges::count_if(first, [](int n) { return n < 10; }) == 5 ||
               std::ranges::count_if(first, [](int n) { return n >= 10; }) == 5));
    }
}

TEST_CASE("a rule of one's own says whose turn it is, once a turn, and is not asked for who has ended") {
    using places = std::vector<std::size_t>;
    std::vector<places> asked;
    // Two of the last one that is left, then one of the first.
    const auto rule = [&asked, n = 0](std::span<const std::size_t> open) mutable {
        asked.emplace_back(open.begin(), open.end());
        return n++ % 3 < 2 ? open.back() : open.front();
    };
    const auto pipeline =
        weir::merge({.rule = rule}, one_each(3ms, 0, 3), numbers(10, 2), numbers(20, 3)) | weir::sink();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        asked.clear();
        virtual_time time(seed);
        CHECK(take_all(pipeline.start(time)) == ints{20, 21, 0, 22, 1, 10, 11, 2});
        const std::vector<places> at_three(5, places{0, 1, 2}), at_two(5, places{0, 1});
        std::vector<places> expected = at_three;
        expected.insert(expected.end(), at_two.begin(), at_two.end());
        expected.push_back({0});
        CHECK(asked == expected);
    }
    weir::thread_pool pool(2);
    CHECK(take_all(pipeline.start(pool)) == ints{20, 21, 0, 22, 1, 10, 11, 2});
}

TEST_CASE("what runs while a stage closes its queue may request a stop of the run") {
    virtual_time time;
    SECTION("the rule of a merge, when an input has ended") {
        std::optional<weir::run<int>> run;
        bool asked = false;
        const auto rule = [&](std::span<const std::size_t> open) {
            if (open.size() == 1 && !std::exchange(asked, true)) run->request_stop();
            return open.front();
        };
        run = (weir::merge({.rule = rule}, numbers(0, 1), one_each(1ms, 10, 9)) | weir::sink()).start(time);
        CHECK(take_all(*run).size() < 10);
        CHECK(asked);
        CHECK(run->ended());
    }
    SECTION("the destructor of an item in the queue of a take") {
        std::function<void()> on_destruction;
        const auto item = [&](int) {
            return std::shared_ptr<void>(nullptr, [&](void*) {
                if (on_destruction) on_destruction();
            });
        };
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(item, {.capacity = 8}) | weir::take(1) |
                    weir::sink())
                       .start(time);
        int requests = 0;
        on_destruction = [&] {
            ++requests;
            run.request_stop();
        };
        while (run.get()) {
        }
        CHECK(requests > 1);
        run.stop();
        CHECK(run.ended());
        on_destruction = nullptr;
    }
}

TEST_CASE("a rule of one's own is asked anew in each epoch, which ends for all at once") {
    const auto last = [](std::span<const std::size_t> open) { return open.back(); };
    const auto pipeline =
        weir::merge({.rule = last}, epochs_at(2ms, 0, {2, 1}), epochs_at(0ms, 100, {1, 3})) | weir::sink();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        auto run = pipeline.start(time);
        CHECK(by_epoch(run) == epochs_of_ints{{0, {100, 0, 1}}, {1, {110, 111, 112, 10}}});
    }
}

TEST_CASE("a rule that throws, or names an input that has ended, stops the run as a failure of the merge") {
    for (const bool throws : {true, false}) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            virtual_time time(seed);
            const auto rule = [throws, n = 0](std::span<const std::size_t>) mutable -> std::size_t {
                if (n++ < 3) return 1;
                if (throws) throw std::runtime_error("no idea");
                return 7;
            };
            auto run =
                (weir::merge({.name = "m", .rule = rule}, numbers(0, 9), numbers(10, 9)) | weir::sink())
                    .start(time);
            const auto end = take_until_failure(run);
            CHECK(end.taken == ints{10, 11, 12});
            REQUIRE(end.failed);
            CHECK(end.failed->stage() == "m");
            CHECK(end.failed->item() == 3);
            CHECK(contains(end.failed->what(),
                           throws ? "no idea" : "chose input 7; those that may have more to give are 0, 1"));
        }
    }
}

TEST_CASE("an input of weight 0 has its turn when all others have ended, and not before") {
    for (const int second : {1, 2, 5, 6, 7, 11, 12, 13, 25}) {
        for (const int third : {1, 3, 5, 6, 7, 8, 10, 22}) {
            virtual_time time;
            const ints all = take_all((weir::merge({.order = merge_order::weighted, .weights = {0, 1, 10}},
                                                   numbers(0, 3), numbers(100, second), numbers(200, third)) |
                                       weir::sink())
                                          .start(time));
            REQUIRE(all.size() == static_cast<std::size_t>(3 + second + third));
            CAPTURE(second, third);
            CHECK(ints(all.end() - 3, all.end()) == ints{0, 1, 2});
        }
    }
    virtual_time time;
    CHECK(take_all((weir::merge({.order = merge_order::weighted, .weights = {0, 0}}, numbers(0, 3),
                                numbers(10, 2)) |
                    weir::sink())
                       .start(time)) == ints{0, 10, 1, 11, 2});
}

TEST_CASE("of those that have one, the first that was named gives the next item") {
    virtual_time time;
    // The consumer is slow, so all inputs always have an item.
    auto run = (weir::merge({.capacity = 1, .order = merge_order::priority}, numbers(0, 8), numbers(10, 8),
                            numbers(20, 8)) |
                weir::sink(1))
                   .start(time);
    ints all;
    while (auto n = run.get()) {
        all.push_back(*n);
        time.run_until(time.now() + 1s);
    }
    // Only until the first input has anything may others go.
    REQUIRE(all.size() == 24);
    const auto late = std::find(all.begin(), all.end(), 7);
    CHECK(late - all.begin() <= 9);
    CHECK(std::find(all.begin(), all.end(), 17) < std::find(all.begin(), all.end(), 23));
}

TEST_CASE("the lowest input is not starved while the first has nothing, and is while it has") {
    virtual_time time;
    // The first has one item each 10 ms, the other any number, of which one passes each 4 ms.
    const auto slow = weir::pipe([](int n) -> task<int> {
        co_await weir::sleep_for(4ms);
        co_return n;
    });
    auto run = (weir::merge({.capacity = 1, .order = merge_order::priority}, one_each(10ms, 0, 10),
                            numbers(100, 1000)) |
                slow | weir::sink(1))
                   .start(time);
    int urgent = 0, others = 0;
    while (urgent < 10) {
        const int n = run.get().value();
        (n < 100 ? urgent : others) += 1;
        // Never longer on its way than what was in front of it: one in the queue, one at work, one in
        // the merge's hand.
        if (n < 100) CHECK(time.now() <= weir::time_point((n + 1) * 10ms + 4 * 4ms));
    }
    CHECK(others > 10);
    run.stop();

    // A first input that always has an item lets no other pass.
    auto endless = (weir::merge({.order = merge_order::priority},
                                weir::source(std::views::iota(0), {.capacity = 8}), numbers(-1000, 10)) |
                    weir::sink())
                       .start(time);
    int lower = 0;
    for (int i = 0; i < 1000; ++i) lower += endless.get().value() < 0 ? 1 : 0;
    CHECK(lower <= 10);
}

TEST_CASE("the merge ends with the first input if that is asked for") {
    virtual_time time;
    for (const merge_order order : {merge_order::arrival, merge_order::round_robin, merge_order::weighted,
                                    merge_order::priority, merge_order::random}) {
        auto run = (weir::merge({.order = order, .until_first_end = true}, numbers(0, 3),
                                weir::source(std::views::iota(100)), numbers(50, 1000)) |
                    weir::sink())
                       .start(time);
        const ints all = take_all(run);
        CHECK(std::ranges::count_if(all, [](int n) { return n < 3; }) <= 3);
        CHECK(all.size() < 100);
    }
    CHECK(take_all((weir::merge({.order = merge_order::round_robin, .until_first_end = true}, numbers(0, 3),
                                weir::source(std::views::iota(100))) |
                    weir::sink())
                       .start(time)) == ints{0, 100, 1, 101, 2, 102});
    CHECK(
        take_all((weir::merge({.until_first_end = true}, numbers(0, 0), one_each(1s, 0, 100)) | weir::sink())
                     .start(time))
            .empty());
}

// What a program gives that asks its lists in their turns: by weights, in smooth weighted round robin.
ints one_by_one(const std::vector<ints>& lists, const std::vector<double>& weights, bool until_first_end) {
    ints all;
    std::vector<std::size_t> at(lists.size(), 0);
    std::vector<bool> out(lists.size(), false);
    std::vector<std::int64_t> credit(lists.size(), 0);
    std::size_t next = 0;
    while (std::ranges::find(out, false) != out.end()) {
        std::size_t turn = lists.size();
        if (weights.empty()) {
            while (out[next % lists.size()]) ++next;
            turn = next++ % lists.size();
        } else {
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < lists.size(); ++i) {
                if (out[i]) continue;
                credit[i] += static_cast<std::int64_t>(weights[i]);
                sum += static_cast<std::int64_t>(weights[i]);
                if (turn == lists.size() || credit[i] > credit[turn]) turn = i;
            }
            credit[turn] -= sum;
        }
        if (at[turn] < lists[turn].size()) {
            all.push_back(lists[turn][at[turn]++]);
        } else if (until_first_end) {
            break;
        } else {
            out[turn] = true;
            std::ranges::fill(credit, 0);
        }
    }
    return all;
}

TEST_CASE(
    "in turns, and by weights, what comes is the same on every schedule, to the first end or the last") {
    const std::vector<std::pair<std::vector<ints>, ints>> of_spdl = {
        {{{0}, {10, 11, 12}, {20, 21, 22}}, {0, 10, 20}},
        {{{0, 1, 2}, {10}, {20, 21, 22}}, {0, 10, 20, 1}},
        {{{0, 1, 2}, {10, 11}, {20}}, {0, 10, 20, 1, 11}},
        {{{}, {10}, {20}}, {}},
        {{{0, 1, 2, 3}, {10, 11, 12, 13, 14, 15}, {20, 21, 22, 23, 24}},
         {0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23}},
        {{{0, 1, 2, 3}, {}, {20, 21, 22}}, {0}}};
    weir::thread_pool pool(2);
    for (const auto& [lists, expected] : of_spdl) {
        CHECK(one_by_one(lists, {}, true) == expected);
        for (const std::vector<double>& weights : {std::vector<double>{}, {3, 1, 2}, {1, 5, 1}, {1, 1, 1}}) {
            for (const bool until_first_end : {true, false}) {
                const auto pipeline =
                    weir::merge({.order = weights.empty() ? merge_order::round_robin : merge_order::weighted,
                                 .weights = weights,
                                 .until_first_end = until_first_end},
                                weir::source(lists[0]), weir::source(lists[1]), weir::source(lists[2])) |
                    weir::sink(10);
                const ints all = one_by_one(lists, weights, until_first_end);
                for (std::uint64_t seed = 0; seed < 30; ++seed) {
                    virtual_time time(seed);
                    CHECK(take_all(pipeline.start(time)) == all);
                }
                for (int i = 0; i < 20; ++i) CHECK(take_all(pipeline.start(pool)) == all);
            }
        }
    }
}

TEST_CASE("with the first end the merge doesn't wait for what another input is at") {
    virtual_time time;
    const auto slow = weir::source([n = 0]() mutable -> task<std::optional<int>> {
        if (n == 1) co_await weir::sleep_for(1h);
        co_return n++;
    });
    auto run =
        (weir::merge({.order = merge_order::round_robin, .until_first_end = true}, slow, numbers(0, 0)) |
         weir::sink())
            .start(time);
    CHECK(run.get() == 0);
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == weir::time_point());
}

TEST_CASE("with epochs the first end is that of the input that has no epoch more, when its turn comes") {
    const auto two = weir::source(weir::epochs(ints{1, 2}, 2));
    const auto three = weir::source(weir::epochs(ints{10, 11, 12}, 3));
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        virtual_time time(seed);
        const weir::merge_options first{.order = merge_order::round_robin, .until_first_end = true};
        CHECK(by_epoch((weir::merge(first, two, three) | weir::sink()).start(time)) ==
              epochs_of_ints{{0, {1, 10, 2, 11, 12}}, {1, {1, 10, 2, 11, 12}}});
        CHECK(by_epoch((weir::merge(first, three, two) | weir::sink()).start(time)) ==
              epochs_of_ints{{0, {10, 1, 11, 2, 12}}, {1, {10, 1, 11, 2, 12}}, {2, {10}}});
    }
}

TEST_CASE("an input that finds the merge ended by its own end of an epoch takes nothing more") {
    virtual_time time;
    int made = 0;
    const auto nothing_more = [&made](std::uint64_t epoch) -> weir::async_generator<int> {
        ++made;
        if (epoch == 0) {
            co_yield 1;
        } else {
            co_await weir::sleep_for(1ms);  // the other has ended by then
        }
    };
    const weir::merge_options first{.order = merge_order::round_robin, .until_first_end = true};
    const auto pipeline = weir::merge(first, weir::source(weir::epochs(nothing_more, 1'000)),
                                      weir::source(weir::epochs(ints{2}, 1))) |
                          weir::sink();
    CHECK(take_all(pipeline.start(time)) == ints{1, 2});
    CHECK(made < 10);
}

TEST_CASE("inputs have stages and slots of their own") {
    virtual_time time;
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(10ms);
        co_return n * 2;
    };
    const auto pipeline = weir::merge(numbers(0, 8) | weir::pipe(work, {.name = "four", .concurrency = 4}),
                                      numbers(100, 4) | weir::pipe(work, {.name = "one"}) |
                                          weir::aggregate(2) | weir::disaggregate()) |
                          weir::pipe([](int n) { return n + 1; }) | weir::sink();
    CHECK(sorted(take_all(pipeline.start(time))) == ints{1, 3, 5, 7, 9, 11, 13, 15, 201, 203, 205, 207});
    CHECK(time.now() == weir::time_point(40ms));
}

TEST_CASE("an epoch ends when it has ended in all inputs, and none goes on before") {
    for (const merge_order order : {merge_order::arrival, merge_order::round_robin, merge_order::weighted,
                                    merge_order::priority, merge_order::random}) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            virtual_time time(seed);
            CAPTURE(static_cast<int>(order), seed);
            const auto pipeline =
                weir::merge({.order = order}, epochs_at(1ms, 0, {3, 0, 2}), epochs_at(20ms, 100, {1, 2, 0}),
                            epochs_at(0ns, 200, {2, 2, 2})) |
                weir::sink();
            CHECK(sorted(by_epoch(pipeline.start(time))) == epochs_of_ints{{0, {0, 1, 2, 100, 200, 201}},
                                                                           {1, {110, 111, 210, 211}},
                                                                           {2, {20, 21, 220, 221}}});
        }
    }
}

TEST_CASE("in turns each epoch begins with the first input") {
    virtual_time time;
    const auto pipeline = weir::merge({.order = merge_order::round_robin}, epochs_at(0ns, 0, {1, 2, 2}),
                                      epochs_at(0ns, 100, {3, 1, 2})) |
                          weir::sink();
    CHECK(by_epoch(pipeline.start(time)) ==
          epochs_of_ints{{0, {0, 100, 101, 102}}, {1, {10, 110, 11}}, {2, {20, 120, 21, 121}}});
}

TEST_CASE("an input with fewer epochs than others is left out of the later ones") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        virtual_time time(seed);
        const auto pipeline =
            weir::merge(epochs_at(1ms, 0, {2}), epochs_at(0ns, 100, {1, 1, 1}), epochs_at(3ms, 200, {})) |
            weir::aggregate(5) | weir::sink();
        const std::vector<std::pair<std::size_t, std::vector<ints>>> all = by_epoch(pipeline.start(time));
        REQUIRE(all.size() == 3);
        CHECK(all.at(0).second.size() == 1);
        CHECK(sorted(all.at(0).second.at(0)) == ints{0, 1, 100});
        CHECK(all.at(1).second == std::vector<ints>{{110}});
        CHECK(all.at(2).second == std::vector<ints>{{120}});
    }
}

TEST_CASE("epochs without an item in any input are epochs") {
    virtual_time time;
    const auto pipeline = weir::merge(epochs_at(0ns, 0, {0, 0}), epochs_at(0ns, 0, {0, 0})) | weir::sink();
    CHECK(by_epoch(pipeline.start(time)) == epochs_of_ints{{0, {}}, {1, {}}});
}

TEST_CASE("a failure in one input delivers what was finished, ends the others, and names the stage") {
    for (const merge_order order : {merge_order::arrival, merge_order::round_robin, merge_order::weighted,
                                    merge_order::priority, merge_order::random}) {
        virtual_time time;
        auto run = (weir::merge({.order = order}, one_each(10ms, 0, 1000), numbers(100, 10) | fails_at(103)) |
                    weir::sink())
                       .start(time);
        const auto end = take_until_failure(run);
        REQUIRE(end.failed);
        CHECK(end.failed->stage() == "fails");
        CHECK(end.inside == "bad 103");
        CHECK(end.taken.size() < 30);
        CHECK(std::ranges::count_if(end.taken, [](int n) { return n >= 100; }) == 3);
        CHECK(std::ranges::find(end.taken, 102) != end.taken.end());
    }
}

TEST_CASE("a failure in an input ends an input that waits for room, and one that has its turn") {
    virtual_time time;
    auto run = (weir::merge({.order = merge_order::round_robin}, weir::source(std::views::iota(0)),
                            one_each(1ms, 100, 10) | fails_at(102)) |
                weir::sink())
                   .start(time);
    const auto end = take_until_failure(run);
    REQUIRE(end.failed);
    CHECK(ints(end.taken.begin(), end.taken.begin() + 5) == ints{0, 100, 1, 101, 2});
}

TEST_CASE("a source that throws in one input fails the run") {
    virtual_time time;
    const auto throws = [n = 0]() mutable -> std::optional<int> {
        if (++n == 3) throw std::runtime_error("gone");
        return n;
    };
    const auto end = take_until_failure(
        (weir::merge(weir::source(throws, {.name = "fragile"}), numbers(100, 2)) | weir::sink()).start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "fragile");
    CHECK(sorted(end.taken) == ints{1, 2, 100, 101});
}

TEST_CASE("failures in several inputs are told of together") {
    virtual_time time;
    const auto end = take_until_failure(
        (weir::merge(numbers(0, 3) | fails_at(0), numbers(10, 3) | fails_at(10)) | weir::sink()).start(time));
    REQUIRE(end.failed);
    CHECK(end.taken.empty());
}

TEST_CASE("a consumer that leaves early ends all inputs, on virtual time and on a pool") {
    items::ledger book(20'000);
    const auto made = [&book](int) { return items::counted(book); };
    const auto endless = [&made] { return weir::source(std::views::iota(0)) | weir::pipe(made); };
    for (const merge_order order : {merge_order::arrival, merge_order::round_robin, merge_order::weighted,
                                    merge_order::priority, merge_order::random}) {
        const auto pipeline = weir::merge({.order = order}, endless(), endless(), endless()) | weir::sink();
        {
            virtual_time time;
            auto run = pipeline.start(time);
            for (int i = 0; i < 50; ++i) CHECK(run.get().has_value());
        }
        {
            weir::thread_pool pool(2);
            auto run = pipeline.start(pool);
            for (int i = 0; i < 50; ++i) CHECK(run.get().has_value());
        }
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("weights that don't fit are refused by name") {
    virtual_time time;
    const auto start = [&time](weir::merge_options o) {
        return message_of([&] {
            static_cast<void>(
                (weir::merge(std::move(o), numbers(0, 1), numbers(0, 1)) | weir::sink()).start(time));
        });
    };
    CHECK(start({.order = merge_order::weighted, .weights = {1}}) ==
          "weir: stage 'merge#2' merges, and has more or fewer weights than inputs");
    CHECK(start({.name = "both", .order = merge_order::weighted, .weights = {1, 2, 3}}) ==
          "weir: stage 'both' merges, and has more or fewer weights than inputs");
    CHECK(contains(start({.weights = {1, 2}}), "its weights have no effect"));
    CHECK(contains(start({.order = merge_order::random, .weights = {1, -0.5}}), "a weight was negative"));
    const auto first = [](std::span<const std::size_t> open) { return open.front(); };
    CHECK(contains(start({.order = merge_order::priority, .rule = first}), "both an order and a rule"));
    CHECK(contains(start({.capacity = 0}), "capacity 0"));
    time.run();
}

TEST_CASE("a merge is copied, started again, and found by the names of its inputs' stages") {
    virtual_time time;
    auto pipeline =
        weir::merge({.name = "both", .order = merge_order::round_robin},
                    weir::source({1, 2}, {.name = "left"}), weir::source({3}, {.name = "right"})) |
        weir::sink();
    auto copy = pipeline;
    copy.options("left").capacity = 7;
    copy.options("both").capacity = 5;
    CHECK(take_all(pipeline.start(time)) == ints{1, 3, 2});
    CHECK(take_all(pipeline.start(time)) == ints{1, 3, 2});
    auto run = copy.start(time);
    CHECK(run.stages() == std::vector<std::string>{"left", "right", "both", "sink"});
    CHECK(take_all(run) == ints{1, 3, 2});
    CHECK(run.stats().channels.at(0).capacity == 7);
    CHECK(run.stats().channels.at(2).capacity == 5);
}

TEST_CASE("what only moves is merged, and a pipeline that only moves is started as an rvalue") {
    virtual_time time;
    const auto boxes = [](int from) {
        std::vector<std::unique_ptr<int>> all;
        for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<int>(from + i));
        return all;
    };
    auto pipeline =
        weir::merge({.order = merge_order::round_robin}, weir::source(boxes(0)),
                    weir::source(boxes(10)) | weir::pipe([](std::unique_ptr<int> p) { return p; })) |
        weir::sink();
    ints all;
    auto run = std::move(pipeline).start(time);
    for (const auto& each : run) all.push_back(*each);
    CHECK(all == ints{0, 10, 1, 11, 2, 12});
}

TEST_CASE("merges are inputs of merges, and stand behind one another") {
    virtual_time time;
    const auto turns = weir::merge_options{.order = merge_order::round_robin};
    const auto inner = weir::merge(turns, numbers(0, 2), numbers(10, 2));
    const auto other =
        weir::merge(turns, numbers(20, 2), numbers(30, 2)) | weir::pipe([](int n) { return n + 1; });
    CHECK(take_all((weir::merge(turns, inner, other, numbers(50, 1)) | weir::sink()).start(time)) ==
          ints{0, 21, 50, 10, 31, 1, 22, 11, 32});

    // A failure deep inside ends everything.
    const auto end = take_until_failure(
        (weir::merge(weir::source(std::views::iota(0)) | weir::pipe([](int n) { return -n; }),
                     weir::merge(numbers(0, 9) | fails_at(3), one_each(1h, 0, 5))) |
         weir::sink())
            .start(time));
    CHECK(end.failed);
}

TEST_CASE("merged epochs are merged again") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        virtual_time time(seed);
        const auto inner = weir::merge(epochs_at(1ms, 0, {2, 1}), epochs_at(2ms, 100, {1, 1}));
        const auto pipeline = weir::merge(inner, epochs_at(0ns, 200, {1, 2, 1})) | weir::sink();
        CHECK(sorted(by_epoch(pipeline.start(time))) ==
              epochs_of_ints{{0, {0, 1, 100, 200}}, {1, {10, 110, 210, 211}}, {2, {220}}});
    }
}

TEST_CASE("the figures say which queue leads where, and each slot's times add up") {
    virtual_time time;
    auto run = (weir::merge({.name = "m", .order = merge_order::round_robin}, one_each(10ms, 0, 3),
                            weir::source({100, 101, 102}, {.name = "b"})) |
                weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 6);
    const auto stats = run.stats();
    REQUIRE(stats.stages.size() == 5);
    const auto& merge = stats.stages.at(3);
    CHECK(merge.name == "m");
    CHECK(merge.kind == "merge");
    CHECK(merge.concurrency == 2);
    REQUIRE(merge.inputs.size() == 2);
    CHECK(stats.channels.at(merge.inputs.at(0)).name == "pipe#1");
    CHECK(stats.channels.at(merge.inputs.at(1)).name == "b");
    REQUIRE(merge.outputs.size() == 1);
    CHECK(stats.channels.at(merge.outputs.at(0)).name == "m");
    CHECK(stats.stages.at(2).inputs.empty());
    CHECK(flows::add_up(stats));
    // Slot 0 waits for its input; slot 1 has an item, and waits for its turn.
    CHECK(merge.per_slot.at(0).wait_get == 30ms);
    CHECK(merge.per_slot.at(1).wait_turn == 30ms);
}

TEST_CASE("a paused merge gives nothing, and goes on") {
    virtual_time time;
    auto run = (weir::merge(one_each(1ms, 0, 100), one_each(1ms, 1000, 100)) | weir::sink(1)).start(time);
    CHECK(run.get().has_value());
    run.pause();
    time.run_until(time.now() + 1s);
    const auto before = run.stats().channels.back().num_put;
    time.run_until(time.now() + 1s);
    CHECK(run.stats().channels.back().num_put == before);
    run.resume();
    CHECK(take_all(run).size() == 199);
}

TEST_CASE("a merge has a slot for each input, and refuses another number") {
    virtual_time time;
    auto run = (weir::merge({.name = "m"}, numbers(0, 9), numbers(10, 9)) | weir::sink(1)).start(time);
    REQUIRE(run.get().has_value());
    run.set_concurrency("m", run.stats().stages.at(2).concurrency);
    for (const std::size_t other : {std::size_t{1}, std::size_t{3}}) {
        CHECK(message_of([&] { run.set_concurrency("m", other); }) ==
              "weir: stage 'm' always has a slot for each of its inputs");
    }
    CHECK(run.stats().stages.at(2).concurrency == 2);
    CHECK(take_all(run).size() == 17);
}

TEST_CASE("merges without statistics give the same") {
    virtual_time time;
    const auto pipeline =
        weir::merge({.order = merge_order::round_robin}, numbers(0, 3), one_each(1ms, 10, 3)) | weir::sink();
    CHECK(take_all(pipeline.start<weir::unmeasured>(time)) == ints{0, 10, 1, 11, 2, 12});
    CHECK(take_all(pipeline.start<weir::summed>(time)) == ints{0, 10, 1, 11, 2, 12});
}
