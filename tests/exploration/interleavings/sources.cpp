// Sources that idle workers poll, and the thread that does so while none is idle.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/executor/polled_source.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace {

using interleavings::atomic;
using interleavings::block;
using interleavings::block_until;
using interleavings::count;
using interleavings::ms;
using interleavings::require;
using interleavings::require_by;
using interleavings::thread;
using interleavings::us;
using weir::task;
using weir::task_group;
using weir::thread_pool;
using weir::detail::polled_source;

// Operations that are done at an instant.
class device final : public polled_source {
  public:
    // `tells`: whom the source takes for the executor of the waiting coroutine.
    auto done_at(std::int64_t due, weir::executor& on, weir::executor* tells) {
        struct awaiter {
            device& of;
            std::int64_t due;
            weir::executor& on;
            weir::executor* tells;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> h) const {
                device& source = of;
                weir::executor* const told = tells;
                source.begin({due, h, &on});
                source.expect(told);
            }
            void await_resume() const noexcept {}
        };
        return awaiter{*this, due, on, tells};
    }

    struct operation {
        std::int64_t due;
        std::coroutine_handle<> waiter;
        weir::executor* on;
    };
    void begin(operation o) {
        lock_.lock();
        pending_.push_back(o);
        lock_.unlock();
    }

    // Returns when all is done.
    void run() {
        guard([this](std::int64_t now) -> std::int64_t {
            if (!ending_.load()) return never;
            return poll_here(now, [](std::int64_t next) { return next == never; });
        });
    }
    void end() {
        ending_.store(true);
        wake();
    }

  private:
    std::int64_t poll(std::int64_t now, bool) noexcept override {
        require(!polled_, "one thread polls at a time");
        polled_ = true;
        std::vector<operation> over;
        std::int64_t next = never;
        lock_.lock();
        for (const operation& o : pending_) {
            if (o.due <= now) {
                over.push_back(o);
            } else {
                next = std::min(next, o.due);
            }
        }
        std::erase_if(pending_, [now](const operation& o) { return o.due <= now; });
        lock_.unlock();
        for (const operation& o : over) o.on->post(o.waiter);
        polled_ = false;
        if (next == never) return never;
        return next - now < 20 * us ? now : next - 10 * us;
    }

    interleavings::mutex lock_;
    std::vector<operation> pending_;
    atomic<bool> ending_{false};
    bool polled_ = false;
};

// A device and its own thread.
struct guarded {
    guarded() = default;
    ~guarded() {
        source->end();
        own.join();
    }
    std::shared_ptr<device> source = std::make_shared<device>();
    thread own{[s = source.get()] { s->run(); }};
};

task<> waits(device& source, weir::executor& on, weir::executor* tells, int times) {
    for (int i = 0; i < times; ++i) {
        const std::int64_t due = count.now + 40 * us;
        co_await source.done_at(due, on, tells);
        require(count.now >= due, "not before it is done");
        require_by(due, 400 * us, "an idle worker polls, or the source's own thread");
    }
}

void polled_by_workers() {
    const guarded g;
    thread_pool pool(2);
    task_group group(pool);
    group.spawn(waits(*g.source, pool, &pool, 2));
    group.spawn(waits(*g.source, pool, &pool, 2));
    weir::sync_wait(pool, group.join());
}

// Nobody but the worker could.
void polled_without_a_guard() {
    thread_pool pool(2);
    const auto source = std::make_shared<device>();
    task_group group(pool);
    group.spawn(waits(*source, pool, &pool, 2));
    group.spawn(waits(*source, pool, &pool, 2));
    weir::sync_wait(pool, group.join());
}

// The other worker naps longer and longer while this one computes.
void polled_by_a_napper() {
    thread_pool pool(2);
    const auto source = std::make_shared<device>();
    const auto computes = [&]() -> task<> {
        block(4 * ms);
        co_await waits(*source, pool, &pool, 1);
    };
    weir::sync_wait(pool, computes());
}

void polled_for_two_pools() {
    const guarded g;
    thread_pool first(1), second(1);
    thread other([&] { weir::sync_wait(second, waits(*g.source, second, &second, 2)); });
    weir::sync_wait(first, waits(*g.source, first, &first, 2));
    other.join();
}

