#include <weir/executor/polled_source.hpp>

#include "support/catch.hpp"
#include "support/event_loop.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <thread>

using weir::task;
using weir::thread_pool;
using weir::detail::basic_pollables;
using weir::detail::pollable;
using weir::detail::polled_source;
using weir::detail::standard_platform;

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t never = pollable::never;

// Returns what it is told to, and counts.
class told final : public pollable {
  public:
    std::int64_t poll_for(const weir::executor&, std::int64_t) noexcept override {
        ++polls;
        return answer;
    }
    int polls = 0;
    std::int64_t answer = never;
};

// Is always due at the same instant.
class due_at_5000 final : public polled_source {
  public:
    std::int64_t poll(std::int64_t, bool) noexcept override {
        ++polls;
        return 5'000;
    }
    int polls = 0;
};

// The operation of one coroutine, which is done at the n-th poll.
class device final : public polled_source {
  public:
    explicit device(int done_at) : left_(done_at) {}

    std::int64_t poll(std::int64_t now, bool) noexcept override {
        if (!waiter_.load()) return never;
        if (left_.fetch_sub(1) > 1) return now;
        polled_by = std::this_thread::get_id();
        wakes = standard_platform::num_wakes();
        on_->post(std::coroutine_handle<>::from_address(waiter_.exchange(nullptr)));
        return never;
    }
    void finish() { left_ = 0; }
    bool is_awaited() const { return waiter_.load() != nullptr; }
    // Ends the loop of the guard.
    void end() {
        ending_ = true;
        wake();
    }
    void run() {
        guard([this](std::int64_t now) -> std::int64_t {
            return ending_ ? poll_here(now, [](std::int64_t) { return true; }) : never;
        });
    }

    auto done(weir::executor& on, bool tells = true) {
        struct awaiter {
            device& of;
            weir::executor& on;
            bool tells;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> h) const {
                of.on_ = &on;
                const std::shared_ptr<device> kept = std::static_pointer_cast<device>(of.shared_from_this());
                kept->waiter_ = h.address();
                kept->expect(tells ? &on : nullptr);
            }
            void await_resume() const noexcept {}
        };
        return awaiter{*this, on, tells};
    }

    std::thread::id polled_by;
    std::uint32_t wakes = 0;

  private:
    weir::executor* on_ = nullptr;
    std::atomic<void*> waiter_{nullptr};
    std::atomic<int> left_;
    std::atomic<bool> ending_{false};
};

// Whether the coroutine continued on the thread that found its operation done, and how many threads were woken
// in between.
struct way {
    bool same_thread = false;
    std::uint32_t wakes = 0;
};
task<way> wait_for(std::shared_ptr<device> of, weir::executor& on) {
    co_await of->done(on);
    way found;
    found.same_thread = of->polled_by == std::this_thread::get_id();
    found.wakes = standard_platform::num_wakes() - of->wakes;
    co_return found;
}

// A worker that is still on its way to sleep counts as active: another one watches then.
void until_idle(const thread_pool& pool) {
    weir::detail::executor_view view;
    do pool.inspect(view);
    while (view.busy != 0);
}

// With the thread of its own.
struct guarded {
    explicit guarded(int done_at) : source(std::make_shared<device>(done_at)) {}
    guarded(const guarded&) = delete;
    guarded& operator=(const guarded&) = delete;
    ~guarded() {
        source->end();
        thread.join();
    }
    std::shared_ptr<device> source;
    std::thread thread{[this] { source->run(); }};
};

}  // namespace

TEST_CASE("an idle worker polls, and resumes the coroutine on the spot: no other thread is woken") {
    const auto source = std::make_shared<device>(100);  // without a guard: nobody else can poll
    thread_pool pool(GENERATE(1U, 4U));
    for (int i = 0; i < 3; ++i) {
        until_idle(pool);
        const way found = weir::sync_wait(pool, wait_for(source, pool));
        CHECK(found.same_thread);
        CHECK(found.wakes == 0);
    }
}

TEST_CASE("an event loop with nothing to run polls, and resumes the coroutine on the spot") {
    const auto source = std::make_shared<device>(100);  // without a guard: nobody else can poll
    weir::run_loop loop;
    for (int i = 0; i < 3; ++i) {
        const way found = weir::sync_wait(loop, wait_for(source, loop));
        CHECK(found.same_thread);
        CHECK(found.wakes == 0);
    }
}

TEST_CASE("an event loop that sleeps polls a source that another thread adds") {
    const auto source = std::make_shared<device>(100);
    weir::run_loop loop;
    const auto here = std::this_thread::get_id();
    const auto waits = [&]() -> task<bool> {
        co_await source->done(loop, false);  // the loop does not know yet
        co_return source->polled_by == here;
    };
    std::thread other([&] {
        while (!source->is_awaited()) std::this_thread::yield();
        CHECK(loop.polls(*source));
    });
    CHECK(weir::sync_wait(loop, waits()));
    other.join();
}

