#include <weir/channel/select.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"
#include "support/timed.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using timed::box;
using timed::put_at;
using timed::stop_at;
using timed::t0;
using weir::after;
using weir::channel;
using weir::channel_status;
using weir::on_get;
using weir::on_put;
using weir::sync_wait;
using weir::task;
using weir::virtual_time;
using weir::when_all;
using weir::detail::are_valid_cases;
using weir::detail::select_kind;

using a_get = decltype(on_get(std::declval<channel<int>&>()));
using a_time = decltype(after(1ms));
static_assert(weir::detail::num_of_kind<select_kind::operation, a_get, a_time, a_get> == 2);
static_assert(are_valid_cases<a_get, a_time, weir::stop_token>);
static_assert(!are_valid_cases<a_time, weir::stop_token>);
static_assert(!are_valid_cases<a_get, a_time, a_time>);
static_assert(!are_valid_cases<a_get, weir::stop_token, weir::stop_token>);

TEST_CASE("the time and the token of a select are those of its cases, else there are none") {
    using platform = weir::detail::standard_platform;
    weir::channel<int> c(1);
    const auto one = weir::on_get(c);
    const weir::stop_source source;
    const weir::detail::stop_case<platform> stop(source.get_token());
    const auto time = weir::after(3ms);
    CHECK(weir::detail::limit_of(one, time, stop).after(weir::time_point(1ms)) == weir::time_point(4ms));
    CHECK(weir::detail::limit_of(one, stop).is_for_ever());
    CHECK(weir::detail::stop_of<platform>(one, time, stop) == source.get_token());
    CHECK_FALSE(weir::detail::stop_of<platform>(one, time).stop_possible());
}

TEST_CASE("a select does a case that can be done, and the others have no effect") {
    virtual_time time;
    channel<int> a(1, time);
    channel<box> b(1, time);
    const auto selects = [&]() -> task<> {
        box mine = std::make_unique<int>(7);
        auto first = co_await weir::select(on_get(a), on_put(b, std::move(mine)));
        CHECK(first.index() == 1);
        CHECK(first.status() == channel_status::success);
        CHECK(first.get<1>() == channel_status::success);
        CHECK(mine == nullptr);
        CHECK(b.size() == 1);
        CHECK(a.try_put(3) == channel_status::success);
        mine = std::make_unique<int>(8);
        auto second = co_await weir::select(on_get(a), on_put(b, std::move(mine)));
        CHECK(second.index() == 0);
        CHECK(*second.get<0>() == 3);
        CHECK(*mine == 8);
        CHECK(a.size() == 0);
        CHECK(b.size() == 1);
    };
    sync_wait(time, selects());
    CHECK(time.now() == t0);
    CHECK(a.stats().get_wait == 0ns);
}

TEST_CASE("a select waits for the first case that can be done") {
    virtual_time time;
    channel<int> a(1, time);
    channel<std::string> b(1, time);
    const auto selects = [&]() -> task<> {
        auto first = co_await weir::select(on_get(a), on_get(b));
        CHECK(time.now() == t0 + 10ms);
        CHECK(first.index() == 1);
        CHECK(*first.get<1>() == "one");
        auto second = co_await weir::select(on_get(a), on_get(b));
        CHECK(time.now() == t0 + 15ms);
        CHECK(second.index() == 0);
        CHECK(*second.get<0>() == 2);
        const auto third = co_await weir::select(on_get(a), on_get(b));
        CHECK(time.now() == t0 + 20ms);
        CHECK(third.index() == 1);
        CHECK(third.status() == channel_status::closed);
        CHECK(third.get<1>().status() == channel_status::closed);
    };
    const auto gives = [&]() -> task<> {
        co_await weir::sleep_for(10ms);
        co_await b.put("one");
        co_await weir::sleep_for(10ms);
        b.close();
    };
    sync_wait(time, when_all(selects(), gives(), put_at(a, 15ms, 2)));
    const weir::channel_stats of_a = a.stats(), of_b = b.stats();
    CHECK(of_a.num_put == 1);
    CHECK(of_a.num_get == 1);
    CHECK(of_b.num_get == 1);
    CHECK(of_a.get_wait == 20ms);
    CHECK(of_a.get_blocked == 20ms);
    CHECK(of_a.empty == 20ms);
    CHECK(of_b.get_wait == 20ms);
    CHECK(of_a.get_waits.count() == 1);
}

