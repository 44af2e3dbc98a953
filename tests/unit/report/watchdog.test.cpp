#include <weir/report/watchdog.hpp>

#include "support/catch.hpp"
#include "support/semaphore.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using weir::channel;
using weir::deadlock_report;
using weir::stall_report;
using weir::stuck_wait;
using weir::task;
using weir::watchdog;
using namespace std::chrono_literals;

namespace {

// What a report says, without where the stages were composed, which is a line of this file.
std::string told(const weir::deadlock_report& report) {
    std::string text = report.text();
    const std::string_view begin = " (watchdog.test.cpp:";
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin)) {
        text.erase(at, text.find(')', at) + 1 - at);
    }
    return text;
}

// A dog without a thread, and what it said. Its time is counted in looks, 20 ms each.
class patient {
  public:
    explicit patient(watchdog::executors all)
        : dog_(all, {.period = weir::duration(0),
                     .on_deadlock = [this](const deadlock_report& r) { deadlocks.push_back(r); },
                     .on_stall = [this](const stall_report& r) { stalls.push_back(r); }}) {}

    std::size_t inspect() { return dog_.inspect(now_ += 20ms); }
    // The threads need time to get there, which is why it looks until there is something to be seen.
    const deadlock_report& deadlock() {
        deadlocks.clear();
        while (deadlocks.empty()) {
            inspect();
            std::this_thread::yield();
        }
        return deadlocks.front();
    }
    // How many more deadlocks it sees in many looks.
    std::size_t sees_more(int looks = 1000) {
        const std::size_t before = deadlocks.size();
        for (int i = 0; i < looks; ++i) {
            inspect();
            std::this_thread::yield();
        }
        return deadlocks.size() - before;
    }

    std::vector<deadlock_report> deadlocks;
    std::vector<stall_report> stalls;

  private:
    weir::time_point now_{};
    watchdog dog_;
};

// A thread of the program, which waits. Watchdogs know of it from the start, and so don't take for certain that
// nobody is left before it waits, too.
class joined {
  public:
    template <class F>
    explicit joined(F f)
        : thread_([this, f = std::move(f)] {
              static_cast<void>(
                  weir::detail::basic_thread_record<weir::detail::standard_platform>::acquire());
              is_known_.release();
              f();
          }) {
        is_known_.acquire();
    }
    ~joined() { thread_.join(); }

  private:
    semaphore is_known_{0};
    std::thread thread_;
};

task<> put_then_get(channel<int>& out, channel<int>& in, int puts) {
    for (int i = 0; i < puts; ++i) {
        const bool taken = co_await out.put(int(i));
        if (!taken) co_return;
    }
    static_cast<void>(co_await in.get());
}
task<> take_all(channel<int>& in) {
    while (auto item = co_await in.get()) static_cast<void>(*item);
}
task<> pass_on(channel<int>& in, channel<int>& out) {
    while (auto item = co_await in.get()) {
        const bool taken = co_await out.put(std::move(*item));
        if (!taken) break;
    }
    out.close();
}

constexpr const char* nobody_gets = "; nobody is left to get";
constexpr const char* nobody_puts = "; nobody is left to put";

}  // namespace

// ---- everything waits --------------------------------------------------------------------------

TEST_CASE("a deadlock: two coroutines fill each other's channel before they read their own") {
    weir::thread_pool pool(1);
    channel<int> left(2, pool, "left"), right(1, pool, "right");
    patient dog({pool});
    const joined waits([&] {
        weir::sync_wait(pool, weir::when_all(put_then_get(left, right, 3), put_then_get(right, left, 2)));
    });
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: these waits can't end any more:"
                      "\n  channel 'left' is full, 2 of 2: a coroutine waits to put") +
              nobody_gets + "\n  channel 'right' is full, 1 of 1: a coroutine waits to put" + nobody_gets);
    CHECK_FALSE(dog.deadlocks[0].partial);
    CHECK(dog.deadlocks[0].waits[0].capacity == 2);
    CHECK(dog.deadlocks[0].waits[0].seen >= 20ms);
    CHECK(dog.sees_more(20) == 0);
    left.close();
    right.close();
}

TEST_CASE("a deadlock: two coroutines each wait for an item that the other would put later") {
    weir::thread_pool pool(2);
    channel<int> a(1, pool, "a"), b(1, pool, "b");
    patient dog({pool});
    const joined waits([&] { weir::sync_wait(pool, weir::when_all(pass_on(a, b), pass_on(b, a))); });
    const deadlock_report report = dog.deadlock();
    CHECK(report.waits.size() == 2);
    CHECK(report.text().find("\n  channel 'a' is empty, 0 of 1: a coroutine waits to get") !=
          std::string::npos);
    CHECK(report.text().find("\n  channel 'b' is empty, 0 of 1: a coroutine waits to get") !=
          std::string::npos);
    a.close();
    b.close();
}

TEST_CASE("a deadlock: three coroutines in a circle, none of which can put before the next one gets") {
    weir::thread_pool pool(2);
    channel<int> a(1, pool, "a"), b(1, pool, "b"), c(1, pool, "c");
    patient dog({pool});
    const joined waits([&] {
        weir::sync_wait(pool,
                        weir::when_all(put_then_get(a, c, 2), put_then_get(b, a, 2), put_then_get(c, b, 2)));
    });
    CHECK(dog.deadlock().waits.size() == 3);
    a.close();
    b.close();
    c.close();
}