TEST_CASE("what is posted to an event loop runs while a source asks to be polled again and again") {
    const auto source = std::make_shared<device>(1'000'000'000);
    weir::run_loop loop;
    const auto waits = [&]() -> task<> { co_await source->done(loop); };
    const auto ends = [&]() -> task<> {
        co_await weir::sleep_for(1ms);
        for (int i = 0; i < 10; ++i) co_await weir::schedule(loop);
        source->finish();
    };
    weir::sync_wait(loop, weir::when_all(waits(), ends()));
}

TEST_CASE("where the executor polls nothing, the source's own thread does") {
    guarded g(3);
    event_loop loop;
    const auto waits = [&]() -> task<bool> {
        co_await g.source->done(loop);
        co_return g.source->polled_by == g.thread.get_id();
    };
    CHECK(weir::sync_wait(loop, waits()));
}

TEST_CASE("where it is unknown who waits, the source's own thread polls") {
    guarded g(3);
    thread_pool pool(1);
    const auto waits = [&]() -> task<bool> {
        co_await g.source->done(pool, false);
        co_return g.source->polled_by == g.thread.get_id();
    };
    CHECK(weir::sync_wait(pool, waits()));
}

TEST_CASE("while all workers are busy the source's own thread polls") {
    guarded g(3);
    thread_pool busy(1);
    weir::run_loop loop;
    std::atomic<bool> done{false};
    // Its only worker waits until the other coroutine continues.
    const auto computes = [&]() -> task<> {
        co_await weir::schedule(busy);
        g.source->expect(&busy);
        while (!done) std::this_thread::yield();
    };
    std::thread other([&] { weir::sync_wait(busy, computes()); });
    const auto waits = [&]() -> task<> {
        co_await g.source->done(loop, false);
        done = true;
    };
    weir::sync_wait(loop, waits());
    other.join();
    CHECK(g.source->polled_by == g.thread.get_id());
}

TEST_CASE("what is posted runs while a source asks to be polled again and again") {
    const auto source = std::make_shared<device>(1'000'000'000);
    thread_pool pool(1);
    std::atomic<bool> ends{false};
    const auto waits = [&]() -> task<> { co_await source->done(pool); };
    std::thread other([&] {
        weir::sync_wait(pool, waits());
        ends = true;
    });
    const auto answers = []() -> task<int> { co_return 7; };
    for (int i = 0; i < 10; ++i) CHECK(weir::sync_wait(pool, answers()) == 7);
    CHECK_FALSE(ends);
    source->finish();
    other.join();
}

TEST_CASE("a pool polls eight sources at most; the place of a closed one is free again") {
    const thread_pool pool(1);
    basic_pollables<> all;
    std::array<std::shared_ptr<told>, 9> each;
    for (auto& one : each) one = std::make_shared<told>();
    CHECK(all.next() == never);
    for (std::size_t i = 0; i < 8; ++i) CHECK(all.add(*each[i]));
    CHECK_FALSE(all.add(*each[8]));
    CHECK(all.add(*each[7]));
    CHECK(all.next() < 0);
    each[3]->answer = pollable::closed;
    each[4]->answer = 500;
    each[5]->answer = 300;
    all.poll(pool, 100);
    CHECK(all.next() == 300);
    CHECK(each[3].use_count() == 1);
    CHECK(all.add(*each[8]));
    CHECK(each[8].use_count() == 2);
    CHECK(each[8]->polls == 0);
    all.poll(pool, 300);
    CHECK(each[3]->polls == 1);
    CHECK(each[4]->polls == 2);
    CHECK(each[8]->polls == 1);
}

TEST_CASE("sources that were closed at rest leave the list when another source finds it full") {
    const thread_pool pool(1);
    basic_pollables<> all;
    std::array<std::shared_ptr<told>, 9> each;
    for (auto& one : each) one = std::make_shared<told>();
    for (std::size_t i = 0; i < 8; ++i) CHECK(all.add(*each[i]));
    for (auto& one : each) one->answer = never;
    all.poll(pool, 100);
    CHECK(all.next() == never);
    each[0]->answer = pollable::closed;
    CHECK_FALSE(all.add(*each[8]));
    CHECK(all.next() < 0);
    all.poll(pool, 200);
    CHECK(each[0].use_count() == 1);
    CHECK(all.add(*each[8]));
}

TEST_CASE("an object that nothing owns can't be polled") {
    basic_pollables<> all;
    told on_the_stack;
    CHECK_FALSE(all.add(on_the_stack));
    CHECK(all.next() == never);
}

TEST_CASE("a pool leaves a source to another pool that has promised to poll it, until that is late") {
    const thread_pool first(1), second(1);
    const auto source = std::make_shared<due_at_5000>();
    CHECK(source->poll_for(first, 1'000) == 5'000);
    CHECK(source->poll_for(second, 2'000) == 5'000 + 50'000);
    CHECK(source->polls == 1);
    CHECK(source->poll_for(first, 5'000) == 5'000);
    CHECK(source->polls == 2);
    CHECK(source->poll_for(second, 55'000) == 5'000);
    CHECK(source->polls == 3);
    CHECK(source->poll_for(first, 54'999) == 55'000);
}

TEST_CASE("nobody polls a source whose guard has ended") {
    const thread_pool pool(1);
    const auto source = std::make_shared<device>(1);
    source->end();
    source->run();
    CHECK(source->poll_for(pool, 0) == pollable::closed);
}
