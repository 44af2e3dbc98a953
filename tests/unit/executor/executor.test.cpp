#include <weir/executor/executor.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <chrono>
#include <coroutine>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
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
    bool drive(flag&, weir::time_point) override {
        ++drives;
        frame();
        return true;
    }
    void frame() {
        while (weir::timer* const t = timers_.pop_due(now())) post(t->waiter());
        for (auto n = ready_.size(); n > 0 && !ready_.empty(); --n) {
            const auto h = ready_.front();
            ready_.pop_front();
            resume(h);
        }
    }
    int drives = 0;

  private:
    weir::timer_queue timers_;
    std::deque<std::coroutine_handle<>> ready_;
};

// It doesn't say what a thread does that waits for it.
class without_drive : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
};
static_assert(std::is_abstract_v<without_drive>);

// It only says how it is.
class described final : public weir::executor {
  public:
    explicit described(const weir::executor_traits& traits) : executor(traits) {}
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
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

fire_and_forget wait_until(weir::executor& ex, weir::time_point when, weir::timer*& shown, int& result) {
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

TEST_CASE("a pointer to an executor of whatever kind owns it") {
    for (const bool threads : {false, true}) {
        std::unique_ptr<weir::executor> decided;
        if (threads) {
            decided = std::make_unique<weir::thread_pool>(1);
        } else {
            decided = std::make_unique<game_loop>();
        }
        CHECK(weir::sync_wait(*decided, []() -> weir::task<int> { co_return 3; }()) == 3);
    }
}

TEST_CASE("by default, an executor posts forked coroutines") {
    game_loop loop;
    std::vector<int> log;
    struct body {
        static fire_and_forget wait_then_log(std::coroutine_handle<>& self, std::vector<int>& to) {
            struct hand_out {
                std::coroutine_handle<>* where;
                bool await_ready() const noexcept { return false; }
                void await_suspend(std::coroutine_handle<> h) const noexcept { *where = h; }
                void await_resume() const noexcept {}
            } waiting{&self};
            co_await waiting;
            to.push_back(1);
        }
    };
    std::coroutine_handle<> h;
    body::wait_then_log(h, log);
    loop.fork(h);
    CHECK(log.empty());
    loop.frame();
    CHECK(log == std::vector<int>{1});
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

TEST_CASE("an executor with no opinion is shared, and goes by the system's clock") {
    const game_loop loop;
    CHECK_FALSE(loop.traits().exclusive);
    const weir::time_point a = loop.now();
    CHECK(loop.now() >= a);
}

namespace {

auto endless() {
    return weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }) | weir::sink(2);
}

weir::task<> give(weir::channel<int>& to, int items) {
    for (int i = 0; i < items; ++i) {
        const bool taken = co_await to.put(i);
        if (!taken) co_return;
    }
    to.close();
}

weir::task<int> sum_of(weir::channel<int>& from) {
    int sum = 0;
    while (const auto n = co_await from.get()) sum += *n;
    co_return sum;
}

weir::task<> add_up(weir::channel<int>& from, int& sum) { sum = co_await sum_of(from); }

// Blocks the loop's thread inside of a turn of it.
weir::task<int> blocks_inside(game_loop& loop) {
    auto run = endless().start(loop);
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += *run.get();
    co_return sum;  // and so does the end of the run
}

}  // namespace

TEST_CASE("a run on a loop of one's own is consumed, stopped and destroyed on the loop's own thread") {
    game_loop loop;
    {
        const auto never_begun = endless().start(loop);
    }
    {
        const auto under_way = endless().start(loop);
        for (int i = 0; i < 3; ++i) loop.frame();
    }
    {
        auto run = endless().start(loop);
        CHECK(run.get() == 0);
        CHECK(*run.get(std::chrono::hours(1)) == 1);
        for (const int n : run) {
            if (n == 7) break;
        }
        run.stop();
        CHECK_FALSE(run.get().has_value());
    }
    CHECK(loop.drives > 0);
}

TEST_CASE(
    "whatever blocks on the thread of a loop of one's own runs the loop meanwhile, also inside of a turn") {
    game_loop loop;
    CHECK(weir::sync_wait(loop, blocks_inside(loop)) == 0 + 1 + 2 + 3);
    {
        weir::channel<int> taken(1, loop);
        weir::task_group group(loop);
        group.spawn(give(taken, 3));
        CHECK(*taken.blocking_get() == 0);
        while (taken.blocking_get()) {
        }
    }
    int sum = 0;
    {
        weir::channel<int> given(1, loop);
        weir::task_group group(loop);
        group.spawn(add_up(given, sum));
        for (int i = 1; i <= 4; ++i) CHECK(given.blocking_put(int{i}) == weir::channel_status::success);
        given.close();
    }  // the end of the group blocks, too
    CHECK(sum == 1 + 2 + 3 + 4);
}

namespace {

// Resumes what was posted to it, all with one shift.
class shift_worker final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    void work() {
        shift here(*this);
        while (!ready_.empty()) {
            const auto h = ready_.front();
            ready_.pop_front();
            here.resume(h);
        }
    }
    void resume_now(std::coroutine_handle<> h) { resume(h); }
    bool idle() const noexcept { return ready_.empty(); }

