#include <weir/task/when_all.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;
using weir::task;
using weir::when_all;

namespace {

const weir::time_point t0{};

template <class T>
task<T> give_after(weir::duration d, T value) {
    co_await weir::sleep_for(d);
    co_return std::move(value);
}

task<> wait(weir::duration d) { co_await weir::sleep_for(d); }

task<int> fail_after(weir::duration d, std::string message) {
    co_await weir::sleep_for(d);
    throw std::runtime_error(message);
}

task<int&> refer(int& x) { co_return x; }

// Gives what lives in itself, to be moved from: as the tasks of most libraries do.
class gives_of_its_own {
  public:
    explicit gives_of_its_own(const char* text) : text_(std::make_unique<std::string>(text)) {}
    class awaiter {
      public:
        explicit awaiter(std::string text) : text_(std::move(text)) {}
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        std::string&& await_resume() noexcept { return std::move(text_); }

      private:
        std::string text_;
    };
    awaiter operator co_await() && { return awaiter(*text_); }

  private:
    std::unique_ptr<std::string> text_;
};

class shows_its_own {
  public:
    shows_its_own() noexcept {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int& await_resume() noexcept { return n_; }

  private:
    int n_ = 7;
};

task<> note(std::vector<int>& log, int n) {
    log.push_back(n);
    co_return;
}

// What awaiting `a` throws.
template <class A>
task<std::string> message_of(A&& a) {
    std::string message = "nothing";
    try {
        static_cast<void>(co_await std::forward<A>(a));
    } catch (const std::exception& e) {
        message = e.what();
    }
    co_return message;
}

}  // namespace

TEST_CASE("when_all gives the results in the order of its arguments, whichever ends first") {
    weir::virtual_time time;
    auto [a, b, c] = weir::sync_wait(time, when_all(give_after<std::string>(3s, "a"), give_after(1s, 2),
                                                    give_after(2s, std::make_unique<int>(3))));
    CHECK(a == "a");
    CHECK(b == 2);
    CHECK(*c == 3);
    CHECK(time.now() == t0 + 3s);
}

TEST_CASE("in the results of when_all, void is a monostate, and a reference stays a reference") {
    weir::virtual_time time;
    int x = 1;
    auto results = weir::sync_wait(time, when_all(wait(1s), refer(x), give_after(1s, 2)));
    static_assert(std::same_as<decltype(results), std::tuple<std::monostate, int&, int>>);
    CHECK(&std::get<1>(results) == &x);
    CHECK(std::get<2>(results) == 2);
}

TEST_CASE("when_all gives a value if an awaitable gives an rvalue reference to its member") {
    weir::virtual_time time;
    auto both = weir::sync_wait(time, when_all(gives_of_its_own("one"), gives_of_its_own("two")));
    static_assert(std::same_as<decltype(both), std::tuple<std::string, std::string>>);
    CHECK(both == std::tuple<std::string, std::string>("one", "two"));

    std::vector<gives_of_its_own> several;
    several.emplace_back("three");
    several.emplace_back("four");
    const std::vector<std::string> texts = weir::sync_wait(time, when_all(std::move(several)));
    CHECK(texts == std::vector<std::string>{"three", "four"});
}

TEST_CASE("the reference that an lvalue awaitable gives is a result of when_all") {
    weir::virtual_time time;
    shows_its_own named;
    auto results = weir::sync_wait(time, when_all(named, give_after(1s, 2)));
    static_assert(std::same_as<decltype(results), std::tuple<int&, int>>);
    CHECK(&std::get<0>(results) == &named.await_resume());
}

TEST_CASE("when_all of a vector of tasks that give references gives references") {
    weir::virtual_time time;
    int x = 1, y = 2;
    std::vector<task<int&>> tasks;
    tasks.push_back(refer(x));
    tasks.push_back(refer(y));
    const auto refs = weir::sync_wait(time, when_all(std::move(tasks)));
    static_assert(std::same_as<decltype(refs), const std::vector<std::reference_wrapper<int>>>);
    int& first = refs[0];
    int& second = refs[1];
    CHECK(&first == &x);
    CHECK(&second == &y);
}

TEST_CASE("when_all of void results only, or without arguments, gives nothing") {
    weir::virtual_time time;
    static_assert(std::is_void_v<decltype(weir::sync_wait(time, when_all(wait(1s), wait(2s))))>);
    static_assert(std::is_void_v<decltype(weir::sync_wait(time, when_all()))>);
    weir::sync_wait(time, when_all(wait(1s), wait(2s)));
    CHECK(time.now() == t0 + 2s);
    weir::sync_wait(time, when_all());
    weir::sync_wait(time, when_all(std::vector<task<>>()));
    CHECK(weir::sync_wait(time, when_all(std::vector<task<int>>())).empty());
    CHECK(time.now() == t0 + 2s);
}

TEST_CASE("when_all of a vector gives a vector of the results in the same order") {
    weir::virtual_time time(3);
    std::vector<task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(give_after(weir::duration(1s) * (i * 37 % 100), i * 1));
    const std::vector<int> results = weir::sync_wait(time, when_all(std::move(tasks)));
    REQUIRE(results.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(results[static_cast<std::size_t>(i)] == i);
    CHECK(time.now() == t0 + 99s);

    std::vector<task<std::unique_ptr<int>>> boxes;
    boxes.push_back(give_after(2s, std::make_unique<int>(1)));
    boxes.push_back(give_after(1s, std::make_unique<int>(2)));
    const auto boxed = weir::sync_wait(time, when_all(std::move(boxes)));
    CHECK(*boxed[0] == 1);
    CHECK(*boxed[1] == 2);
}

TEST_CASE("when_all joins everything before it throws the first error in the order of its arguments") {
    weir::virtual_time time;
    SECTION("of arguments") {
        CHECK(weir::sync_wait(time, message_of(when_all(give_after(5s, 1), fail_after(2s, "second"),
                                                        fail_after(1s, "third"), wait(10s)))) == "second");
    }
    SECTION("of a vector") {
        std::vector<task<int>> tasks;
        tasks.push_back(give_after(10s, 1));
        tasks.push_back(fail_after(2s, "second"));
        tasks.push_back(fail_after(1s, "third"));
        CHECK(weir::sync_wait(time, message_of(when_all(std::move(tasks)))) == "second");
    }
    CHECK(time.now() == t0 + 10s);
}

TEST_CASE("when_all of a task that was moved from throws a logic_error, and starts no part") {
    bool begun = false;
    const auto begins = [&]() -> task<> {
        begun = true;
        co_return;
    };
    task<> from = begins();
    task<> to = std::move(from);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is what is asked
    CHECK_THROWS_AS(weir::sync_wait(weir::when_all(begins(), std::move(from))), std::logic_error);
    std::vector<task<>> parts(2);
    parts[0] = std::move(to);
    CHECK_THROWS_AS(weir::sync_wait(weir::when_all(std::move(parts))), std::logic_error);
    CHECK_FALSE(begun);
}

TEST_CASE("a second await of when_all throws a logic_error") {
    const auto nothing = []() -> task<> { co_return; };
    const auto refuses = [](auto& all) -> task<> {
        CHECK_NOTHROW(co_await all);
        CHECK_THROWS_AS(co_await all, std::logic_error);
    };
    weir::channel<int> queue(2);
    auto tasks = weir::when_all(nothing(), nothing());
    weir::sync_wait(refuses(tasks));
    auto others = weir::when_all(queue.put(1), nothing());
    weir::sync_wait(refuses(others));
    std::vector<task<>> several(2);
    for (task<>& each : several) each = nothing();
    auto parts = weir::when_all(std::move(several));
    weir::sync_wait(refuses(parts));
}

TEST_CASE("when_all starts its parts in order, and none of them before it is awaited") {
    std::vector<int> log;
    {
        const auto unawaited = when_all(note(log, 1), note(log, 2));
    }
    CHECK(log.empty());
    weir::virtual_time time;
    auto named = when_all(note(log, 1), note(log, 2), note(log, 3));
    weir::sync_wait(time, std::move(named));
    CHECK(log == std::vector<int>{1, 2, 3});
    std::vector<task<>> tasks;
    for (int i = 4; i < 7; ++i) tasks.push_back(note(log, i));
    weir::sync_wait(time, when_all(std::move(tasks)));
    CHECK(log == std::vector<int>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("when_all takes awaitables that can't be moved, and lvalues") {
    class answer {
      public:
        explicit answer(int n) noexcept : n_(n) {}
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        int await_resume() const noexcept { return n_; }

      private:
        int n_;
    };
    weir::virtual_time time;
    auto [a, b] = weir::sync_wait(time, when_all(weir::sleep_for(2s), weir::sleep_for(1s)));
    CHECK(a);
    CHECK(b);
    CHECK(time.now() == t0 + 2s);
    answer named(3);
    const answer constant(4);
    CHECK(weir::sync_wait(time, when_all(named, constant, answer(5))) == std::tuple(3, 4, 5));
    // Each of those within is one that can't be moved.
    const auto nested = weir::sync_wait(time, when_all(when_all(give_after(1s, 1), give_after(2s, 2)),
                                                       when_all(give_after(1s, 3))));
    CHECK(nested == std::tuple(std::tuple(1, 2), std::tuple(3)));
    CHECK(time.now() == t0 + 4s);
}

TEST_CASE("the parts of when_all run at the same time where there are several threads") {
    struct meeting {
        // Leaves when everybody has come.
        static task<int> attend(std::atomic<int>& present, int expected) {
            const int number = present.fetch_add(1);
            while (present.load() < expected) std::this_thread::yield();
            co_return number;
        }
    };
    weir::thread_pool pool(3);
    for (int i = 0; i < 20; ++i) {
        std::atomic<int> present{0};
        const auto [a, b, c] =
            weir::sync_wait(pool, when_all(meeting::attend(present, 3), meeting::attend(present, 3),
                                           meeting::attend(present, 3)));
        CHECK(a + b + c == 3);
        present = 0;
        std::vector<task<int>> tasks;
        for (int k = 0; k < 3; ++k) tasks.push_back(meeting::attend(present, 3));
        CHECK(weir::sync_wait(pool, when_all(std::move(tasks))).size() == 3);
    }
}

TEST_CASE("the coroutine that awaits when_all resumes on its own executor, wherever the parts ended") {
    struct body {
        static task<> leave_for(weir::executor& there) { co_await weir::schedule(there); }
        static task<bool> stay(weir::executor& here, weir::executor& there) {
            bool right = true;
            for (int i = 0; i < 100; ++i) {
                co_await when_all(leave_for(there), leave_for(there), leave_for(here));
                right = right && weir::detail::current_executor() == &here;
            }
            co_return right;
        }
    };
    weir::thread_pool here(1), there(2);
    CHECK(weir::sync_wait(here, body::stay(here, there)));
}

TEST_CASE("the parts of when_all in a coroutine without an executor run on a thread of the library") {
    struct foreign {
        struct promise_type {
            foreign get_return_object() const noexcept { return {}; }
            std::suspend_never initial_suspend() const noexcept { return {}; }
            std::suspend_never final_suspend() const noexcept { return {}; }
            void return_void() const noexcept {}
            void unhandled_exception() const noexcept { std::terminate(); }
        };
        static foreign await_it(std::vector<int>& log, weir::executor*& where, weir::detail::parker& done) {
            co_await when_all(note(log, 1), note(log, 2), weir::yield());
            where = weir::detail::current_executor();
            done.set();
        }
    };
    std::vector<int> log;
    weir::executor* where = nullptr;
    weir::detail::parker done;
    foreign::await_it(log, where, done);
    while (!done.wait()) {
    }
    CHECK(where == &weir::detail::foreign_run_loop::get());
    CHECK(log == std::vector<int>{1, 2});
}

TEST_CASE(
    "the slot of the awaiter is runnable from the end of the last part of when_all until the resumption") {
    // A tick passes before each resumption, which is when the slot's clock is read.
    class ticking final : public weir::executor {
      public:
        void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
        void add(weir::timer&) noexcept override {}
        void cancel(weir::timer&) noexcept override {}
        weir::time_point now() const noexcept override { return t0 + weir::duration(now_); }
        bool drive(flag&, weir::time_point) override { return false; }
        void run() {
            while (!ready_.empty()) {
                const std::coroutine_handle<> h = ready_.front();
                ready_.erase(ready_.begin());
                now_ += 10;
                resume(h);
            }
        }

      private:
        std::int64_t now_ = 0;
        std::vector<std::coroutine_handle<>> ready_;
    } ex;
    class nobody final : public weir::detail::detached_task_owner {
        void ended() noexcept override {}
    } owner;
    // Ends as no task does: its awaiter is posted.
    const auto both = []() -> task<> { co_await when_all(std::suspend_never(), std::suspend_never()); };
    const std::string name = "stage";
    weir::detail::slot slot(name, 0, ex);
    slot.begin(0, weir::detail::slot_state::run);
    auto t = both();
    auto detached_task = weir::detail::make_detached_task<void, task<>>(t);
    detached_task.start(ex, &slot, owner);
    ex.run();
    REQUIRE(detached_task.done());
    // Begins at 10; its parts end at 20 and 30; it goes on at 40.
    slot.lock();
    const std::int64_t runnable =
        slot.spent_until(40)[static_cast<std::size_t>(weir::detail::slot_state::runnable)];
    slot.unlock();
    CHECK(runnable == 10);
}

TEST_CASE("a when_all that can never end leaks nothing when it is destroyed") {
    struct counted {
        int& alive;
        explicit counted(int& a) noexcept : alive(++a) {}
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
        ~counted() { --alive; }
    };
    struct body {
        static task<> sleep_for_ever(int& alive) {
            const counted here(alive);
            co_await weir::sleep_for(weir::duration::max());
        }
    };
    int alive = 0;
    weir::virtual_time time;
    CHECK_THROWS_AS(weir::sync_wait(time, when_all(body::sleep_for_ever(alive), body::sleep_for_ever(alive))),
                    weir::deadlock_error);
    CHECK(alive == 0);
    weir::sync_wait(time, wait(1s));  // the executor isn't harmed
    CHECK(time.now() == t0 + 1s);
}