// It is never told which executor waits, and comes to rest in between.
void polled_by_its_own_thread() {
    const guarded g;
    thread_pool pool(1);
    weir::sync_wait(pool, waits(*g.source, pool, nullptr, 1));
    block(5 * ms);
    weir::sync_wait(pool, waits(*g.source, pool, nullptr, 2));
}

// The worker that was to poll waits for the other pool, which waits for the device.
void polled_while_the_worker_blocks() {
    const guarded g;
    thread_pool busy(1), pool(1);
    weir::detail::parker over;
    if (interleavings::draw(2) == 0) block(static_cast<std::int64_t>(interleavings::draw(4)) * ms);
    const auto blocks = [&]() -> task<> {
        while (!over.wait()) {
        }
        co_return;
    };
    thread other([&] { weir::sync_wait(busy, blocks()); });
    const auto goes_on = [&]() -> task<> {
        co_await g.source->done_at(count.now + 30 * us, pool, &busy);
        over.set();
    };
    weir::sync_wait(pool, goes_on());
    other.join();
}

// The same while the source's own thread naps until the end of a long operation.
void polled_before_a_long_one() {
    const guarded g;
    thread_pool busy(1), pool(1);
    weir::detail::parker over;
    thread longer([&] {
        const auto waits_long = [&]() -> task<> {
            co_await g.source->done_at(count.now + 20 * ms, pool, nullptr);
        };
        weir::sync_wait(pool, waits_long());
    });
    block(3 * ms);
    const auto blocks = [&]() -> task<> {
        while (!over.wait()) {
        }
        co_return;
    };
    thread other([&] { weir::sync_wait(busy, blocks()); });
    const auto goes_on = [&]() -> task<> {
        const std::int64_t due = count.now + 30 * us;
        co_await g.source->done_at(due, pool, &busy);
        require_by(due, 2 * ms, "the source's own thread polls once a millisecond while anything is pending");
        over.set();
    };
    weir::sync_wait(pool, goes_on());
    other.join();
    longer.join();
}

// What is posted while the worker polls, or naps until it has to.
void posts_beside_a_source() {
    const guarded g;
    thread_pool pool(1);
    thread other([&] {
        const auto waits_long = [&]() -> task<> {
            co_await g.source->done_at(count.now + 3 * ms, pool, &pool);
        };
        weir::sync_wait(pool, waits_long());
    });
    block(static_cast<std::int64_t>(interleavings::draw(300)) * us);
    for (int i = 0; i < 2; ++i) {
        const std::int64_t begin = count.now;
        const auto answers = []() -> task<int> { co_return 7; };
        require(weir::sync_wait(pool, answers()) == 7, "it ran");
        require_by(begin, 500 * us, "nothing but a lost wake-up takes so long");
    }
    other.join();
}

// The pool is gone while the source has other waiters; then the source, while a pool has polled it.
void ends_beside_a_source() {
    std::optional<thread_pool> first;
    first.emplace(1U);
    thread_pool second(1);
    {
        const guarded g;
        thread other([&] { weir::sync_wait(second, waits(*g.source, second, &second, 2)); });
        weir::sync_wait(*first, waits(*g.source, *first, &*first, 1));
        first.reset();
        other.join();
    }
    const auto answers = []() -> task<int> { co_return 7; };
    require(weir::sync_wait(second, answers()) == 7, "the pool works without the source");
}

const interleavings::registered sources("sources", {
                                                       {"polled_by_workers", polled_by_workers},
                                                       {"polled_without_a_guard", polled_without_a_guard},
                                                       {"polled_by_a_napper", polled_by_a_napper},
                                                       {"polled_for_two_pools", polled_for_two_pools},
                                                       {"polled_by_its_own_thread", polled_by_its_own_thread},
                                                       {"polled_while_the_worker_blocks",
                                                        polled_while_the_worker_blocks},
                                                       {"polled_before_a_long_one", polled_before_a_long_one},
                                                       {"posts_beside_a_source", posts_beside_a_source},
                                                       {"ends_beside_a_source", ends_beside_a_source},
                                                   });

}  // namespace
