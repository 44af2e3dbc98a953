#include <weir/task/stop_on_signals.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/platform/parking.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

#include <atomic>
#include <concepts>
#include <csignal>
#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

using items::message_of;
using weir::stop_callback;
using weir::stop_on_signals;
using weir::stop_token;

static_assert(std::convertible_to<const stop_on_signals&, stop_token>);
static_assert(!std::is_copy_constructible_v<stop_on_signals> &&
              !std::is_move_constructible_v<stop_on_signals>);

namespace {

#if defined(_WIN32)
constexpr int one_signal = SIGINT;
constexpr int other_signal = SIGTERM;
const std::vector<int> no_signals{0, -1, 100'000, SIGSEGV, SIGABRT};
void send(int number) { std::raise(number); }
#else
constexpr int one_signal = SIGUSR1;
constexpr int other_signal = SIGUSR2;
const std::vector<int> no_signals{0, -1, 100'000, SIGKILL, SIGSTOP, SIGSEGV, SIGABRT};
void send(int number) { kill(getpid(), number); }
#endif

// Handles a signal as a program does that knows nothing of the library. The handler stays installed at the
// end: the default action would end the process if a signal of the test came late.
class own_handler {
  public:
    explicit own_handler(int number) {
        std::signal(number, &count);
        calls = 0;
    }

    inline static std::atomic<int> calls{0};

  private:
    // Windows takes the handler away before it calls it.
    static void count(int number) {
        std::signal(number, &count);
        ++calls;
    }
};

bool is_handled_by_the_program(int number) {
    const int before = own_handler::calls;
    raise(number);
    return own_handler::calls == before + 1;
}

// Waits until a stop was requested, and what hears of it has been told.
class told {
  public:
    explicit told(const stop_token& token) : callback_(token, [this] { done_.set(); }) {}
    void wait() { done_.wait(); }

  private:
    weir::detail::parker done_;
    stop_callback<std::function<void()>> callback_;
};

}  // namespace

TEST_CASE("a signal stops the run that has the token, whatever the run does") {
    const own_handler program(one_signal);
    const stop_on_signals interrupted({one_signal, other_signal});
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }) | weir::sink())
                   .start(pool, {.stop = interrupted});
    CHECK(run.get().has_value());
    CHECK_FALSE(interrupted.stop_requested());
    send(one_signal);
    static_cast<void>(items::take_all(run));
    CHECK(interrupted.stop_requested());
    CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
    CHECK(own_handler::calls == 0);
}

TEST_CASE("the first signal restores all handlers, so that the next signal is handled as before") {
    const own_handler first(one_signal);
    const own_handler second(other_signal);
    const stop_on_signals interrupted({one_signal, other_signal});
    told stop(interrupted);
    raise(one_signal);
    stop.wait();
    CHECK(own_handler::calls == 0);
    CHECK(is_handled_by_the_program(one_signal));
    CHECK(is_handled_by_the_program(other_signal));
}

TEST_CASE("an object that is destroyed before a signal comes restores the handlers") {
    const own_handler program(one_signal);
    {
        const stop_on_signals unused({one_signal});
    }
    CHECK(is_handled_by_the_program(one_signal));
    for (int round = 0; round < 3; ++round) {
        const stop_on_signals again({one_signal});
        told stop(again);
        raise(one_signal);
        stop.wait();
        CHECK(again.stop_requested());
    }
    CHECK(is_handled_by_the_program(one_signal));
}

TEST_CASE("a signal requests the stop of each object that names it, and of no other") {
    const own_handler first(one_signal);
    const own_handler second(other_signal);
    const stop_on_signals one({one_signal});
    std::optional<stop_on_signals> other(std::in_place, std::initializer_list<int>{one_signal, other_signal});
    const stop_on_signals later({other_signal});
    {
        const stop_on_signals gone({one_signal, other_signal});
    }
    told first_stop(one);
    told second_stop(*other);
    raise(one_signal);
    first_stop.wait();
    second_stop.wait();
    CHECK_FALSE(later.stop_requested());
    const stop_token outlives = *other;
    other.reset();
    CHECK(outlives.stop_requested());
    told third_stop(later);
    raise(other_signal);
    third_stop.wait();
    CHECK(is_handled_by_the_program(one_signal));
    CHECK(is_handled_by_the_program(other_signal));
}

