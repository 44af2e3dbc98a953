#include <weir/stages/source_items.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using items::message_of;
using items::take_all;
using weir::virtual_time;
using weir::detail::any_items;
using weir::detail::coroutine_env;
using weir::detail::gives_optional;
using weir::detail::gives_range;
using weir::detail::items_of;
using weir::detail::kept_items_t;
using weir::detail::source_like;
using weir::detail::source_range;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using strings = std::vector<std::string>;
using box = std::unique_ptr<int>;

namespace {

// Long enough to live on the heap, so that a move leaves the origin empty.
const strings names = {"the first of three long names", "the second of three long names",
                       "the third of three long names"};

weir::generator<int> up_to(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}
weir::generator<std::string&> each_of(strings& all) {
    for (std::string& s : all) co_yield s;
}
weir::async_generator<int> up_to_slowly(int n) {
    for (int i = 0; i < n; ++i) {
        co_await weir::sleep_for(1ms);
        co_yield i;
    }
}

struct countdown {
    int left;
    std::optional<int> operator()() { return left == 0 ? std::nullopt : std::optional<int>(--left); }
};
struct slow_countdown {
    int left;
    weir::task<std::optional<int>> operator()() {
        co_await weir::sleep_for(1ms);
        if (left == 0) co_return std::nullopt;
        co_return --left;
    }
};
struct makes_ints {
    int* calls;
    ints operator()() const {
        ++*calls;
        return {1, 2};
    }
};
struct makes_slow_ints {
    weir::async_generator<int> operator()() const { return up_to_slowly(2); }
};
struct lends_strings {
    const strings& operator()() const { return names; }
};

// All items of a source whose `next` does not wait.
template <class Items>
auto drained(Items& items) {
    std::vector<typename Items::item> all;
    while (auto item = items.next()) all.push_back(std::move(*item));
    return all;
}
template <class S>
auto items_from(S source) {
    items_of<S> items(std::move(source));
    return drained(items);
}

// What a pipeline of this source and nothing else gives, on virtual time.
template <class Source>
auto given_by(Source&& source) {
    virtual_time time;
    auto pipeline = std::forward<Source>(source) | weir::sink();
    return take_all(std::move(pipeline).start(time));
}

// Counts how often it was advanced, and how many of its elements were asked for.
class counting_range {
  public:
    class iterator {
      public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        explicit iterator(counting_range& of) : of_(&of) {}
        int operator*() const {
            ++of_->reads;
            return of_->steps;
        }
        iterator& operator++() {
            ++of_->steps;
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return of_->steps == 2; }

      private:
        counting_range* of_;
    };
    iterator begin() {
        ++begins;
        return iterator(*this);
    }
    static std::default_sentinel_t end() { return {}; }

    int begins = 0;
    int steps = 0;
    int reads = 0;
};

}  // namespace

// ---- what is a source, and of which kind
static_assert(source_range<ints> && source_range<std::string> && source_range<weir::generator<int>>);
static_assert(!source_range<weir::run<int>> && !source_range<int> &&
              !source_range<weir::async_generator<int>>);
static_assert(weir::detail::is_run<weir::run<int>> && !weir::detail::is_run<ints>);
static_assert(gives_optional<countdown> && gives_optional<slow_countdown> && !gives_optional<makes_ints>);
static_assert(gives_range<makes_ints> && gives_range<makes_slow_ints> && gives_range<lends_strings>);
static_assert(!gives_range<countdown> && !gives_range<int>);
static_assert(source_like<ints> && source_like<std::reference_wrapper<ints>> && source_like<countdown>);
static_assert(source_like<weir::run<int>> && source_like<std::reference_wrapper<weir::channel<int>>>);
static_assert(!source_like<int> && !source_like<weir::channel<int>> && !source_like<weir::run<void>>);
static_assert(!source_like<decltype([](int n) { return std::optional<int>(n); })>);

// ---- the type of the items, and whether they are awaited
static_assert(std::is_same_v<items_of<strings>::item, std::string> && !items_of<strings>::waits);
static_assert(std::is_same_v<items_of<std::vector<bool>>::item, bool>);
static_assert(std::is_same_v<items_of<std::span<const int>>::item, int>);
static_assert(std::is_same_v<items_of<weir::generator<std::string&>>::item, std::string>);
static_assert(std::is_same_v<items_of<slow_countdown>::item, int> && items_of<slow_countdown>::waits);
static_assert(!items_of<countdown>::waits && !items_of<makes_ints>::waits);
static_assert(items_of<makes_slow_ints>::waits && items_of<weir::run<int>>::waits);

// ---- Sources of the same items have one type in a run, so that their stages share code; those that wait keep theirs.
static_assert(std::is_same_v<kept_items_t<ints>, any_items<int>>);
static_assert(std::is_same_v<kept_items_t<std::ranges::iota_view<int, int>>, any_items<int>>);
static_assert(std::is_same_v<kept_items_t<countdown>, any_items<int>>);
static_assert(std::is_same_v<kept_items_t<weir::async_generator<int>>, items_of<weir::async_generator<int>>>);
static_assert(std::is_same_v<kept_items_t<slow_countdown>, items_of<slow_countdown>>);

