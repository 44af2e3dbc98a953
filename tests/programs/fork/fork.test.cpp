// What happens in a process that is forked while pools and runs are at work: nothing hangs. A program of
// its own, as a fork in another one would copy what the other tests there have left.
#include <weir/executor/executor.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/tick_clock.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

// What a child that has done what it should ends with; a signal ends one that hangs.
constexpr int well = 0;
constexpr int wrong = 1;
constexpr int threw = 2;

// Runs a function that gives a bool in a child; true if it gave true. A child that doesn't end is killed
// after a minute, which is no promise, but an end for the test.
template <class Function>
bool holds_in_child(Function&& function) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        int code = wrong;
        try {
            if (function()) code = well;
        } catch (...) {
            code = threw;
        }
        _exit(code);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == well;
}

// Whether it throws the error that says so.
template <class Function>
bool is_refused(Function&& function) {
    try {
        function();
    } catch (const weir::forked_error& e) {
        return std::string(e.what()).find("exec, or make pools after the fork") != std::string::npos;
    }
    return false;
}

weir::task<int> answer() { co_return 42; }
weir::task<int> answer_after(weir::duration d) {
    co_await weir::sleep_for(d);
    co_return 42;
}

int next(int n) { return n + 1; }

auto endless() {
    return weir::source([n = 0]() mutable { return std::optional<int>(n++); }) |
           weir::pipe(next, {.name = "next", .concurrency = 3}) | weir::sink(3);
}

bool works(weir::executor& ex) {
    auto run =
        (weir::source(std::views::iota(0, 1000)) | weir::pipe(next, {.concurrency = 2}) | weir::sink(3))
            .start(ex);
    long sum = 0;
    for (const int n : run) sum += n;
    return sum == 500'500 && weir::sync_wait(ex, answer_after(1ms)) == 42;
}

// So that it has the clock of the executor.
weir::task<> is_full_and_empty(weir::channel<int>& c) {
    static_cast<void>(co_await c.put(1));
    static_cast<void>(co_await c.get());
}

weir::task<> move_to(weir::executor& ex) { co_await weir::schedule(ex); }

// Goes round and round through both pools.
weir::task<> stir(weir::executor& one, weir::executor& other, const std::atomic<bool>& over) {
    while (!over) {
        co_await weir::schedule(one);
        co_await weir::schedule(other);
    }
}

// A device, as a GPU, with an operation that never ends.
struct busy_device final : weir::detail::pollable {
    std::int64_t poll_for(const weir::executor&, std::int64_t now) noexcept override {
        ++polls;
        return now;
    }
    int polls = 0;
};

// A counter and a clock that the test moves, and that can be interrupted at a reading of the clock.
struct fake_ticks {
    static inline double time = 1e9;
    static inline double ahead = 0;  // of the counter
    static inline void (*interrupt)() = nullptr;

    static bool reliable() { return true; }
    static std::uint64_t ticks() { return static_cast<std::uint64_t>(2 * time + ahead); }
    static void rest() {}
    static std::int64_t steady() {
        time += 10;
        if (interrupt != nullptr) std::exchange(interrupt, nullptr)();
        return static_cast<std::int64_t>(time);
    }
};
weir::detail::basic_tick_clock<fake_ticks> fake_clock;
bool follows_in_child = false;

}  // namespace

TEST_CASE("a clock that another thread was setting when the process forked is set again in the child") {
    fake_clock.now();
    fake_ticks::time += 1e9;
    // As if this thread were the other one: it holds the clock's lock.
    fake_ticks::interrupt = [] {
        follows_in_child = holds_in_child([] {
            fake_clock.mend();
            for (int i = 0; i < 10'000; ++i) {
                fake_ticks::time += 1e6;
                fake_ticks::ahead += 2e3;  // a thousandth: 10 ms in the end
                static_cast<void>(fake_clock.now());
            }
            const double error = static_cast<double>(fake_clock.now()) - fake_ticks::time;
            return error > -1.5e6 && error < 1.5e6;
        });
    };
    static_cast<void>(fake_clock.now());
    CHECK(fake_ticks::interrupt == nullptr);
    CHECK(follows_in_child);
}