TEST_CASE("a deadlock: a channel that nobody closes after the last item") {
    weir::thread_pool pool(1);
    channel<int> items(4, pool, "items");
    patient dog({pool});
    const joined waits([&] {
        items.blocking_put(1);
        items.blocking_put(2);
        weir::sync_wait(pool, take_all(items));
    });
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: this wait can't end any more:"
                      "\n  channel 'items' is empty, 0 of 4: a coroutine waits to get") +
              nobody_puts);
    items.close();
}

TEST_CASE(
    "a deadlock: a coroutine of another library that waits for ever on the thread for foreign awaitables") {
    struct foreign {
        struct promise_type {
            foreign get_return_object() const noexcept { return {}; }
            std::suspend_never initial_suspend() const noexcept { return {}; }
            std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }
        };
        static foreign sleeps_and_takes(channel<int>& items, weir::detail::parker& done) {
            co_await weir::sleep_for(1us);
            const std::optional<int> none = co_await items.get();
            if (!none) done.set();
        }
    };
    weir::thread_pool pool(1);
    channel<int> items(4, pool, "items");
    weir::detail::parker done;
    patient dog({pool});
    foreign::sleeps_and_takes(items, done);
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: this wait can't end any more:"
                      "\n  channel 'items' is empty, 0 of 4: a coroutine waits to get") +
              nobody_puts);
    items.close();
    while (!done.wait()) {
    }
}

TEST_CASE("a deadlock: a producer whose consumer has left without closing") {
    weir::thread_pool pool(1);
    channel<int> items(1, pool, "items"), end(1, pool, "end");
    patient dog({pool});
    const auto take_one = [&]() -> task<> { static_cast<void>(co_await items.get()); };
    const joined waits(
        [&] { weir::sync_wait(pool, weir::when_all(put_then_get(items, end, 5), take_one())); });
    CHECK(told(dog.deadlock()).find("channel 'items' is full, 1 of 1: a coroutine waits to put") !=
          std::string::npos);
    items.close();
    end.close();
}

TEST_CASE("a part of a when_all that never ends is named in the report") {
    weir::thread_pool pool(2);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const auto other = []() -> task<> { co_await weir::yield(); };
    const joined waits([&] { weir::sync_wait(pool, weir::when_all(other(), take_all(never), other())); });
    CHECK(dog.deadlock().waits.size() == 1);
    CHECK(dog.deadlocks[0].waits[0].channel == "never");
    never.close();
}

TEST_CASE("a deadlock: a stage function that waits for a channel that nobody fills, and all waits for it") {
    weir::thread_pool pool(1);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const auto ask = [&](int i) -> task<int> {
        const auto got = co_await never.get();
        co_return got ? *got : i;
    };
    auto run = (weir::source({1, 2, 3, 4, 5, 6, 7, 8}) | weir::pipe(ask, {.name = "ask"}) | weir::sink(2))
                   .start(pool);
    const joined waits([&] {
        while (run.get()) {
        }
    });
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: these waits can't end any more:") +
              "\n  channel 'never' is empty, 0 of 1: stage 'ask', slot 0 waits to get" + nobody_puts +
              "\n  channel 'src' is full, 2 of 2: stage 'src', slot 0 waits to put; that needs stage 'ask', "
              "which waits itself"
              "\n  channel 'ask | sink' is empty, 0 of 5: a thread waits to get; that needs stage 'ask', "
              "which waits itself");
    const weir::stuck_wait& cause = dog.deadlocks[0].waits[0];
    CHECK(cause.in_function);
    CHECK(cause.stage == "ask");
    CHECK(cause.at == "channel 'never' is empty, 0 of 1");
    CHECK(cause.what == "to get");
    CHECK(cause.where.starts_with("watchdog.test.cpp:"));
    CHECK(dog.deadlocks[0].text().find(": stage 'ask', slot 0 (" + cause.where + ") waits to get") !=
          std::string::npos);
    CHECK(dog.deadlocks[0].waits[1].needs == std::vector<std::size_t>{0});
    never.close();
}

TEST_CASE("a deadlock: a for_each whose function waits for ever, and the wait for the end of its run") {
    weir::thread_pool pool(1);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const auto ask = [&](int) -> task<> { static_cast<void>(co_await never.get()); };
    const int line = __LINE__ + 1;
    auto run = (weir::source({1, 2}) | weir::for_each(ask, {.name = "ask"})).start(pool);
    const joined waits([&] { static_cast<void>(run.wait()); });
    CHECK(dog.deadlock().text() ==
          std::string("weir: deadlock: these waits can't end any more:") +
              "\n  channel 'never' is empty, 0 of 1: stage 'ask', slot 0 (watchdog.test.cpp:" +
              std::to_string(line) + ") waits to get" + nobody_puts +
              "\n  channel 'the end of ask' is empty, 0 of 1: a thread waits to get; that needs stage 'ask', "
              "which waits itself");
    never.close();
}