  private:
    std::deque<std::coroutine_handle<>> ready_;
};

using seen = std::vector<weir::executor*>;

fire_and_forget note_executor(weir::executor& ex, seen& log, int times) {
    for (int i = 0; i < times; ++i) {
        co_await weir::schedule(ex);
        log.push_back(weir::detail::current_executor());
    }
}

// Works for another executor in the middle of its own work.
fire_and_forget work_for(weir::executor& home, shift_worker& other, seen& log) {
    co_await weir::schedule(home);
    log.push_back(weir::detail::current_executor());
    other.work();
    log.push_back(weir::detail::current_executor());
}

// Of another library: what it throws leaves the resumption, as far as whoever made the shift.
struct foreign {
    struct promise_type {
        foreign get_return_object() noexcept {
            return foreign(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { throw; }
    };
    explicit foreign(std::coroutine_handle<> h) noexcept : handle(h) {}
    foreign(const foreign&) = delete;
    foreign& operator=(const foreign&) = delete;
    ~foreign() { handle.destroy(); }
    std::coroutine_handle<> handle;
};

foreign throw_out(seen& log) {
    log.push_back(weir::detail::current_executor());
    throw std::runtime_error("out");
    co_return;
}

fire_and_forget catch_of(weir::executor& home, shift_worker& other, seen& log) {
    co_await weir::schedule(home);
    try {
        other.work();
    } catch (const std::runtime_error&) {
        log.push_back(weir::detail::current_executor());
    }
}

}  // namespace

TEST_CASE("one shift resumes many coroutines of the executor and restores the thread's previous executor") {
    shift_worker worker;
    seen log;
    note_executor(worker, log, 3);
    note_executor(worker, log, 2);
    CHECK(log.empty());
    worker.work();
    CHECK(log == seen(5, &worker));
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("shifts nest, also of one executor, and each gives the thread back to the one before") {
    shift_worker outer, inner;
    seen log;
    note_executor(inner, log, 2);
    SECTION("of two executors") {
        work_for(outer, inner, log);
        outer.work();
        CHECK(log == seen{&outer, &inner, &inner, &outer});
    }
    SECTION("of three") {
        shift_worker middle;
        work_for(middle, inner, log);
        work_for(outer, middle, log);
        outer.work();
        CHECK(log == seen{&outer, &middle, &inner, &inner, &middle, &outer});
    }
    SECTION("of the same") {
        work_for(inner, inner, log);
        inner.work();
        CHECK(log == seen(4, &inner));
    }
    CHECK(inner.idle());
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("an exception that leaves a coroutine gives the thread back, past any number of shifts") {
    shift_worker outer, inner;
    seen log;
    foreign first = throw_out(log), second = throw_out(log);
    SECTION("one that resumes many") {
        inner.post(first.handle);
        CHECK_THROWS_AS(inner.work(), std::runtime_error);
        CHECK(log == seen{&inner});
    }
    SECTION("one for a single coroutine") {
        CHECK_THROWS_AS(inner.resume_now(first.handle), std::runtime_error);
        CHECK(log == seen{&inner});
    }
    SECTION("an inner one, to the coroutine of the outer one") {
        inner.post(first.handle);
        catch_of(outer, inner, log);
        outer.work();
        CHECK(log == seen{&inner, &outer});
    }
    SECTION("two at a time") {
        struct body {
            static foreign work_for(shift_worker& other) {
                other.work();
                co_return;
            }
        };
        foreign middle = body::work_for(inner);
        inner.post(first.handle);
        outer.post(middle.handle);
        CHECK_THROWS_AS(outer.work(), std::runtime_error);
        CHECK(log == seen{&inner});
    }
    CHECK(weir::detail::current_executor() == nullptr);
    log.clear();
    inner.post(second.handle);
    CHECK_THROWS_AS(inner.work(), std::runtime_error);
    note_executor(inner, log, 1);
    inner.work();
    CHECK(log == seen{&inner, &inner});
    CHECK(weir::detail::current_executor() == nullptr);
}

TEST_CASE("an executor is what its traits say, as they stand a loop of one thread") {
    game_loop loop;
    CHECK(loop.traits().parallelism == 1);
    CHECK_FALSE(loop.traits().exclusive);
    CHECK_FALSE(loop.traits().passing);
    CHECK_FALSE(loop.traits().continues_with_forks);
    CHECK_FALSE(loop.orphaned());
    CHECK(&loop.lasting() == &loop);

    described lane({.parallelism = 3, .has_threads = true, .exclusive = true, .way_into = &loop});
    CHECK(lane.traits().parallelism == 3);
    CHECK(lane.traits().exclusive);
    CHECK_FALSE(lane.orphaned());  // nothing was forked
    CHECK(&lane.lasting() == &loop);
    CHECK_THROWS_WITH(described({.parallelism = 0}),
                      Catch::Matchers::ContainsSubstring("say how many coroutines it runs"));
}

namespace {

class silent_executor final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

}  // namespace

TEST_CASE("an executor that reports nothing counts as pending and not as crowded") {
    weir::detail::executor_view view;
    silent_executor().inspect(view);
    CHECK(view.pending);
    CHECK_FALSE(view.crowded);
    CHECK(view.busy == 0);
    CHECK(view.resumed == 0);
    CHECK(view.workers.empty());
    const weir::detail::worker_view idle;
    CHECK_FALSE(idle.runs);
    CHECK(idle.done == 0);
}

// A copy of an exception that throws ends the program.
static_assert(std::is_nothrow_copy_constructible_v<weir::deadlock_error>);

TEST_CASE("a deadlock_error is a std::runtime_error whose text names the waiters") {
    try {
        throw weir::deadlock_error("weir: deadlock: stage 'a', slot 0 waits");
    } catch (const std::runtime_error& e) {
        CHECK(std::string(e.what()) == "weir: deadlock: stage 'a', slot 0 waits");
    }
}

// A copy of an exception that throws ends the program.
static_assert(std::is_nothrow_copy_constructible_v<weir::forked_error>);

// When it is thrown: programs/fork/fork.test.cpp.
TEST_CASE("a forked_error says what is wrong and what to do") {
    try {
        throw weir::forked_error();
    } catch (const std::runtime_error& e) {
        CHECK(std::string(e.what()) ==
              "weir: this process was forked from one whose pool's threads it doesn't have; "
              "exec, or make pools after the fork");
    }
}
