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

// What the worker of a pool has forked and nobody has taken yet; for what runs on its thread.
class own_forks {
  public:
    virtual void fork(std::coroutine_handle<> h) noexcept = 0;
    // Takes back what was forked last, to be resumed at once; only if that is `h`, and nothing else has its
    // turn before. Whether it did.
    virtual bool take_back(std::coroutine_handle<> h) noexcept = 0;

    bool are_of(const executor* pool) const noexcept { return pool_ == pool; }

  protected:
    ~own_forks() = default;
    void belong_to(const executor& pool) noexcept { pool_ = &pool; }

  private:
    const executor* pool_ = nullptr;
};

// A join that parts have ended of and that was not told so yet, as another of its parts goes on in their
// place on this thread, without which it can't end. It is told when that has ended, or waits for something.
struct owed_join {
    virtual void settle() noexcept = 0;  // the join may be gone from here on
    owed_join* below = nullptr;

  protected:
    ~owed_join() = default;
};

// Symmetric transfer is a tail call in theory. g++ below 15 makes it one at -O2 only; at -O0, -O1
// and under its sanitizers each transfer keeps 32 to 705 bytes of stack until the thread unwinds.
// So transfers are counted, and past the cap control goes back to the loop below, which takes the
// coroutine from there on an empty stack.
class trampoline {
  public:
    // As that below: at work if that is.
    trampoline() noexcept
        : outer_(current()), forks_(outer_ != nullptr ? outer_->forks_ : nullptr),
          at_work_(outer_ != nullptr && outer_->at_work_) {
        begin();
    }
    // At work for an executor, as is all above such a one. `forks`: of its worker, or null.
    explicit trampoline(own_forks* forks) noexcept : outer_(current()), forks_(forks), at_work_(true) {
        begin();
    }
    trampoline(const trampoline&) = delete;
    trampoline& operator=(const trampoline&) = delete;
    ~trampoline() { current() = outer_; }

    // Resumes `h` and whatever asks to be continued from an empty stack.
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

    // What await_suspend returns to continue with `h`. On a thread without a trampoline below (a
    // foreign engine that resumed us directly) it becomes one itself.
    WEIR_NOINLINE static std::coroutine_handle<> transfer(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr) {
            run(h);
            return std::noop_coroutine();
        }
        return here->next(h);
    }

    // The same on a thread of an executor. Null on any other, where `h` has no business: it has to be posted.
    WEIR_NOINLINE static std::coroutine_handle<> transfer_at_work(std::coroutine_handle<> h) {
        trampoline* const here = current();
        if (here == nullptr || !here->at_work_) return nullptr;
        return here->next(h);
    }

    // That of this thread, or null. For what isn't inlined itself: see WEIR_NOINLINE.
    static trampoline* of_this_call() noexcept { return of_thread(); }
    bool at_work() const noexcept { return at_work_; }
    own_forks* forks() const noexcept { return forks_; }
    own_forks* forks_of(const executor* ex) const noexcept {
        return forks_ != nullptr && forks_->are_of(ex) ? forks_ : nullptr;
    }
    // What await_suspend returns to continue with `h`.
    WEIR_ALWAYS_INLINE std::coroutine_handle<> next(std::coroutine_handle<> h) {
        return ++count_ < cap ? h : next_from_below(h);
    }

    // The joins that are owed something here, the last one first.
    bool owes(const owed_join& to) const noexcept { return owed_ == &to; }
    void owe(owed_join& to) noexcept {
        to.below = owed_;
        owed_ = &to;
    }
    void owe_no_more(const owed_join& to) noexcept { owed_ = to.below; }

    // The task that was begun here at a fork, while nothing but what it awaits has run since. It knows for
    // whom it works, if that is somebody. Null: one that nobody asks for.
    bool has_begun(const void* task) const noexcept { return begun_ == task; }
    void begins(const void* task) noexcept {
        let_go();
        begun_ = task;
        whose_ = nullptr;
    }

    // What runs here from now on has nothing to do with what ran before.
    void let_go() noexcept {
        begun_ = nullptr;
        while (owed_ != nullptr) std::exchange(owed_, owed_->below)->settle();
    }
    WEIR_NOINLINE static void let_go_here() noexcept {
        if (trampoline* const here = of_thread()) here->let_go();
    }

    // On the thread of the worker whose forks these are: another thread is that worker from now on.
    WEIR_NOINLINE static void leave(const own_forks& own) noexcept {
        for (trampoline* each = of_thread(); each != nullptr; each = each->outer_) {
            if (each->forks_ == &own) each->forks_ = nullptr;
        }
        let_go_here();
    }

    // What is resumed here now is work of `whose`, until it suspends. On a thread without a trampoline nobody
    // would know when that is.
    WEIR_NOINLINE static void is_work_of(const void* whose) noexcept {
        if (trampoline* const here = of_thread()) here->whose_ = whose;
    }

    // For whose work the caller is called: the innermost. Null: nobody's that is known.
    WEIR_NOINLINE static const void* work_here() noexcept {
        const trampoline* each = of_thread();
        while (each != nullptr && each->whose_ == nullptr) each = each->outer_;
        return each != nullptr ? each->whose_ : nullptr;
    }

    // Whether the caller is called by such work, which doesn't go on before the caller returns.
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
        // A coroutine that a foreign awaitable resumed by hand, on top of the one that asks now, may
        // have asked before. It goes first; nobody but the caller knows of `h` yet.
        if (pending_) run(std::exchange(pending_, {}));
        pending_ = h;
        return std::noop_coroutine();
    }

    static constexpr int cap = 32;  // times 705 bytes, the worst measured, is 22 KiB

    // Not inlined: see WEIR_NOINLINE.
    WEIR_NOINLINE static trampoline*& current() noexcept { return of_thread(); }
    // For what isn't inlined itself.
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