TEST_CASE("a deadlock: a stage function that blocks its worker on a channel that nobody fills") {
    weir::thread_pool pool(2);
    weir::blocking_pool io(1);
    channel<int> never(1, pool, "never");
    for (weir::executor* const where :
         {static_cast<weir::executor*>(&pool), static_cast<weir::executor*>(&io)}) {
        patient dog({pool, io});
        std::atomic<bool> open = false;
        const auto ask = [&](int i) {
            static_cast<void>(open ? i : *never.blocking_get());
            return i;
        };
        auto run = (weir::source({1, 2}) | weir::pipe(ask, {.name = "ask", .executor = where}) | weir::sink())
                       .start(pool);
        {
            const joined waits([&] {
                while (run.get()) {
                }
            });
            const std::string text = told(dog.deadlock());
            CHECK(text.find(std::string("stage 'ask', slot 0 waits in its function, which blocks a thread; "
                                        "nobody is left who could end that")) != std::string::npos);
            CHECK(text.find("channel 'never' is empty, 0 of 1: a thread waits to get") != std::string::npos);
            open = true;
            static_cast<void>(never.try_put(1));
        }
    }
}

TEST_CASE("a deadlock: slots that wait for their turn behind one whose function never ends") {
    weir::thread_pool pool(2);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const auto ask = [&](int i) -> task<int> {
        if (i == 1) static_cast<void>(co_await never.get());
        co_return i;
    };
    auto run =
        (weir::source({1, 2, 3, 4, 5, 6}) |
         weir::pipe(ask, {.name = "ask", .concurrency = 3, .output_order = weir::output_order::input}) |
         weir::sink())
            .start(pool);
    const joined waits([&] {
        while (run.get()) {
        }
    });
    const std::string text = told(dog.deadlock());
    CHECK(
        text.find("\n  2 slots of stage 'ask' wait for its turn to give an item on; that needs stage 'ask', "
                  "which waits itself") != std::string::npos);
    CHECK(text.find("channel 'never' is empty, 0 of 1: stage 'ask', slot ") != std::string::npos);
    never.close();
}

TEST_CASE("a wait that many slots of a stage could end needs some of them, and no other stage less") {
    weir::thread_pool pool(2);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const auto ask = [&](int) { return never.get(); };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(ask, {.name = "ask", .concurrency = 40}) |
                weir::pipe([](int i) { return i; }, {.name = "next", .concurrency = 40}) | weir::sink())
                   .start(pool);
    const joined waits([&] {
        while (run.get()) {
        }
    });
    const deadlock_report& report = dog.deadlock();
    REQUIRE(report.waits.size() == 82);  // of 40 + 40 slots, the source and the consumer
    for (const weir::stuck_wait& each : report.waits) {
        if (each.stage == "next") {
            std::size_t num_ask = 0;
            for (const std::size_t i : each.needs) num_ask += report.waits[i].stage == "ask" ? 1U : 0U;
            CHECK(num_ask == weir::stuck_wait::most_needs);
            CHECK(each.needs.size() == 2 * weir::stuck_wait::most_needs);  // the others are of its own stage
        }
    }
    CHECK(told(report).find("40 slots of stage 'next' wait to get; that needs stage 'ask'") !=
          std::string::npos);
    never.close();
    run.stop();
}

TEST_CASE("a deadlock: a full loop back to the source") {
    weir::thread_pool pool(2);
    channel<int> again(2, pool, "again");
    patient dog({pool});
    const auto next = [&]() -> task<std::optional<int>> {
        auto got = co_await again.get();
        co_return got;
    };
    const auto twice = [&](int i) -> task<int> {  // each item makes two more
        static_cast<void>(co_await again.put(int(i)));
        static_cast<void>(co_await again.put(int(i)));
        co_return i;
    };
    static_cast<void>(again.try_put(1));
    auto run = (weir::source(next, {.name = "next"}) | weir::pipe(twice, {.name = "twice"}) | weir::sink())
                   .start(pool);
    const joined waits([&] {
        while (run.get()) {
        }
    });
    const std::string text = told(dog.deadlock());
    CHECK(text.find("channel 'again' is full, 2 of 2: stage 'twice', slot 0 waits to put") !=
          std::string::npos);
    CHECK(text.find("channel 'next' is full, 2 of 2: stage 'next', slot 0 waits to put; that needs stage "
                    "'twice', which waits itself") != std::string::npos);
    again.close();
}

TEST_CASE("a cycle of full queues has one line per stage, the cause first") {
    weir::thread_pool pool(2);
    channel<int> again(64, pool, "again");
    patient dog({pool});
    const auto next = [&]() -> task<std::optional<int>> {
        auto got = co_await again.get();
        co_return got;
    };
    const auto twice = [&](int i) -> task<int> {
        static_cast<void>(co_await again.put(int(i)));
        static_cast<void>(co_await again.put(int(i)));
        co_return i;
    };
    static_cast<void>(again.try_put(1));
    auto run = (weir::source(next, {.name = "next"}) |
                weir::pipe(twice, {.name = "twice", .concurrency = 16, .capacity = 1000}) | weir::sink())
                   .start(pool);
    const joined waits([&] {
        while (run.get()) {
        }
    });
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: these waits can't end any more:"
                      "\n  channel 'again' is full, 64 of 64: 16 slots of stage 'twice' wait to put") +
              nobody_gets +
              "\n  channel 'next' is full, 2 of 2: stage 'next', slot 0 waits to put; that needs stage "
              "'twice', which waits itself"
              "\n  channel 'twice | sink' is empty, 0 of 1033: a thread waits to get; that needs stage "
              "'twice', which waits itself");
    CHECK(dog.deadlocks[0].waits.size() == 18);
    again.close();
}

