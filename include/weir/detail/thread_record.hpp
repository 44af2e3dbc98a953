// weir floor 0: what each thread tells the others: which lock it holds without having locked it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_THREAD_RECORD_HPP
#define WEIR_DETAIL_THREAD_RECORD_HPP

#include <weir/detail/spin_lock.hpp>

#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard
#include <new>      // for std::nothrow
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
    void count_operation() noexcept {
        operations_.store(operations() + 1, std::memory_order_relaxed);
    }
    std::uint64_t operations() const noexcept {
        return operations_.load(std::memory_order_relaxed);
    }

    // The calling thread's; null before the first `acquire`, and again while the thread ends.
    static basic_thread_record* mine() noexcept { return here().record; }

    // The same, made if need be; null if there is no memory, or the thread ends.
    WEIR_NOINLINE static basic_thread_record* acquire() noexcept {
        static thread_local keeper keep;
        keep.touch();
        return here().record;
    }

  private:
    typename Platform::template atomic<std::uint64_t> operations_{0};

    struct place {
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

    static place& here() noexcept {
        static constinit thread_local place p;
        return p;
    }
    static free_list& records() noexcept {
        static constinit free_list list;
        return list;
    }
    static basic_thread_record* take() noexcept {
        {
            const std::lock_guard guard(records().lock);
            if (basic_thread_record* const r = records().first) {
                records().first = r->next_free;
                return r;
            }
        }
        return new (std::nothrow) basic_thread_record;
    }
    static void give_back(basic_thread_record* r) noexcept {
        if (r == nullptr) return;
        const std::lock_guard guard(records().lock);
        r->next_free = records().first;
        records().first = r;
    }
};

}  // namespace weir::detail

#endif
