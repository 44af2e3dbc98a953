// weir platform, internal: hands control from one coroutine to the next without growing the stack
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

// The forks of a pool's worker that no thread has taken yet, for coroutines that run on its thread.
class own_forks {
  public:
    virtual void fork(std::coroutine_handle<> h) noexcept = 0;
    // Takes back the latest fork, which the caller then resumes. False if that is not `h`, or if another
    // coroutine has to run first.
    virtual bool take_back(std::coroutine_handle<> h) noexcept = 0;

    bool are_of(const executor* pool) const noexcept { return pool_ == pool; }

  protected:
    ~own_forks() = default;
    void belong_to(const executor& pool) noexcept { pool_ = &pool; }

  private:
    const executor* pool_ = nullptr;
};

// A join (when_all) some of whose parts have ended on this thread without telling it yet: another of its
// parts continues on this thread, and the join can't end before that one. `settle` tells it when that part
// has ended or suspended.
struct owed_join {
    virtual void settle() noexcept = 0;  // the join may be destroyed afterwards
    owed_join* below = nullptr;

  protected:
    ~owed_join() = default;
};

// Runs coroutines that transfer control to each other, in bounded stack. Symmetric transfer should be a tail
// call, but g++ before 15 makes it one at -O2 only: at -O0, -O1 and under sanitizers each transfer keeps 32
// to 705 bytes of stack until the thread unwinds. So transfers are counted; beyond `cap`, control returns to
// the loop in `resume`, which resumes the next coroutine on an empty stack. Trampolines on one thread nest.
class trampoline {
  public:
    // Inherits its properties from the trampoline below it on this thread, if any.
    trampoline() noexcept
        : outer_(current()), forks_(outer_ != nullptr ? outer_->forks_ : nullptr),
          at_work_(outer_ != nullptr && outer_->at_work_) {
        begin();
    }
    // For a thread of an executor: `at_work()` is true here and in all trampolines above. `forks`: those of
    // its worker, or null.
    explicit trampoline(own_forks* forks) noexcept : outer_(current()), forks_(forks), at_work_(true) {
        begin();
    }
    trampoline(const trampoline&) = delete;
    trampoline& operator=(const trampoline&) = delete;
    ~trampoline() { current() = outer_; }

    // Resumes `h`, then each coroutine whose transfer was deferred to here.
    void resume(std::coroutine_handle<> h) {
        do {
            pending_ = nullptr;
            count_ = 0;
            h.resume();
            h = pending_;
        } while (h);
        whose_ = nullptr;
        let_go();
    }

    static void run(std::coroutine_handle<> h) { trampoline().resume(h); }

    // The result of await_suspend that continues with `h`. On a thread without a trampoline (another library
    // resumed the coroutine directly) runs `h` in a new one.
    WEIR_NOINLINE static std::coroutine_handle<> transfer(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr) {
            run(h);
            return std::noop_coroutine();
        }
        return here->next(h);
    }

    // The same on a thread of an executor. Null on other threads: the caller posts `h` to its executor.
    WEIR_NOINLINE static std::coroutine_handle<> transfer_at_work(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr || !here->at_work_) return nullptr;
        return here->next(h);
    }

    // The innermost trampoline of this thread, or null. For callers that aren't inlined: see WEIR_NOINLINE.
    static trampoline* of_this_call() noexcept { return of_thread(); }
    bool at_work() const noexcept { return at_work_; }
    own_forks* forks() const noexcept { return forks_; }
    own_forks* forks_of(const executor* ex) const noexcept {
        return forks_ != nullptr && forks_->are_of(ex) ? forks_ : nullptr;
    }
    // The result of await_suspend that continues with `h`.
    WEIR_ALWAYS_INLINE std::coroutine_handle<> next(std::coroutine_handle<> h) {
        return ++count_ < cap ? h : next_from_below(h);
    }

    // The joins that have to be settled on this thread, the latest first.
    bool owes(const owed_join& to) const noexcept { return owed_ == &to; }
    void owe(owed_join& to) noexcept {
        to.below = owed_;
        owed_ = &to;
    }
    void owe_no_more(const owed_join& to) noexcept { owed_ = to.below; }

    // The task that was started here as a fork, as long as only coroutines that it awaits have run since;
    // null: none.
    bool has_begun(const void* task) const noexcept { return begun_ == task; }
    void set_begun(const void* task) noexcept {
        let_go();
        begun_ = task;
        whose_ = nullptr;
    }

    // The coroutine that runs next here is unrelated to the previous one: settles all joins.
    void let_go() noexcept {
        begun_ = nullptr;
        while (owed_ != nullptr) std::exchange(owed_, owed_->below)->settle();
    }
    WEIR_NOINLINE static void let_go_here() noexcept {
        if (trampoline* const here = of_thread()) here->let_go();
    }

    // Called on a worker's thread that another thread replaces: the trampolines here forget the worker's
    // forks.
    WEIR_NOINLINE static void leave(const own_forks& own) noexcept {
        for (trampoline* each = of_thread(); each != nullptr; each = each->outer_) {
            if (each->forks_ == &own) each->forks_ = nullptr;
        }
        let_go_here();
    }

    // The coroutine that runs here now works for `whose` (a run or group), until it suspends. No effect
    // without a trampoline, where the end could not be noticed.
    WEIR_NOINLINE static void is_work_of(const void* whose) noexcept {
        if (trampoline* const here = of_thread()) here->whose_ = whose;
    }

    // The innermost `whose` on this thread's stack; null: unknown.
    WEIR_NOINLINE static const void* work_here() noexcept {
        const trampoline* each = of_thread();
        while (each != nullptr && each->whose_ == nullptr) each = each->outer_;
        return each != nullptr ? each->whose_ : nullptr;
    }

    // Whether work for `whose` is on this thread's stack: it can't continue before the caller returns.
    WEIR_NOINLINE static bool is_below(const void* whose) noexcept {
        const trampoline* each = current();
        while (each != nullptr && each->whose_ != whose) each = each->outer_;
        return each != nullptr;
    }

  private:
    void begin() noexcept {
        current() = this;
        if (outer_ != nullptr) outer_->begun_ = nullptr;
    }

    WEIR_NOINLINE std::coroutine_handle<> next_from_below(std::coroutine_handle<> h) {
        // `pending_` is set if another library's awaitable resumed a coroutine on top of the current one, and
        // that coroutine deferred its transfer here. The target of that transfer runs first.
        if (pending_) run(std::exchange(pending_, {}));
        pending_ = h;
        return std::noop_coroutine();
    }

    static constexpr int cap = 32;  // times 705 bytes, the worst measured, is 22 KiB

    // Not inlined: see WEIR_NOINLINE.
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
    const void* whose_ = nullptr;
    owed_join* owed_ = nullptr;
    const void* begun_ = nullptr;
    int count_ = 0;
};

}  // namespace weir::detail

#endif
