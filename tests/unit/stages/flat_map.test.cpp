#include <weir/stages/flat_map.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using strings = std::vector<std::string>;

namespace {

template <class In, class Function>
auto made_of(std::vector<In> from, Function function, weir::stage_options options = {}) {
    virtual_time time;
    auto pipeline = weir::source(std::move(from)) | weir::flat_map(std::move(function), std::move(options)) |
                    weir::sink();
    return take_all(std::move(pipeline).start(time));
}

ints n_times(int n) { return ints(static_cast<std::size_t>(n), n); }

task<ints> n_times_later(int n) {
    co_await weir::sleep_for((10 - n) * 1ms);
    co_return n_times(n);
}

weir::async_generator<int> count_slowly(int n) {
    for (int i = 0; i < n; ++i) {
        co_await weir::sleep_for(1ms);
        co_yield 10 * n + i;
    }
}

}  // namespace

TEST_CASE("a flat_map gives the elements of what its function gives, one by one") {
    const ints expected = {1, 3, 3, 3, 2, 2};
    CHECK(made_of<int>({1, 3, 0, 2}, n_times) == expected);
    CHECK(made_of<int>({1, 3, 0, 2}, n_times_later) == expected);
    CHECK(made_of<int>({1, 3}, [](int n) { return std::views::iota(0, n); }) == ints{0, 0, 1, 2});
    CHECK(made_of<int>({2, 1}, [](int n) {
              return std::views::iota(0, n) | std::views::transform([](int i) { return std::to_string(i); });
          }) == std::vector<std::string>{"0", "1", "0"});
    CHECK(made_of<int>({2, 3}, [](int n) -> weir::generator<int> {
              for (int i = 0; i < n; ++i) co_yield n;
          }) == ints{2, 2, 3, 3, 3});
    CHECK(made_of<int>({2, 1}, count_slowly) == ints{20, 21, 10});
    CHECK(made_of<std::string>({"ab", "", "c"}, [](std::string s) { return s; }) ==
          std::vector<char>{'a', 'b', 'c'});
    CHECK(made_of<int>({1, 2}, [](int n) { return std::vector<bool>{n == 1, n == 2}; }) ==
          std::vector<bool>{true, false, false, true});
}

TEST_CASE("a flat_map's function may ask which item it is") {
    CHECK(made_of<int>({7, 7, 7}, [](int n, const weir::invocation& call) {
              return ints(static_cast<std::size_t>(call.item()), n);
          }) == ints{7, 7, 7});
    CHECK(made_of<int>({7, 7, 7}, [](int n, const weir::invocation& call) -> task<ints> {
              co_await weir::sleep_for(1ms);
              co_return ints(static_cast<std::size_t>(call.item()), n);
          }) == ints{7, 7, 7});
}

TEST_CASE("each slot of a flat_map may have a function of its own") {
    const auto make = [] { return [seen = 0](int) mutable { return n_times(++seen); }; };
    CHECK(made_of<int>({0, 0, 0}, weir::per_slot(make)) == ints{1, 2, 2, 3, 3, 3});
}

TEST_CASE("a container that is returned gives its elements away, a view or a reference copies of them") {
    const auto boxes = [](int n) {
        std::vector<std::unique_ptr<int>> all;
        for (int i = 0; i < n; ++i) all.push_back(std::make_unique<int>(i));
        return all;
    };
    CHECK(made_of<int>({2}, boxes).size() == 2);
    CHECK(*made_of<int>({2}, boxes).at(1) == 1);

    const std::vector<std::string> words = {std::string(50, 'a'), std::string(50, 'b')};
    CHECK(made_of<int>({1, 2}, [&words](int) -> const auto& { return words; }).size() == 4);
    CHECK(made_of<int>({1, 2}, [&words](int) { return std::views::all(words); }).size() == 4);
    std::vector<std::string> own = words;
    CHECK(made_of<int>({1, 2}, [&own](int) -> auto& { return own; }).size() == 4);
    CHECK(made_of<int>({1, 2}, [&own](int) { return std::views::all(own); }).size() == 4);
    CHECK(own == words);
}