TEST_CASE("a deadlock: a run whose consumer waits for something else for ever") {
    weir::thread_pool pool(1);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    const joined waits([&] {
        auto run = (weir::source({1, 2, 3, 4, 5, 6, 7, 8, 9}) | weir::sink(1)).start(pool);
        static_cast<void>(run.get());
        static_cast<void>(never.blocking_get());
    });
    const std::string text = told(dog.deadlock());
    CHECK(text.find(std::string("channel 'src | sink' is full, 4 of 4: stage 'src', slot 0 waits to put") +
                    nobody_gets) != std::string::npos);
    CHECK(text.find(std::string("channel 'never' is empty, 0 of 1: a thread waits to get") + nobody_puts) !=
          std::string::npos);
    never.close();
}

TEST_CASE("a deadlock: a run that can't be stopped, because its function waits for ever") {
    weir::thread_pool pool(1);
    channel<int> never(1, pool, "never");
    patient dog({pool});
    // Awaited, it would end with the stop.
    const auto ask = [&](int i) {
        static_cast<void>(never.blocking_get());
        return i;
    };
    const joined waits([&] {
        auto run = (weir::source({1, 2}) | weir::pipe(ask, {.name = "ask"}) | weir::sink()).start(pool);
        while (never.stats().get_blocked == weir::duration(0)) std::this_thread::yield();
        run.stop();
    });
    CHECK(told(dog.deadlock()) ==
          std::string("weir: deadlock: these waits can't end any more:"
                      "\n  stage 'ask', slot 0 waits in its function, which blocks a thread; nobody is left "
                      "who could end that"
                      "\n  channel 'never' is empty, 0 of 1: a thread waits to get") +
              nobody_puts);
    never.close();
}

// ---- a part waits, and others go on ---------------------------------------------------------------

namespace {

// Keeps its worker at work, as long as it lives.
class busy {
  public:
    explicit busy(weir::executor& ex) : thread_([this, &ex] { weir::sync_wait(ex, go_on(*this)); }) {
        wait_for_turn();
    }
    ~busy() {
        over_ = true;
        thread_.join();
    }

    void wait_for_turn() const {
        const int now = turns_;
        while (turns_ == now) std::this_thread::yield();
    }

  private:
    static task<> go_on(busy& me) {
        while (!me.over_) {
            co_await weir::yield();
            ++me.turns_;
        }
    }
    std::atomic<bool> over_ = false;
    std::atomic<int> turns_ = 0;
    std::thread thread_;
};

// Gives what the run gives, once there is one.
task<std::optional<int>> next_of(channel<weir::run<int>*>& begin, weir::run<int>*& from) {
    if (from == nullptr) {
        auto given = co_await begin.get();
        if (given) from = *given;
    }
    if (from == nullptr) co_return std::nullopt;
    auto item = co_await from->next();
    co_return item;
}

}  // namespace

TEST_CASE("a partial deadlock: a stage function that takes from its own run, while others go on") {
    weir::thread_pool pool(1);
    const busy other(pool);
    patient dog({pool});
    channel<weir::run<int>*> begin(1);
    weir::run<int>* from = nullptr;
    const auto ask = [&](int i) -> task<int> {
        const auto got = co_await next_of(begin, from);
        co_return got ? *got : i;
    };
    auto run =
        (weir::source({1}) | weir::pipe(ask, {.name = "ask", .capacity = 1}) | weir::sink(2)).start(pool);
    static_cast<void>(begin.try_put(&run));
    CHECK(told(dog.deadlock()) ==
          "weir: deadlock: this wait can't end any more, though others go on:"
          "\n  channel 'ask | sink' is empty, 0 of 4: stage 'ask', slot 0 waits to get; that needs stage "
          "'ask', which waits itself");
    CHECK(dog.deadlocks[0].partial);
    CHECK(dog.deadlocks[0].waits[0].in_function);
    CHECK(dog.sees_more() == 0);
}

TEST_CASE(
    "a partial deadlock: two runs that take from each other, while a third one works on the same pool") {
    weir::thread_pool pool(2);
    channel<weir::run<int>*> first(1), second(1);
    weir::run<int>* to_first = nullptr;
    weir::run<int>* to_second = nullptr;
    const auto from_second = [&] { return next_of(first, to_first); };
    const auto from_first = [&] { return next_of(second, to_second); };
    patient dog({pool});
    std::atomic<bool> over = false;
    std::atomic<int> taken = 0;
    const joined works([&] {
        auto run = (weir::source([] { return std::optional<int>(1); }) | weir::sink()).start(pool);
        while (!over) {
            static_cast<void>(run.get());
            ++taken;
        }
    });
    while (taken == 0) std::this_thread::yield();
    {
        auto a = (weir::source(from_second, {.name = "a"}) | weir::sink()).start(pool);
        auto b = (weir::source(from_first, {.name = "b"}) | weir::sink()).start(pool);
        static_cast<void>(first.try_put(&b));
        static_cast<void>(second.try_put(&a));
        const deadlock_report report = dog.deadlock();
        CHECK(report.partial);
        CHECK(report.waits.size() == 2);
        CHECK(dog.sees_more() == 0);
        // Each takes from the other: neither may go before both have ended.
        a.stop();
        b.stop();
    }
    over = true;
}

