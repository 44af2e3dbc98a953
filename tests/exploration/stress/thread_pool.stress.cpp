// Threads against each other: each case counts everything it starts, so that nothing may get lost, run
// twice, or hang.
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/deque.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using weir::blocking_pool;
using weir::executor;
using weir::schedule;
using weir::thread_pool;
using weir::detail::parker;

namespace {

// Set when it was counted down to 0.
class latch {
  public:
    explicit latch(long n) noexcept : left_(n) {}
    void down() noexcept {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.set();
    }
    void wait() noexcept { done_.wait(); }

  private:
    std::atomic<long> left_;
    parker done_;
};

detached visit(executor& ex, int times, latch& all) {
    for (int i = 0; i < times; ++i) co_await schedule(ex);
    all.down();
}

// A place for one coroutine to wait at until it is given the go.
class baton {
  public:
    // True if the caller has to wait.
    bool wait(std::coroutine_handle<> h) noexcept {
        void* state = nullptr;
        if (state_.compare_exchange_strong(state, h.address(), std::memory_order_acq_rel)) return true;
        state_.store(nullptr, std::memory_order_relaxed);
        return false;
    }
    void give(executor& ex) noexcept {
        void* state = nullptr;
        if (state_.compare_exchange_strong(state, this, std::memory_order_acq_rel)) return;
        state_.store(nullptr, std::memory_order_relaxed);
        ex.post(std::coroutine_handle<>::from_address(state));
    }

  private:
    std::atomic<void*> state_{nullptr};  // null, the waiter, or this: given
};

class take {
  public:
    explicit take(baton& b) noexcept : baton_(&b) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) const noexcept { return baton_->wait(h); }
    void await_resume() const noexcept {}

  private:
    baton* baton_;
};

detached play(executor& ex, baton& mine, baton& other, int rounds, latch& all) {
    co_await schedule(ex);
    for (int i = 0; i < rounds; ++i) {
        co_await take(mine);
        other.give(ex);
    }
    all.down();
}

void burn(std::int64_t ns) {
    const std::int64_t end = weir::detail::standard_platform::now() + ns;
    while (weir::detail::standard_platform::now() < end) {
    }
}

detached work_long(executor& ex, int times, latch& all) {
    for (int i = 0; i < times; ++i) {
        co_await schedule(ex);
        burn(200'000);
    }
    all.down();
}

detached spread(executor& ex, int depth, latch& all) {
    co_await schedule(ex);
    if (depth == 0) {
        all.down();
        co_return;
    }
    for (int i = 0; i < 10; ++i) spread(ex, depth - 1, all);
}

class sleep {
  public:
    sleep(executor& ex, weir::duration d, std::atomic<weir::timer*>& shown) noexcept
        : executor_(&ex), duration_(d), shown_(&shown) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        timer_.emplace(executor_->now() + duration_, h);
        shown_->store(&*timer_, std::memory_order_release);
        executor_->add(*timer_);
    }
    // True if it was not too early.
    bool await_resume() const noexcept {
        return timer_->cancelled() || timer_->fired() >= timer_->deadline();
    }

  private:
    executor* executor_;
    weir::duration duration_;
    std::atomic<weir::timer*>* shown_;
    std::optional<weir::timer> timer_;
};

// Sleeps, then waits until the one who may cancel it has finished with the timer.
detached sleep_once(executor& ex, weir::duration d, std::atomic<weir::timer*>& shown, baton& released,
                    std::atomic<long>& wrong, latch& all) {
    sleep nap(ex, d,
              shown);  // lives until it is released: the other may be cancelling it right now
    const bool right = co_await nap;
    if (!right) wrong.fetch_add(1);
    co_await take(released);
    all.down();
}

