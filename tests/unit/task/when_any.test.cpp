#include <weir/task/when_any.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"
#include "support/vanishing.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;
using weir::channel;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_any;

namespace {

const weir::time_point t0{};

// Counts those that are there.
struct presence {
    explicit presence(std::atomic<int>& n) : here(&n) { ++*here; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { --*here; }
    std::atomic<int>* here;
};

template <class T>
task<T> gives(weir::duration after, T value, std::atomic<int>& here) {
    const presence me(here);
    co_await weir::sleep_for(after);
    co_return value;
}
task<> passes(weir::duration after) { co_await weir::sleep_for(after); }
task<> fails(weir::duration after, const char* why) {
    co_await weir::sleep_for(after);
    throw std::runtime_error(why);
}

std::string error_of(virtual_time& time, auto&& awaitable) {
    try {
        static_cast<void>(sync_wait(time, std::forward<decltype(awaitable)>(awaitable)));
    } catch (const std::exception& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("when_any gives the result of the first to end, and the others have ended at that instant") {
    virtual_time time;
    std::atomic<int> here{0};
    const auto first =
        sync_wait(time, when_any(gives(9ms, 1, here), gives(5ms, std::string("two"), here), passes(1h)));
    CHECK(first.index() == 1);
    CHECK(std::get<1>(first) == "two");
    CHECK(time.now() == t0 + 5ms);
    CHECK(here == 0);
}

TEST_CASE(
    "in the result of when_any, void is a monostate, references are kept, and move-only values are moved") {
    virtual_time time;
    int mine = 3;
    const auto refers = [](int& n) -> task<int&> { co_return n; };
    const auto moves = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    auto first = sync_wait(time, when_any(passes(0ms), passes(1h)));
    static_assert(std::is_base_of_v<std::variant<std::monostate, std::monostate>, decltype(first)>);
    CHECK(first.index() == 0);
    auto second = sync_wait(time, when_any(passes(1h), refers(mine)));
    CHECK(&std::get<1>(second).get() == &mine);
    auto third = sync_wait(time, when_any(moves(), passes(1h)));
    CHECK(*std::get<0>(third) == 4);
    CHECK(time.now() == t0);
}

TEST_CASE("when_any of a vector gives the index and the result, or the index alone") {
    virtual_time time;
    std::atomic<int> here{0};
    std::vector<task<int>> values;
    std::vector<task<>> none;
    for (int i = 0; i < 4; ++i) {
        values.push_back(gives(10ms - i * 1ms, i * 10, here));
        none.push_back(passes(10ms + i * 1ms));
    }
    const auto first = sync_wait(time, when_any(std::move(values)));
    CHECK(first.first == 3);
    CHECK(first.second == 30);
    CHECK(time.now() == t0 + 7ms);
    CHECK(here == 0);
    CHECK(sync_wait(time, when_any(std::move(none))) == 0);
    CHECK(time.now() == t0 + 17ms);
    CHECK_THROWS_AS(when_any(std::vector<task<>>()), std::invalid_argument);
}

TEST_CASE("when_any awaits other awaitables than tasks in place") {
    virtual_time time;
    const auto waits = [&]() -> task<> {
        const auto first = co_await when_any(weir::sleep_for(1h), weir::sleep_for(3ms));
        CHECK(first.index() == 1);
        CHECK(std::get<1>(first));
    };
    sync_wait(time, waits());
    CHECK(time.now() == t0 + 3ms);
}

namespace {

task<std::unique_ptr<int>> takes(channel<std::unique_ptr<int>>& c) {
    auto item = co_await c.get();
    co_return item ? std::move(*item) : nullptr;
}

}  // namespace

TEST_CASE("an item that a task got at the instant of a time-out is in the others of the result") {
    int first = 0;
    int late = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        virtual_time time(seed);
        channel<std::unique_ptr<int>> c(1, time);
        const auto puts = [&]() -> task<> {
            co_await weir::sleep_for(3ms);
            auto item = std::make_unique<int>(7);
            const bool taken = co_await c.put(std::move(item));
            CHECK(taken);
        };
        const auto waits = [&]() -> task<> {
            auto got = co_await when_any(takes(c), weir::sleep_for(3ms));
            if (got.index() == 0) {
                CHECK(*std::get<0>(got) == 7);
                CHECK_FALSE(std::get<0>(got.others));
                ++first;
            } else if (std::get<0>(got.others)) {
                CHECK(**std::get<0>(got.others) == 7);
                CHECK_FALSE(std::get<1>(got.others));
                ++late;
            } else {
                const auto left = co_await c.get();
                CHECK(left.has_value());
            }
        };
        sync_wait(time, weir::when_all(waits(), puts()));
    }
    CHECK(first + late > 0);
    CHECK(late > 0);
}

TEST_CASE("the others of a vector are the later results, and [index, value] binds to the first one") {
    virtual_time time;
    const auto catches = [](int n) -> task<int> {
        try {
            co_await weir::sleep_for(1h);
        } catch (const weir::stopped&) {
            n += 10;
        }
        co_return n;
    };
    const auto gives_up = []() -> task<int> {
        co_await weir::sleep_for(1h);
        co_return 3;
    };
    const auto at_once = []() -> task<int> { co_return 2; };
    std::vector<task<int>> parts;
    parts.push_back(catches(1));
    parts.push_back(at_once());
    parts.push_back(gives_up());
    const auto all = sync_wait(time, when_any(std::move(parts)));
    const auto& [index, value] = all;
    CHECK(index == 1);
    CHECK(value == 2);
    CHECK(all.others == std::vector<std::optional<int>>{11, std::nullopt, std::nullopt});
    const auto puts = [](channel<int>& into) -> task<> {
        const bool taken = co_await into.put(1);
        CHECK(taken);
    };
    channel<int> c(1, time);
    const auto both = sync_wait(time, when_any(at_once(), puts(c)));
    CHECK(std::get<1>(both.others).has_value());  // the put has happened
    CHECK(c.size() == 1);
}

TEST_CASE("when_any throws the exception of the first to end, and drops those of the others") {
    virtual_time time;
    std::atomic<int> here{0};
    CHECK(error_of(time, when_any(gives(9ms, 1, here), fails(5ms, "early"))) == "early");
    CHECK(here == 0);
    // Fails because it is told to stop.
    const auto stubborn = []() -> task<> {
        bool stops = false;
        try {
            co_await weir::sleep_for(1h);
        } catch (const weir::stopped&) {
            stops = true;
        }
        if (stops) throw std::runtime_error("late");
    };
    CHECK(error_of(time, when_any(stubborn(), passes(1ms))).empty());
    CHECK(time.now() == t0 + 6ms);
}

TEST_CASE("when_any rejects a task that was moved from, and a second await") {
    const auto one = []() -> task<int> { co_return 1; };
    task<int> from = one();
    task<int> to = std::move(from);
    CHECK_THROWS_AS(weir::when_any(one(), std::move(from)),
                    std::logic_error);  // NOLINT: that is what is asked
    CHECK_THROWS_AS(weir::when_any(std::vector<task<int>>(1)), std::logic_error);
    const auto refuses = [](auto& any) -> task<> {
        CHECK_NOTHROW(co_await any);
        CHECK_THROWS_AS(co_await any, std::logic_error);
    };
    auto any = weir::when_any(std::move(to), one());
    weir::sync_wait(refuses(any));
    std::vector<task<int>> parts(1);
    parts[0] = one();
    auto several = weir::when_any(std::move(parts));
    weir::sync_wait(refuses(several));
}

TEST_CASE("when_any waits for arguments whose awaits can't be stopped") {
    virtual_time time;
    int done = 0;
    const auto goes_on = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) {
            try {
                co_await weir::sleep_for(10ms);
            } catch (const weir::stopped&) {
                ++done;
            }
        }
    };
    CHECK(sync_wait(time, when_any(goes_on(), passes(5ms))).index() == 1);
    CHECK(done == 3);
    CHECK(time.now() == t0 + 5ms);
}

TEST_CASE(
    "when_any starts each argument, also if one ends at once; the first wait of the others throws stopped") {
    virtual_time time;
    int begun = 0;
    int ended = 0;
    const auto part = [&](bool at_once) -> task<> {
        ++begun;
        if (!at_once) co_await weir::sleep_for(1h);
        ++ended;
    };
    CHECK(sync_wait(time, when_any(part(true), part(false), part(false))).index() == 0);
    CHECK(begun == 3);
    CHECK(ended == 1);
    CHECK(time.now() == t0);
}

TEST_CASE("a when_any inside of another one is stopped with it") {
    virtual_time time;
    std::atomic<int> here{0};
    const auto inner = [&]() -> task<int> {
        const auto first = co_await when_any(gives(1h, 1, here), gives(2h, 2, here));
        co_return static_cast<int>(first.index());
    };
    CHECK(sync_wait(time, when_any(inner(), passes(1ms))).index() == 1);
    CHECK(here == 0);
    CHECK(time.now() == t0 + 1ms);
}

TEST_CASE("a stop of the run stops the arguments of a when_any in a stage's function") {
    virtual_time time;
    std::atomic<int> here{0};
    int ended = 0;
    const auto function = [&](int n) -> task<int> {
        static_cast<void>(co_await when_any(gives(1h, 1, here), gives(2h, 2, here)));
        ++ended;
        co_return n;
    };
    {
        auto run =
            (weir::source({1, 2}) | weir::pipe(function, {.concurrency = 2}) | weir::sink()).start(time);
        time.run_until(t0 + 1s);
        CHECK(here == 4);
        run.stop();
        CHECK(run.stats().stages[1].num_failures == 0);
        CHECK(run.stats().stages[1].times().await == 2s);
    }
    CHECK(here == 0);
    CHECK(ended == 0);
}

TEST_CASE("arguments that wait for ever are reported as a deadlock, and destroyed with the when_any") {
    virtual_time time;
    std::atomic<int> here{0};
    channel<int> c(1, time);
    const auto waits = [&]() -> task<> {
        const presence me(here);
        static_cast<void>(co_await c.get());
    };
    CHECK_THROWS_AS(sync_wait(time, when_any(waits(), waits())), weir::deadlock_error);
    CHECK(here == 0);
}

TEST_CASE("no argument outlives a when_any, on a loop and on a pool") {
    std::atomic<int> here{0};
    weir::run_loop loop;
    CHECK(sync_wait(loop, when_any(gives(1h, 1, here), gives(1ms, 2, here))).index() == 1);
    CHECK(here == 0);
    weir::thread_pool pool(4);
    const auto often = [&]() -> task<> {
        for (int i = 0; i < 500; ++i) {
            std::vector<task<int>> all;
            for (int n = 0; n < 4; ++n) all.push_back(gives(weir::duration(n % 2 == 0 ? 1'000 : 0), n, here));
            const auto first = co_await when_any(std::move(all));
            CHECK(first.second == static_cast<int>(first.first));
            CHECK(here == 0);
        }
    };
    sync_wait(pool, often());
}

namespace {

// Its time is told by the test, which may act when it is asked for.
struct told_time : runs_within_post {
    weir::time_point now() const noexcept override {
        if (asked) std::exchange(asked, nullptr)();
        return weir::time_point(at);
    }
    mutable std::function<void()> asked;
    weir::duration at{0};
};

// A slot whose coroutine waits by the told time.
struct waiting_slot {
    explicit waiting_slot(told_time& time) : slot(stage, 0, time), waits(nothing()) {
        waits.handle.promise().env().executor = &time;
        waits.handle.promise().env().measured = &slot;
    }
    static actor nothing() { co_return; }

    std::string stage = "f";
    weir::detail::slot slot;
    actor waits;
};

}  // namespace

TEST_CASE("a when_any is ready when its last part has ended, though another part read its clock before") {
    told_time time;
    const waiting_slot me(time);
    weir::detail::when_any_join join(2);
    const int parts[2]{};
    CHECK(join.start(me.waits.handle, [](weir::executor&, const weir::detail::end_token&) {}));
    bool other_has_ended = false;
    const auto end_other = [&] {
        if (std::exchange(other_has_ended, true)) return;
        time.at = 20ns;
        join.part_ended(&parts[1]);
        time.at = 10ns;  // for the first one, which began to ask before
    };
    time.asked = end_other;
    join.part_ended(&parts[0]);
    time.asked = nullptr;
    end_other();
    CHECK(time.posted == 1);
    CHECK(join.first() == &parts[0]);
    CHECK(join.ready_at() == 20);
}

TEST_CASE("a when_any whose parts end before it waits was not ready at any time") {
    told_time time;
    time.at = 10ns;
    const waiting_slot me(time);
    weir::detail::when_any_join join(1);
    const auto end_at_once = [&](weir::executor&, const weir::detail::end_token&) { join.part_ended(&join); };
    CHECK_FALSE(join.start(me.waits.handle, end_at_once));
    CHECK(time.posted == 0);
    CHECK(join.ready_at() == 0);
}
