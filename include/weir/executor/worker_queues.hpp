// weir executor, internal: the coroutines that a worker of a pool has to run, and others may steal
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WORKER_QUEUES_HPP
#define WEIR_EXECUTOR_WORKER_QUEUES_HPP

#include <weir/executor/deque.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// | place | what is there                                            | order                    |
// |-------|----------------------------------------------------------|--------------------------|
// | next  | the coroutine that was woken last: its data is in cache  | one                      |
// | queue | those that were woken before                             | first come, first served |
// | forks | parts of something large, none of which has begun        | last come, first served; |
// |       |                                                          | thieves take the first   |
template <class Platform>
class alignas(64) basic_worker_queues {
    using record = basic_thread_record<Platform>;
    using lock = basic_biased_lock<Platform>;

    lock next_lock_;  // of writing `next_`; as a rule the worker has it reserved
    typename Platform::template atomic<void*> next_{nullptr};
    typename Platform::template atomic<std::uint64_t> resumed_{0};
    typename Platform::template atomic<record*> thread_{nullptr};
    typename Platform::template atomic<void*> running_{nullptr};
    typename Platform::template atomic<bool> searching_{false};

  public:
    basic_work_stealing_deque<Platform> queue;
    basic_work_stealing_deque<Platform> forks;

    // Puts a coroutine into the slot, or null; returns what was in it. `me`: of the calling thread.
    void* exchange_next(void* next, record* me) noexcept {
        const typename lock::guard held(next_lock_, me);
        void* const before = next_.load(std::memory_order_relaxed);
        next_.store(next, std::memory_order_relaxed);
        return before;
    }
    void* take_next(record* me) noexcept { return has_next() ? exchange_next(nullptr, me) : nullptr; }
    bool has_next() const noexcept { return next_.load(std::memory_order_relaxed) != nullptr; }

    // How many coroutines the worker has resumed. It counts, any thread may look.
    void count_resumption() noexcept { resumed_.store(resumed() + 1, std::memory_order_relaxed); }
    std::uint64_t resumed() const noexcept { return resumed_.load(std::memory_order_relaxed); }

    // The coroutine that it runs; null: none. And whether it looks for one, though it counts as idle: it may
    // have found one. It says so, any thread may look.
    void runs(void* coroutine) noexcept { running_.store(coroutine, std::memory_order_relaxed); }
    void* running() const noexcept { return running_.load(std::memory_order_relaxed); }
    void searches(bool now) noexcept { searching_.store(now, std::memory_order_seq_cst); }
    bool searches() const noexcept { return searching_.load(std::memory_order_seq_cst); }

    // The worker's thread, which sets it when it begins.
    void set_thread(record* r, const void* pool) noexcept {
        if (r != nullptr) r->serve(pool);
        thread_.store(r, std::memory_order_release);  // pairs with done()
    }
    record* thread() const noexcept { return thread_.load(std::memory_order_relaxed); }

    // How many things the worker has done: resumptions, and operations on channels.
    std::uint64_t done() const noexcept {
        const record* const r = thread_.load(std::memory_order_acquire);  // pairs with set_thread()
        return resumed() + (r != nullptr ? r->operations() : 0);
    }

    // On the worker's thread, which ends: all that is there goes to the end of another queue, the oldest
    // first. Another thread may come later.
    template <class Inbox>
    void hand_over(Inbox& to) noexcept {
        while (void* const p = queue.steal()) to.push(p);
        if (void* const p = take_next(thread())) to.push(p);
        while (void* const p = forks.steal()) to.push(p);
        thread_.store(nullptr, std::memory_order_relaxed);  // relaxed: a record is never freed
    }

    bool empty() const noexcept { return !has_next() && queue.empty() && forks.empty(); }
};

WEIR_COMPILED(class basic_worker_queues<standard_platform>);

}  // namespace weir::detail

#endif