TEST_CASE("what a flat_map gives may be a view of its item") {
    const auto middle = [](const std::string& s) { return std::string_view(s).substr(1); };
    CHECK(made_of<std::string>({std::string(50, 'a') + "xy", "abc"}, middle).size() == 53);
    const auto middle_later = [](const std::string& s) -> task<std::string_view> {
        co_await weir::sleep_for(1ms);
        co_return std::string_view(s).substr(1);
    };
    CHECK(made_of<std::string>({"xab", "yc"}, middle_later) == std::vector<char>{'a', 'b', 'c'});
}

TEST_CASE("an element leaves before the next one is made") {
    virtual_time time;
    int made = 0;
    const auto count = [&made](int n) {
        return std::views::iota(0, n) | std::views::transform([&made](int i) { return ++made, i; });
    };
    auto run = (weir::source({100}) | weir::flat_map(count, {.capacity = 1}) | weir::sink(1)).start(time);
    CHECK(run.get() == 0);
    CHECK(made <= 5);
}

TEST_CASE("several slots of a flat_map work on several items at once") {
    virtual_time time;
    auto run = (weir::source({4, 3, 2}) | weir::flat_map(n_times_later, {.concurrency = 3}) | weir::sink())
                   .start(time);
    ints all = take_all(run);
    CHECK(time.now() == time_point(8ms));
    std::ranges::sort(all);
    CHECK(all == ints{2, 2, 3, 3, 3, 4, 4, 4, 4});
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).name == "flat_map#1");
    CHECK(stats.stages.at(1).num_tasks == 3);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a flat_map keeps epochs apart, and an epoch of nothing is one all the same") {
    const auto from =
        weir::source(weir::epochs([](std::uint64_t e) { return ints(2, static_cast<int>(e)); }, 3));
    const std::vector<std::pair<std::size_t, ints>> expected = {{0, {}}, {1, {1, 1}}, {2, {2, 2, 2, 2}}};
    virtual_time time;
    CHECK(flows::by_epoch((from | weir::flat_map(n_times) | weir::sink()).start(time)) == expected);
    auto run = (from | weir::flat_map(n_times_later, {.concurrency = 4}) | weir::sink()).start(time);
    CHECK(flows::by_epoch(run) == expected);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("there is a checkpoint when all that was made of an item is taken, or nothing of it") {
    virtual_time time;
    auto run = (weir::source(weir::draws(weir::sampler({.size = 4}), 1)) |
                weir::flat_map([](const weir::draw& d) { return n_times(static_cast<int>(d.position)); }) |
                weir::sink())
                   .start(time);
    CHECK(run.get() == 1);
    time.run_until(time.now() + 1ms);
    CHECK(run.checkpoint().watermark() == 2);
    CHECK(run.get() == 2);
    CHECK_THROWS_AS(run.checkpoint(), std::logic_error);
    CHECK(run.get() == 2);
    time.run_until(time.now() + 1ms);  // that there is no third one has to be seen
    CHECK(run.checkpoint().watermark() == 3);
    CHECK(take_all(run) == ints{3, 3, 3});
    CHECK(run.checkpoint().watermark() == 4);
}

TEST_CASE("what a flat_map gave before an exception stays given") {
    const auto breaks = [](int n) {
        return std::views::iota(n, n + 3) | std::views::transform([](int i) {
                   if (i == 21) throw std::runtime_error("21 is not wanted");
                   return i;
               });
    };
    virtual_time time;
    const auto pipeline = weir::source({10, 20, 30}) | weir::flat_map(breaks, {.name = "f"}) | weir::sink();
    CHECK(take_all(pipeline.start(time, {.max_failures = 1})) == ints{10, 11, 12, 20, 30, 31, 32});
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken == ints{10, 11, 12, 20});
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 1);
    CHECK(end.inside == "21 is not wanted");

    const auto throws = [](int n) -> task<ints> {
        co_await weir::sleep_for(1ms);
        if (n == 2) throw std::runtime_error("none at all");
        co_return n_times(n);
    };
    const auto later = weir::source({1, 2, 3}) | weir::flat_map(throws) | weir::sink();
    CHECK(take_all(later.start(time, {.max_failures = 1})) == ints{1, 3, 3, 3});
}