TEST_CASE("a range gives its elements once, in order, and then its end again and again") {
    items_of<ints> items(ints{3, 1, 2});
    CHECK(items.next() == 3);
    CHECK(items.next() == 1);
    CHECK(items.next() == 2);
    for (int i = 0; i < 3; ++i) CHECK_FALSE(items.next().has_value());
    CHECK(items_from(std::list<int>{3, 1}) == ints{3, 1});
    CHECK(items_from(std::views::iota(0, 3)) == ints{0, 1, 2});
    CHECK(items_from(up_to(3)) == ints{0, 1, 2});
    items_of<ints> none((ints()));
    for (int i = 0; i < 3; ++i) CHECK_FALSE(none.next().has_value());
    CHECK(items_from(up_to(0)).empty());
}

TEST_CASE("a range begins with its first item, and is advanced only when the next one is wanted") {
    counting_range range;
    items_of<std::reference_wrapper<counting_range>> items(std::ref(range));
    CHECK(range.begins == 0);
    CHECK(items.next() == 0);
    CHECK(range.begins == 1);
    CHECK(range.steps == 0);
    CHECK(items.next() == 1);
    CHECK(range.steps == 1);
    CHECK_FALSE(items.next().has_value());
    CHECK_FALSE(items.next().has_value());
    CHECK(range.begins == 1);
    CHECK(range.steps == 2);
    CHECK(range.reads == 2);
}

TEST_CASE("elements of a container of its own are moved out; those of others are copied") {
    strings kept = names;
    CHECK(items_from(std::ref(kept)) == names);
    CHECK(items_from(std::span(kept)) == names);
    CHECK(items_from(each_of(kept)) == names);
    CHECK(kept == names);
    std::vector<box> boxes;
    boxes.push_back(std::make_unique<int>(7));
    const int* const address = boxes[0].get();
    items_of<std::vector<box>> items(std::move(boxes));
    const auto first = items.next();
    REQUIRE(first.has_value());
    CHECK(first->get() == address);
}

TEST_CASE("a function is called once for each item, and so often that it says the end") {
    items_of<countdown> items(countdown{2});
    CHECK(items.next() == 1);
    CHECK(items.next() == 0);
    CHECK_FALSE(items.next().has_value());
    items_of<countdown> none(countdown{0});
    CHECK_FALSE(none.next().has_value());
}

TEST_CASE("a function that gives a range is called with the first item, and once") {
    int calls = 0;
    items_of<makes_ints> items(makes_ints{&calls});
    CHECK(calls == 0);
    CHECK(drained(items) == ints{1, 2});
    CHECK_FALSE(items.next().has_value());
    CHECK(calls == 1);
    CHECK(items_from(lends_strings()) == names);
    CHECK(items_from(lends_strings()) == names);  // was copied
}

TEST_CASE("an exception leaves the call of `next`") {
    auto fails = []() -> std::optional<int> { throw std::runtime_error("the disk is gone"); };
    items_of<decltype(fails)> items(std::move(fails));
    CHECK(message_of([&] { static_cast<void>(items.next()); }) == "the disk is gone");
    auto makes = []() -> ints { throw std::runtime_error("no list"); };
    items_of<decltype(makes)> lists(std::move(makes));
    CHECK(message_of([&] { static_cast<void>(lists.next()); }) == "no list");
}

TEST_CASE("any_items gives the items of whatever source it was made from, also when it was moved") {
    any_items<int> items(ints{1, 2});
    CHECK(items.next() == 1);
    any_items<int> moved(std::move(items));
    CHECK(moved.next() == 2);
    CHECK_FALSE(moved.next().has_value());
    any_items<int> function(countdown{1});
    CHECK(drained(function) == ints{0});
    any_items<box> boxes(
        [n = 0]() mutable { return n++ == 0 ? std::optional<box>(new int(4)) : std::nullopt; });
    CHECK(**boxes.next() == 4);
    CHECK_FALSE(boxes.next().has_value());
}

TEST_CASE("any_items destroys its source when it is destroyed itself, not before") {
    const auto held = std::make_shared<int>(1);
    {
        const any_items<int> items([held]() -> std::optional<int> { return *held; });
        CHECK(held.use_count() == 2);
    }
    CHECK(held.use_count() == 1);
}

TEST_CASE("the elements of a run's own container are moved out, never copied") {
    std::vector<std::unique_ptr<int>> boxes_of;
    for (int i = 0; i < 3; ++i) boxes_of.push_back(std::make_unique<int>(i));
    const auto given = given_by(weir::source(std::move(boxes_of)));
    REQUIRE(given.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(*given.at(static_cast<std::size_t>(i)) == i);
}

TEST_CASE("a container that the user keeps stays as it is, by reference and by view") {
    strings kept = names;
    CHECK(given_by(weir::source(std::ref(kept))) == names);
    CHECK(given_by(weir::source(std::cref(kept))) == names);
    CHECK(given_by(weir::source(std::span(kept))) == names);
    CHECK(given_by(weir::source(std::views::all(kept))) == names);
    CHECK(given_by(weir::source(kept | std::views::take(2))) == strings(names.begin(), names.begin() + 2));
    CHECK(kept == names);

    virtual_time time;
    const auto pipeline = weir::source(std::ref(kept)) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == names);
    kept.pop_back();
    CHECK(take_all(pipeline.start(time)).size() == 2);
}