TEST_CASE(
    "a child makes coroutines, whatever other threads of the parent were doing with the memory of theirs") {
    std::atomic<int> begun{0};
    std::atomic<bool> over{false};
    const auto make_many = [] {
        std::vector<weir::task<int>> all;
        for (int i = 0; i < 300; ++i) all.push_back(answer());
    };
    const auto make_until_over = [&] {
        make_many();
        ++begun;
        while (!over) make_many();
    };
    std::thread one(make_until_over);
    std::thread other(make_until_over);
    while (begun != 2) std::this_thread::yield();
    std::vector<weir::task<int>> of_parent;
    for (int i = 0; i < 300; ++i) of_parent.push_back(answer());
    int well_ended = 0;
    for (int i = 0; i < 30; ++i) {
        well_ended += holds_in_child([&] {
            of_parent.clear();
            for (int k = 0; k < 10; ++k) make_many();
            weir::run_loop loop;
            return weir::sync_wait(loop, answer()) == 42;
        });
    }
    over = true;
    one.join();
    other.join();
    CHECK(well_ended == 30);
}

TEST_CASE("an event loop of before the fork does not poll the devices of the parent in the child") {
    weir::run_loop loop;
    const auto device = std::make_shared<busy_device>();
    REQUIRE(loop.polls(*device));
    CHECK(holds_in_child([&] {
        return weir::sync_wait(loop, answer_after(1ms)) == 42 && device->polls == 0 && !loop.polls(*device);
    }));
    CHECK(weir::sync_wait(loop, answer_after(1ms)) == 42);
    CHECK(device->polls > 0);
}

TEST_CASE("a pool of before the fork refuses to be waited for in the child, which makes pools of its own") {
    weir::thread_pool pool(2);
    weir::blocking_pool io(2);
    CHECK(works(pool));
    CHECK(holds_in_child([&] {
        return is_refused([&] { weir::sync_wait(pool, answer()); }) &&
               is_refused([&] { weir::sync_wait(io, answer()); }) &&
               is_refused([&] { auto run = endless().start(pool); });
    }));
    CHECK(holds_in_child([] {
        weir::thread_pool own(2);
        weir::blocking_pool own_io(1);
        return works(own) && works(own_io);
    }));
    CHECK(holds_in_child([&] {
        weir::virtual_time time;
        return works(time) && !is_refused([&] { weir::sync_wait(answer()); });
    }));
    CHECK(holds_in_child([&] {
        weir::thread_pool own(1);
        return is_refused([&] { weir::sync_wait(own, move_to(pool)); }) &&
               is_refused([&] { weir::sync_wait(own, move_to(io)); });
    }));
    CHECK(works(pool));
    CHECK(works(io));
}

TEST_CASE("a stage that asks for a pool of before the fork is refused in the child") {
    weir::blocking_pool io(1);
    CHECK(holds_in_child([&] {
        weir::thread_pool own(1);
        return is_refused([&] {
            auto run =
                (weir::source(std::views::iota(0, 3)) | weir::pipe(next, {.executor = &io}) | weir::sink())
                    .start(own);
        });
    }));
}

TEST_CASE(
    "a run whose pool is of before the fork is refused in the child, also if its stage needs no thread") {
    weir::thread_pool pool(1);
    weir::run_loop loop;
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(next, {.executor = &loop}) | weir::sink())
                   .start(pool);
    CHECK(holds_in_child([&] { return is_refused([&] { static_cast<void>(run.stats()); }); }));
    const auto take_all = [&run]() -> weir::task<int> {
        int sum = 0;
        while (const std::optional<int> n = co_await run.next()) sum += *n;
        co_return sum;
    };
    CHECK(weir::sync_wait(loop, take_all()) == 6);
}

