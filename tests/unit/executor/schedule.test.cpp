#include <weir/executor/schedule.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include "support/slow_world.hpp"

#include <coroutine>
#include <exception>

namespace {

using weir::detail::coroutine_env;
using weir::detail::current_executor;

// Starts at once and cleans up after itself.
struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        coroutine_env& env() noexcept { return env_; }
        coroutine_env env_;
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
    coroutine_env await_resume() const noexcept { return env_; }

  private:
    coroutine_env env_;
};

fire_and_forget look_around(weir::executor& ex, coroutine_env& before, coroutine_env& after,
                            weir::executor*& thread_works_for) {
    before = co_await whose_env();
    co_await weir::schedule(ex);
    after = co_await whose_env();
    thread_works_for = current_executor();
}

weir::task<weir::executor*> where_after(weir::executor& ex) {
    co_await weir::schedule(ex);
    co_return current_executor();
}

}  // namespace

TEST_CASE("schedule moves a coroutine to the executor, and its home with it") {
    slow_world loop;
    coroutine_env before, after;
    weir::executor* thread_works_for = nullptr;
    look_around(loop, before, after, thread_works_for);
    CHECK(before.executor == nullptr);
    CHECK(thread_works_for == nullptr);
    loop.run();
    CHECK(after.executor == &loop);
    CHECK(thread_works_for == &loop);
    CHECK(current_executor() == nullptr);
}

TEST_CASE("from what runs everything by itself nothing moves, but to another such executor") {
    weir::thread_pool pool(1);
    weir::virtual_time time;
    CHECK(weir::sync_wait(time, where_after(pool)) == &time);
    CHECK(weir::sync_wait(pool, where_after(pool)) == &pool);
}