TEST_CASE("the consumer of a stuck run, and a run that takes from it, are stuck, too") {
    weir::thread_pool pool(2);
    const busy other(pool);
    patient dog({pool});
    channel<weir::run<int>*> begin(1);
    weir::run<int>* from = nullptr;
    const auto ask = [&](int i) -> task<int> {
        const auto got = co_await next_of(begin, from);
        co_return got ? *got : i;
    };
    auto inner = (weir::source({1, 2}) | weir::pipe(ask, {.name = "ask"}) | weir::sink()).start(pool);
    const auto from_inner = [&]() -> task<std::optional<int>> {
        auto item = co_await inner.next();
        co_return item;
    };
    auto outer = (weir::source(from_inner, {.name = "outer"}) | weir::sink(5)).start(pool);
    // The first one to wait for the inner run's items; the function that asks for them comes later.
    std::string text;
    {
        const joined waits([&] { static_cast<void>(outer.get()); });
        const auto is_awaited = [](const weir::channel_stats& c) {
            return c.get_blocked > weir::duration(0);
        };
        while (!is_awaited(outer.stats().channels.front()) || !is_awaited(outer.stats().channels.back()) ||
               !is_awaited(inner.stats().channels.back())) {
            std::this_thread::yield();
        }
        static_cast<void>(begin.try_put(&inner));
        text = told(dog.deadlock());
        inner.stop();
    }
    CHECK(text.find("channel 'ask | sink' is empty, 0 of 35: stage 'outer', slot 0 waits to get") !=
          std::string::npos);
    CHECK(text.find("channel 'outer | sink' is empty, 0 of 8: a thread waits to get") != std::string::npos);
}

// ---- what is none ---------------------------------------------------------------------------------

namespace {

// Two coroutines that wait for each other, unless something else is there.
struct circle {
    explicit circle(weir::executor& ex) : a(1, ex, "a"), b(1, ex, "b") {}
    ~circle() {
        a.close();
        b.close();
    }
    task<> wait(weir::executor& ex) {
        co_await weir::schedule(ex);
        co_await weir::when_all(pass_on(a, b), pass_on(b, a));
    }
    channel<int> a, b;
};

template <class Ends>
void wait_for(Ends done) {
    while (!done()) std::this_thread::yield();
}

// Whether somebody waits to get from it.
bool is_awaited(channel<int>& c) { return c.stats().get_blocked > weir::duration(0); }

}  // namespace

TEST_CASE("a slow consumer is no deadlock, also if all queues are full") {
    weir::thread_pool pool(1);
    patient dog({pool});
    auto run = (weir::source({1, 2, 3, 4, 5, 6, 7, 8, 9}) | weir::sink(1)).start(pool);
    std::atomic<bool> over = false;
    std::atomic<bool> begun = false;
    const joined consumer([&] {
        static_cast<void>(run.get());
        begun = true;
        wait_for([&] { return over.load(); });
    });
    wait_for([&] { return begun.load(); });
    wait_for([&] { return run.stats().channels.front().put_blocked > weir::duration(0); });
    CHECK(dog.sees_more() == 0);
    over = true;
}

TEST_CASE("a paused run is no deadlock, also if nobody is left to resume it") {
    weir::thread_pool pool(2);
    patient dog({pool});
    auto run = (weir::source({1, 2, 3}) | weir::pipe([](int i) { return i; }) | weir::sink()).start(pool);
    run.pause();
    {
        const joined consumer([&] {
            while (run.get()) {
            }
        });
        CHECK(dog.sees_more() == 0);
        run.resume();
    }
}