TEST_CASE("pools and runs of before the fork are destroyed at once in the child, and go on in the parent") {
    auto pool = std::make_unique<weir::thread_pool>(2);
    auto io = std::make_unique<weir::blocking_pool>(2);
    std::atomic<bool> over = false;
    std::thread waiter([&] { weir::sync_wait(*pool, stir(*pool, *io, over)); });
    auto run = std::make_unique<decltype(endless().start(*pool))>(endless().start(*pool));
    weir::stop_source stop;
    auto other =
        std::make_unique<decltype(endless().start(*io))>(endless().start(*io, {.stop = stop.get_token()}));
    // The instant of a fork is any: of a lock that is held, too.
    int failed = 0;
    for (int i = 0; i < 200; ++i) {
        for (int k = 0; k <= i % 7; ++k) static_cast<void>(run->get());
        const bool held = holds_in_child([&] {
            bool right = is_refused([&] { static_cast<void>(run->get()); }) &&
                         is_refused([&] { static_cast<void>(run->get(1ms)); }) &&
                         is_refused([&] { static_cast<void>(run->stats()); }) &&
                         is_refused([&] { run->set_concurrency("next", 2); }) &&
                         is_refused([&] { run->set_capacity("next", 2); }) &&
                         is_refused([&] { run->pause(); }) &&
                         is_refused([&] { weir::sync_wait(*pool, answer()); });
            stop.request_stop();
            if (i % 2 == 0) run->stop();
            run.reset();
            other.reset();
            pool.reset();
            io.reset();
            weir::thread_pool own(2);
            return right && works(own);
        });
        if (!held) ++failed;
    }
    CHECK(failed == 0);
    CHECK(run->get());
    over = true;
    waiter.join();
}

TEST_CASE(
    "lanes into a pool of before the fork, and runs that use some, are destroyed at once in the child") {
    weir::thread_pool pool(2);
    auto lanes = std::make_unique<weir::priority_lanes>(pool);
    weir::executor& low = lanes->add();
    weir::executor& high = lanes->add();
    std::atomic<bool> over = false;
    std::thread waiter([&] { weir::sync_wait(pool, stir(low, high, over)); });
    auto run = std::make_unique<decltype(endless().start(pool))>(
        endless().start(pool, {.later_stages_first = true}));
    int failed = 0;
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(run->get());
        const bool held = holds_in_child([&] {
            const bool right = is_refused([&] { weir::sync_wait(low, answer()); });
            run.reset();
            lanes.reset();
            return right;
        });
        if (!held) ++failed;
    }
    CHECK(failed == 0);
    CHECK(run->get());
    over = true;
    waiter.join();
}

TEST_CASE("a thread of the child isn't left waiting at a channel that a pool of before the fork serves") {
    weir::thread_pool pool(2);
    weir::channel<int> items(1, pool);
    weir::stop_source stop;
    const auto fill = [](weir::channel<int>& out, weir::stop_token until) -> weir::task<> {
        bool taken = true;
        while (taken) taken = co_await out.put(1, until);
    };
    std::thread waiter([&] { weir::sync_wait(pool, fill(items, stop.get_token())); });
    int failed = 0;
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(items.blocking_get());
        const bool held = holds_in_child([&] {
            return is_refused([&] { static_cast<void>(items.blocking_get()); }) &&
                   is_refused([&] { static_cast<void>(items.blocking_put(1)); });
        });
        if (!held) ++failed;
    }
    CHECK(failed == 0);
    stop.request_stop();
    waiter.join();
}

