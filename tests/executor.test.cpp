#include <weir/executor.hpp>

#include "support/catch.hpp"

#include <coroutine>
#include <deque>
#include <exception>
#include <optional>
#include <type_traits>
#include <vector>

static_assert(std::is_abstract_v<weir::executor>);
static_assert(!std::is_copy_constructible_v<weir::executor>);

namespace {

// An executor for the loop of a game: all that it takes.
class game_loop final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    void frame() {
        while (weir::timer* const t = timers_.pop_due(now())) post(t->waiter());
        for (auto n = ready_.size(); n > 0; --n) {
            const auto h = ready_.front();
            ready_.pop_front();
            resume(h);
        }
    }

  private:
    weir::timer_queue timers_;
    std::deque<std::coroutine_handle<>> ready_;
};

// Starts at once and cleans up after itself.
struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        weir::detail::coroutine_env& env() noexcept { return env_; }
        weir::detail::coroutine_env env_;
    };
};

// Gives the environment of the coroutine that awaits it.
class whose_env {
  public:
    whose_env() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        env_ = weir::detail::env_of(h);
        return false;
    }
    weir::detail::coroutine_env await_resume() const noexcept { return env_; }

  private:
    weir::detail::coroutine_env env_;
};

// Waits for a timer, and shows it to the test.
class timer_wait {
  public:
    timer_wait(weir::executor& ex, weir::time_point when, weir::timer*& shown) noexcept
        : executor_(&ex), when_(when), shown_(&shown) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        timer_.emplace(when_, h);
        *shown_ = &*timer_;
        executor_->add(*timer_);
    }
    bool await_resume() const noexcept { return !timer_->cancelled(); }

  private:
    weir::executor* executor_;
    weir::time_point when_;
    weir::timer** shown_;
    std::optional<weir::timer> timer_;
};

fire_and_forget visit(weir::executor& ex, std::vector<int>& log, int name, int times) {
    for (int i = 0; i < times; ++i) {
        log.push_back(name);
        co_await weir::schedule(ex);
    }
}

fire_and_forget look_around(weir::executor& ex, weir::detail::coroutine_env& before,
                            weir::detail::coroutine_env& after, weir::executor*& thread_works_for) {
    before = co_await whose_env();
    co_await weir::schedule(ex);
    after = co_await whose_env();
    thread_works_for = weir::detail::current_executor();
}

fire_and_forget wait_until(weir::executor& ex, weir::time_point when, weir::timer*& shown,
                           int& result) {
    const bool fired = co_await timer_wait(ex, when, shown);
    result = fired ? 1 : 2;
}

}  // namespace

TEST_CASE("a custom executor of twenty lines runs coroutines in turn, each once a post") {
    game_loop loop;
    std::vector<int> log;
    visit(loop, log, 1, 3);
    visit(loop, log, 2, 2);
    CHECK(log == std::vector<int>{1, 2});
    loop.frame();
    CHECK(log == std::vector<int>{1, 2, 1, 2});
    loop.frame();
    loop.frame();
    CHECK(log == std::vector<int>{1, 2, 1, 2, 1});
}

TEST_CASE("schedule moves a coroutine to the executor, and its home with it") {
    game_loop loop;
    weir::detail::coroutine_env before, after;
    weir::executor* thread_works_for = nullptr;
    look_around(loop, before, after, thread_works_for);
    CHECK(before.home == nullptr);
    CHECK(thread_works_for == nullptr);
    loop.frame();
    CHECK(after.home == &loop);
    CHECK(thread_works_for == &loop);
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("an executor inside another's coroutine gives the thread back to it") {
    struct run_inner {
        static fire_and_forget start(game_loop& outer, game_loop& inner, weir::executor*& seen) {
            co_await weir::schedule(outer);
            inner.frame();
            seen = weir::detail::current_executor();
        }
    };
    game_loop outer, inner;
    std::vector<int> log;
    visit(inner, log, 1, 2);
    weir::executor* seen = nullptr;
    run_inner::start(outer, inner, seen);
    outer.frame();
    CHECK(log == std::vector<int>{1, 1});
    CHECK(seen == &outer);
    inner.frame();
}

TEST_CASE("an executor's timer fires when it is due, or when it is cancelled, and not twice") {
    game_loop loop;
    weir::timer* t = nullptr;
    int result = 0;
    SECTION("due") {
        wait_until(loop, loop.now(), t, result);
        loop.frame();
        CHECK(result == 1);
    }
    SECTION("cancelled") {
        wait_until(loop, weir::time_point::max(), t, result);
        loop.frame();
        CHECK(result == 0);
        loop.cancel(*t);
        loop.cancel(*t);
        CHECK(result == 0);
        loop.frame();
        CHECK(result == 2);
    }
    loop.frame();
}

TEST_CASE("an executor with no opinion is shared, watches nothing, and needs no help") {
    game_loop loop;
    weir::detail::parker done;
    CHECK_FALSE(loop.drive(done, weir::time_point::max()));
    CHECK_FALSE(loop.exclusive());
    const weir::time_point a = loop.now();
    CHECK(loop.now() >= a);
}
