#include <weir/task/sync_wait.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

using namespace std::chrono_literals;
using weir::sync_wait;
using weir::task;

namespace {

task<std::thread::id> where() { co_return std::this_thread::get_id(); }

task<weir::executor*> on_what() { co_return weir::detail::current_executor(); }

task<> fail() {
    throw std::runtime_error("failed");
    co_return;
}

task<> put(weir::channel<int>& c, int item) {
    const bool in = co_await c.put(std::move(item));
    if (!in) throw std::runtime_error("refused");
}

// Counts how often it is moved.
class moves {
  public:
    moves() noexcept = default;
    moves(moves&& other) noexcept : times_(other.times_ + 1) {}
    moves& operator=(moves&&) = delete;
    ~moves() = default;
    [[nodiscard]] int times() const noexcept { return times_; }

  private:
    int times_ = 0;
};

class only_copied {
  public:
    explicit only_copied(int n) noexcept : n_(n) {}
    only_copied(const only_copied&) = default;
    only_copied(only_copied&&) = delete;
    only_copied& operator=(const only_copied&) = delete;
    only_copied& operator=(only_copied&&) = delete;
    ~only_copied() = default;
    [[nodiscard]] int number() const noexcept { return n_; }

  private:
    int n_;
};

// Is awaited at once, and gives what `Make` makes.
template <class Make>
class gives {
  public:
    explicit gives(Make make) : make_(std::move(make)) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    decltype(auto) await_resume() { return make_(); }

  private:
    Make make_;
};

task<int> get(weir::channel<int>& c) {
    const std::optional<int> item = co_await c.get();
    co_return item.value_or(-1);
}

}  // namespace

