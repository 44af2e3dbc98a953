// weir executor, internal: one worker of a thread pool with its queues, and the array of a pool's workers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_WORKER_HPP
#define WEIR_EXECUTOR_POOL_WORKER_HPP

#include <weir/executor/deque.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::move

namespace weir::detail {

// The coroutines that a worker has to run, and that other workers may steal:
//
// | place | contents                                                    | order                    |
// |-------|-------------------------------------------------------------|--------------------------|
// | next  | the coroutine that was woken last: its data is in the cache | one                      |
// | queue | the others: woken before, posted from outside, or by timers | first in, first out      |
// | forks | parts of a larger job, which may run in parallel            | last in, first out;      |
// |       |                                                             | thieves take the oldest  |
template <class Platform>
class alignas(64) basic_worker_queues {
    using record = basic_thread_record<Platform>;
    using lock = basic_biased_lock<Platform>;

    // Guards writes of `next_`. A biased lock: cheap for the worker's thread, for which the lock is usually
    // reserved. relaxed: has_next() without the lock is a hint.
    lock next_lock_;
    typename Platform::template atomic<void*> next_{nullptr};
    typename Platform::template atomic<std::uint64_t> resumed_{0};
    typename Platform::template atomic<record*> thread_{nullptr};  // see set_thread()
    // The number of channel operations that the thread had done before `set_thread`.
    typename Platform::template atomic<std::uint64_t> operations_before_{0};
    typename Platform::template atomic<void*> running_{nullptr};  // see running()
    typename Platform::template atomic<bool> searching_{false};

  public:
    basic_work_stealing_deque<Platform> queue;
    basic_work_stealing_deque<Platform> forks;

    // Replaces the coroutine in `next`, and returns the old one; both may be null. `me`: the calling thread's
    // record, or null.
    WEIR_ALWAYS_INLINE void* exchange_next(void* next, record* me) noexcept {
        const typename lock::guard held(next_lock_, me);
        void* const before = next_.load(std::memory_order_relaxed);
        next_.store(next, std::memory_order_relaxed);
        return before;
    }
    void* take_next(record* me) noexcept { return has_next() ? exchange_next(nullptr, me) : nullptr; }
    bool has_next() const noexcept { return next_.load(std::memory_order_relaxed) != nullptr; }

    // The number of coroutines that the worker has resumed. Written by the worker, read by any thread.
    // relaxed, as running() below: orders no data
    void count_resumption() noexcept { resumed_.store(resumed() + 1, std::memory_order_relaxed); }
    std::uint64_t resumed() const noexcept { return resumed_.load(std::memory_order_relaxed); }

    // running(): the coroutine that the worker runs, or null. is_searching(): the worker is idle and looks
    // for a coroutine. Such a worker can have taken a coroutine that no queue and no running() shows. Written
    // by the worker, read by any thread.
    void set_running(void* coroutine) noexcept { running_.store(coroutine, std::memory_order_relaxed); }
    void* running() const noexcept { return running_.load(std::memory_order_relaxed); }
    void set_searching(bool now) noexcept { searching_.store(now, std::memory_order_seq_cst); }
    bool is_searching() const noexcept { return searching_.load(std::memory_order_seq_cst); }

    // The record of the thread that works as this worker, set by that thread when it begins; null: the thread
    // has no record. `pool`: the executor that the thread serves; null for a thread from outside of the pool,
    // which works here while it waits for an item.
    void set_thread(record* r, const void* pool) noexcept {
        if (r != nullptr) {
            r->serve(pool);
            // relaxed: the release below publishes the value
            operations_before_.store(r->operations(), std::memory_order_relaxed);
        }
        thread_.store(r, std::memory_order_release);  // pairs with done()
    }
    record* thread() const noexcept { return thread_.load(std::memory_order_relaxed); }

    // The number of resumptions and channel operations, by which thieves measure the worker's speed.
    std::uint64_t done() const noexcept {
        const record* const r = thread_.load(std::memory_order_acquire);  // pairs with set_thread()
        // relaxed: the acquire above makes the value visible
        const std::uint64_t before = operations_before_.load(std::memory_order_relaxed);
        return resumed() + (r != nullptr ? r->operations() - before : 0);
    }

