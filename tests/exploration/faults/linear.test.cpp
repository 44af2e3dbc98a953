// Faults and stops in pipelines without branches.
#include "reference.hpp"

#include "support/catch.hpp"
#include "support/item_stages.hpp"

#include <weir/graph/merge.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

using faults::fragile;
using faults::item;
using faults::point;
using weir::output_order;
using namespace std::chrono_literals;

namespace {

// The names are too long to be kept without memory of their own.
constexpr const char* the_source = "a source with a long name";
constexpr const char* the_worker = "a worker with a long name";

std::vector<item> items(int n) {
    std::vector<item> all;
    all.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) all.emplace_back(i);
    return all;
}

// A source that is called for each item.
auto count_to(int n) {
    return [n, i = 0, part = fragile()]() mutable -> std::optional<item> {
        point(the_source);
        if (i == n) return std::nullopt;
        return item(i++);
    };
}

faults::reference plain() {
    return faults::make_reference(
        "plain",
        [] {
            return weir::source(items(8), {.name = the_source}) |
                   weir::pipe(
                       [part = fragile()](item i) {
                           point(the_worker);
                           return i;
                       },
                       {.name = the_worker}) |
                   weir::filter(
                       [](const item& i) {
                           point("filter");
                           return i.value() % 3 != 0;
                       },
                       {.name = "filter"}) |
                   weir::sink(3);
        },
        faults::no_options, faults::by_loop());
}

// Slots that overlap and wait, in the order of the input and of completion.
faults::reference in_order() {
    return faults::make_reference(
        "in_order",
        [] {
            return weir::source(count_to(7), {.name = the_source}) |
                   weir::pipe(
                       [](item i) -> weir::task<item> {
                           point(the_worker);
                           co_await weir::sleep_for(std::chrono::microseconds(10 - i.value()));
                           point(the_worker);
                           co_return i;
                       },
                       {.name = the_worker, .concurrency = 3, .output_order = output_order::input}) |
                   weir::pipe(
                       [](item i) -> weir::task<std::optional<item>> {
                           co_await weir::sleep_for(std::chrono::microseconds(i.value() % 3));
                           point("second");
                           std::optional<item> some;
                           if (i.value() != 2) some.emplace(std::move(i));
                           co_return some;
                       },
                       {.name = "second", .concurrency = 2}) |
                   weir::pipe(
                       [](item i) {
                           point("third");
                           return i;
                       },
                       {.name = "third", .concurrency = 2, .output_order = output_order::input}) |
                   weir::sink();
        },
        faults::no_options, faults::by_get());
}

weir::generator<item> twice(item i) {
    point("generator");
    co_yield item(i.value());
    point("generator");
    co_yield item(i.value() + 100);
}

weir::async_generator<item> slowly(item i) {
    point("async generator");
    co_await weir::sleep_for(3us);
    co_yield item(i.value());
    point("async generator");
    item other(i.value() + 1000);
    co_yield std::move(other);
}

// Each stage that puts what it takes, one behind the other.
faults::reference of_items() {
    return faults::make_reference(
        "of_items",
        [] { return item_stages::behind(weir::source(count_to(3), {.name = the_source}), 1) | weir::sink(); },
        faults::no_options, faults::by_get());
}

