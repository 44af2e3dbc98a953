// weir task, internal: starts the parts of a when_all, and wakes the awaiting coroutine when all have ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_WHEN_ALL_JOIN_HPP
#define WEIR_TASK_WHEN_ALL_JOIN_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/task_promise.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::rethrow_exception
#include <type_traits>  // for std::remove_reference_t

namespace weir::detail {

// Starts the parts, and wakes the awaiting coroutine when the last has ended.
//
// Where a worker runs its own parts one after the other, which is nearly always, their ends cost no
// read-modify-write: they are owed by its trampoline as long as one of the parts goes on there.
class when_all_join final : public task_join, owed_join {
  public:
    explicit when_all_join(std::size_t parts) noexcept : left_(parts) {}

    // Of a part that is to run nothing next.
    void ended() noexcept {
        if (all_ended_with(1)) executor_->post(awaiter());  // the join may be gone from here on
    }

    // Where one ended, the next goes on, if nobody has taken that, and after the last one the awaiting
    // coroutine; if it belongs there. Not inlined, so that what it asks the thread for stays its own.
    WEIR_NOINLINE std::coroutine_handle<> task_ended(task_promise_base& it) noexcept override {
        trampoline* const here = trampoline::of_this_call();
        if (here != home_ || it.env().executor != executor_) [[unlikely]]
            return ended_elsewhere(it, here);
        const bool owes = here->owes(*this);
        const std::size_t mine = owes ? owed_ + 1 : 1;
        if (is_last(mine)) {
            if (owes) here->owe_no_more(*this);
            if (measured_ != nullptr) stamp();
            return here->next(awaiter());
        }
        if (!owes) here->owe(*this);
        owed_ = mine;
        return goes_on(*here, it.forked_before());
    }

    // The awaiter is resumed on its executor, by the part that ends last. Returns what runs next.
    // `start_others(where, ex, ends)` forks all parts but the first there, and returns the last one. Not
    // inlined, as above.
    template <class Promise, class First, class StartOthers>
    WEIR_NOINLINE std::coroutine_handle<> start(std::coroutine_handle<Promise> awaiter, First&& first,
                                                StartOthers start_others) {
        // Not copied: who started the awaiter has just written it, and one load of what were two stores
        // waits.
        const auto& env = detail::env_of(awaiter);
        executor* const ex = &detail::executor_of(env);
        const end_token* const ends = env.ends;
        awaiter_ = awaiter.address();
        executor_ = ex;
        measured_ = env.measured;
        trampoline* const here = trampoline::of_this_call();
        if (here != nullptr) {
            if (own_forks* const own = here->forks_of(ex)) {
                home_ = here;
                const std::coroutine_handle<> last = start_others(*own, *ex, ends);
                return here->next(first.start(*this, *ex, ends, last));
            }
        }
        home_ = nullptr;
        if (here != nullptr && ex->traits().continues_with_forks && current_executor() == ex) {
            start_others(*ex, *ex, ends);
            return here->next(first.start(*this, *ex, ends, {}));
        }
        ex->fork(first.start(*this, *ex, ends, {}));  // the join may be gone if there are no others
        start_others(*ex, *ex, ends);
        return std::noop_coroutine();
    }

    // Returns what may be taken back. Something of another library may go on with anything: it isn't.
    template <class Where, class Part>
    std::coroutine_handle<> fork(Where& where, Part&& part, executor& ex, const end_token* ends,
                                 std::coroutine_handle<> before) noexcept {
        const std::coroutine_handle<> h = part.start(*this, ex, ends, before);
        where.fork(h);
        return std::remove_reference_t<Part>::runs_tasks_only ? h : nullptr;
    }

    template <class Part>
    static void rethrow(const Part& part) {
        if (part.has_exception()) [[unlikely]]
            detail::rethrow_now(part.exception());
    }

    // For whoever accounts the wait: when the last part ended; 0 if nobody does.
    std::int64_t ready_at() const noexcept { return measured_ != nullptr ? ready_ : 0; }

  private:
    // acquire, and acq_rel below; both pair with the acq_rel of the others: the last one to leave sees what
    // all parts wrote. Who finds itself the last one needs no read-modify-write.
    bool is_last(std::size_t ended) const noexcept { return left_.load(std::memory_order_acquire) == ended; }
    bool all_ended_with(std::size_t ended) noexcept {
        if (!is_last(ended) && left_.fetch_sub(ended, std::memory_order_acq_rel) != ended) return false;
        if (measured_ != nullptr) stamp();
        return true;
    }
    WEIR_NOINLINE void stamp() noexcept { ready_ = clock_of(*measured_); }
    // With what was forked before the part that has ended now, if nobody has taken it. Not inlined, as the
    // last end needs none of it.
    WEIR_NOINLINE std::coroutine_handle<> goes_on(trampoline& here, std::coroutine_handle<> before) noexcept {
        own_forks* const own = here.forks();  // null: the worker's place was left to another thread meanwhile
        if (before && own != nullptr && own->take_back(before)) return here.next(before);
        here.owe_no_more(*this);
        return all_ended_with(owed_) ? here.next(awaiter()) : std::noop_coroutine();
    }
    WEIR_NOINLINE std::coroutine_handle<> ended_elsewhere(task_promise_base& it, trampoline* here) noexcept {
        if (here == nullptr || !here->at_work() || it.env().executor != executor_) {
            ended();
            return std::noop_coroutine();
        }
        return all_ended_with(1) ? here->next(awaiter()) : std::noop_coroutine();
    }
    void settle() noexcept override {
        if (all_ended_with(owed_)) executor_->post(awaiter());
    }
    std::coroutine_handle<> awaiter() const noexcept {
        return std::coroutine_handle<>::from_address(awaiter_);
    }

    // What has no initialiser is set by `start`, or when it is first used.
    standard_platform::atomic<std::size_t> left_;
    void* awaiter_;
    executor* executor_;
    slot* measured_ = nullptr;
    std::int64_t ready_;
    // Where the parts were forked: the only one that takes them back, and owes anything. So `owed_`, which is
    // how many ends it owes, is its thread's.
    trampoline* home_;
    std::size_t owed_;
};

}  // namespace weir::detail

#endif
