// What happens when `std::exit` is called on top of a coroutine, or while one runs: the process ends with its
// status. Each case has a process of its own, whose static objects are destroyed then.
#include <weir/executor/thread_pool.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/parking.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/stages.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using weir::task;

namespace {

constexpr int status = 37;

// How a child ended, and what it said on stderr.
struct child_end {
    bool exited = false;
    int code = 0;  // the status, or the signal
    std::string said;
};

// A child that doesn't end is killed after a minute, which is no promise, but an end for the test.
template <class Function>
child_end end_of(Function function) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        dup2(ends[1], 2);
        static_cast<void>(std::freopen("/dev/null", "w", stdout));
        close(ends[0]);
        close(ends[1]);
        function();
        std::exit(1);  // it has not exited by itself
    }
    close(ends[1]);
    child_end end;
    char text[256];
    for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;)
        end.said.append(text, static_cast<std::size_t>(n));
    close(ends[0]);
    int how = 0;
    waitpid(child, &how, 0);
    end.exited = WIFEXITED(how);
    end.code = end.exited ? WEXITSTATUS(how) : WTERMSIG(how);
    return end;
}

// It ended with the status that it gave to exit, in silence.
void check_status(const child_end& end) {
    CHECK(end.exited);
    CHECK(end.code == status);
    CHECK(end.said == "");
}

// A function that ends the process with an item in the midst of the stream.
const auto fatal = [](int i) {
    if (i == 50) std::exit(status);
    return i;
};
auto fatal_pipeline(std::size_t slots) {
    return weir::source(std::views::iota(0, 1000)) | weir::pipe(fatal, {.concurrency = slots}) |
           weir::sink(3);
}
template <class Run>
void consume(Run& run) {
    for (int i : run) static_cast<void>(i);
}

}  // namespace

TEST_CASE("exit in a stage ends the process, where a static pool runs it, of one thread or more") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        for (const std::size_t slots : {1U, 2U, 8U}) {
            CAPTURE(workers, slots);
            check_status(end_of([&] {
                static weir::thread_pool pool(workers);
                auto run = fatal_pipeline(slots).start(pool);
                consume(run);
            }));
            check_status(end_of([&] {
                static weir::blocking_pool pool(workers);
                auto run = fatal_pipeline(slots).start(pool);
                consume(run);
            }));
        }
    }
}

TEST_CASE("exit in a stage ends the process, where the run is static, too") {
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        static auto run = fatal_pipeline(2).start(pool);
        consume(run);
    }));
    check_status(end_of([] {
        weir::thread_pool pool(2);
        static auto run = fatal_pipeline(2).start(pool);
        consume(run);
    }));
    check_status(end_of([] {
        static auto pool = std::make_unique<weir::thread_pool>(2);
        static auto run = std::make_unique<weir::run<int>>(fatal_pipeline(2).start(*pool));
        consume(*run);
    }));
    check_status(end_of([] {
        static weir::virtual_time clock;
        static auto run = fatal_pipeline(2).start(clock);
        consume(run);
    }));
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        static auto run =
            (weir::source(std::views::iota(0, 1000)) | weir::pipe(fatal) | weir::for_each([](int) {
             })).start(pool);
        run.wait();
    }));
}

TEST_CASE("exit in a stage ends the process, where the consumer runs the stage") {
    const auto exits_on = [](std::thread::id consumer, int at_most) {
        return weir::source(std::views::iota(0)) | weir::pipe([consumer, at_most](int i) {
                   const bool is_here = i > 1'000 && std::this_thread::get_id() == consumer;
                   if (is_here || i == at_most) std::exit(status);
                   return i;
               }) |
               weir::sink(3);
    };
    // A slow machine may never lend a place; then the end comes on the pool's thread.
    check_status(end_of([&] {
        static weir::thread_pool pool(1);
        auto run = exits_on(std::this_thread::get_id(), 1'000'000).start(pool);
        consume(run);
    }));
    check_status(end_of([&] {
        static weir::thread_pool pool(2);
        static auto run = exits_on(std::this_thread::get_id(), 1'000'000).start(pool);
        consume(run);
    }));
    check_status(end_of([&] {
        weir::thread_pool pool(2);
        static auto run =
            std::make_unique<weir::run<int>>(exits_on(std::this_thread::get_id(), 1'000'000).start(pool));
        consume(*run);
    }));
}

TEST_CASE("exit by the consumer ends the process, while a static pool still has the run") {
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int i) { return i; }) | weir::sink(3))
                       .start(pool);
        for (int i : run) {
            if (i == 50) std::exit(status);
        }
    }));
}

TEST_CASE("exit on a thread of the user's ends the process, while static pools still have runs") {
    const auto exits_beside = [](auto& pool) {
        auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int i) { return i; }) | weir::sink(3))
                       .start(pool);
        std::thread other([] { std::exit(status); });
        consume(run);
    };
    check_status(end_of([&] {
        static weir::thread_pool pool(2);
        exits_beside(pool);
    }));
    check_status(end_of([&] {
        static auto pool = std::make_unique<weir::blocking_pool>(2);
        exits_beside(*pool);
    }));
    check_status(end_of([&] {
        static weir::thread_pool first(1);
        weir::sync_wait(first, []() -> task<> { co_return; }());
        static weir::thread_pool pool(2);
        static weir::task_group group(pool);
        exits_beside(pool);
    }));
}

TEST_CASE("exit in a stage waits for no function that never comes back") {
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        static weir::detail::parker begun, never;
        const auto f = [](int i) {
            if (i == 0) {
                begun.set();
                never.wait();
            }
            while (!begun.is_set()) std::this_thread::yield();
            std::exit(status);
            return i;
        };
        auto run = (weir::source(std::views::iota(0, 2)) | weir::pipe(f, {.concurrency = 2}) | weir::sink(3))
                       .start(pool);
        consume(run);
    }));
}

TEST_CASE("exit in a task that a stage's thread waits for ends the process") {
    check_status(end_of([] {
        static weir::thread_pool pool(1);
        static const auto exits = []() -> task<int> {
            co_await weir::schedule(pool);
            std::exit(status);
            co_return 1;
        };
        auto run = (weir::source(std::views::iota(0, 2)) |
                    weir::pipe([](int) { return weir::sync_wait(pool, exits()); }) | weir::sink(3))
                       .start(pool);
        consume(run);
    }));
}

TEST_CASE("exit in a task of a static group, or in a lane, ends the process") {
    static const auto exits = []() -> task<> {
        std::exit(status);
        co_return;
    };
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        static weir::task_group group(pool);
        group.spawn(exits());
        weir::sync_wait(group.join());
    }));
    check_status(end_of([] {
        static weir::thread_pool pool(2);
        static weir::priority_lanes lanes(pool);
        weir::sync_wait(lanes.add(), exits());
    }));
}

TEST_CASE("a pool that a coroutine of it destroys says so, and ends the program") {
    const auto end = end_of([] {
        static auto pool = std::make_unique<weir::thread_pool>(2);
        static const auto destroys = []() -> task<> {
            pool.reset();
            co_return;
        };
        weir::sync_wait(*pool, destroys());
    });
    CHECK_FALSE(end.exited);
    CHECK(end.code == SIGABRT);
    CHECK(end.said.find("weir: a pool is destroyed by a coroutine that runs on it") == 0);
}
