// weir platform, internal: transfers control from one coroutine to the next without growing the stack
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_TRANSFER_HPP
#define WEIR_PLATFORM_TRANSFER_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <utility>    // for std::exchange

namespace weir {
class executor;
}

namespace weir::detail {

class trampoline;

// A fork is one of several parts of a job that may run in parallel: a coroutine, begun or not. This object
// belongs to one worker of a pool, and holds the worker's forks until a thread takes them; only coroutines on
// the worker's thread use it.
class own_forks {
  public:
    virtual void fork(std::coroutine_handle<> h) noexcept = 0;
    // Takes back the latest fork, if it is `h`; the caller then resumes `h`. False: no fork is left, the
    // latest is another one, or another coroutine has to run first.
    virtual bool take_back(std::coroutine_handle<> h) noexcept = 0;

    bool are_of(const executor* pool) const noexcept { return pool_ == pool; }

  protected:
    ~own_forks() = default;
    void belong_to(const executor& pool) noexcept { pool_ = &pool; }

  private:
    const executor* pool_ = nullptr;
};

// A join (a `when_all`) counts its parts that have not ended. A join is owed while parts that ended on this
// thread are not yet subtracted from the count. Another part continues on this thread, and the join can't end
// before that part. If that part suspends, `settle` subtracts the ended parts.
struct owed_join {
    virtual void settle() noexcept = 0;  // the join may be destroyed afterwards
    owed_join* below = nullptr;

  protected:
    ~owed_join() = default;
};

// Runs coroutines that transfer control to each other, in bounded stack. Symmetric transfer should be a tail
// call, but g++ before 15 makes it one at -O2 only. At -O0, -O1 and under sanitizers each transfer keeps 32
// to 705 bytes of stack until the thread unwinds. So transfers are counted; beyond `cap`, control returns to
// the loop in `resume`, which resumes the next coroutine on an empty stack. Trampolines on one thread nest.
class trampoline {
  public:
    // Takes over `forks()` and `at_work()` of the next outer trampoline on this thread, if there is one.
    trampoline() noexcept
        : outer_(current()), forks_(outer_ != nullptr ? outer_->forks_ : nullptr),
          at_work_(outer_ != nullptr && outer_->at_work_) {
        begin();
    }
    // For a thread of an executor: `at_work()` is true here and in all inner trampolines. `forks`: those of
    // the thread's worker, or null.
    explicit trampoline(own_forks* forks) noexcept : outer_(current()), forks_(forks), at_work_(true) {
        begin();
    }
    trampoline(const trampoline&) = delete;
    trampoline& operator=(const trampoline&) = delete;
    ~trampoline() { current() = outer_; }

    // Resumes `h`, then each coroutine that a transfer has left in `pending_`.
    void resume(std::coroutine_handle<> h) {
        do {
            pending_ = nullptr;
            count_ = 0;
            h.resume();
            h = pending_;
        } while (h);
        work_of_ = nullptr;
        settle_joins();
    }

    static void run(std::coroutine_handle<> h) { trampoline().resume(h); }

    // The result of await_suspend that continues with `h`. On a thread without a trampoline (another library
    // resumed the coroutine directly) runs `h` in a new trampoline.
    WEIR_NOINLINE static std::coroutine_handle<> transfer(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr) {
            run(h);
            return std::noop_coroutine();
        }
        return here->next(h);
    }

