#include <weir/stages/source.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using strings = std::vector<std::string>;

namespace {

// Long enough to live on the heap, so that a move leaves the origin empty.
const strings names = {"the first of three long names", "the second of three long names",
                       "the third of three long names"};

weir::generator<int> up_to(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}

weir::generator<std::unique_ptr<int>> boxes(int n) {
    for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
}

weir::async_generator<int> up_to_slowly(int n) {
    for (int i = 0; i < n; ++i) {
        co_await weir::sleep_for(1ms);
        co_yield i;
    }
}

weir::generator<int> then_throw(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
    throw std::runtime_error("the disk is gone");
}

weir::async_generator<int> then_throw_slowly(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
    co_await weir::sleep_for(1ms);
    throw std::runtime_error("the disk is gone");
}

class countdown {
  public:
    explicit countdown(int from) : left_(from) {}
    std::optional<int> operator()() {
        if (left_ == 0) return std::nullopt;
        return --left_;
    }

  private:
    int left_;
};

// Gives n items, then throws, as a function.
class failing_countdown {
  public:
    explicit failing_countdown(int from) : left_(from) {}
    std::optional<int> operator()() {
        if (left_ == 0) throw std::runtime_error("the disk is gone");
        return --left_;
    }

  private:
    int left_;
};

// A range that throws when it is advanced past its third element.
class broken_list {
  public:
    class iterator {
      public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int operator*() const { return at_; }
        iterator& operator++() {
            if (++at_ == 3) throw std::runtime_error("the disk is gone");
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return at_ == 10; }

      private:
        int at_ = 0;
    };
    static iterator begin() { return {}; }
    static std::default_sentinel_t end() { return {}; }
};

// What a pipeline of this source and nothing else gives, on virtual time.
template <class Source>
auto given_by(Source&& source) {
    virtual_time time;
    auto pipeline = std::forward<Source>(source) | weir::sink();
    return take_all(std::move(pipeline).start(time));
}

}  // namespace

TEST_CASE("a function that takes an argument is known as such, whatever kind of function it is") {
    using weir::detail::takes_an_argument;
    struct counter {
        int operator()(int n) const noexcept { return n; }
        int next() noexcept { return 1; }
    };
    STATIC_REQUIRE(takes_an_argument<int (*)(int)>());
    STATIC_REQUIRE(takes_an_argument<int (*)(int&) noexcept>());
    STATIC_REQUIRE(takes_an_argument<decltype(&counter::next)>());
    STATIC_REQUIRE(takes_an_argument<counter>());
    STATIC_REQUIRE_FALSE(takes_an_argument<int (*)()>());
    STATIC_REQUIRE_FALSE(takes_an_argument<int>());
}

TEST_CASE("a container gives its elements in order, whatever container it is") {
    CHECK(given_by(weir::source(ints{3, 1, 2})) == ints{3, 1, 2});
    CHECK(given_by(weir::source(std::list<int>{3, 1, 2})) == ints{3, 1, 2});
    CHECK(given_by(weir::source(std::vector<bool>{true, false})) == std::vector<bool>{true, false});
    CHECK(given_by(weir::source(std::string("abc"))) == std::vector<char>{'a', 'b', 'c'});
    const auto pairs = given_by(weir::source(std::map<int, std::string>{{1, "one"}, {2, "two"}}));
    REQUIRE(pairs.size() == 2);
    CHECK(pairs.at(1).second == "two");
}

TEST_CASE("an initializer list is a source") {
    CHECK(given_by(weir::source({1, 2, 3})) == ints{1, 2, 3});
    CHECK(given_by(weir::source({std::string("a"), std::string("b")})) == strings{"a", "b"});
}

TEST_CASE("an empty source ends at once, and its end is seen again and again") {
    virtual_time time;
    auto run = (weir::source(ints()) | weir::sink(1)).start(time);
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(run.get().has_value());
        CHECK(run.get(1s).status() == weir::channel_status::closed);
    }
    CHECK(time.now() == weir::time_point());
    CHECK(given_by(weir::source(std::views::empty<int>)).empty());
    CHECK(given_by(weir::source(up_to(0))).empty());
    CHECK(given_by(weir::source(up_to_slowly(0))).empty());
    CHECK(given_by(weir::source(countdown(0))).empty());
    CHECK(given_by(weir::source([] { return ints(); })).empty());
}

TEST_CASE("a container by value is copied at each start, so that a pipeline starts again") {
    virtual_time time;
    const auto pipeline = weir::source(names) | weir::sink();
    for (int start = 0; start < 3; ++start) CHECK(take_all(pipeline.start(time)) == names);
}

TEST_CASE("two runs of one pipeline at the same time don't see each other") {
    virtual_time time;
    const auto pipeline = weir::source(names) | weir::sink(1);
    auto first = pipeline.start(time);
    CHECK(*first.get() == names.at(0));
    auto second = pipeline.start(time);
    CHECK(*second.get() == names.at(0));
    CHECK(*first.get() == names.at(1));
    CHECK(take_all(second) == strings(names.begin() + 1, names.end()));
    CHECK(*first.get() == names.at(2));
}

TEST_CASE("a view is a source, also one without an end") {
    CHECK(given_by(weir::source(std::views::iota(0, 4))) == ints{0, 1, 2, 3});
    virtual_time time;
    auto run = (weir::source(std::views::iota(0)) | weir::sink(1)).start(time);
    for (int i = 0; i < 1000; ++i) REQUIRE(run.get() == i);
}

