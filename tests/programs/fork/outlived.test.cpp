// What is destroyed where it can't be ends the program with a sentence: an executor before what uses it, a run
// in a stage of its own. Each in a child, as a program can only end once.
#include <weir/executor/executor.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"
#include "support/event_loop.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/parking.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <coroutine>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

// What a child wrote to stderr that ended by a call of `abort`; of one that ended by itself, "nothing".
template <class Function>
std::string last_words(Function&& function) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    std::string words;
    char part[256];
    for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) {
        words.append(part, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "nothing";
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? words : "another end: " + words;
}

std::string sentence(const std::string& what) {
    return "weir: an executor is destroyed before " + what + "; declare the executor first\n";
}

auto numbers() {
    return weir::source([n = 0]() mutable { return std::optional<int>(n++); }) |
           weir::pipe([](int n) { return n + 1; }) | weir::sink(2);
}

weir::task<> put_two(weir::channel<int>& c) {
    co_await c.put(1);
    co_await c.put(2);
}

detached sleep_on(weir::executor& ex) {
    co_await weir::schedule(ex);
    co_await weir::sleep_for(1h);
}

// Makes what uses an executor, destroys that, and says what it heard.
template <class Executor, class Use, class... Args>
std::string destroyed_before(Use&& use, Args... args) {
    return last_words([&] {
        std::optional<Executor> ex;
        ex.emplace(args...);
        use(*ex, [&] { ex.reset(); });
    });
}

// Everything that is counted, on one kind of executor.
template <class Executor, class... Args>
void check_all(Args... args) {
    const auto heard = [&](auto use) { return destroyed_before<Executor>(use, args...); };
    CHECK(heard([](weir::executor& ex, auto end) {
              auto run = numbers().start(ex);
              static_cast<void>(run.get());
              end();
          }) == sentence("a run that uses it"));
    CHECK(heard([](weir::executor& ex, auto end) {
              auto run = numbers().start(ex);
              run.stop();
              end();
          }) == sentence("a run that uses it"));
    CHECK(heard([](weir::executor& ex, auto end) {
              weir::task_group group(ex);
              end();
          }) == sentence("a task_group that starts tasks on it"));
    CHECK(heard([](weir::executor& ex, auto end) {
              weir::watchdog dog(ex, {.period = weir::duration(0)});
              end();
          }) == sentence("a watchdog that looks at it"));
    CHECK(heard([](weir::executor& ex, auto end) {
              weir::priority_lanes lanes(ex);
              end();
          }) == sentence("priority_lanes that lead to it"));
    CHECK(heard([](weir::executor& ex, auto end) {
              weir::channel<int> c(1, ex);
              end();
          }) == sentence("a channel that measures by its clock"));
    CHECK(heard([](weir::executor& ex, auto end) {
              {
                  auto run = numbers().start(ex);
                  static_cast<void>(run.get());
                  weir::task_group group(ex);
                  const weir::watchdog dog(ex);
                  weir::priority_lanes lanes(ex);
                  const weir::channel<int> c(1, ex);
              }
              end();
          }) == "nothing");
}

}  // namespace

TEST_CASE("an executor that is destroyed before what uses it ends the program, and says before what") {
    check_all<weir::thread_pool>(2U);
    check_all<weir::blocking_pool>(2U);
    check_all<weir::virtual_time>();
    check_all<event_loop>();
}

TEST_CASE("an executor on which only some stages of a run work has to outlive the run, too") {
    CHECK(last_words([] {
              weir::thread_pool pool(1);
              std::optional<weir::blocking_pool> files;
              files.emplace(2U);
              auto run = (weir::source([n = 0]() mutable { return std::optional<int>(n++); }) |
                          weir::pipe([](int n) { return n + 1; }, {.executor = &*files}) | weir::sink(2))
                             .start(pool);
              static_cast<void>(run.get());
              files.reset();
          }) == sentence("a run that uses it"));
}

TEST_CASE("a run that is destroyed in a stage of its own ends the program, and says so") {
    const std::string words = last_words([] {
        weir::virtual_time time;
        std::optional<weir::run<int>> run;
        const auto destroys = [&run](int n) {
            if (n == 2) run.reset();
            return n;
        };
        run.emplace(
            (weir::source({1, 2, 3}) | weir::pipe(destroys, {.name = "work"}) | weir::sink()).start(time));
        while (run->get()) {
        }
    });
    CHECK(words.find("weir: stage 'work' can't wait for the end of its own run") != std::string::npos);
}

TEST_CASE("a channel that was given no clock may be destroyed after the executor that it measured by") {
    const auto use = [](weir::executor& ex, auto end) {
        weir::channel<int> c(2);
        weir::sync_wait(ex, put_two(c));
        end();
    };
    CHECK(destroyed_before<weir::virtual_time>(use) == "nothing");
    CHECK(destroyed_before<weir::thread_pool>(use, 1U) == "nothing");
    CHECK(destroyed_before<weir::run_loop>(use) == "nothing");
}

TEST_CASE("a pool that is destroyed while a coroutine sleeps on it ends the program, and says so") {
    const auto use = [](weir::executor& ex, auto end) {
        sleep_on(ex);
        end();
    };
    CHECK(destroyed_before<weir::thread_pool>(use, 1U) == sentence("a coroutine that sleeps on it"));
    CHECK(destroyed_before<weir::blocking_pool>(use, 1U) == sentence("a coroutine that sleeps on it"));
}

TEST_CASE("in a forked process an executor of before may be destroyed before what used it") {
    std::optional<weir::thread_pool> pool;
    pool.emplace(1U);
    std::optional<weir::blocking_pool> io;
    io.emplace(1U);
    auto run = numbers().start(*pool);
    static_cast<void>(run.get());
    const weir::task_group group(*io);
    const weir::channel<int> c(1, *io);
    CHECK(last_words([&] {
              pool.reset();
              io.reset();
          }) == "nothing");
}

TEST_CASE("on virtual time what a deadlock has left may be left until the end") {
    struct body {
        static weir::task<> wait_for_ever(weir::executor& ex) {
            weir::channel<int> c(1, ex);
            static_cast<void>(co_await c.get());
        }
        static weir::task<> start(weir::executor& ex) {
            weir::task_group group(ex);
            group.spawn(wait_for_ever(ex));
            co_await group.join();
        }
    };
    CHECK(last_words([] {
              weir::virtual_time time;
              try {
                  weir::sync_wait(time, body::start(time));
              } catch (const weir::deadlock_error&) {
                  return;
              }
              _exit(1);
          }) == "nothing");
}

TEST_CASE("what ends while a pool's destructor runs what is left may use the pool until then") {
    struct leftover {
        static detached work(weir::executor& ex, int& sum) {
            co_await weir::schedule(ex);
            const weir::channel<int> c(1, ex);
            auto run = (weir::source(
                            [n = 0]() mutable { return n < 100 ? std::optional<int>(n++) : std::nullopt; }) |
                        weir::sink(2))
                           .start(ex);
            while (true) {
                const auto n = co_await run.next();
                if (!n) break;
                sum += *n;
            }
        }
    };
    int sum = 0;
    {
        weir::thread_pool pool(1);
        leftover::work(pool, sum);
    }
    CHECK(sum == 4950);
}
