#include <weir/graph/tee.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/route.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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
using weir::duration;
using weir::task;
using weir::tee;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

auto numbers(int from, int to) { return weir::source(std::views::iota(from, to)); }

auto log_into(ints& seen, weir::stage_options o = {}) {
    return weir::pipe(
        [&seen](int n) {
            seen.push_back(n);
            return n;
        },
        std::move(o));
}

auto takes(duration d, weir::stage_options o = {}) {
    return weir::pipe(
        [d](int n) -> task<int> {
            co_await weir::sleep_for(d);
            co_return n;
        },
        std::move(o));
}

auto fails_at(int bad) {
    return weir::pipe(
        [bad](int n) {
            if (n == bad) throw std::runtime_error("bad " + std::to_string(n));
            return n;
        },
        {.name = "fails"});
}

}  // namespace

TEST_CASE("each item goes to the side and to the next stage, in order on both ways") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        virtual_time time(seed);
        ints seen;
        const auto pipeline =
            numbers(0, 20) | tee(log_into(seen)) | weir::pipe([](int n) { return 10 * n; }) | weir::sink();
        const ints all = take_all(pipeline.start(time));
        REQUIRE(all.size() == 20);
        REQUIRE(seen.size() == 20);
        for (int i = 0; i < 20; ++i) {
            CHECK(all.at(static_cast<std::size_t>(i)) == 10 * i);
            CHECK(seen.at(static_cast<std::size_t>(i)) == i);
        }
    }
}

TEST_CASE("the side may be several stages, and give what it likes") {
    virtual_time time;
    std::vector<ints> batches;
    const auto side = weir::pipe([](int n) { return n + 1; }, {.concurrency = 2}) | weir::aggregate(3) |
                      weir::pipe([&batches](ints b) {
                          batches.push_back(std::move(b));
                          return std::string("nobody reads this");
                      });
    CHECK(take_all((numbers(0, 7) | tee(side) | weir::sink()).start(time)).size() == 7);
    REQUIRE(batches.size() == 3);
    CHECK(batches.at(2).size() == 1);
}

TEST_CASE("the stream ends when the side has, so nothing on the side is lost") {
    virtual_time time;
    ints seen;
    auto run = (numbers(0, 4) | tee(takes(1s) | takes(1s) | log_into(seen), {.capacity = 8}) | weir::sink(9))
                   .start(time);
    for (int i = 0; i < 4; ++i) CHECK(run.get() == i);
    CHECK(time.now() == weir::time_point(0s));
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == weir::time_point(5s));
    CHECK(seen == ints{0, 1, 2, 3});
    CHECK(flows::add_up(run.stats()));
    CHECK(run.stats().stages.at(1).times().wait_turn == 5s);
}

TEST_CASE("a slow side holds back the main way, once its queues are full") {
    virtual_time time;
    auto run = (numbers(0, 10) | tee(takes(1s)) | weir::sink(20)).start(time);
    CHECK(run.get() == 0);
    CHECK(time.now() == weir::time_point(0s));
    CHECK(take_all(run).size() == 9);
    CHECK(time.now() == weir::time_point(10s));
}

TEST_CASE("a failure on the side stops the run, and names its stage") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        const auto end = take_until_failure(
            (weir::source(std::views::iota(0)) | tee(fails_at(3)) | weir::sink()).start(time));
        REQUIRE(end.failed);
        CHECK(end.failed->stage() == "fails");
        CHECK(end.taken.size() >= 3);
        CHECK(end.taken.size() < 20);
        for (std::size_t i = 0; i < end.taken.size(); ++i) CHECK(end.taken[i] == static_cast<int>(i));
    }
}

TEST_CASE("a failure on the side is told though nothing more comes") {
    virtual_time time;
    const auto then_never = [n = 0]() mutable -> task<std::optional<int>> {
        if (n == 2) co_await weir::sleep_for(24h);
        co_return n++;
    };
    auto run = (weir::source(then_never) | tee(takes(1s) | fails_at(1)) | weir::sink()).start(time);
    const auto end = take_until_failure(run);
    REQUIRE(end.failed);
    CHECK(end.inside == "bad 1");
    CHECK(end.taken == ints{0, 1});
    CHECK(time.now() < weir::time_point(1h));
}

TEST_CASE("a tolerated failure on the side is nobody's business") {
    virtual_time time;
    ints seen;
    CHECK(take_all((numbers(0, 6) | tee(fails_at(3) | log_into(seen)) | weir::sink())
                       .start(time, {.max_failures = 1}))
              .size() == 6);
    CHECK(seen == ints{0, 1, 2, 4, 5});
}