template <class Pool>
void storm_from_outside(Pool& pool) {
    constexpr int threads = 4, posts = 5'000;
    latch all(threads * posts);
    std::vector<std::thread> outside;
    for (int t = 0; t < threads; ++t) {
        outside.emplace_back([&] {
            for (int i = 0; i < posts; ++i) {
                visit(pool, 1 + i % 3, all);
                if (i % 1'000 == 0) std::this_thread::yield();
            }
        });
    }
    for (auto& t : outside) t.join();
    all.wait();
}

template <class Pool>
void one_at_a_time_from_outside(Pool& pool) {
    for (int i = 0; i < 2'000; ++i) {
        latch all(1);
        visit(pool, 1, all);
        all.wait();
    }
}

// Each timer is cancelled by another thread at some time: before it is added, while it is queued, as
// it fires, or after.
template <class Pool>
void timers_from_many_threads(Pool& pool, int threads, int each) {
    struct entry {
        std::atomic<weir::timer*> shown{nullptr};
        baton released;
    };
    latch all(long{threads} * each);
    std::atomic<long> wrong{0};
    std::vector<std::deque<entry>> entries(static_cast<std::size_t>(threads));
    std::vector<std::thread> outside;
    for (int t = 0; t < threads; ++t) {
        outside.emplace_back([&, t] {
            auto& mine = entries[static_cast<std::size_t>(t)];
            std::minstd_rand random(static_cast<unsigned>(t) + 1);
            for (int i = 0; i < each; ++i) {
                entry& e = mine.emplace_back();
                // Some of these would outlast the test by far.
                const bool is_long = random() % 8 == 0;
                const weir::duration d(is_long ? 3'600'000'000'000
                                               : static_cast<std::int64_t>(random() % 500'000));
                sleep_once(pool, d, e.shown, e.released, wrong, all);
                if (is_long || random() % 2 == 0) {
                    const std::size_t k = is_long ? mine.size() - 1 : random() % mine.size();
                    if (weir::timer* const victim = mine[k].shown.exchange(nullptr)) {
                        pool.cancel(*victim);
                        mine[k].released.give(pool);
                    }
                }
            }
            for (entry& e : mine) {
                if (e.shown.exchange(nullptr) != nullptr) e.released.give(pool);
            }
        });
    }
    for (auto& t : outside) t.join();
    all.wait();
    CHECK(wrong.load() == 0);
}

}  // namespace

TEST_CASE("every item of a deque goes to exactly one: its owner, or one of the thieves") {
    constexpr std::uintptr_t items = 100'000;
    weir::detail::work_stealing_deque deque(4);
    std::vector<std::atomic<unsigned char>> taken(items + 1);
    std::atomic<std::uintptr_t> left{items};
    const auto got = [&](void* p) {
        taken[reinterpret_cast<std::uintptr_t>(p)].fetch_add(1, std::memory_order_relaxed);
        left.fetch_sub(1, std::memory_order_relaxed);
    };
    std::vector<std::thread> thieves;
    for (int t = 0; t < 3; ++t) {
        thieves.emplace_back([&] {
            while (left.load(std::memory_order_relaxed) != 0) {
                if (void* const p = deque.steal_with_fence()) {  // as the owner pops at the bottom
                    got(p);
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::minstd_rand random(1);
    for (std::uintptr_t i = 1; i <= items;) {
        for (auto n = random() % 8; n > 0 && i <= items; --n) {
            deque.push_bottom(reinterpret_cast<void*>(i++));
        }
        for (auto n = random() % 8; n > 0; --n) {
            if (void* const p = random() % 4 == 0 ? deque.steal() : deque.pop_bottom()) got(p);
        }
    }
    while (void* const p = deque.pop_bottom()) got(p);
    for (auto& t : thieves) t.join();
    std::uintptr_t once = 0;
    for (std::uintptr_t i = 1; i <= items; ++i) once += taken[i].load() == 1 ? 1 : 0;
    CHECK(once == items);
}

TEST_CASE("an event count under producers and consumers loses no wake-up") {
    constexpr int producers = 2, consumers = 2, each = 10'000;
    weir::detail::event_count event;
    std::atomic<int> tokens{0}, left{producers * each};
    std::vector<std::thread> threads;
    for (int c = 0; c < consumers; ++c) {
        threads.emplace_back([&] {
            for (;;) {
                int n = tokens.load(std::memory_order_seq_cst);
                if (n > 0) {
                    if (!tokens.compare_exchange_strong(n, n - 1)) continue;
                    if (left.fetch_sub(1) == 1) {
                        event.notify_all();
                        return;
                    }
                    continue;
                }
                if (left.load() == 0) return;
                const auto ticket = event.prepare_wait();
                if (tokens.load(std::memory_order_seq_cst) > 0 || left.load() == 0) {
                    event.cancel_wait();
                } else {
                    event.commit_wait(ticket);
                }
            }
        });
    }
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                tokens.fetch_add(1, std::memory_order_seq_cst);
                event.notify_one();
            }
        });
    }
    for (auto& t : threads) t.join();
    CHECK(left.load() == 0);
}

TEST_CASE("a pool runs whatever is thrown at it from outside") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        thread_pool pool(workers);
        storm_from_outside(pool);
        one_at_a_time_from_outside(pool);
    }
    SUCCEED();
}

TEST_CASE("a blocking pool runs whatever is thrown at it from outside") {
    for (const unsigned threads : {1U, 2U, 5U}) {
        blocking_pool pool(threads);
        storm_from_outside(pool);
        one_at_a_time_from_outside(pool);
    }
    SUCCEED();
}

TEST_CASE("a pool runs a tree of coroutines that post their children") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        thread_pool pool(workers);
        latch all(10'000);
        spread(pool, 4, all);
        all.wait();
    }
    SUCCEED();
}

