// weir task, internal: the parts of when_all and when_any, and the join that starts and ends a when_all
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_JOIN_HPP
#define WEIR_TASK_JOIN_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::copy_constructible, std::same_as
#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::reference_wrapper
#include <tuple>        // for std::apply
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::forward
#include <variant>      // for std::monostate
#include <vector>       // for std::vector

namespace weir::detail {

// A vector of awaitables that can be copied: for `when_all(const V&)` and `when_any(const V&)`.
template <class V>
concept copyable_awaitables =
    std::same_as<V, std::vector<typename V::value_type>> && awaitable<typename V::value_type> &&
    std::copy_constructible<typename V::value_type>;

template <class T>
using non_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;  // for tuples and vectors

// A vector can't hold references: it holds a `std::reference_wrapper` for an lvalue reference, a value for an
// rvalue reference.
template <class T>
using in_vector =
    std::conditional_t<std::is_lvalue_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                       std::remove_cvref_t<T>>;

// Returns the result of a part that has ended; std::monostate stands for void.
template <class Part>
decltype(auto) take_non_void(Part&& part) {
    if constexpr (std::is_void_v<decltype(part.take())>) {
        part.take();
        return std::monostate();
    } else {
        return part.take();
    }
}

// Releases the frame of a task, or of one part of a `when_all` or `when_any`: the caller owns the frame then.
// Called when the coroutine that awaits the join is destroyed: `task_promise_base::destroy` destroys the
// frames of all awaited coroutines in a loop, not recursively. Null: `from` is another awaitable or has no
// frame left; or the promise is aligned so strictly that its offset in the frame is unknown.
template <class A>
void* release_frame(A& from) noexcept {
    if constexpr (is_task<A>) {
        constexpr bool is_found = task_promise_base::has_default_offset<typename A::promise_type>;
        return is_found ? joined_task_ref<typename A::value_type>::release(from) : nullptr;
    } else if constexpr (joins_frames<A>) {
        return from.release_one();
    } else {
        return nullptr;
    }
}
template <class... Parts>
void* release_part(std::tuple<Parts...>& parts) noexcept {
    void* frame = nullptr;
    std::apply([&](auto&... each) { ((frame != nullptr || (frame = detail::release_frame(each))), ...); },
               parts);
    return frame;
}
template <class Part>
void* release_part(std::vector<Part>& parts) noexcept {
    void* frame = nullptr;
    for (std::size_t i = 0; frame == nullptr && i < parts.size(); ++i)
        frame = detail::release_frame(parts[i]);
    return frame;
}

// One of the joined awaitables, in a coroutine of its own, which calls `part_ended` of the join at its end.
// An awaitable that can't be moved is kept by reference.
template <class A, class Join>
class wrapped_part final : detached_task_owner {
    static_assert(
        std::is_reference_v<A> || is_task<A> || !std::is_lvalue_reference_v<await_result_t<A>>,
        "weir: when_all and when_any would give a reference that may be into an awaitable that is gone by "
        "then: give the awaitable a name that outlives the result, and pass it by that name; or await it in "
        "a task that gives a value");
    using kept = std::conditional_t<std::is_move_constructible_v<A>, A, A&&>;

  public:
    using value_type = in_vector<non_void<joined_result_t<A>>>;
    static constexpr bool runs_tasks_only = false;  // no task: see `when_all_join::fork`

    explicit wrapped_part(A&& a)
        : awaitable_(std::forward<A>(a)),
          detached_task_(detail::make_detached_task<await_result_t<A>, kept>(awaitable_)) {
        if constexpr (is_task<A>) joined_task_ref<typename A::value_type>(awaitable_).check_valid();
    }

    // Returns the coroutine, for the caller to start on `ex`. `ends`: the token that ends the coroutine's
    // waits; null: none. The coroutine's last action is to call `join.part_ended`.
    std::coroutine_handle<> start(Join& join, executor& ex, const end_token* ends,
                                  std::coroutine_handle<> = {}) noexcept {
        join_ = &join;
        return detached_task_.prepare(ex, nullptr, *this, ends);
    }
    // Errors: `std::logic_error` if the part was started already.
    void check_valid() const {
        if (join_ != nullptr) detail::refuse_task();
    }
    void* release_one() noexcept { return detail::release_frame(awaitable_); }
    bool has_exception() const noexcept { return detached_task_.has_exception(); }
    std::exception_ptr exception() const noexcept { return detached_task_.exception(); }
    decltype(auto) take() { return detached_task_.take(); }

    // Whether `part` is the argument of this part's call of `part_ended`.
    bool is(const void* part) const noexcept { return part == this; }

  private:
    void ended() noexcept override { join_->part_ended(this); }

    kept awaitable_;
    detached_task<await_result_t<A>> detached_task_;
    Join* join_ = nullptr;  // null: not started
};

// Starts the parts of a when_all, and resumes the awaiting coroutine when the last part has ended.
//
// Most often one thread runs all the parts of its own join, one after the other. Their ends then cost no
// read-modify-write: the thread's trampoline (platform/transfer.hpp), the loop that resumes coroutines there,
// only notes that it owes the join these ends. Before it runs an unrelated coroutine, the trampoline calls
// `settle`, which subtracts the ends from `left_`.
class when_all_join final : public task_join, owed_join {
  public:
    explicit when_all_join(std::size_t parts) noexcept : left_(parts) {}

