#include <weir/run/run_defaults.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::take_all;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// Sets them for a scope.
class set_for_now {
  public:
    explicit set_for_now(weir::run_defaults now) : before_(weir::set_defaults(std::move(now))) {}
    set_for_now(const set_for_now&) = delete;
    set_for_now& operator=(const set_for_now&) = delete;
    ~set_for_now() { weir::set_defaults(before_); }

  private:
    weir::run_defaults before_;
};

class noted final : public weir::hook {
  public:
    noted(std::string name, std::vector<std::string>& book) : name_(std::move(name)), book_(book) {}
    void before(const weir::invocation& call) override { book_.push_back(name_ + " " + call.stage()); }

  private:
    std::string name_;
    std::vector<std::string>& book_;
};

int fails_on_2(int n) {
    if (n == 2) throw std::runtime_error("2");
    return n;
}

auto simple() {
    return weir::source({1, 2, 3}) | weir::pipe(fails_on_2, {.name = "work", .max_failures = 1}) |
           weir::sink();
}

}  // namespace

TEST_CASE("without defaults a run has what it was given") {
    CHECK(weir::defaults().hooks.empty());
    CHECK_FALSE(weir::defaults().on_failure);
    virtual_time time;
    CHECK(take_all(simple().start(time)) == ints{1, 3});
}

TEST_CASE("hooks of the process come before those of the run") {
    std::vector<std::string> book;
    const set_for_now set({.hooks = {std::make_shared<noted>("all", book)}});
    virtual_time time;
    CHECK(take_all((weir::source({1}) | weir::pipe([](int n) { return n; }, {.name = "a"}) | weir::sink())
                       .start(time, {.hooks = {std::make_shared<noted>("one", book)}})) == ints{1});
    CHECK(std::erase_if(book, [](const std::string& line) { return line.ends_with(" src"); }) > 0);
    CHECK(book == std::vector<std::string>{"all a", "one a"});
}

TEST_CASE("a run without on_failure tells that of the process, another one its own") {
    int told = 0, own = 0;
    const set_for_now set({.on_failure = [&told](const weir::failure&) { ++told; }});
    virtual_time time;
    CHECK(take_all(simple().start(time)) == ints{1, 3});
    CHECK(told == 1);
    CHECK(take_all(simple().start(time, {.on_failure = [&own](const weir::failure&) { ++own; }})) ==
          ints{1, 3});
    CHECK(told == 1);
    CHECK(own == 1);
}

TEST_CASE("a run without laps has those of the process, and one with a length of its own keeps that") {
    int laps = 0;
    const set_for_now set({.lap = 10ms, .on_lap = [&laps](const weir::pipeline_stats&) { ++laps; }});
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    const auto pipeline = weir::source({1, 2, 3, 4}) | weir::pipe(slow) | weir::sink();
    virtual_time time;
    CHECK(take_all(pipeline.start(time)).size() == 4);
    CHECK(laps >= 3);
    CHECK(laps <= 4);
    laps = 0;
    CHECK(take_all(pipeline.start(time, {.lap = 20ms})).size() == 4);
    CHECK(laps >= 1);
    CHECK(laps <= 2);
}

TEST_CASE("a run that has begun keeps the defaults that it began with") {
    std::vector<std::string> book;
    virtual_time time;
    const auto start = [&] {
        const set_for_now set({.hooks = {std::make_shared<noted>("then", book)}});
        return (weir::source({1, 2}) | weir::sink()).start(time);
    };
    auto run = start();
    CHECK(take_all(run) == ints{1, 2});
    CHECK_FALSE(book.empty());
    book.clear();
    CHECK(take_all((weir::source({1, 2}) | weir::sink()).start(time)) == ints{1, 2});
    CHECK(book.empty());
}

TEST_CASE("defaults may be changed by one thread while others start runs") {
    const set_for_now set({});
    std::atomic<int> heard{0};
    class counts final : public weir::hook {
      public:
        explicit counts(std::atomic<int>& to) : to_(to) {}
        void before(const weir::invocation&) override { ++to_; }

      private:
        std::atomic<int>& to_;
    };
    weir::thread_pool pool(1);
    std::atomic<bool> done{false};
    std::thread changes([&] {
        while (!done) {
            weir::set_defaults({.hooks = {std::make_shared<counts>(heard)}});
            weir::set_defaults({});
        }
    });
    for (int i = 0; i < 100; ++i) {
        CHECK(take_all((weir::source({1, 2}) | weir::sink()).start(pool)) == ints{1, 2});
    }
    done = true;
    changes.join();
}

TEST_CASE("a run without on_end has that of the process") {
    int ends = 0;
    const set_for_now set(
        {.on_end = [&ends](const weir::pipeline_stats&, const weir::pipeline_stats&) { ++ends; }});
    virtual_time time;
    CHECK(take_all(simple().start(time, {.max_failures = 1})) == ints{1, 3});
    CHECK(ends == 1);
    weir::run_options own{.max_failures = 1};
    own.on_end = [](const weir::pipeline_stats&, const weir::pipeline_stats&) {};
    CHECK(take_all(simple().start(time, own)) == ints{1, 3});
    CHECK(ends == 1);
}