TEST_CASE("nor is a coroutine of the child, there and for the tasks of such a pool") {
    weir::thread_pool pool(1);
    weir::channel<int> full(1, pool), empty(1, pool), found(1);
    weir::task_group group(pool);
    const auto serve = [](weir::channel<int>& in, weir::channel<int>& out) -> weir::task<> {
        static_cast<void>(co_await out.put(1));
        static_cast<void>(co_await out.put(2));  // waits
        static_cast<void>(co_await in.get());    // waits
    };
    const auto is_full = [](weir::channel<int>& c) -> weir::task<> {
        while (c.size() == 0) co_await weir::yield();
        co_await weir::yield();
    };
    const auto take_one = [](weir::channel<int>& in) -> weir::task<> {
        static_cast<void>(co_await in.get());
    };
    const auto join = [](weir::task_group& all) -> weir::task<> { co_await all.join(); };
    weir::sync_wait(pool, is_full_and_empty(found));
    group.spawn(serve(empty, full));
    weir::sync_wait(pool, is_full(full));
    CHECK(holds_in_child([&] {
        const auto refused = [&](weir::executor& ex) {
            return is_refused([&] { weir::sync_wait(ex, take_one(full)); }) &&
                   is_refused([&] { weir::sync_wait(ex, take_one(empty)); }) &&
                   is_refused([&] { weir::sync_wait(ex, take_one(found)); }) &&
                   is_refused([&] { weir::sync_wait(ex, join(group)); });
        };
        weir::thread_pool own(1);
        weir::run_loop loop;
        return refused(own) && refused(loop);
    }));
    static_cast<void>(full.blocking_get());
    static_cast<void>(full.blocking_get());
    empty.close();
    weir::sync_wait(pool, join(group));
}