TEST_CASE("a failure on the main way ends the side") {
    virtual_time time;
    ints seen;
    const auto end = take_until_failure(
        (weir::source(std::views::iota(0)) | tee(takes(1ms) | log_into(seen)) | fails_at(5) | weir::sink())
            .start(time));
    REQUIRE(end.failed);
    CHECK(end.taken == ints{0, 1, 2, 3, 4});
    CHECK(seen.size() < 12);

    // Of the source: what came before it is seen by both.
    seen.clear();
    const auto source = [n = 0]() mutable -> std::optional<int> {
        if (n == 4) throw std::runtime_error("gone");
        return n++;
    };
    const auto lost = take_until_failure(
        (weir::source(source) | tee(takes(1s) | log_into(seen)) | weir::sink()).start(time));
    REQUIRE(lost.failed);
    CHECK(lost.taken == ints{0, 1, 2, 3});
    CHECK(seen == ints{0, 1, 2, 3});
}

TEST_CASE("a side that ends by itself is given no more, and the main way goes on") {
    virtual_time time;
    ints seen;
    CHECK(
        take_all((numbers(0, 20) | tee(weir::take(3) | log_into(seen)) | weir::sink()).start(time)).size() ==
        20);
    CHECK(seen == ints{0, 1, 2});
}

TEST_CASE("a copy that can't be made stops the run") {
    class fragile {
      public:
        explicit fragile(int n) : n_(n) {}
        fragile(const fragile& other) : n_(other.n_) {
            if (n_ == 2) throw std::runtime_error("no copy");
        }
        fragile(fragile&&) noexcept = default;
        fragile& operator=(fragile&&) noexcept = default;
        int n() const { return n_; }

      private:
        int n_;
    };
    virtual_time time;
    const auto end = take_until_failure((numbers(0, 5) | weir::pipe([](int n) { return fragile(n); }) |
                                         tee(weir::pipe([](fragile f) { return f.n(); })) |
                                         weir::pipe([](fragile f) { return f.n(); }) | weir::sink())
                                            .start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "tee#2");
    CHECK(end.inside == "no copy");
    CHECK(end.taken == ints{0, 1});
}

TEST_CASE("a copy that fails has its item's number in a resumed run, whatever epoch that began with") {
    class limited {
      public:
        explicit limited(int& copies) : copies_(&copies) {}
        limited(const limited& other) : copies_(other.copies_) {
            if (++*copies_ == 4) throw std::runtime_error("no copy");
        }
        limited(limited&&) noexcept = default;
        limited& operator=(limited&&) noexcept = default;

      private:
        int* copies_;
    };
    virtual_time time;
    int copies = 0;
    auto before =
        (weir::source(weir::draws(weir::sampler({.size = 3, .seed = 1}))) | weir::sink()).start(time);
    for (int i = 0; i < 7; ++i) CHECK(before.get());
    const weir::sampler rest({.size = 3, .seed = 1, .resume = before.checkpoint()});
    const auto make = [&copies](const weir::draw&) { return limited(copies); };
    const auto end = take_until_failure((weir::source(weir::draws(rest)) | weir::pipe(make) |
                                         tee(weir::pipe([](limited) { return 0; })) |
                                         weir::pipe([](limited) { return 1; }) | weir::sink())
                                            .start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 3);
    CHECK(end.taken.size() == 3);
}

TEST_CASE("the side sees epochs, too") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        std::vector<ints> batches;
        const auto side =
            takes(2ms, {.concurrency = 3}) | weir::aggregate(2) | weir::pipe([&batches](ints b) {
                batches.push_back(b);
                return b;
            });
        const auto pipeline = weir::source(weir::epochs(ints{7, 7, 7}, 3)) | tee(side) | weir::sink();
        const auto all = by_epoch(pipeline.start(time));
        REQUIRE(all.size() == 3);
        for (const auto& each : all) CHECK(each.second == ints{7, 7, 7});
        CHECK(batches == std::vector<ints>{{7, 7}, {7}, {7, 7}, {7}, {7, 7}, {7}});
    }
}