// One item becomes many.
faults::reference many() {
    return faults::make_reference(
        "many",
        [] {
            return weir::source(count_to(3), {.name = the_source}) |
                   weir::pipe([](item i) { return twice(std::move(i)); }, {.name = "generator"}) |
                   weir::take(5) |
                   weir::pipe([](item i) { return slowly(std::move(i)); },
                              {.name = "async generator", .concurrency = 2}) |
                   weir::flat_map(
                       [](const item& i) {
                           point("flat_map");
                           std::vector<item> both;
                           both.emplace_back(i.value());
                           both.emplace_back(i.value() + 10'000);
                           return both;
                       },
                       {.name = "flat_map"}) |
                   weir::sink();
        },
        faults::no_options, faults::by_get());
}

weir::async_generator<item> arrivals(int n) {
    for (int i = 0; i < n; ++i) {
        co_await weir::sleep_for(2ns);
        point("a source that waits for items");
        co_yield item(i);
    }
}

weir::generator<item> numbers(int n) {
    for (int i = 0; i < n; ++i) {
        point("numbers");
        co_yield item(100 + i);
    }
}

weir::task<std::optional<item>> ask(int& asked) {
    co_await weir::sleep_for(1ns);
    point("a function that is awaited");
    std::optional<item> some;
    if (asked < 4) some.emplace(200 + asked++);
    co_return some;
}

// Sources of all kinds that are coroutines.
faults::reference generated() {
    return faults::make_reference(
        "generated",
        [] {
            return weir::merge(weir::source([part = fragile()] { return arrivals(4); },
                                            {.name = "a source that waits for items"}),
                               weir::source([] { return numbers(4); }, {.name = "numbers"}),
                               weir::source([asked = 0]() mutable { return ask(asked); },
                                            {.name = "a function that is awaited"})) |
                   weir::sink();
        },
        faults::no_options, faults::by_get());
}

// Batches of all kinds: by number, by weight, by time, as an object of one's own makes them.
class pairs {
  public:
    std::optional<std::vector<item>> accumulate(item i) {
        point("pairs");
        held_.push_back(std::move(i));
        std::optional<std::vector<item>> batch;
        if (held_.size() == 2) batch = flush();
        return batch;
    }
    std::optional<std::vector<item>> flush() {
        point("pairs");
        std::optional<std::vector<item>> batch;
        if (!held_.empty()) batch.emplace(std::exchange(held_, {}));
        return batch;
    }

  private:
    std::vector<item> held_;
    fragile part_;
};

faults::reference batches() {
    return faults::make_reference(
        "batches",
        [] {
            const auto weigh = [](const item& i) {
                point("by weight");
                return 1 + i.value() % 3;
            };
            return weir::source(count_to(9), {.name = the_source}) | weir::aggregate(4) |
                   weir::disaggregate() | weir::aggregate(pairs(), {.name = "pairs"}) | weir::disaggregate() |
                   weir::aggregate_by_weight(5, weigh, {.name = "by weight"}) | weir::disaggregate() |
                   weir::pipe(
                       [](item i) -> weir::task<item> {
                           co_await weir::sleep_for(2us);
                           point(the_worker);
                           co_return i;
                       },
                       {.name = the_worker}) |
                   weir::aggregate_for(5us, {.name = "by time"}) | weir::sink();
        },
        faults::no_options, faults::by_loop());
}

// The end acts on the items, several at once, and the run of which nobody takes any ends by itself.
faults::reference acted_on() {
    return faults::make_reference(
        "acted_on",
        [] {
            return weir::source(count_to(6), {.name = the_source}) |
                   weir::pipe(
                       [](item i) {
                           point(the_worker);
                           return i;
                       },
                       {.name = the_worker}) |
                   weir::for_each(
                       [part = fragile()](item i) -> weir::task<> {
                           point("the end");
                           co_await weir::sleep_for(std::chrono::microseconds(i.value() % 3));
                           point("the end");
                           faults::acted_on(i.value());
                       },
                       {.name = "the end", .concurrency = 2});
        },
        faults::no_options, faults::by_wait());
}

// A stage adds items to itself: each of the source one, and that another.
faults::reference traversed() {
    return faults::make_reference(
        "traversed",
        [] {
            return weir::source(count_to(3), {.name = the_source}) |
                   weir::traverse(
                       [](item i, weir::feeder<item>& more) -> weir::task<item> {
                           point(the_worker);
                           if (i.value() < 20) more.add(item(i.value() + 10));
                           co_await weir::sleep_for(std::chrono::microseconds(i.value() % 3));
                           point(the_worker);
                           co_return i;
                       },
                       {.name = the_worker, .concurrency = 2}) |
                   weir::sink();
        },
        faults::no_options, faults::by_get());
}

}  // namespace

TEST_CASE("there are 10 000 points or more at which something goes wrong") {
    CHECK(faults::points_on_record() * 7 / 10 >= 10'000);
}

TEST_CASE("each fault in a plain pipeline is told, and nothing is lost") { explore_faults(plain()); }
TEST_CASE("each fault in slots that overlap is told, and nothing is lost") { explore_faults(in_order()); }
TEST_CASE("each fault in each stage that puts what it takes is told, and nothing is lost") {
    explore_faults(of_items());
}
TEST_CASE("each fault where one item becomes many is told, and nothing is lost") { explore_faults(many()); }
TEST_CASE("each fault where a stage adds items to itself is told, and nothing is lost") {
    explore_faults(traversed());
}
TEST_CASE("each fault in a source that is a coroutine is told, and nothing is lost") {
    explore_faults(generated());
}
TEST_CASE("each fault where items become batches is told, and nothing is lost") { explore_faults(batches()); }

TEST_CASE("each fault where the end acts on the items is told, and nothing is lost") {
    explore_faults(acted_on());
}

TEST_CASE("a plain pipeline can be stopped at each step") { explore_stops(plain()); }
TEST_CASE("slots that overlap can be stopped at each step") { explore_stops(in_order()); }
TEST_CASE("each stage that puts what it takes can be stopped at each step") { explore_stops(of_items()); }
TEST_CASE("generators can be stopped at each step") { explore_stops(many()); }
TEST_CASE("sources that are coroutines can be stopped at each step") { explore_stops(generated()); }
TEST_CASE("batches can be stopped at each step") { explore_stops(batches()); }
TEST_CASE("an end that acts on the items can be stopped at each step") { explore_stops(acted_on()); }