TEST_CASE("pairs that play ping-pong, those that yield, and long tasks all finish") {
    for (const unsigned workers : {1U, 2U, 3U}) {
        thread_pool pool(workers);
        constexpr int pairs = 3, yielders = 3, hogs = 2;
        latch all(2 * pairs + yielders + hogs);
        std::deque<baton> batons(2 * pairs);
        for (std::size_t i = 0; i < pairs; ++i) {
            play(pool, batons[2 * i], batons[2 * i + 1], 10'000, all);
            play(pool, batons[2 * i + 1], batons[2 * i], 10'000, all);
            batons[2 * i].give(pool);
        }
        for (int i = 0; i < yielders; ++i) visit(pool, 10'000, all);
        for (int i = 0; i < hogs; ++i) work_long(pool, 50, all);
        all.wait();
    }
    SUCCEED();
}

TEST_CASE("a hundred thousand timers from many threads, half of them cancelled, all come back once") {
    SECTION("on a thread pool") {
        thread_pool pool(3);
        timers_from_many_threads(pool, 4, 25'000);
    }
    SECTION("on a blocking pool") {
        blocking_pool pool(3);
        timers_from_many_threads(pool, 4, 25'000);
    }
}

TEST_CASE("workers come and go under whatever a pool does, and all of it is done, once") {
    for (int round = 0; round < 8; ++round) {
        std::atomic<unsigned> hooks{0};
        thread_pool pool(2, {.most_workers = 4, .on_thread_start = [&](unsigned) { ++hooks; }});
        std::atomic<bool> over{false};
        std::vector<std::thread> changers;
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            changers.emplace_back([&, seed] {
                std::mt19937_64 random(seed + 10 * static_cast<std::uint64_t>(round));
                while (!over) {
                    pool.set_workers(static_cast<unsigned>(random() % 4 + 1));
                    for (std::uint64_t i = random() % 64; i > 0; --i) std::this_thread::yield();
                }
            });
        }
        const auto changes = [&pool](int times, latch& all) -> detached {
            for (int i = 0; i < times; ++i) {
                co_await schedule(pool);
                pool.set_workers(static_cast<unsigned>(i % 4 + 1));
            }
            all.down();
        };
        latch all(2 + 2 + 3 + 1'000 + 50);
        baton a, b;
        play(pool, a, b, 2'000, all);
        play(pool, b, a, 2'000, all);
        a.give(pool);
        for (int i = 0; i < 2; ++i) changes(50, all);
        for (int i = 0; i < 3; ++i) work_long(pool, 5, all);
        spread(pool, 3, all);
        for (int i = 0; i < 50; ++i) visit(pool, 50, all);
        all.wait();
        over = true;
        for (std::thread& t : changers) t.join();
        CHECK(hooks >= 2);
    }
}

TEST_CASE("pools come and go, with work posted until the last moment or none at all") {
    for (int i = 0; i < 300; ++i) {
        latch all(10);
        {
            thread_pool pool(1 + static_cast<unsigned>(i) % 4);
            if (i % 3 != 0) {
                for (int k = 0; k < 10; ++k) visit(pool, 3, all);
            }
            if (i % 3 == 1) all.wait();
        }
        {
            blocking_pool pool(1 + static_cast<unsigned>(i) % 4);
            if (i % 3 == 0) {
                for (int k = 0; k < 10; ++k) visit(pool, 3, all);
            }
        }
        all.wait();
    }
    SUCCEED();
}

namespace {

// Waits on its worker for one below it, which does the same, so often.
weir::task<long> waits(executor& ex, int levels) {
    co_await schedule(ex);
    long below = 0;
    for (int i = 0; i < 2 && levels > 0; ++i) below += weir::sync_wait(ex, waits(ex, levels - 1));
    co_return below + 1;
}

}  // namespace

TEST_CASE("coroutines that wait on their workers all go on, while the workers change") {
    std::atomic<bool> over{false};
    thread_pool pool(2, {.most_workers = 4});
    blocking_pool io(2);
    std::thread changes([&] {
        for (unsigned n = 1; !over; n = n % 4 + 1) {
            pool.set_workers(n);
            std::this_thread::yield();
        }
    });
    for (int round = 0; round < 20; ++round) {
        for (executor* ex : {static_cast<executor*>(&pool), static_cast<executor*>(&io)}) {
            const auto [a, b] = weir::sync_wait(*ex, weir::when_all(waits(*ex, 4), waits(*ex, 4)));
            CHECK(a + b == 62);
        }
    }
    over = true;
    changes.join();
}