    // As `transfer`, but only on threads of executors. Null on other threads: then the caller posts `h` to
    // its executor.
    WEIR_NOINLINE static std::coroutine_handle<> transfer_at_work(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr || !here->at_work_) return nullptr;
        return here->next(h);
    }

    // The innermost trampoline of this thread, or null. For callers that aren't inlined: see `current`.
    static trampoline* of_this_call() noexcept { return of_thread(); }
    // Whether the thread runs coroutines of an executor.
    bool at_work() const noexcept { return at_work_; }
    own_forks* forks() const noexcept { return forks_; }
    own_forks* forks_of(const executor* ex) const noexcept {
        return forks_ != nullptr && forks_->are_of(ex) ? forks_ : nullptr;
    }
    // The result of await_suspend that continues with `h`.
    WEIR_ALWAYS_INLINE std::coroutine_handle<> next(std::coroutine_handle<> h) {
        return ++count_ < cap ? h : next_from_below(h);
    }

    // A stack of the joins that this trampoline has to settle.
    bool owes(const owed_join& to) const noexcept { return owed_ == &to; }
    void owe(owed_join& to) noexcept {
        to.below = owed_;
        owed_ = &to;
    }
    void owe_no_more(const owed_join& to) noexcept { owed_ = to.below; }

    // Whether `task` was started here as a fork, and since then only coroutines that it awaits have run here.
    bool has_begun(const void* task) const noexcept { return begun_ == task; }
    void set_begun(const void* task) noexcept {
        settle_joins();
        begun_ = task;
        work_of_ = nullptr;
    }

    // Settles all joins. Called if the next coroutine here is unrelated to the previous one.
    void settle_joins() noexcept {
        begun_ = nullptr;
        while (owed_ != nullptr) std::exchange(owed_, owed_->below)->settle();
    }
    WEIR_NOINLINE static void settle_joins_here() noexcept {
        if (trampoline* const here = of_thread()) here->settle_joins();
    }

    // Called on a worker's thread when another thread replaces it: the trampolines here drop their pointers
    // to the worker's forks.
    WEIR_NOINLINE static void leave(const own_forks& own) noexcept {
        for (trampoline* each = of_thread(); each != nullptr; each = each->outer_) {
            if (each->forks_ == &own) each->forks_ = nullptr;
        }
        settle_joins_here();
    }

    // Stores that the coroutine that runs here, and those to which it transfers control, work for `owner`.
    // `owner`: an address that identifies a stage of a pipeline, or a run; null: unknown. No effect on a
    // thread without a trampoline, where the end of the coroutine would go unnoticed.
    WEIR_NOINLINE static void set_work_here(const void* owner) noexcept {
        if (trampoline* const here = of_thread()) here->work_of_ = owner;
    }

    // The `owner` of the innermost work on this thread's stack whose owner is known; null: there is none.
    WEIR_NOINLINE static const void* work_here() noexcept {
        const trampoline* each = of_thread();
        while (each != nullptr && each->work_of_ == nullptr) each = each->outer_;
        return each != nullptr ? each->work_of_ : nullptr;
    }

    // Whether work for `owner` is on this thread's stack: that work can't continue before the caller returns.
    WEIR_NOINLINE static bool is_below(const void* owner) noexcept {
        const trampoline* each = current();
        while (each != nullptr && each->work_of_ != owner) each = each->outer_;
        return each != nullptr;
    }

  private:
    void begin() noexcept {
        current() = this;
        if (outer_ != nullptr) outer_->begun_ = nullptr;
    }

    WEIR_NOINLINE std::coroutine_handle<> next_from_below(std::coroutine_handle<> h) {
        // `pending_` is set if an awaitable of another library resumed a coroutine on top of the current one,
        // and that coroutine transferred control by `pending_`. That transfer is carried out first.
        if (pending_) run(std::exchange(pending_, {}));
        pending_ = h;
        return std::noop_coroutine();
    }

    static constexpr int cap = 32;  // times 705 bytes, the worst measured, is 22 KiB

    // Not inlined: a coroutine would keep the thread-local address when it continues on another thread.
    WEIR_NOINLINE static trampoline*& current() noexcept { return of_thread(); }
    // For callers that aren't inlined.
    static trampoline*& of_thread() noexcept {
        struct per_thread {
            trampoline* here = nullptr;
        };
        return standard_platform::of_thread<per_thread>().here;
    }

    trampoline* const outer_;
    own_forks* forks_;
    const bool at_work_;
    std::coroutine_handle<> pending_;
    const void* work_of_ = nullptr;
    owed_join* owed_ = nullptr;
    const void* begun_ = nullptr;
    int count_ = 0;
};

}  // namespace weir::detail

#endif