TEST_CASE("a generator of references gives copies: what they refer to is the user's") {
    strings kept = names;
    CHECK(given_by(weir::source(each_of(kept))) == names);
    CHECK(kept == names);
}

TEST_CASE("an async generator is a source") {
    virtual_time time;
    auto run = (weir::source(up_to_slowly(3)) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{0, 1, 2});
    CHECK(time.now() == weir::time_point(3ms));
    CHECK(run.stats().stages.at(0).busy == 3ms);
}

TEST_CASE("a function that gives a task of an optional is awaited") {
    virtual_time time;
    const auto pipeline = weir::source(slow_countdown(3)) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(take_all(run) == ints{2, 1, 0});
    CHECK(time.now() == weir::time_point(4ms));
    const auto stats = run.stats().stages.at(0);
    CHECK(stats.num_tasks == 3);
    CHECK(stats.busy == 4ms);
    CHECK(stats.task_time == 3ms);
    CHECK(take_all(pipeline.start(time)) == ints{2, 1, 0});
}

TEST_CASE("a function that gives a range or a generator is called anew in each run") {
    virtual_time time;
    const auto twice = [&time](const auto& pipeline) {
        CHECK(take_all(pipeline.start(time)) == ints{0, 1, 2});
        CHECK(take_all(pipeline.start(time)) == ints{0, 1, 2});
    };
    const ints kept = {0, 1, 2};
    twice(weir::source([] { return ints{0, 1, 2}; }) | weir::sink());
    twice(weir::source([] { return std::views::iota(0, 3); }) | weir::sink());
    twice(weir::source([] { return up_to(3); }) | weir::sink());
    twice(weir::source([] { return up_to_slowly(3); }) | weir::sink());
    twice(weir::source([&kept]() -> const ints& { return kept; }) | weir::sink());
    CHECK(kept == ints{0, 1, 2});
}

TEST_CASE("a source takes from a channel until that is closed and empty, and awaits meanwhile") {
    virtual_time time;
    weir::channel<int> in(4);
    auto run = (weir::source(in) | weir::pipe([](int n) { return 10 * n; }) | weir::sink(10)).start(time);
    const auto give = [&in]() -> weir::task<> {
        for (int i = 0; i < 3; ++i) {
            co_await weir::sleep_for(10ms);
            const bool is_in = co_await in.put(i + 0);
            if (!is_in) co_return;
        }
        co_await weir::sleep_for(5ms);
        in.close();
    };
    weir::sync_wait(time, give());
    CHECK(take_all(run) == ints{0, 10, 20});
    const weir::slot_times source = run.stats().stages.at(0).times();
    CHECK(source.await == 35ms);
    CHECK(source.total() == 35ms);
    CHECK(run.outcome() == weir::run_outcome::finished);
}

TEST_CASE("statistics tell whether a source awaits others, at a channel, or something of its own") {
    weir::virtual_time time;
    const auto of = [&time](auto source) {
        auto run = (std::move(source) | weir::sink()).start(time);
        while (run.get()) {
        }
        return run.stats().stages[0].awaits_others;
    };
    weir::channel<int> items(2);
    items.close();
    const auto values = []() -> weir::async_generator<int> { co_yield 1; };
    const auto ends = []() -> weir::task<std::optional<int>> { co_return std::nullopt; };
    CHECK(of(weir::source(items)) == true);
    CHECK(of(weir::source(values())) == false);
    CHECK(of(weir::source(ends)) == false);
    CHECK_FALSE(of(weir::source(std::vector<int>{1, 2})).has_value());
}

TEST_CASE("a source that ends before its channel closes it, and leaves to it what is inside") {
    virtual_time time;
    weir::channel<int> in(8);
    for (int i = 0; i < 8; ++i) CHECK(in.try_put(i + 0) == weir::channel_status::success);
    {
        auto run = (weir::source(std::ref(in)) | weir::take(2) | weir::sink()).start(time);
        CHECK(take_all(run) == ints{0, 1});
    }
    CHECK(in.closed());
    CHECK(in.blocking_put(9) == weir::channel_status::closed);
    const auto left = in.size();
    CHECK(left > 0);
    // The next run has the rest.
    auto rest = (weir::source(in) | weir::sink()).start(time);
    const ints all = take_all(rest);
    CHECK(all.size() == left);
    CHECK(all.back() == 7);
}

TEST_CASE("the items of another run are items, and its end is the end of the source") {
    virtual_time time;
    auto inner = (weir::source(up_to_slowly(3)) | weir::sink(1)).start(time);
    auto run = (weir::source(std::move(inner)) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{0, 1, 2});
    CHECK(run.stats().stages.at(0).times().await == 3ms);
    CHECK(run.stats().stages.at(0).awaits_others == false);
}