    // A part has ended: a wrapped one; or a task on another executor than the awaiter's, or on a thread of no
    // executor. Posts the awaiter if no other part is left. Threads: any.
    void part_ended(const void* = nullptr) noexcept {
        if (all_ended_with(1)) executor_->post(awaiter());  // the join may be gone from here on
    }

    // A task has ended. Returns the coroutine that runs next on this thread. After the last part: the
    // awaiting coroutine, if this thread may resume it. After any other part, on the thread that forked the
    // parts: the part that was forked just before the ended task, if no thread has begun it. In all other
    // cases: a coroutine that does nothing. Not inlined: a coroutine would keep the thread-local address of
    // the trampoline when it continues on another thread.
    WEIR_NOINLINE std::coroutine_handle<> task_ended(task_promise_base& ended) noexcept override {
        trampoline* const here = trampoline::of_this_call();
        if (here != home_ || ended.env().executor != executor_) [[unlikely]]
            return ended_elsewhere(ended, here);
        const bool owes = here->owes(*this);
        const std::size_t ended_here = owes ? owed_ + 1 : 1;
        if (is_last(ended_here)) {
            if (owes) here->owe_no_more(*this);
            if (measured_ != nullptr) record_end();
            return here->next(awaiter());
        }
        if (!owes) here->owe(*this);
        owed_ = ended_here;
        return continue_with(*here, ended.forked_before());
    }

    // Starts all parts, and returns the coroutine that runs next. The part that ends last resumes the awaiter
    // on its executor. `start_others(where, ex, ends)` calls `fork` for all parts but the first, and returns
    // the result of the last call. `where`: this thread's queue of forks, or `ex`. Not inlined, as
    // `task_ended`.
    template <class Promise, class First, class StartOthers>
    WEIR_NOINLINE std::coroutine_handle<> start(std::coroutine_handle<Promise> awaiter, First&& first,
                                                StartOthers start_others) {
        // Not copied: its members have just been stored one by one, and a load of two of them at once stalls.
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
        ex->fork(first.start(*this, *ex, ends, {}));  // if this part is the only one, the join may be gone
        start_others(*ex, *ex, ends);
        return std::noop_coroutine();
    }

    // Prepares a part, and gives its coroutine to `where` as a fork, which may run in parallel. Returns this
    // coroutine if the part is a task; null for a `wrapped_part`, which is never taken back. `before`: the
    // result of `fork` for the previous part; null for the first.
    template <class Where, class Part>
    std::coroutine_handle<> fork(Where& where, Part&& part, executor& ex, const end_token* ends,
                                 std::coroutine_handle<> before) noexcept {
        const std::coroutine_handle<> h = part.start(*this, ex, ends, before);
        where.fork(h);
        return std::remove_reference_t<Part>::runs_tasks_only ? h : nullptr;
    }

    template <class Part>
    static void rethrow(const Part& part) {  // the exception of the part, if it threw one
        if (part.has_exception()) [[unlikely]]
            detail::rethrow_now(part.exception());
    }

    // When the last part ended, by the clock of the awaiter's slot (worker of a stage); 0: there is no slot.
    std::int64_t ready_at() const noexcept { return measured_ != nullptr ? ready_ : 0; }

  private:
    // acquire, and acq_rel below; both pair with the acq_rel of the other parts: the last part to end sees
    // what all parts wrote. A part that finds itself the last one needs no read-modify-write.
    bool is_last(std::size_t ended) const noexcept { return left_.load(std::memory_order_acquire) == ended; }
    bool all_ended_with(std::size_t ended) noexcept {
        if (!is_last(ended) && left_.fetch_sub(ended, std::memory_order_acq_rel) != ended) return false;
        if (measured_ != nullptr) record_end();
        return true;
    }
    WEIR_NOINLINE void record_end() noexcept { ready_ = clock_of(*measured_); }
    // `before`: the part that was forked before the part that has ended. Not inlined: the end of the last
    // part doesn't need this code.
    WEIR_NOINLINE std::coroutine_handle<> continue_with(trampoline& here,
                                                        std::coroutine_handle<> before) noexcept {
        own_forks* const own = here.forks();  // null: another thread has replaced this one as worker
        if (before && own != nullptr && own->take_back(before)) return here.next(before);
        here.owe_no_more(*this);
        return all_ended_with(owed_) ? here.next(awaiter()) : std::noop_coroutine();
    }
    WEIR_NOINLINE std::coroutine_handle<> ended_elsewhere(task_promise_base& ended,
                                                          trampoline* here) noexcept {
        if (here == nullptr || !here->at_work() || ended.env().executor != executor_) {
            part_ended();
            return std::noop_coroutine();
        }
        return all_ended_with(1) ? here->next(awaiter()) : std::noop_coroutine();
    }
    void settle() noexcept override {  // by the trampoline: see the comment of the class
        if (all_ended_with(owed_)) executor_->post(awaiter());
    }
    std::coroutine_handle<> awaiter() const noexcept {
        return std::coroutine_handle<>::from_address(awaiter_);
    }

    // Members without an initialiser are set by `start`, or before their first use.
    standard_platform::atomic<std::size_t> left_;  // parts whose end has not been subtracted
    void* awaiter_;
    executor* executor_;
    slot* measured_ = nullptr;  // the awaiter's slot (worker of a stage); null: none
    std::int64_t ready_;        // see ready_at()
    trampoline* home_;  // that of the thread whose `own_forks` got the parts; null: an executor got the parts
    std::size_t owed_;  // ends that `home_` owes: not yet subtracted from `left_`; used by its thread only
};

}  // namespace weir::detail

#endif