TEST_CASE("a put of a select goes in when there is room, and not when another case was chosen") {
    virtual_time time;
    channel<int> full(1, time), empty(1, time);
    static_cast<void>(full.try_put(0));
    const auto selects = [&]() -> task<> {
        auto first = co_await weir::select(on_put(full, 1), on_get(empty));
        CHECK(first.index() == 0);
        CHECK(time.now() == t0 + 1ms);
        auto second = co_await weir::select(on_put(full, 2), on_get(empty));
        CHECK(second.index() == 1);
        CHECK(*second.get<1>() == 9);
        CHECK(time.now() == t0 + 2ms);
    };
    const auto others = [&]() -> task<> {
        co_await weir::sleep_for(1ms);
        CHECK(*full.try_get() == 0);
        co_await weir::sleep_for(1ms);
        CHECK(empty.try_put(9) == channel_status::success);
    };
    sync_wait(time, when_all(selects(), others()));
    CHECK(*full.try_get() == 1);
    CHECK(full.size() == 0);
    CHECK(full.stats().num_put == 2);
}

TEST_CASE("a select whose time is over gives the index of the time") {
    virtual_time time;
    channel<int> a(1, time), b(1, time);
    const auto selects = [&]() -> task<> {
        auto late = co_await weir::select(on_get(a), after(5ms), on_get(b));
        CHECK(late.index() == 1);
        CHECK(late.status() == channel_status::timed_out);
        CHECK(late.get<1>() == channel_status::timed_out);
        CHECK(time.now() == t0 + 5ms);
        auto tried = co_await weir::select(on_get(a), on_get(b), after(-1ms));
        CHECK(tried.index() == 2);
        auto done = co_await weir::select(after(1h), on_get(a), on_get(b));
        CHECK(done.index() == 2);
        CHECK(time.now() == t0 + 7ms);
        auto for_ever = co_await weir::select(after(weir::duration::max()), on_get(a), on_get(b));
        CHECK(for_ever.index() == 1);
        CHECK(time.now() == t0 + 2h);
    };
    sync_wait(time, when_all(selects(), put_at(b, 7ms, 1), put_at(a, 2h, 1)));
    CHECK(a.size() + b.size() == 0);
}

TEST_CASE("no waiter is lost or served twice, whichever case comes first") {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        virtual_time time(seed);
        channel<int> a(1, time), b(1, time);
        int got = 0;
        const auto selects = [&]() -> task<> {
            auto done = co_await weir::select(on_get(a), on_get(b), after(5ms));
            got += done.status() == channel_status::success ? 1 : 0;
        };
        sync_wait(time, when_all(selects(), put_at(a, 5ms, 1), put_at(b, 5ms, 2), selects()));
        CHECK(static_cast<std::size_t>(got) + a.size() + b.size() == 2);
        CHECK(a.stats().num_put == 1);
        CHECK(b.stats().num_put == 1);
    }
}

TEST_CASE("one channel may be in several cases") {
    virtual_time time;
    channel<int> c(1, time);
    const auto selects = [&]() -> task<> {
        auto in = co_await weir::select(on_get(c), on_put(c, 4), on_get(c));
        CHECK(in.index() == 1);
        auto out = co_await weir::select(on_put(c, 5), on_get(c));
        CHECK(out.index() == 1);
        CHECK(*out.get<1>() == 4);
        auto twice = co_await weir::select(on_get(c), on_get(c));
        CHECK(twice.status() == channel_status::success);
        CHECK(c.size() == 0);
    };
    sync_wait(time, when_all(selects(), put_at(c, 1ms, 6)));
}