TEST_CASE("a generator is a source for one run, of a pipeline that is moved into it") {
    CHECK(given_by(weir::source(up_to(4))) == ints{0, 1, 2, 3});
    const auto given = given_by(weir::source(boxes(3)));
    REQUIRE(given.size() == 3);
    CHECK(*given.at(2) == 2);
}

TEST_CASE("a function that gives an optional is called until it gives none") {
    virtual_time time;
    const auto pipeline = weir::source(countdown(3)) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == ints{2, 1, 0});
    CHECK(take_all(pipeline.start(time)) == ints{2, 1, 0});

    int calls = 0;
    const auto counting = [&calls]() -> std::optional<int> {
        ++calls;
        return std::nullopt;
    };
    CHECK(given_by(weir::source(counting)).empty());
    CHECK(calls == 1);
}

TEST_CASE("a source pulls an item only when there is room for it") {
    virtual_time time;
    int calls = 0;
    const auto count = [&calls]() -> std::optional<int> { return calls++; };
    auto run = (weir::source(count) | weir::sink(1)).start(time);
    CHECK(run.get() == 0);
    CHECK(run.get(1s).has_value());
    // Room behind the consumer's two: the source's queue 2, the sink's hand 1, its queue 1; and the
    // source holds one that waits.
    CHECK(run.get(1s).has_value());
    CHECK_THROWS_AS(time.run(), weir::deadlock_error);
    CHECK(calls == 3 + 2 + 1 + 1 + 1);
}

TEST_CASE("an exception in a source fails the run after all items before it") {
    virtual_time time;
    const auto check = [&time](auto&& pipeline, std::size_t given) {
        auto run = std::forward<decltype(pipeline)>(pipeline).start(time, {.max_failures = weir::unlimited});
        const auto end = take_until_failure(run);
        CHECK(end.taken.size() == given);
        REQUIRE(end.failed);
        CHECK(end.failed->stage() == "src");
        CHECK(end.failed->item() == given);
        CHECK(end.inside == "the disk is gone");
        CHECK_FALSE(run.get().has_value());
    };
    for (const int n : {0, 1, 7}) {
        CAPTURE(n);
        const auto size = static_cast<std::size_t>(n);
        check(weir::source(then_throw(n)) | weir::sink(), size);
        check(weir::source(then_throw_slowly(n)) | weir::sink(), size);
        check(weir::source(failing_countdown(n)) | weir::sink(), size);
        check(weir::source([n] { return then_throw(n); }) | weir::sink(), size);
    }
    check(weir::source(broken_list()) | weir::sink(), 3);
    check(weir::source([]() -> ints { throw std::runtime_error("the disk is gone"); }) | weir::sink(), 0);
}

TEST_CASE("what a source gave before its exception passes all stages") {
    virtual_time time;
    const auto pipeline = weir::source(failing_countdown(6)) | weir::pipe([](int n) { return 10 * n; }) |
                          weir::aggregate(4) | weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken == std::vector<ints>{{50, 40, 30, 20}, {10, 0}});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "src");
}

TEST_CASE("a source's name and capacity are its queue's") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3}, {.name = "files", .capacity = 5}) | weir::sink()).start(time);
    const auto stats = run.stats();
    CHECK(stats.stages.at(0).name == "files");
    CHECK(stats.stages.at(0).kind == "source");
    CHECK(stats.channels.at(0).name == "files");
    CHECK(stats.channels.at(0).capacity == 5);
}

TEST_CASE("a source takes a C array, of which it keeps a copy; or of which it is told by std::ref") {
    virtual_time time;
    int numbers[] = {1, 2, 3};
    const auto pipeline = weir::source(numbers) | weir::sink();
    const auto lasting = weir::source(std::ref(numbers)) | weir::sink();
    numbers[0] = 7;
    CHECK(items::take_all(pipeline.start(time)) == ints{1, 2, 3});
    CHECK(items::take_all(lasting.start(time)) == ints{7, 2, 3});
    std::unique_ptr<int> owned[] = {std::make_unique<int>(5)};
    auto moved = (weir::source(std::move(owned)) | weir::sink()).start(time);
    CHECK(**moved.get() == 5);
}

TEST_CASE("a run that is stopped while its source waits for a channel ends, and so do those who put") {
    weir::thread_pool pool(1);
    weir::channel<int> in(1);
    auto run = (weir::source(in) | weir::sink(1)).start(pool);
    std::jthread giver([&in] {
        for (int i = 0; in.blocking_put(i + 0) == weir::channel_status::success; ++i) {
        }
    });
    CHECK(run.get() == 0);
    run.stop();
    giver.join();
    CHECK(in.closed());

    weir::channel<int> never(1);
    auto waits = (weir::source(never) | weir::sink()).start(pool);
    waits.stop();
    CHECK(never.closed());
    CHECK(waits.outcome() == weir::run_outcome::stopped);
}

TEST_CASE("threads feed two runs from one channel, and each item comes out once") {
    weir::thread_pool pool(2);
    weir::channel<int> in(4);
    std::vector<weir::run<int>> runs;
    for (int i = 0; i < 2; ++i) runs.push_back((weir::source(in) | weir::sink(2)).start(pool));
    std::vector<ints> came(2);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < 2; ++i) {
            threads.emplace_back([&, i] { came[i] = take_all(runs[i]); });
        }
        std::vector<std::jthread> givers;
        for (int first : {0, 500}) {
            givers.emplace_back([&in, first] {
                for (int n = first; n < first + 500; ++n) static_cast<void>(in.blocking_put(n + 0));
            });
        }
        givers.clear();
        in.close();
    }
    ints all = came[0];
    all.insert(all.end(), came[1].begin(), came[1].end());
    std::sort(all.begin(), all.end());
    ints expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(all == expected);
}