TEST_CASE("waits for a timer, for a function on a pool, or with a time limit are no deadlock") {
    weir::thread_pool pool(2);
    weir::blocking_pool io(1);
    patient dog({pool, io});
    circle both(pool);
    std::atomic<bool> over = false;
    std::atomic<bool> begun = false;

    SECTION("a sleep") {
        weir::stop_source wake;
        const auto sleep = [&]() -> task<> {
            begun = true;
            co_await weir::sleep_for(1h, wake.get_token());
        };
        const joined sleeper([&] { weir::sync_wait(pool, sleep()); });
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return begun && is_awaited(both.a) && is_awaited(both.b); });
        CHECK(dog.sees_more() == 0);
        wake.request_stop();
        CHECK(dog.deadlock().waits.size() == 2);
        both.a.close();
    }
    SECTION("a function that blocks where it may") {
        const auto block = [&]() -> task<> {
            begun = true;
            wait_for([&] { return over.load(); });
            co_return;
        };
        const joined blocks([&] { weir::sync_wait(io, block()); });
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return begun && is_awaited(both.a) && is_awaited(both.b); });
        CHECK(dog.sees_more() == 0);
        over = true;
        CHECK(dog.deadlock().waits.size() == 2);
        both.a.close();
    }
    SECTION("a thread with a limit") {
        channel<int> never(1, pool, "never");
        const joined polls([&] {
            while (never.blocking_get(1h).status() == weir::channel_status::timed_out) {
            }
        });
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return is_awaited(both.a) && is_awaited(both.b) && is_awaited(never); });
        CHECK(dog.sees_more() == 0);
        never.close();
        CHECK(dog.deadlock().waits.size() == 2);
        both.a.close();
    }
    SECTION("a thread that has used a channel, and does something else") {
        channel<int> used(1, pool, "used");
        const joined feeds([&] {
            used.blocking_put(1);
            wait_for([&] { return over.load(); });
        });
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return used.size() == 1 && is_awaited(both.a) && is_awaited(both.b); });
        CHECK(dog.sees_more() == 0);
        over = true;
        CHECK(dog.deadlock().waits.size() == 2);  // it has ended
        both.a.close();
    }
    SECTION("what was promised") {
        std::optional<weir::external_wait> promise(std::in_place);
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return is_awaited(both.a) && is_awaited(both.b); });
        CHECK(dog.sees_more() == 0);
        promise.reset();
        CHECK(dog.deadlock().waits.size() == 2);
        both.a.close();
    }
    SECTION("an executor that the dog was not given") {
        weir::sync_wait(io, weir::schedule(io));  // its thread has begun, and is known
        patient half({pool});
        const joined waits([&] { weir::sync_wait(pool, both.wait(pool)); });
        wait_for([&] { return is_awaited(both.a) && is_awaited(both.b); });
        CHECK(half.sees_more() == 0);
        CHECK(dog.deadlock().waits.size() == 2);
        both.a.close();
    }
    SECTION("a function that awaits what is not the library's") {
        struct foreign {
            std::atomic<void*>* waiter;
            explicit foreign(std::atomic<void*>& w) noexcept : waiter(&w) {}
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> h) const noexcept { waiter->store(h.address()); }
            void await_resume() const noexcept {}
        };
        std::atomic<void*> waiter = nullptr;
        const auto ask = [&](int i) -> task<int> {
            foreign answer(waiter);
            co_await answer;
            co_return i;
        };
        auto run = (weir::source({1}) | weir::pipe(ask) | weir::sink()).start(pool);
        const joined consumer([&] {
            while (run.get()) {
            }
        });
        wait_for([&] { return waiter.load() != nullptr; });
        CHECK(dog.sees_more() == 0);
        pool.post(std::coroutine_handle<>::from_address(waiter.load()));
    }
}

// ---- why it looks twice ---------------------------------------------------------------------------

namespace {

// Somebody waits here: the same wait again and again, or another one each time that somebody looks.
class fake_place final : public weir::detail::wait_site {
  public:
    explicit fake_place(const weir::detail::slot* who = nullptr) : who_(who) {
        weir::detail::the_registry->add(*this);
    }
    ~fake_place() { leave_registry(); }

    const char* contradiction() const noexcept override { return nullptr; }
    void inspect(weir::detail::site_seen& seen) const override {
        seen.site = this;
        weir::detail::wait_seen w;
        w.number = moves ? ++number_ : number_;
        w.who = who_;
        seen.waiting = {w};
    }
    bool moves = false;

  private:
    const weir::detail::slot* who_;
    mutable std::uint64_t number_ = 1;
};

// Two stages of which each takes what the other one gives.
class fake_run final : public weir::detail::watched_run {
  public:
    fake_run() { weir::detail::the_registry->add(*this); }
    ~fake_run() { leave_registry(); }

    void inspect(weir::detail::run_seen& seen, bool) const override {
        seen.stages = {{{&second}, {&first}, {{&one}}}, {{&first}, {&second}, {{&other}}}};
        seen.last = &second;
    }
    weir::pipeline_stats stats() const override { return {}; }

    weir::virtual_time time;
    const std::string name = "s";
    weir::detail::slot one{name, 0, time}, other{name, 1, time};
    fake_place first{&other}, second{&one};
};

// Does nothing whenever it is asked, but something between two looks.
class fake_executor final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    void inspect(weir::detail::executor_view& view) const override {
        view.pending = false;
        view.resumed = moves ? calls_++ / 2 : 0;  // a look asks twice
    }
    bool moves = false;

  private:
    mutable std::uint64_t calls_ = 0;
};

}  // namespace

TEST_CASE("a circle is reported if the previous inspection saw it, and no part has moved since") {
    fake_executor ex;
    patient dog({ex});
    fake_run run;
    run.first.moves = true;
    CHECK(dog.sees_more(10) == 0);
    run.first.moves = false;
    CHECK(dog.sees_more(1) == 1);
    CHECK(dog.sees_more(10) == 0);
    CHECK(dog.deadlocks[0].waits.size() == 2);
}

TEST_CASE("a wait is reported only if nothing has run since the previous inspection") {
    fake_executor ex;
    patient dog({ex});
    fake_place place;
    ex.moves = true;
    CHECK(dog.sees_more(10) == 0);
    ex.moves = false;
    CHECK(dog.sees_more(1) == 0);
    CHECK(dog.sees_more(1) == 1);
}