TEST_CASE("what a flat_map has not given when the run is destroyed is destroyed with it, once") {
    items::ledger book(1000);
    const auto ten = [&book](int) {
        std::vector<items::counted> all;
        for (int i = 0; i < 10; ++i) all.emplace_back(book);
        return all;
    };
    const auto ten_later = [ten](int n) -> task<std::vector<items::counted>> {
        co_await weir::sleep_for(1ms);
        co_return ten(n);
    };
    {
        virtual_time time;
        auto run = (weir::source(std::views::iota(0, 50)) | weir::flat_map(ten) | weir::sink()).start(time);
        for (std::size_t n = 0; n < 25; ++n) CHECK(run.get()->number() == n);
        auto other = (weir::source(std::views::iota(0, 50)) | weir::flat_map(ten_later, {.concurrency = 3}) |
                      weir::sink())
                         .start(time);
        for (int n = 0; n < 25; ++n) CHECK(other.get().has_value());
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

namespace {

// Takes a source's items apart, on virtual time.
template <class Source>
auto parts_of(Source&& source) {
    virtual_time time;
    auto pipeline = std::forward<Source>(source) | weir::disaggregate() | weir::sink();
    return take_all(std::move(pipeline).start(time));
}

// Throws when it is advanced to its third element.
class two_of_three {
  public:
    class iterator {
      public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int operator*() const { return at_; }
        iterator& operator++() {
            if (++at_ == 2) throw std::runtime_error("the third page is missing");
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return at_ == 3; }

      private:
        int at_ = 0;
    };
    static iterator begin() { return {}; }
    static std::default_sentinel_t end() { return {}; }
};

}  // namespace

namespace {

// An item that notes its end.
class noted {
  public:
    explicit noted(std::string& log) noexcept : log_(&log) {}
    noted(noted&& other) noexcept : log_(std::exchange(other.log_, nullptr)) {}
    noted& operator=(noted&&) = delete;
    ~noted() {
        if (log_ != nullptr) *log_ += "item;";
    }
    std::string& log() const noexcept { return *log_; }

  private:
    std::string* log_;
};
// A local object of a generator, which needs the item until its end.
struct reader {
    explicit reader(const noted& of) noexcept : log(of.log()) {}
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;
    ~reader() { log += "reader;"; }
    std::string& log;
};

const auto read_on = [](const noted& item) -> weir::generator<int> {
    const reader uses(item);
    for (int i = 0;; ++i) co_yield i;
};
const auto read_on_later = [](const noted& item) -> weir::async_generator<int> {
    const reader uses(item);
    for (int i = 0;; ++i) co_yield i;
};

// What a stage destroys, in this order, if its results are wanted no longer.
template <class Stage>
strings ends_of(const Stage& stage) {
    strings all;
    for (const bool stops : {false, true}) {
        std::string log;
        const auto one = [&log, n = 0]() mutable {
            return n++ == 0 ? std::optional<noted>(std::in_place, log) : std::nullopt;
        };
        virtual_time time;
        if (stops) {
            auto run = (weir::source(one) | stage | weir::sink(1)).start(time);
            CHECK(run.get() == 0);
            run.stop();
        } else {
            CHECK(take_all((weir::source(one) | stage | weir::take(2) | weir::sink(1)).start(time)) ==
                  ints{0, 1});
        }
        all.push_back(log);
    }
    return all;
}

}  // namespace

TEST_CASE("a generator that nobody needs any longer is destroyed before its item") {
    const strings in_order(2, "reader;item;");
    CHECK(ends_of(weir::flat_map(read_on)) == in_order);
    CHECK(ends_of(weir::flat_map(read_on_later)) == in_order);
    CHECK(ends_of(weir::pipe(read_on)) == in_order);
    CHECK(ends_of(weir::pipe(read_on_later)) == in_order);
    const auto node = [](const noted& item, weir::feeder<noted>&) { return read_on(item); };
    CHECK(ends_of(weir::traverse(node)) == in_order);
}

TEST_CASE("the elements of each item become items, in order") {
    CHECK(parts_of(weir::source(std::vector<ints>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}})) ==
          ints{0, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(parts_of(weir::source(std::vector<std::list<int>>{{3, 1}, {2}})) == ints{3, 1, 2});
    CHECK(parts_of(weir::source(std::vector<std::array<int, 2>>{{1, 2}, {3, 4}})) == ints{1, 2, 3, 4});
    CHECK(parts_of(weir::source(strings{"ab", "c"})) == std::vector<char>{'a', 'b', 'c'});
    CHECK(parts_of(weir::source(std::vector<std::vector<bool>>{{true, false}})) ==
          std::vector<bool>{true, false});
    CHECK(parts_of(weir::source(std::vector<std::map<int, int>>{{{1, 2}, {3, 4}}})).size() == 2);
}

TEST_CASE("an empty item gives nothing") {
    CHECK(parts_of(weir::source(std::vector<ints>{{}, {1}, {}, {}, {2}, {}})) == ints{1, 2});
    CHECK(parts_of(weir::source(std::vector<ints>{{}, {}})).empty());
    CHECK(parts_of(weir::source(std::vector<ints>())).empty());
}

TEST_CASE("disaggregate gives back what aggregate gathered") {
    virtual_time time;
    for (const std::size_t size : {1U, 2U, 5U, 100U}) {
        const auto pipeline = weir::source(std::views::iota(0, 23)) | weir::aggregate(size) |
                              weir::disaggregate() | weir::sink();
        const ints given = take_all(pipeline.start(time));
        CAPTURE(size);
        REQUIRE(given.size() == 23);
        for (int i = 0; i < 23; ++i) CHECK(given.at(static_cast<std::size_t>(i)) == i);
    }
}

TEST_CASE("elements that only move are moved out") {
    virtual_time time;
    const auto boxed = [](int n) { return std::make_unique<int>(n); };
    const auto pipeline = weir::source({1, 2, 3}) | weir::pipe(boxed) | weir::aggregate(2) |
                          weir::disaggregate() | weir::sink();
    const auto given = take_all(pipeline.start(time));
    REQUIRE(given.size() == 3);
    CHECK(*given.at(2) == 3);
}

TEST_CASE("an item that only views its elements leaves them where they are") {
    strings kept = {"a name that is too long to be stored in place", "and another such name"};
    CHECK(parts_of(weir::source({std::span(kept)})) == kept);
    CHECK(kept.at(0).size() > 20);
    CHECK(kept.at(1).size() > 20);
}

TEST_CASE("elements are given as there is room, not all at once") {
    virtual_time time;
    items::ledger book(10);
    const auto five = [&book](int) {
        std::vector<items::counted> all;
        for (int i = 0; i < 5; ++i) all.emplace_back(book);
        return all;
    };
    {
        auto run =
            (weir::source({0, 0}) | weir::pipe(five) | weir::disaggregate({.capacity = 1}) | weir::sink(1))
                .start(time);
        CHECK(run.get()->number() == 0);
        CHECK(run.get()->number() == 1);
        CHECK(book.alive() == book.born() - 2);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("an item that breaks while it is taken apart fails the run behind its first elements") {
    virtual_time time;
    const auto pipeline =
        weir::source(std::vector<two_of_three>(3)) | weir::disaggregate({.name = "pages"}) | weir::sink();
    auto run = pipeline.start(time, {.max_failures = weir::unlimited});
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 1});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "pages");
    CHECK(end.failed->item() == 0);
    CHECK(end.inside == "the third page is missing");
}

TEST_CASE("each item that is taken apart is a task of the stage") {
    virtual_time time;
    auto run = (weir::source(std::vector<ints>{{1, 2, 3}, {}, {4}}) | weir::disaggregate() | weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 4);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).num_tasks == 3);
    CHECK(stats.channels.at(1).num_put == 4);
}

TEST_CASE("a disaggregate has its own name and capacity") {
    virtual_time time;
    auto run = (weir::source(std::vector<ints>{{1}}) | weir::disaggregate({.name = "d", .capacity = 9}) |
                weir::sink())
                   .start(time);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).kind == "disaggregate");
    CHECK(stats.channels.at(1).name == "d");
    CHECK(stats.channels.at(1).capacity == 9);
}