TEST_CASE("each of several cases that can always be done is chosen in turn, also one of a closed channel") {
    virtual_time time;
    channel<int> a(1, time), b(1, time), closed(1, time);
    closed.close();
    std::array<int, 4> chosen{};
    const auto selects = [&]() -> task<> {
        for (int i = 0; i < 4000; ++i) {
            auto done = co_await weir::select(on_get(a), on_get(b), on_put(closed, 1), after(1h));
            ++chosen.at(done.index());
            static_cast<void>(a.try_put(1));
            static_cast<void>(b.try_put(1));
        }
    };
    static_cast<void>(a.try_put(1));
    static_cast<void>(b.try_put(1));
    // Two in step: a turn of one is not taken from the other.
    sync_wait(time, when_all(selects(), selects()));
    CHECK(chosen[3] == 0);
    for (int i = 0; i < 3; ++i) CHECK(chosen.at(static_cast<std::size_t>(i)) > 8000 / 5);
}

TEST_CASE("on virtual time a select chooses the same cases in each run") {
    std::vector<std::vector<std::size_t>> all;
    for (int i = 0; i < 2; ++i) {
        virtual_time time;
        channel<int> a(64, time), b(64, time);
        std::vector<std::size_t>& order = all.emplace_back();
        const auto selects = [&]() -> task<> {
            for (int n = 0; n < 64; ++n) {
                static_cast<void>(a.try_put(1));
                static_cast<void>(b.try_put(1));
                auto done = co_await weir::select(on_get(a), on_get(b));
                order.push_back(done.index());
            }
        };
        sync_wait(time, selects());
    }
    CHECK(all[0] == all[1]);
}

TEST_CASE("get of a case that was not chosen throws an error that names both cases") {
    virtual_time time;
    channel<int> a(1, time);
    channel<box> b(1, time);
    const auto selects = [&]() -> task<> {
        static_cast<void>(b.try_put(std::make_unique<int>(5)));
        auto done = co_await weir::select(on_get(a), on_get(b));
        std::string message;
        try {
            static_cast<void>(done.get<0>());
        } catch (const std::logic_error& e) {
            message = e.what();
        }
        CHECK(message ==
              "weir: the select chose case 1, and is asked for case 0; look at its index() before");
        CHECK(std::as_const(done).get<1>().has_value());
        const box item = std::move(done).get<1>().value();
        CHECK(*item == 5);
    };
    sync_wait(time, selects());
}

TEST_CASE("a stop token is a case of its select") {
    virtual_time time;
    channel<int> a(1, time), b(1, time);
    weir::stop_source stop;
    const auto selects = [&]() -> task<> {
        auto late = co_await weir::select(on_get(a), stop.get_token(), after(1ms));
        CHECK(late.index() == 2);
        auto ended = co_await weir::select(on_get(a), stop.get_token(), on_get(b), after(1h));
        CHECK(ended.index() == 1);
        CHECK(ended.status() == channel_status::stopped);
        CHECK(ended.get<1>() == channel_status::stopped);
        CHECK(time.now() == t0 + 5ms);
        CHECK(b.try_put(3) == channel_status::success);
        auto there = co_await weir::select(stop.get_token(), on_get(a), on_get(b));
        CHECK(there.index() == 2);  // who needn't wait isn't stopped
        auto again = co_await weir::select(on_get(a), stop.get_token());
        CHECK(again.index() == 1);
        auto never = co_await weir::select(on_get(a), weir::stop_token(), after(1ms));
        CHECK(never.index() == 2);
    };
    sync_wait(time, when_all(selects(), stop_at(stop, 5ms)));
    CHECK(time.now() == t0 + 6ms);
    CHECK(a.try_put(1) == channel_status::success);
    CHECK(a.size() == 1);
}