TEST_CASE("a checkpoint counts what the consumer has taken, whatever the side does with its copies") {
    using weir::draw;
    const auto run_of = [](virtual_time& time, auto side, std::optional<weir::checkpoint> from) {
        return (weir::source(
                    weir::draws(weir::sampler({.size = 20, .shuffle = false, .resume = std::move(from)}),
                                1)) |
                tee(std::move(side)) | weir::sink())
            .start(time);
    };
    virtual_time time;
    const auto same = weir::pipe([](draw d) { return d; });
    auto whole = run_of(time, same, std::nullopt);
    CHECK(take_all(whole).size() == 20);
    CHECK(take_all(run_of(time, same, whole.checkpoint())).empty());

    const auto slow = weir::pipe([](draw d) -> task<draw> {
        co_await weir::sleep_for(1s);
        co_return d;
    });
    auto ended = run_of(time, slow | weir::take(3), std::nullopt);
    CHECK(take_all(ended).size() == 20);
    CHECK(take_all(run_of(time, same, ended.checkpoint())).empty());
}

TEST_CASE("a consumer that leaves early ends both ways, on virtual time and on a pool") {
    items::ledger book(20'000);
    const auto made = weir::pipe([&book](int) { return std::make_shared<items::counted>(book); });
    using item = std::shared_ptr<items::counted>;
    const auto same = weir::pipe([](item i) { return i; }, {.concurrency = 2});
    const auto pipeline = weir::source(std::views::iota(0)) | made | tee(same | same) | same | weir::sink();
    {
        virtual_time time;
        auto run = pipeline.start(time);
        for (int i = 0; i < 30; ++i) CHECK(run.get().has_value());
    }
    {
        weir::thread_pool pool(2);
        auto run = pipeline.start(pool);
        for (int i = 0; i < 30; ++i) CHECK(run.get().has_value());
    }
    CHECK(book.born() > 0);
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a side that waits for what never comes is named, and the run can be destroyed") {
    virtual_time time;
    weir::channel<int> never(1);
    const auto stuck = weir::pipe(
        [&never](int n) -> task<int> {
            static_cast<void>(co_await never.get());
            co_return n;
        },
        {.name = "stuck"});
    auto run = (numbers(0, 2) | tee(stuck) | weir::sink()).start(time);
    CHECK(run.get() == 0);
    CHECK(run.get() == 1);
    const std::string said = message_of([&run] { static_cast<void>(run.get()); });
    CHECK(contains(said, "stage 'tee#1', slot 0 (tee.test.cpp:"));
    CHECK(contains(said, ") waits for the side to end"));
    CHECK(contains(said, "stage 'stuck', slot 0"));
}

TEST_CASE("tees stand in sides of tees, and in branches") {
    virtual_time time;
    ints inner, outer, odd;
    const auto pipeline = numbers(0, 6) | tee(tee(log_into(inner)) | log_into(outer)) |
                          weir::route([](int n) { return n % 2; }, weir::branch("even"),
                                      weir::branch("odd", tee(log_into(odd)))) |
                          weir::sink();
    CHECK(take_all(pipeline.start(time)).size() == 6);
    CHECK(inner == ints{0, 1, 2, 3, 4, 5});
    CHECK(outer == inner);
    CHECK(odd == ints{1, 3, 5});
}

TEST_CASE("the figures say which queue leads where, and stages of the side are found by name") {
    virtual_time time;
    ints seen;
    auto pipeline =
        numbers(0, 5) | tee(log_into(seen, {.name = "log"}), {.name = "t", .capacity = 4}) | weir::sink();
    pipeline.options("log").capacity = 7;
    auto run = pipeline.start(time);
    CHECK(take_all(run).size() == 5);
    const auto stats = run.stats();
    CHECK(run.stages() == std::vector<std::string>{"src", "t", "log", "t_end", "sink"});
    const auto& t = stats.stages.at(1);
    CHECK(t.kind == "tee");
    REQUIRE(t.outputs.size() == 2);
    CHECK(stats.channels.at(t.outputs.at(0)).name == "t");
    CHECK(stats.channels.at(t.outputs.at(1)).name == "t_side");
    CHECK(stats.channels.at(t.outputs.at(1)).capacity == 4);
    CHECK(stats.stages.at(3).kind == "drain");
    CHECK(stats.stages.at(3).outputs.empty());
    CHECK(stats.channels.at(stats.stages.at(3).inputs.at(0)).capacity == 7);
    CHECK(stats.stages.at(4).inputs == std::vector<std::size_t>{t.outputs.at(0)});
    CHECK(flows::add_up(stats));
}

TEST_CASE("a tee without statistics does the same") {
    virtual_time time;
    ints seen;
    CHECK(take_all((numbers(0, 5) | tee(log_into(seen)) | weir::sink()).start<weir::unmeasured>(time)) ==
          ints{0, 1, 2, 3, 4});
    CHECK(seen == ints{0, 1, 2, 3, 4});
}