TEST_CASE("sync_wait runs a task on this thread, or on an executor") {
    CHECK(sync_wait(where()) == std::this_thread::get_id());
    weir::thread_pool pool(1);
    CHECK(sync_wait(pool, where()) != std::this_thread::get_id());
    CHECK(sync_wait(pool, on_what()) == &pool);
    weir::virtual_time time;
    CHECK(sync_wait(time, on_what()) == &time);
    CHECK(sync_wait(time, where()) == std::this_thread::get_id());
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("sync_wait returns the result of the await, and throws its exception") {
    struct body {
        static task<int&> same(int& x) { co_return x; }
        static task<std::unique_ptr<int>> box(int n) { co_return std::make_unique<int>(n); }
    };
    int x = 0;
    CHECK(&sync_wait(body::same(x)) == &x);
    CHECK(*sync_wait(body::box(3)) == 3);
    CHECK_THROWS_AS(sync_wait(fail()), std::runtime_error);
    weir::thread_pool pool(1);
    CHECK(*sync_wait(pool, body::box(3)) == 3);
    CHECK_THROWS_AS(sync_wait(pool, fail()), std::runtime_error);
}

TEST_CASE("sync_wait moves a task's result as often as an await, and any other result once more") {
    struct body {
        static task<moves> make() {
            moves it;
            co_return std::move(it);
        }
        static task<int> await() {
            const moves it = co_await make();
            co_return it.times();
        }
    };
    CHECK(sync_wait(body::make()).times() == sync_wait(body::await()));
    CHECK(sync_wait(gives([] { return moves(); })).times() == 1);
    weir::thread_pool pool(1);
    CHECK(sync_wait(pool, body::make()).times() == sync_wait(pool, body::await()));
}

TEST_CASE("sync_wait returns results that can only be copied") {
    struct body {
        static task<only_copied> make() {
            const only_copied it(3);
            co_return it;
        }
        static task<int> await() {
            const only_copied it = co_await make();
            const auto both = co_await weir::when_all(make(), gives([] { return only_copied(4); }));
            co_return it.number() + std::get<0>(both).number() + std::get<1>(both).number();
        }
    };
    CHECK(sync_wait(body::make()).number() == 3);
    CHECK(sync_wait(gives([] { return only_copied(4); })).number() == 4);
    CHECK(sync_wait(body::await()) == 10);
}

TEST_CASE("sync_wait returns a value if an awaitable gives an rvalue reference to its member") {
    const auto made = [text = std::make_shared<std::string>("text")]() -> std::string&& {
        return std::move(*text);
    };
    static_assert(std::same_as<decltype(sync_wait(gives(made))), std::string>);
    CHECK(sync_wait(gives(made)) == "text");
    int x = 1;
    const auto shown = [&x]() -> int& { return x; };
    CHECK(&sync_wait(gives(shown)) == &x);
}

TEST_CASE("sync_wait takes any awaitable, as rvalue or lvalue") {
    weir::virtual_time time;
    CHECK(sync_wait(time, weir::sleep_for(2s)));
    CHECK(time.now() == weir::time_point(2s));
    task<std::thread::id> named = where();
    CHECK(sync_wait(std::move(named)) == std::this_thread::get_id());
    std::suspend_never nothing;
    sync_wait(nothing);
    // The coroutine ends on another thread than the one that waits.
    weir::thread_pool pool(1);
    for (int i = 0; i < 100; ++i) sync_wait(weir::schedule(pool));
}

TEST_CASE("sync_wait on a loop of its own runs all coroutines that are started there") {
    weir::channel<int> there(1), back(1);
    struct body {
        static task<int> echo(weir::channel<int>& in, weir::channel<int>& out, int rounds) {
            int sum = 0;
            for (int i = 0; i < rounds; ++i) {
                const int item = co_await get(in);
                sum += item;
                co_await put(out, item + 1);
            }
            co_return sum;
        }
        static task<int> drive(weir::channel<int>& out, weir::channel<int>& in, int rounds) {
            int item = 0;
            for (int i = 0; i < rounds; ++i) {
                co_await put(out, item + 0);
                item = co_await get(in);
            }
            co_return item;
        }
    };
    const auto [a, b] =
        sync_wait(weir::when_all(body::echo(there, back, 100), body::drive(there, back, 100)));
    CHECK(a == 99 * 100 / 2);
    CHECK(b == 100);
}

TEST_CASE("a channel serves one sync_wait after the other, and measures in the system's time") {
    struct body {
        static task<> put_from(weir::executor& ex, weir::channel<int>& to, int item) {
            co_await weir::schedule(ex);
            co_await put(to, item);
        }
    };
    weir::channel<int> c(2);
    sync_wait(put(c, 1));  // on a loop that is gone after this
    CHECK(sync_wait(get(c)) == 1);
    weir::thread_pool pool(1);
    CHECK(std::get<0>(sync_wait(weir::when_all(get(c), body::put_from(pool, c, 2)))) == 2);
    CHECK(c.blocking_get(1ns).status() == weir::channel_status::timed_out);
    const weir::channel_stats s = c.stats();
    CHECK(s.num_put == 2);
    CHECK(s.num_get == 2);
    CHECK(s.elapsed >= s.get_blocked);
    CHECK(s.empty >= s.get_blocked);
    CHECK(s.get_waits.count() == 2);
    CHECK(s.get_blocked > weir::duration(0));
}

TEST_CASE("sync_wait inside of a coroutine runs the executor of that coroutine meanwhile") {
    struct body {
        static task<int> inside(weir::executor& ex, int levels) {
            int below = 0;
            co_await weir::sleep_for(1s);
            if (levels > 0) below = sync_wait(ex, inside(ex, levels - 1));
            co_return below + 1;
        }
        static task<> tick(weir::channel<int>& c) {
            for (int i = 0; i < 10; ++i) co_await put(c, i + 0);
            c.close();
        }
        static task<int> count(weir::channel<int>& c) {
            int n = 0;
            for (;;) {
                const int item = sync_wait(get(c));  // blocks; who puts runs on the loop around it
                if (item < 0) break;
                ++n;
            }
            co_return n;
        }
    };
    weir::virtual_time time;
    CHECK(sync_wait(time, body::inside(time, 5)) == 6);
    CHECK(time.now() == weir::time_point(6s));
    weir::channel<int> c(1);
    const auto [n, nothing] = sync_wait(time, weir::when_all(body::count(c), body::tick(c)));
    static_cast<void>(nothing);
    CHECK(n == 10);
}

TEST_CASE("sync_wait on a worker of a pool needs no second worker, whatever it waits for") {
    struct body {
        static task<int> give(int n) { co_return n + 0; }
        static task<int> on_this() { co_return sync_wait(give(1)); }
        static task<int> on_time() {
            weir::virtual_time time;
            sync_wait(time, weir::sleep_for(std::chrono::hours(1)));
            co_return sync_wait(time, give(2));
        }
        static task<int> on_a_loop() {
            weir::run_loop loop;
            co_return sync_wait(loop, give(3));
        }
        static task<int> on_another(weir::executor& ex) { co_return sync_wait(ex, give(4)); }
        static task<int> here_again(weir::executor& ex) { co_return sync_wait(ex, give(5)); }
        static task<int> back_here(weir::executor& ex, weir::executor& other) {
            co_return sync_wait(other, here_again(ex));
        }
    };
    weir::thread_pool pool(1), other(1);
    CHECK(sync_wait(pool, body::on_this()) == 1);
    CHECK(sync_wait(pool, body::on_time()) == 2);
    CHECK(sync_wait(pool, body::on_a_loop()) == 3);
    CHECK(sync_wait(pool, body::on_another(other)) == 4);
    CHECK(sync_wait(pool, body::back_here(pool, other)) == 5);
}

TEST_CASE("sync_wait on virtual time throws if no coroutine can continue, and destroys them") {
    weir::virtual_time time;
    weir::channel<int> c(1, time, "numbers");
    const auto token = std::make_shared<int>(0);
    struct body {
        static task<> hold(weir::channel<int>& channel, std::shared_ptr<int>) {
            const int n = co_await get(channel);
            static_cast<void>(n);
        }
    };
    std::string message;
    try {
        sync_wait(time, weir::when_all(body::hold(c, token), body::hold(c, token)));
    } catch (const weir::deadlock_error& e) {
        message = e.what();
    }
    CHECK(message ==
          "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
          "\n  channel 'numbers' is empty, 0 of 1: 2 coroutines wait to get");
    CHECK(token.use_count() == 1);
    // Nobody waits any more: an item goes in, and to the next who comes.
    CHECK(c.try_put(5) == weir::channel_status::success);
    CHECK(c.size() == 1);
    CHECK(sync_wait(time, get(c)) == 5);
}

TEST_CASE("sync_wait in a coroutine of the same executor starts the awaitable at once, on this thread") {
    struct body {
        static task<> waits(weir::executor& ex, bool& same) {
            const auto here = std::this_thread::get_id();
            same = sync_wait(ex, where()) == here;
            co_return;
        }
    };
    weir::thread_pool pool(2);
    weir::blocking_pool io(2);
    weir::run_loop loop;
    weir::virtual_time time;
    for (weir::executor* const ex : {static_cast<weir::executor*>(&pool), static_cast<weir::executor*>(&io),
                                     static_cast<weir::executor*>(&loop)}) {
        bool same = false;
        sync_wait(*ex, body::waits(*ex, same));
        CHECK(same);
    }
    bool same = true;
    sync_wait(time, body::waits(time, same));  // there it is queued, and another thread comes to it
    CHECK_FALSE(same);
}