TEST_CASE("a get from a range gives the item and the number of its channel") {
    virtual_time time;
    std::deque<channel<int>> queues;
    for (int i = 0; i < 3; ++i) queues.emplace_back(1, time);
    channel<std::string> words(1, time);
    const auto selects = [&]() -> task<> {
        auto first = co_await weir::select(on_get(words), on_get(queues), after(1h));
        CHECK(first.index() == 1);
        CHECK(first.status() == channel_status::success);
        CHECK(first.get<1>().which() == 2);
        CHECK(*first.get<1>() == 7);
        CHECK(time.now() == t0 + 1ms);
        auto second = co_await weir::select(on_get(queues), on_get(words));
        CHECK(second.index() == 1);
        CHECK(*second.get<1>() == "word");
        auto third = co_await weir::select(on_get(queues), on_get(words));
        CHECK(third.index() == 0);
        CHECK(third.status() == channel_status::closed);
        CHECK(third.get<0>().which() == 1);
    };
    const auto others = [&]() -> task<> {
        co_await weir::sleep_for(1ms);
        co_await queues[2].put(7);
        co_await weir::sleep_for(1ms);
        co_await words.put("word");
        co_await weir::sleep_for(1ms);
        queues[1].close();
    };
    sync_wait(time, when_all(selects(), others()));
    CHECK(queues[0].stats().num_get == 0);
    CHECK(queues[2].stats().num_get == 1);
    CHECK(words.stats().num_get == 1);
}

TEST_CASE("a range has channels, or pointers to channels, and null pointers are left out") {
    virtual_time time;
    channel<int> c(1, time);
    std::vector<channel<int>*> plain{nullptr, &c};
    std::vector<std::unique_ptr<channel<int>>> owned;
    owned.push_back(nullptr);
    owned.push_back(nullptr);
    owned.push_back(std::make_unique<channel<int>>(1, time));
    const std::vector<std::reference_wrapper<channel<int>>> referred{c};
    const auto selects = [&]() -> task<> {
        static_cast<void>(c.try_put(1));
        auto first = co_await weir::select(on_get(std::span(plain)), on_get(owned));
        CHECK(first.index() == 0);
        CHECK(first.get<0>().which() == 1);
        static_cast<void>(owned[2]->try_put(2));
        auto second = co_await weir::select(on_get(plain), on_get(owned));
        CHECK(second.index() == 1);
        CHECK(second.get<1>().which() == 2);
        static_cast<void>(c.try_put(3));
        auto third = co_await weir::select(on_get(referred));
        CHECK(third.get<0>().which() == 0);
        CHECK(*third.get<0>() == 3);
        auto none = co_await weir::select(on_get(std::vector<channel<int>*>()), on_get(c), after(1ms));
        CHECK(none.index() == 2);
    };
    sync_wait(time, selects());
}

TEST_CASE("each channel of a range is chosen in turn") {
    virtual_time time;
    std::deque<channel<int>> queues;
    for (int i = 0; i < 5; ++i) queues.emplace_back(1, time);
    std::array<int, 5> chosen{};
    const auto selects = [&]() -> task<> {
        for (int i = 0; i < 5000; ++i) {
            for (auto& each : queues) static_cast<void>(each.try_put(1));
            auto done = co_await weir::select(on_get(queues));
            ++chosen.at(done.get<0>().which());
        }
    };
    sync_wait(time, selects());
    for (const int times : chosen) CHECK(times > 5000 / 7);
}

TEST_CASE("ranges without a channel are an error before the await") {
    std::vector<channel<int>*> none(2);
    std::string message;
    try {
        static_cast<void>(weir::select(on_get(none), after(1ms)));
    } catch (const std::invalid_argument& e) {
        message = e.what();
    }
    CHECK(
        message ==
        "weir: a select has nothing to choose from, as no channel is in the ranges that it was given; leave "
        "its loop when the last channel is closed");
}

TEST_CASE("a stop of the run ends a select of a stage's function at once") {
    virtual_time time;
    channel<int> full(1, time), empty(1, time);
    static_cast<void>(full.try_put(0));
    int ended = 0;
    const auto function = [&](int n) -> task<int> {
        auto done = co_await weir::select(on_put(full, n), on_get(empty));
        ++ended;
        co_return static_cast<int>(done.index());
    };
    {
        auto run =
            (weir::source({1, 2}) | weir::pipe(function, {.concurrency = 2}) | weir::sink()).start(time);
        time.run_until(t0 + 1s);
        run.stop();
        CHECK(run.stats().stages[1].num_failures == 0);
        CHECK(run.stats().stages[1].times().await == 2s);
    }
    CHECK(ended == 0);
    CHECK(full.size() == 1);
    CHECK(empty.try_put(1) == channel_status::success);
    CHECK(empty.size() == 1);
}

