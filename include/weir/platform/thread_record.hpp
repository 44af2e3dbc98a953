// weir platform, internal: what each thread tells the others: which lock it holds without having locked it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_THREAD_RECORD_HPP
#define WEIR_PLATFORM_THREAD_RECORD_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/spin_lock.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// Identifies a thread by its address, and says which biased locks it is inside of, one at each level
// of nesting (see biased_lock.hpp). Records are reused by later threads and never freed: a lock may
// be biased to a thread that is long gone.
template <class Platform>
struct alignas(64) basic_thread_record {
    static constexpr int levels = 3;
    typename Platform::template atomic<const void*> inside[levels]{};
    basic_thread_record* next_free = nullptr;

    // How many operations on channels the thread has begun. It counts, any thread may look.
    WEIR_ALWAYS_INLINE void count_operation() noexcept {
        operations_.store(operations_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t operations() const noexcept { return operations_.load(std::memory_order_relaxed); }

    // Whose thread it is: of which executor, or of which watchdog. Null: the program's. release; pairs with
    // the acquire: who looks at that executor sees it as it was then.
    void serve(const void* whom) noexcept { serves_.store(whom, std::memory_order_release); }
    const void* serves() const noexcept { return serves_.load(std::memory_order_acquire); }

    // Whether it is a thread's, now. acquire; pairs with take() and give_back()
    bool in_use() const noexcept { return in_use_.load(std::memory_order_acquire); }

    // The thread blocks until `flag` is set, however long that takes; returns what it blocked on before,
    // inside of which this happens.
    const basic_parker<Platform>* block_on(const basic_parker<Platform>* flag) noexcept {
        const std::lock_guard guard(block_lock_);
        ++blocks_;
        return std::exchange(blocked_on_, flag);
    }
    // It sleeps, and does nothing by itself until the flag is set.
    void sleeps(bool now) noexcept {
        const std::lock_guard guard(block_lock_);
        asleep_ = now;
    }
    // For other threads. 0: it does something, or is about to. Else another number for each time.
    std::uint64_t is_stuck() const noexcept {
        const std::lock_guard guard(block_lock_);
        return asleep_ && blocked_on_ != nullptr && !blocked_on_->is_set() ? blocks_ : 0;
    }

    // All there are, whoever has them. acquire; pairs with take()
    template <class Function>
    static void each(Function function) {
        for (basic_thread_record* r = all().load(std::memory_order_acquire); r != nullptr;
             r = r->next_of_all_) {
            function(*r);
        }
    }

    // In a process that was forked, by its one thread: the others' records are nobody's now, and nobody's
    // again, as what they say they are inside of is held for ever; and no lock is held.
    static void forget_others() noexcept {
        records().lock.unlock();
        each([](basic_thread_record& r) {
            r.block_lock_.unlock();
            if (&r != mine()) r.in_use_.store(false, std::memory_order_relaxed);
        });
    }

    // The calling thread's; null before the first `acquire`, and again while the thread ends.
    static basic_thread_record* mine() noexcept { return Platform::template of_thread<per_thread>().record; }

    // Whether the objects of the calling thread have been destroyed, if it ever had a record: it ends, or has
    // called `std::exit`, which does that before it destroys static objects.
    static bool is_over() noexcept { return here().over; }

    // The same, made if need be; null if there is no memory, or the thread ends.
    WEIR_NOINLINE static basic_thread_record* acquire() noexcept {
        Platform::template of_thread<keeper>().touch();
        return here().record;
    }

  private:
    typename Platform::template atomic<std::uint64_t> operations_{0};

    // What follows is for watchdogs, and not used by operations on channels.
    alignas(64) typename Platform::template atomic<const void*> serves_{nullptr};
    typename Platform::template atomic<bool> in_use_{true};
    mutable basic_spin_lock<Platform> block_lock_;  // guards the three below
    const basic_parker<Platform>* blocked_on_ = nullptr;
    bool asleep_ = false;
    std::uint64_t blocks_ = 0;
    basic_thread_record* next_of_all_ = nullptr;

    struct per_thread {
        basic_thread_record* record = nullptr;
        bool over = false;
    };
    struct free_list {
        basic_spin_lock<Platform> lock;
        basic_thread_record* first = nullptr;
    };
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
                // release; pairs with the acquire in in_use(): it serves nobody yet
                r->in_use_.store(true, std::memory_order_release);
                return r;
            }
        }
        auto* const made = Platform::template make_for_good<basic_thread_record>();
        if (made == nullptr) return nullptr;
        // relaxed: only compared, below
        made->next_of_all_ = all().load(std::memory_order_relaxed);
        // release; pairs with the acquire in each()
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

// For as long as a thread blocks: so that others can see that it does nothing else.
template <class Platform>
class [[nodiscard]] basic_blocked_thread {
    using record = basic_thread_record<Platform>;

  public:
    // `flag`: null if it won't wait for ever.
    explicit basic_blocked_thread(const basic_parker<Platform>* flag) noexcept
        : me_(record::acquire()), before_(me_ != nullptr ? me_->block_on(flag) : nullptr) {}
    basic_blocked_thread(const basic_blocked_thread&) = delete;
    basic_blocked_thread& operator=(const basic_blocked_thread&) = delete;
    ~basic_blocked_thread() {
        if (me_ != nullptr) me_->block_on(before_);
    }

    void wait(basic_parker<Platform>& flag) const noexcept {
        if (me_ != nullptr) me_->sleeps(true);
        flag.wait();
        if (me_ != nullptr) me_->sleeps(false);
    }

  private:
    record* const me_;
    const basic_parker<Platform>* const before_;
};

}  // namespace weir::detail

#endif
