// weir platform, internal: hands control from one coroutine to the next without growing the stack
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_TRANSFER_HPP
#define WEIR_PLATFORM_TRANSFER_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <utility>    // for std::exchange

namespace weir::detail {

// Symmetric transfer is a tail call in theory. g++ below 15 makes it one at -O2 only; at -O0, -O1
// and under its sanitizers each transfer keeps 32 to 705 bytes of stack until the thread unwinds.
// So transfers are counted, and past the cap control goes back to the loop below, which takes the
// coroutine from there on an empty stack.
class trampoline {
  public:
    // `at_work`: for an executor, as is all above such a one.
    explicit trampoline(bool at_work = false) noexcept
        : outer_(current()), at_work_(at_work || (outer_ != nullptr && outer_->at_work_)) {
        current() = this;
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

    // What is resumed here now is work of `whose`, until it suspends. On a thread without a trampoline nobody
    // would know when that is.
    WEIR_NOINLINE static void is_work_of(const void* whose) noexcept {
        if (trampoline* const here = of_thread()) here->whose_ = whose;
    }

    // Whether the caller is called by such work, which doesn't go on before the caller returns.
    WEIR_NOINLINE static bool is_below(const void* whose) noexcept {
        const trampoline* each = current();
        while (each != nullptr && each->whose_ != whose) each = each->outer_;
        return each != nullptr;
    }

  private:
    std::coroutine_handle<> next(std::coroutine_handle<> h) {
        if (++count_ < cap) return h;
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
    const bool at_work_;
    std::coroutine_handle<> pending_;
    const void* whose_ = nullptr;
    int count_ = 0;
};

}  // namespace weir::detail

#endif