    // Called by the worker's thread. Moves the coroutines of `queue` and `next` to another queue, oldest
    // first: for a thread that works in another place and asks for them.
    template <class Inbox>
    void give_queued(Inbox& to) noexcept {
        while (void* const p = queue.steal()) to.push(p);
        if (void* const p = take_next(thread())) to.push(p);
    }
    // Called by the worker's thread when the worker is surplus (not wanted any more). Moves all coroutines to
    // another queue: the forks last, oldest first. Another thread may become this worker later.
    template <class Inbox>
    void hand_over(Inbox& to) noexcept {
        give_queued(to);
        while (void* const p = forks.steal()) to.push(p);
        thread_.store(nullptr, std::memory_order_relaxed);  // relaxed: a record is never freed
    }

    bool empty() const noexcept { return !has_next() && queue.empty() && forks.empty(); }
};

WEIR_COMPILED(class basic_worker_queues<standard_platform>);

// A worker. Only its own thread uses the members of this class.
template <class Pool, class Platform>
struct pool_worker final : basic_worker_queues<Platform>, own_forks {
    pool_worker(Pool& p, unsigned n) : pool(&p), number(n) { this->belong_to(p); }

    void fork(std::coroutine_handle<> h) noexcept override {
        this->forks.push_bottom(h.address());
        pool->wake_helper();
    }

    // Removes `h` from `forks`, and counts a resumption: the caller resumes `h` next. False, without effect:
    // `h` is not the youngest fork, or the loop of the pool might resume another coroutine first.
    bool take_back(std::coroutine_handle<> h) noexcept override {
        if (this->has_next() || !this->queue.empty()) return false;
        if (pool->has_outside_work()) [[unlikely]]
            return takes_before_others(h);
        return takes(h);
    }

    Pool* const pool;
    const unsigned number;
    unsigned streak = 0;       // resumptions of `next` or from outside since `queue` was served
    unsigned passed_over = 0;  // how often the queue was served before the forks
    std::int64_t looked = 0;   // coarse clock at the last look at timers and posts from outside

  private:
    bool takes(std::coroutine_handle<> h) noexcept {
        if (!this->forks.pop_bottom_if(h.address())) return false;
        this->count_resumption();
        this->set_running(h.address());
        return true;
    }
    // Not inlined, so that take_back() saves no registers on its usual path.
    WEIR_NOINLINE bool takes_before_others(std::coroutine_handle<> h) noexcept {
        return !pool->must_look_outside(*this) && takes(h);
    }
};

// The workers of a pool. One thread at a time adds a worker while other threads read. A worker is never
// destroyed before the pool: when its thread ends, another thread may become this worker later.
template <class Worker, class Platform = standard_platform>
class basic_worker_places {
  public:
    explicit basic_worker_places(unsigned most) : most_(most), workers_(new owned<Worker>[most]) {}

    unsigned most() const noexcept { return most_; }                                  // the capacity
    unsigned size() const noexcept { return size_.load(std::memory_order_acquire); }  // pairs with add()
    Worker& operator[](unsigned i) const noexcept { return *workers_[i]; }

    void add(owned<Worker> one) noexcept {
        const unsigned n = size_.load(std::memory_order_relaxed);  // only this thread changes it
        workers_[n] = std::move(one);
        size_.store(n + 1, std::memory_order_release);  // pairs with size(): its caller sees the worker
    }

  private:
    const unsigned most_;
    const owned<owned<Worker>[]> workers_;
    typename Platform::template atomic<unsigned> size_{0};
};

// The most workers that a pool can have: `asked`, or if that is 0, the larger of `cores` and `workers`, the
// initial number. Errors: std::invalid_argument if `asked` is less than `workers`, or negative. If `workers`
// is negative, `asked` is ignored and nothing is thrown: the constructor of the pool refuses such `workers`.
inline unsigned most_workers(unsigned workers, unsigned asked, unsigned cores) {
    if (asked == 0 || was_negative(workers)) return larger(workers, cores);
    if (!was_negative(asked) && asked >= workers) return asked;
    throw std::invalid_argument(
        "weir::thread_pool: a pool that begins with " + std::to_string(workers) +
        " workers was given a .most_workers that is less, or negative; give it as many "
        "or more, or nothing");
}
// The check of `set_workers`. Errors: std::invalid_argument if `workers` is 0, negative, or more than `most`.
inline void check_workers(unsigned workers, unsigned most) {
    refuse_if(workers == 0 || was_negative(workers),
              "weir::thread_pool: set_workers() was given 0, or a negative number; ask for at least 1, as "
              "somebody has to run what is posted");
    if (workers <= most) return;
    throw std::invalid_argument("weir::thread_pool: set_workers(" + std::to_string(workers) +
                                ") of a pool that was made for " + std::to_string(most) +
                                " at most; make it with {.most_workers = " + std::to_string(workers) + "}");
}

}  // namespace weir::detail

#endif