namespace {

// One worker, again and again held for a while: then a watchdog asks what each slot does.
class held_executor final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    void inspect(weir::detail::executor_view& view) const override {
        view.busy = 1;
        view.crowded = true;
        view.workers = {{true, calls_++ / 4}};
    }

  private:
    mutable std::uint64_t calls_ = 0;
};

}  // namespace

// The thread sanitizer judges.
TEST_CASE("runs are started and destroyed while another thread looks at the states of their slots") {
    held_executor ex;
    weir::watchdog_options options;
    options.period = 0ms;
    options.blocked_after = 1ms;
    std::atomic<int> stalls = 0;
    options.on_stall = [&](const weir::stall_report&) { ++stalls; };
    weir::watchdog dog(ex, options);
    std::atomic<bool> over = false;
    const joined looker([&] {
        for (weir::time_point now{}; !over || stalls < 3; now += 1ms) static_cast<void>(dog.inspect(now));
    });
    weir::thread_pool pool(1);
    for (int i = 0; i < 100; ++i) {
        auto run = (weir::source(std::views::iota(0, 3)) |
                    weir::pipe([](int n) { return n + 1; }, {.concurrency = 300}) | weir::sink(2))
                       .start(pool);
        if (i % 2 == 0) CHECK(run.get() == 1);
    }
    over = true;
}

// ---- workers that are held ------------------------------------------------------------------------

TEST_CASE("a function that holds a worker while coroutines wait is named once") {
    weir::thread_pool pool(1);
    patient dog({pool});
    std::atomic<int> begun = 0;
    std::atomic<int> allowed = 0;
    const auto block = [&](int i) {
        ++begun;
        wait_for([&] { return allowed.load() >= i; });
        return i;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(block, {.name = "block"}) | weir::sink()).start(pool);
    wait_for([&] { return begun.load() == 1; });
    // Alone it disturbs nobody: the pool's coroutines wait for it.
    const joined other([&] {
        const auto nothing = []() -> task<> { co_return; };
        weir::sync_wait(pool, nothing());
    });
    while (dog.stalls.empty()) {
        dog.inspect();
        std::this_thread::yield();
    }
    CHECK(dog.stalls[0].workers == 1);
    CHECK(dog.stalls[0].of == 1);
    CHECK(dog.stalls[0].held >= 100ms);
    CHECK(dog.stalls[0].functions == std::vector<std::string>{"stage 'block', slot 0"});
    CHECK(dog.stalls[0].text().find(
              " ms, while coroutines wait to run; these functions run: stage 'block', slot "
              "0. What blocks belongs on a weir::blocking_pool: .executor = &io") != std::string::npos);
    for (int i = 0; i < 100; ++i) dog.inspect();
    CHECK(dog.stalls.size() == 1);
    allowed = 2;
    while (run.get()) {
    }
}

TEST_CASE("a function that holds a worker is named if coroutines wait in two inspections, not in one") {
    weir::thread_pool pool(1);
    patient dog({pool});
    std::atomic<bool> begun = false, over = false;
    const auto block = [&]() -> task<> {
        begun = true;
        wait_for([&] { return over.load(); });
        co_return;
    };
    const auto nothing = []() -> task<> { co_return; };
    const joined blocks([&] { weir::sync_wait(pool, block()); });
    wait_for([&] { return begun.load(); });
    for (int i = 0; i < 20; ++i) CHECK(dog.inspect() == 0);  // of 20 ms each
    const joined other([&] { weir::sync_wait(pool, nothing()); });
    wait_for([&] {
        weir::detail::executor_view seen;
        pool.inspect(seen);
        return seen.crowded;
    });
    CHECK(dog.inspect() == 0);
    CHECK(dog.inspect() == 1);
    over = true;
}

TEST_CASE("a worker that goes on, and one that keeps nobody waiting, are not reported") {
    weir::thread_pool pool(1);
    patient dog({pool});
    SECTION("it resumes coroutines") {
        const busy other(pool);
        for (int i = 0; i < 20; ++i) {
            other.wait_for_turn();
            CHECK(dog.inspect() == 0);
        }
    }
    SECTION("nobody waits") {
        std::atomic<bool> over = false;
        const auto block = [&]() -> task<> {
            wait_for([&] { return over.load(); });
            co_return;
        };
        const joined blocks([&] { weir::sync_wait(pool, block()); });
        for (int i = 0; i < 1000; ++i) {
            CHECK(dog.inspect() == 0);
            std::this_thread::yield();
        }
        over = true;
    }
}

// ---- the thread -----------------------------------------------------------------------------------

TEST_CASE("a watchdog with a thread reports by itself") {
    weir::thread_pool pool(2);
    std::atomic<int> told = 0;
    channel<int> never(1, pool, "never");
    const watchdog dog(pool, {.period = 1ms, .on_deadlock = [&](const deadlock_report& r) {
                                  told += static_cast<int>(r.waits.size());
                                  never.close();
                              }});
    weir::sync_wait(pool, take_all(never));  // ends as the callback closes the channel
    CHECK(told == 1);
}

