// The pools as they are, with their threads, timers and end: what is posted is run once, however close to
// the end it comes, and the end comes.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sleep.hpp>

#include "job.hpp"
#include "suite.hpp"

#include <optional>

namespace {

using namespace models;
using thread_pool = weir::basic_thread_pool<platform>;
using blocking_pool = weir::basic_blocking_pool<platform>;

// A suite whose pool starts `Threads` threads.
template <class Derived, class Pool, int Threads, int Others = 1>
struct with_pool : suite<Derived, Others> {
    static rl::thread_id_t const dynamic_thread_count = Threads;
};

// Comes late, or not: meanwhile those who have nothing to do may have gone to sleep.
void linger() {
    for (unsigned i = rl::rand(2) == 0 ? 0 : 100; i != 0; --i) platform::pause();
}

// Posted from outside, and then the end.
template <class Pool, int Threads, int Jobs>
struct ending : with_pool<ending<Pool, Threads, Jobs>, Pool, Threads> {
    plain<int> data[Jobs];
    int ran[Jobs] = {};
    models::atomic<int> done{0};

    void run(int) {
        std::optional<job> jobs[Jobs];
        {
            Pool pool(Threads);
            for (int i = 0; i < Jobs; ++i) {
                data[i].set(i);
                jobs[i].emplace(work(i));
                linger();
                pool.post(jobs[i]->on(pool));
            }
            linger();
            const bool waits = rl::rand(2) != 0;
            while (waits && done.load(std::memory_order_relaxed) != Jobs) platform::yield();
        }
        for (auto& j : jobs) expect(j->is_done(), "the pool ended before what was posted");
        for (const int n : ran) expect(n == 1, "it did not run once");
    }
    job work(int i) {
        expect(data[i].get() == i, "it ran before what was done before the post");
        ++ran[i];
        done.fetch_add(1, std::memory_order_relaxed);
        co_return;
    }
};

// Coroutines that post themselves and each other, from the pool's own threads.
template <class Pool, int Threads>
struct yielding : with_pool<yielding<Pool, Threads>, Pool, Threads> {
    int rounds = 0;
    plain<int> data{0};

    void run(int) {
        std::optional<job> first;
        std::optional<job> second;
        {
            Pool pool(Threads);
            second.emplace(finish());
            first.emplace(begin(pool, *second));
            pool.post(first->on(pool));
        }
        expect(first->is_done() && second->is_done(), "the pool ended before what was posted");
        expect(rounds == 3, "a round was lost");
    }
    job begin(Pool& pool, job& next) {
        ++rounds;
        co_await weir::schedule(pool);
        ++rounds;
        data.set(1);
        pool.post(next.on(pool));
    }
    job finish() {
        expect(data.get() == 1, "it ran before what was done before the post");
        ++rounds;
        co_return;
    }
};

// Two post at once from outside, one of them after a while.
template <class Pool, int Threads>
struct two_outside : with_pool<two_outside<Pool, Threads>, Pool, Threads, 2> {
    std::optional<Pool> pool;
    models::atomic<bool> there_is_one{false};
    models::atomic<bool> posted{false};
    std::optional<job> jobs[2];
    int ran = 0;

    void run(int me) {
        if (me == 0) {
            pool.emplace(Threads);
            there_is_one.store(true, std::memory_order_release);
            post(0);
            while (!posted.load(std::memory_order_acquire)) platform::yield();
            pool.reset();
            for (auto& j : jobs) {
                expect(j->is_done(), "the pool ended before what was posted");
                j.reset();
            }
            expect(ran == 2, "it did not run once");
        } else {
            while (!there_is_one.load(std::memory_order_acquire)) platform::yield();
            linger();
            post(1);
            posted.store(true, std::memory_order_release);
        }
    }
    void post(int i) {
        jobs[i].emplace(work());
        pool->post(jobs[i]->on(*pool));
    }
    job work() {
        ++ran;
        co_return;
    }
};

// A timer ends a sleep.
template <class Pool, int Threads>
struct sleeping : with_pool<sleeping<Pool, Threads>, Pool, Threads> {
    models::atomic<bool> woken{false};

    void run(int) {
        std::optional<job> it;
        {
            Pool pool(Threads);
            it.emplace(nap(pool));
            pool.post(it->on(pool));
            while (!woken.load(std::memory_order_acquire)) platform::yield();
        }
        expect(it->is_done(), "the pool ended before what was posted");
    }
    job nap(Pool& pool) {
        const weir::time_point until = pool.now() + weir::duration(1'000);
        co_await weir::sleep_until(until);
        expect(pool.now() >= until, "a sleep was too short");
        woken.store(true, std::memory_order_release);
    }
};

// Two that are posted at once, and need each other: each has to get a worker of its own.
template <class Pool>
struct together : with_pool<together<Pool>, Pool, 2> {
    bool has_begun[2] = {};

    void run(int) {
        std::optional<job> jobs[2];
        {
            Pool pool(2);
            linger();
            for (int i = 0; i < 2; ++i) {
                jobs[i].emplace(work(i));
                pool.post(jobs[i]->on(pool));
            }
            while (!has_begun[0] || !has_begun[1]) platform::yield();  // the end would wake all
        }
        for (auto& j : jobs) expect(j->is_done(), "the pool ended before what was posted");
    }
    job work(int i) {
        has_begun[i] = true;
        while (!has_begun[1 - i]) platform::yield();
        co_return;
    }
};

// A timer of somebody outside, while those inside may be asleep.
template <class Pool, int Threads>
struct timed_outside : with_pool<timed_outside<Pool, Threads>, Pool, Threads> {
    models::atomic<bool> woken{false};

    void run(int) {
        std::optional<job> it;
        {
            Pool pool(Threads);
            it.emplace(wake());
            weir::timer soon(pool.now() + weir::duration(1'000), it->on(pool));
            linger();
            pool.add(soon);
            while (!woken.load(std::memory_order_acquire)) platform::yield();
        }
        expect(it->is_done(), "the pool ended before what was posted");
    }
    job wake() {
        woken.store(true, std::memory_order_release);
        co_return;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<ending<thread_pool, 1, 2>>("thread_pool/end, one worker", 30'000),
                       check<ending<thread_pool, 2, 2>>("thread_pool/end, two workers", 30'000),
                       check<yielding<thread_pool, 2>>("thread_pool/posts of its own", 20'000),
                       check<two_outside<thread_pool, 2>>("thread_pool/two outside", 20'000),
                       check<sleeping<thread_pool, 2>>("thread_pool/a timer", 15'000),
                       check<together<thread_pool>>("thread_pool/two who need each other", 20'000),
                       check<timed_outside<thread_pool, 1>>("thread_pool/a timer from outside, one worker",
                                                            15'000),
                       check<timed_outside<thread_pool, 2>>("thread_pool/a timer from outside", 15'000),
                       check<ending<blocking_pool, 1, 2>>("blocking_pool/end, one thread", 60'000),
                       check<ending<blocking_pool, 2, 2>>("blocking_pool/end, two threads", 60'000),
                       check<yielding<blocking_pool, 2>>("blocking_pool/posts of its own", 60'000),
                       check<two_outside<blocking_pool, 2>>("blocking_pool/two outside", 40'000),
                       check<sleeping<blocking_pool, 2>>("blocking_pool/a timer", 40'000),
                       check<together<blocking_pool>>("blocking_pool/two who need each other", 40'000),
                       check<timed_outside<blocking_pool, 2>>("blocking_pool/a timer from outside", 40'000),
                   });
}
