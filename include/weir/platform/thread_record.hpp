// weir platform, internal: the record of each thread, which other threads read, and its place in a pool
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_THREAD_RECORD_HPP
#define WEIR_PLATFORM_THREAD_RECORD_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// The record of one thread; its address identifies the thread. `inside` has the biased locks that the thread
// holds as owner, one for each level: locks that a thread may hold at the same time have different levels
// (biased_lock.hpp). Records are reused by later threads and never freed, as a lock may be reserved for a
// thread that has ended.
template <class Platform>
struct alignas(64) basic_thread_record {
    static constexpr int levels = 3;
    typename Platform::template atomic<const void*> inside[levels]{};
    basic_thread_record* next_free = nullptr;

    // The number of channel operations that the thread has begun. Written by the thread, read by any thread.
    // relaxed: orders no data
    WEIR_ALWAYS_INLINE void count_operation() noexcept {
        operations_.store(operations_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t operations() const noexcept { return operations_.load(std::memory_order_relaxed); }

    // Stores to whom the thread belongs: to an executor; or, if the thread only inspects other threads, as a
    // watchdog's does, to the registry that it reads. Null: to the program. release; pairs with serves(): the
    // reader sees what this thread wrote before serve().
    void serve(const void* whom) noexcept { serves_.store(whom, std::memory_order_release); }
    const void* serves() const noexcept { return serves_.load(std::memory_order_acquire); }

    // Whether a thread has the record now. acquire; pairs with take(), which has reset serves() before
    bool in_use() const noexcept { return in_use_.load(std::memory_order_acquire); }

    // The thread blocks from now on until `flag` is set, without a time limit; null: the thread doesn't
    // block, or has a time limit. Returns the flag of the enclosing wait, because a blocked thread may run
    // coroutines that block again: the end of the inner wait passes that flag again.
    const basic_parker<Platform>* block_on(const basic_parker<Platform>* flag) noexcept {
        const std::lock_guard guard(block_lock_);
        ++blocks_;
        return std::exchange(blocked_on_, flag);
    }
    // Stores whether the thread sleeps now until the flag of `block_on` is set, and runs no coroutine
    // meanwhile.
    void set_sleeping(bool now) noexcept {
        const std::lock_guard guard(block_lock_);
        asleep_ = now;
    }
    // For other threads: the number of the thread's wait; 0 if the thread runs, is about to run, or waits
    // with a time limit. If the number is still the same later, the thread has waited all the time.
    std::uint64_t number_of_stuck_wait() const noexcept {
        const std::lock_guard guard(block_lock_);
        return asleep_ && blocked_on_ != nullptr && !blocked_on_->is_set() ? blocks_ : 0;
    }

    // Visits all records, also unused ones. acquire; pairs with take(): sees the members of each record
    template <class Function>
    static void each(Function function) {
        for (basic_thread_record* r = all().load(std::memory_order_acquire); r != nullptr;
             r = r->next_of_all_) {
            function(*r);
        }
    }

    // Called after a fork by the child's only thread. Unlocks the list of free records, and the `block_lock_`
    // of each record. The records of the other threads count as unused from then on. They are never reused,
    // because the biased locks that those threads held stay held for ever. relaxed: there is one thread
    static void forget_others() noexcept {
        records().lock.unlock();
        each([](basic_thread_record& r) {
            r.block_lock_.unlock();
            if (&r != mine()) r.in_use_.store(false, std::memory_order_relaxed);
        });
    }

    // The calling thread's record; null before `acquire` has returned one, and while the thread ends.
    static basic_thread_record* mine() noexcept { return Platform::template of_thread<per_thread>().record; }

    // Whether the calling thread has given its record back: the thread ends, or has called `std::exit`, which
    // destroys the thread-local objects before static objects. False before the thread has called `acquire`.
    static bool is_over() noexcept { return here().over; }

    // The calling thread's record, created if necessary; null if memory is exhausted, or the thread ends.
    WEIR_NOINLINE static basic_thread_record* acquire() noexcept {
        Platform::template of_thread<keeper>().touch();
        return here().record;
    }

  private:
    typename Platform::template atomic<std::uint64_t> operations_{0};

    // The following members are for watchdogs, and are on another cache line. A channel operation changes
    // these members only if the operation blocks its thread: see `basic_blocked_thread`.
    alignas(64) typename Platform::template atomic<const void*> serves_{nullptr};
    typename Platform::template atomic<bool> in_use_{true};
    mutable basic_spin_lock<Platform> block_lock_;  // guards the next 3 members
    const basic_parker<Platform>* blocked_on_ = nullptr;
    bool asleep_ = false;
    std::uint64_t blocks_ = 0;  // calls of block_on()
    basic_thread_record* next_of_all_ = nullptr;

    struct per_thread {
        basic_thread_record* record = nullptr;
        bool over = false;
    };
    struct free_list {
        basic_spin_lock<Platform> lock;
        basic_thread_record* first = nullptr;
    };
    // A thread-local object. Takes a record when the thread first uses it; returns the record when the thread
    // ends.
    struct keeper {
        keeper() noexcept {
            if (!here().over) here().record = take();
        }
        ~keeper() {
            here().over = true;
            give_back(std::exchange(here().record, nullptr));
        }
        void touch() const noexcept {}
    };

    struct all_records {
        typename Platform::template atomic<basic_thread_record*> first{nullptr};
    };

    static auto& all() noexcept { return Platform::template of_process<all_records>().first; }
    static per_thread& here() noexcept { return Platform::template of_thread<per_thread>(); }
    static free_list& records() noexcept { return Platform::template of_process<free_list>(); }

    static basic_thread_record* take() noexcept {
        {
            const std::lock_guard guard(records().lock);
            if (basic_thread_record* const r = records().first) {
                records().first = r->next_free;
                r->serve(nullptr);
                // release; pairs with the acquire in in_use(): the reader sees that serves() is null
                r->in_use_.store(true, std::memory_order_release);
                return r;
            }
        }
        auto* const made = Platform::template make_for_good<basic_thread_record>();
        if (made == nullptr) return nullptr;
        // relaxed: the compare-exchange below confirms the value
        made->next_of_all_ = all().load(std::memory_order_relaxed);
        // release; pairs with the acquire in each(), which then sees the members of the record
        while (!all().compare_exchange_weak(made->next_of_all_, made, std::memory_order_release,
                                            std::memory_order_relaxed)) {
        }
        return made;
    }
    static void give_back(basic_thread_record* r) noexcept {
        if (r == nullptr) return;
        r->in_use_.store(false, std::memory_order_release);  // pairs with in_use()
        const std::lock_guard guard(records().lock);
        r->next_free = records().first;
        records().first = r;
    }
};

// Marks the calling thread as blocked as long as the object exists: for watchdogs, which report deadlocks. A
// thread that waits with a time limit does not count as blocked.
template <class Platform>
class [[nodiscard]] basic_blocked_thread {
    using record = basic_thread_record<Platform>;

  public:
    // `flag`: the flag that ends the wait; null if the wait has a time limit.
    explicit basic_blocked_thread(const basic_parker<Platform>* flag) noexcept
        : me_(record::acquire()), before_(me_ != nullptr ? me_->block_on(flag) : nullptr) {}
    basic_blocked_thread(const basic_blocked_thread&) = delete;
    basic_blocked_thread& operator=(const basic_blocked_thread&) = delete;
    ~basic_blocked_thread() {
        if (me_ != nullptr) me_->block_on(before_);
    }

    void wait(basic_parker<Platform>& flag) const noexcept {
        if (me_ != nullptr) me_->set_sleeping(true);
        flag.wait();
        if (me_ != nullptr) me_->set_sleeping(false);
    }

  private:
    record* const me_;
    const basic_parker<Platform>* const before_;  // the flag of the enclosing wait, or null
};

// The place of a worker thread in a pool. While a coroutine blocks the thread, another thread has to work in
// its place: the blocking coroutine may wait for a coroutine that only this pool can run.
class thread_place {
  public:
    // Called on the thread of the place: gives the place to another thread. False: no thread could be
    // started; the caller may try again.
    virtual bool leave() noexcept = 0;

    // Gives the place of the calling thread, which is about to sleep, to another thread. No effect on threads
    // that belong to no pool.
    WEIR_NOINLINE static void leave_here() noexcept {
        if (thread_place* const mine = of_thread()) static_cast<void>(mine->leave());
    }

  protected:
    ~thread_place() = default;
    void belong_to_thread() noexcept { of_thread() = this; }
    void belong_no_more() noexcept {
        if (of_thread() == this) of_thread() = nullptr;
    }

  private:
    struct per_thread {
        thread_place* here = nullptr;
    };
    static thread_place*& of_thread() noexcept { return standard_platform::of_thread<per_thread>().here; }
};

}  // namespace weir::detail

#endif