namespace {

// Another thread, that holds something until this goes.
template <class Take>
class holder {
  public:
    explicit holder(Take take)
        : thread_([this, take] {
              const auto held = take();
              taken_ = true;
              while (!over_) std::this_thread::yield();
          }) {
        while (!taken_) std::this_thread::yield();
    }
    ~holder() {
        over_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> taken_ = false, over_ = false;
    std::thread thread_;
};

// A pool, a run on it and a watchdog that looks at both.
bool watches() {
    weir::thread_pool own(2);
    std::atomic<int> reports = 0;
    weir::watchdog_options silent;
    silent.on_deadlock = [&](const weir::deadlock_report&) { ++reports; };
    silent.on_stall = [&](const weir::stall_report&) { ++reports; };
    weir::watchdog dog(own, silent);
    auto run = endless().start(own);
    bool all = true;
    for (int i = 0; i < 20; ++i) {
        all = run.get() && all;
        static_cast<void>(dog.inspect());
    }
    run.stop();
    return all && works(own) && reports == 0;
}

}  // namespace

TEST_CASE("a child makes runs and watchdogs of its own, whatever the parent's threads had locked") {
    using weir::detail::registry;
    SECTION("all places and runs that there are") {
        const holder lock([] { return registry::reader(*weir::detail::the_registry); });
        CHECK(holds_in_child(watches));
    }
    SECTION("a queue that somebody has waited at") {
        weir::thread_pool pool(2);
        weir::channel<int> items(1, pool);
        using core = weir::channel<int>::core_type;
        static_cast<void>(items.blocking_get(1ns));  // it is known from now on
        const holder lock([&] { return core::whole_lock(weir::detail::base_of(items)); });
        CHECK(holds_in_child(watches));
    }
    SECTION("anything") {
        weir::thread_pool pool(2);
        weir::watchdog_options often;
        often.period = 1us;
        weir::watchdog dog(pool, often);
        auto run = endless().start(pool);
        std::atomic<bool> over = false;
        std::thread waiter([&] {
            while (!over) {
                works(pool);
                weir::sync_wait(pool, move_to(pool));
            }
        });
        int failed = 0;
        for (int i = 0; i < 40; ++i) {
            static_cast<void>(run.get());
            if (!holds_in_child(watches)) ++failed;
        }
        CHECK(failed == 0);
        over = true;
        waiter.join();
    }
}

TEST_CASE("a coroutine of the child isn't left at a channel that a thread of the parent had locked") {
    weir::thread_pool pool(1);
    weir::channel<int> items(2, pool);
    using core = weir::channel<int>::core_type;
    const auto take_one = [](weir::channel<int>& in) -> weir::task<> {
        static_cast<void>(co_await in.get());
    };
    const auto put_one = [](weir::channel<int>& out) -> weir::task<> {
        static_cast<void>(co_await out.put(1));
    };
    const holder lock([&] { return core::whole_lock(weir::detail::base_of(items)); });
    CHECK(holds_in_child([&] {
        weir::run_loop loop;
        return is_refused([&] { weir::sync_wait(loop, take_one(items)); }) &&
               is_refused([&] { weir::sync_wait(loop, put_one(items)); });
    }));
}

TEST_CASE("who waits for ever in a child is named there, where the parent's threads count for nothing") {
    weir::thread_pool pool(2);
    std::atomic<bool> over = false;
    std::thread waiter([&] { weir::sync_wait(pool, stir(pool, pool, over)); });
    std::atomic<bool> begun = false;
    std::thread sleeper([&] {
        static_cast<void>(weir::detail::basic_thread_record<weir::detail::standard_platform>::acquire());
        begun = true;
        while (!over) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    CHECK(holds_in_child([] {
        weir::thread_pool own(1);
        weir::watchdog_options told;
        std::atomic<int> reports = 0;
        told.on_deadlock = [&](const weir::deadlock_report&) { ++reports; };
        told.period = 0us;
        weir::watchdog dog(own, told);
        weir::channel<int> never(1, own);
        weir::task_group group(own);
        group.spawn([](weir::channel<int>& in) -> weir::task<> { co_await in.get(); }(never));
        while (reports == 0) dog.inspect();
        never.close();
        weir::sync_wait(own, [](weir::task_group& g) -> weir::task<> { co_await g.join(); }(group));
        return reports == 1;
    }));
    over = true;
    waiter.join();
    sleeper.join();
}

TEST_CASE("a watchdog of before the fork is destroyed at once in the child, and looks at nothing there") {
    weir::thread_pool pool(1);
    auto dog = std::make_unique<weir::watchdog>(pool);
    CHECK(holds_in_child([&] {
        const bool refused = is_refused([&] { dog->inspect(); });
        dog.reset();
        return refused;
    }));
    CHECK(dog->inspect() == 0);
}

TEST_CASE("pools can be made in a child's child, and by one fork after another") {
    CHECK(holds_in_child([] {
        weir::thread_pool first(2);
        return works(first) && holds_in_child([&] {
                   weir::thread_pool second(2);
                   return is_refused([&] { weir::sync_wait(first, answer()); }) && works(second);
               }) &&
               works(first);
    }));
}

TEST_CASE("a program can be started while pools are at work") {
    weir::thread_pool pool(2);
    auto run = endless().start(pool);
    int failed = 0;
    for (int i = 0; i < 20; ++i) {
        static_cast<void>(run.get());
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
            _exit(wrong);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) ++failed;
    }
    CHECK(failed == 0);
    CHECK(run.get());
}

TEST_CASE("a stage's function can fork, for a program or for something that is small") {
    weir::thread_pool pool(2);
    const auto start_program = [](int n) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
            _exit(wrong);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? n + WEXITSTATUS(status) : -1;
    };
    const auto ask_pool = [&pool](int n) {
        const bool refused =
            holds_in_child([&] { return is_refused([&] { weir::sync_wait(pool, answer()); }); });
        return refused ? n : -1;
    };
    auto run = (weir::source(std::views::iota(0, 20)) | weir::pipe(start_program, {.concurrency = 2}) |
                weir::pipe(ask_pool) | weir::sink(2))
                   .start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    CHECK(sum == 190 + 20 * 7);
}