TEST_CASE("a deadlock report names a select for each of its channels") {
    virtual_time time;
    channel<int> a(1, time, "first"), b(1, time, "second");
    const auto selects = [&]() -> task<> { static_cast<void>(co_await weir::select(on_get(a), on_get(b))); };
    std::string message;
    try {
        sync_wait(time, selects());
    } catch (const weir::deadlock_error& e) {
        message = e.what();
    }
    CHECK(message.find("channel 'first' is empty, 0 of 1: a coroutine waits to get") != std::string::npos);
    CHECK(message.find("channel 'second' is empty, 0 of 1: a coroutine waits to get") != std::string::npos);
    CHECK(a.try_put(1) == channel_status::success);  // its frame has left the lines
    CHECK(a.size() == 1);
}

TEST_CASE("a select may mix measured and unmeasured channels") {
    virtual_time time;
    channel<int> a(1, time);
    channel<int, weir::unmeasured> b(1);
    const auto selects = [&]() -> task<> {
        auto done = co_await weir::select(on_get(a), on_get(b));
        CHECK(done.index() == 1);
        CHECK(*done.get<1>() == 2);
    };
    sync_wait(time, when_all(selects(), put_at(b, 1ms, 2)));
}

TEST_CASE("a select chooses the first item on a run loop and on a pool") {
    const auto selects = [](channel<int>& a, channel<int>& b) -> task<int> {
        int sum = 0;
        for (int i = 0; i < 200; ++i) {
            auto done = co_await weir::select(on_get(a), on_get(b), after(1h));
            sum += done.index() == 0 ? *done.get<0>() : *done.get<1>();
        }
        co_return sum;
    };
    const auto puts = [](channel<int>& c, int n) -> task<> {
        for (int i = 0; i < 100; ++i) {
            auto in = co_await weir::select(on_put(c, n), after(1h));
            CHECK(in.index() == 0);
        }
    };
    {
        weir::run_loop loop;
        channel<int> a(1), b(2);
        const auto sums = sync_wait(loop, when_all(selects(a, b), puts(a, 1), puts(b, 1000)));
        CHECK(std::get<0>(sums) == 100'100);
    }
    weir::thread_pool pool(2);
    channel<int> a(1), b(2);
    const auto sums = sync_wait(pool, when_all(selects(a, b), puts(a, 1), puts(b, 1000)));
    CHECK(std::get<0>(sums) == 100'100);
}

TEST_CASE("a select that finds a channel closed yields, and so does an operation whose limit is over") {
    virtual_time time;
    channel<int> closed(1, time), empty(1, time), full(1, time), c(1, time);
    closed.close();
    CHECK(full.try_put(0) == channel_status::success);
    std::vector<std::function<task<>()>> all;
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await weir::select(on_get(closed))); });
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await weir::select(on_put(closed, 1))); });
    all.emplace_back(
        [&]() -> task<> { static_cast<void>(co_await weir::select(on_get(empty), after(0ms))); });
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await closed.get_for(1s)); });
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await empty.get_for(0ms)); });
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await empty.get_until(t0)); });
    all.emplace_back([&]() -> task<> { static_cast<void>(co_await full.put_for(1, -1ms)); });
    for (const auto& once : all) {
        int rounds = 0;
        const auto repeats = [&]() -> task<> {
            while (c.size() == 0 && ++rounds < 1000) co_await once();
        };
        const auto puts = [&]() -> task<> { static_cast<void>(co_await c.put(1)); };
        sync_wait(time, when_all(repeats(), puts()));
        CHECK(rounds < 3);
        CHECK(c.try_get().value() == 1);
    }
    CHECK(time.now() == t0);
}