TEST_CASE("many objects wait for one signal, and are destroyed in any order") {
    constexpr std::size_t n = 20'000;  // took minutes when each cost as much as all before it
    const own_handler program(one_signal);
    std::deque<stop_on_signals> all;
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(std::initializer_list<int>{one_signal});
    told first_stop(all.front());
    told last_stop(all.back());
    raise(one_signal);
    first_stop.wait();
    last_stop.wait();
    std::size_t told_of_it = 0;
    for (const stop_on_signals& each : all) told_of_it += each.stop_requested() ? 1U : 0U;
    CHECK(told_of_it == n);
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(std::initializer_list<int>{one_signal});
    while (!all.empty()) all.size() % 2 == 0 ? all.pop_front() : all.pop_back();
    CHECK(is_handled_by_the_program(one_signal));
}

TEST_CASE("a stop callback may destroy the stop_on_signals object, and make another") {
    const own_handler program(one_signal);
    std::optional<stop_on_signals> interrupted(std::in_place, std::initializer_list<int>{one_signal});
    weir::detail::parker done;
    const stop_token token = *interrupted;
    const stop_callback renew(token, [&] {
        interrupted.emplace(std::initializer_list<int>{one_signal});
        done.set();
    });
    raise(one_signal);
    done.wait();
    told stop(*interrupted);
    raise(one_signal);
    stop.wait();
    CHECK(is_handled_by_the_program(one_signal));
}

#if !defined(_WIN32)
TEST_CASE("a signal that all other threads have blocked requests a stop") {
    const own_handler program(other_signal);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, other_signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    {
        const stop_on_signals interrupted({other_signal});
        told stop(interrupted);
        send(other_signal);
        stop.wait();
        CHECK(interrupted.stop_requested());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
#endif

TEST_CASE("a signal that the program ignores stays ignored") {
    void (*const before)(int) = std::signal(one_signal, SIG_IGN);
    {
        const stop_on_signals interrupted({one_signal});
        raise(one_signal);
        CHECK_FALSE(interrupted.stop_requested());
    }
    CHECK(std::signal(one_signal, before) == SIG_IGN);
}

TEST_CASE("a handler that the program installs later is kept") {
    const own_handler program(one_signal);
    {
        const stop_on_signals interrupted({one_signal});
        std::signal(one_signal, SIG_IGN);
    }
    CHECK(std::signal(one_signal, SIG_DFL) == SIG_IGN);
}

TEST_CASE(
    "signals that can't request a stop are rejected with their number, and no handler stays installed") {
    const own_handler program(one_signal);
    for (const int wrong : no_signals) {
        const std::string what = message_of([wrong] { const stop_on_signals it({one_signal, wrong}); });
        CHECK(what.starts_with("weir: signal " + std::to_string(wrong) + " can't request a stop"));
        CHECK(is_handled_by_the_program(one_signal));
    }
    CHECK(
        message_of([] { const stop_on_signals none({}); }).starts_with("weir: stop_on_signals was given no"));
}

TEST_CASE("objects come and go on two threads while signals come") {
    const own_handler first(one_signal);
    const own_handler second(other_signal);
    const auto work = [] {
        for (int round = 0; round < 200; ++round) {
            const stop_on_signals interrupted({one_signal});
            told stop(interrupted);
            send(one_signal);
        }
    };
    std::thread other(work);
    work();
    other.join();
    {
        // The thread of the library has handled all signals before this one, also those that came behind
        // their object.
        const stop_on_signals last({other_signal});
        told stop(last);
        send(other_signal);
        stop.wait();
    }
    CHECK(is_handled_by_the_program(one_signal));
}