TEST_CASE("invalid options of a watchdog are refused") {
    weir::thread_pool pool(1);
    CHECK_THROWS_AS(watchdog(pool, {.period = -1ms}), std::invalid_argument);
    CHECK_THROWS_AS(watchdog(pool, {.blocked_after = 0ms}), std::invalid_argument);
}

namespace {

stuck_wait wait_of(std::string who, std::string stage = {}) {
    stuck_wait w;
    w.who = std::move(who);
    w.stage = std::move(stage);
    w.what = "for rain";
    return w;
}

stuck_wait at_channel(std::string at, const char* what, std::string stage, std::size_t slot) {
    stuck_wait w = wait_of("stage '" + stage + "', slot " + std::to_string(slot), stage);
    w.at = std::move(at);
    w.what = what;
    return w;
}

}  // namespace

TEST_CASE("a deadlock report has a line for each waiter that says who could end the wait") {
    deadlock_report r;
    r.partial = true;
    for (const char* who : {"a", "b", "c", "d", "e"}) r.waits.push_back(wait_of(who));
    r.waits[0].needs = {1};
    r.waits[1].needs = {0, 2};
    r.waits[2].needs = {0, 1, 3, 4};
    r.waits[3].by_anyone = true;
    CHECK(r.text() ==
          "weir: deadlock: these waits can't end any more, though others go on:"
          "\n  a waits for rain; that needs b, which waits itself"
          "\n  b waits for rain; that needs a or c, which wait themselves"
          "\n  c waits for rain; that needs a or b or d or 1 more, which wait themselves"
          "\n  d waits for rain; nobody is left who could end that"
          "\n  e waits for rain; those who could end that have ended");
}

TEST_CASE("slots of one stage that wait for the same thing are one line with their number") {
    deadlock_report r;
    for (std::size_t i = 0; i < 16; ++i) {
        r.waits.push_back(at_channel("channel 'again' is full, 64 of 64", "to put", "twice", i));
        r.waits.back().where = "loader.cpp:42";
        r.waits.back().by_anyone = true;
    }
    r.waits.push_back(at_channel("channel 'next' is empty, 0 of 2", "to get", "twice", 16));
    r.waits.back().by_anyone = true;
    for (std::size_t i = 0; i < 2; ++i) {
        r.waits.push_back(at_channel("channel 'next' is full, 2 of 2", "to put", "next", i));
        r.waits.back().needs = {0, 1, 15};  // three slots of one stage are one stage
    }
    CHECK(
        r.text() ==
        "weir: deadlock: these waits can't end any more:"
        "\n  channel 'again' is full, 64 of 64: 16 slots of stage 'twice' (loader.cpp:42) wait to put; "
        "nobody is left to get"
        "\n  channel 'next' is empty, 0 of 2: stage 'twice', slot 16 waits to get; nobody is left to put"
        "\n  channel 'next' is full, 2 of 2: 2 slots of stage 'next' wait to put; that needs stage 'twice', "
        "which waits itself");
}

TEST_CASE("names of stages and channels can't move the cursor of a terminal, nor begin a line of a report") {
    deadlock_report r;
    r.waits.push_back(at_channel("channel 'a\n\x1b[2J' is full, 2 of 2", "to put", "b\n\x1b[2J", 0));
    r.waits[0].needs = {0};
    CHECK(r.text() ==
          "weir: deadlock: this wait can't end any more:"
          "\n  channel 'a??[2J' is full, 2 of 2: stage 'b??[2J', slot 0 waits to put; that needs stage "
          "'b??[2J', which waits itself");
    weir::stall_report s;
    s.functions = {"stage 'b\n\x1b[2J', slot 0"};
    CHECK(s.text().find("; these functions run: stage 'b??[2J', slot 0. ") != std::string::npos);
}

TEST_CASE("a long deadlock report prints only its first lines") {
    deadlock_report r;
    const auto add = [&r] { r.waits.push_back(wait_of("waiter " + std::to_string(r.waits.size()))); };
    while (r.waits.size() < deadlock_report::max_lines) add();
    CHECK(r.text().find("\n  and") == std::string::npos);
    add();
    add();
    const std::string text = r.text();
    CHECK(text.find("\n  waiter 50") == std::string::npos);
    CHECK(text.substr(text.rfind('\n')) == "\n  and 2 more");
}

TEST_CASE("a report of one wait uses the singular") {
    deadlock_report r;
    r.waits.push_back(wait_of("a"));
    CHECK(r.text().find("weir: deadlock: this wait can't end any more:\n") == 0);
}

TEST_CASE("a stall says how many workers are held, for how long, and by what") {
    stall_report r;
    r.held = 120'900us;
    r.workers = 2;
    r.of = 4;
    CHECK(r.text() ==
          "weir: stall: 2 of a pool's 4 workers have been held for 120 ms, while coroutines wait to "
          "run. What blocks belongs on a weir::blocking_pool: .executor = &io");
    r.functions = {"stage 'x', slot 0", "stage 'y', slot 1"};
    CHECK(r.text().find(
              " wait to run; these functions run: stage 'x', slot 0; stage 'y', slot 1. What blocks") !=
          std::string::npos);
}
