// weir executor, internal: who of several threads runs a loop that one thread at a time runs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_LOOP_TURNS_HPP
#define WEIR_EXECUTOR_LOOP_TURNS_HPP

#include <weir/executor/errors.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/thread_place.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstddef>    // for std::ptrdiff_t, std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <utility>    // for std::exchange
#include <vector>     // for std::vector

namespace weir::detail {

// A coroutine that blocks in a turn of a loop keeps the stack of its thread, so nothing else may run there.
// Another thread, a stand-in, runs the loop until the coroutine can go on: one thread at a time, so that what
// happens, and in what order, is what would happen if the coroutine had suspended. The turn is handed from
// thread to thread by flags, so what belongs to the turn needs no lock. A stand-in that has given the turn
// away stands by for the next time.
class loop_turns {
  public:
    // What it asks of the loop.
    class loop {
      public:
        // On the thread that has the turn: resumes a coroutine; where none is ready, sleeps until one is or
        // `done` is set, or moves the clock; never past `limit`. Errors: `deadlock_error`.
        virtual void turn(parker& done, time_point limit) = 0;
        virtual time_point instant() const noexcept = 0;
        // A thread that has blocked in a turn sleeps until `done` is set, or until `limit`, and then has
        // whoever sleeps in a turn look again. Where only turns set such flags: returns at once.
        virtual void sleep(parker& done, time_point limit) noexcept = 0;

      protected:
        ~loop() = default;
    };

    loop_turns() noexcept = default;
    loop_turns(const loop_turns&) = delete;
    loop_turns& operator=(const loop_turns&) = delete;
    // Who still blocks never goes on.
    ~loop_turns() {
        if (!born_.is_here()) return;
        while (spares_ != nullptr) call(nullptr);
        parker nobody;
        // acquire; pairs with the release in run(): nothing of this is touched there afterwards
        for (int i = 0; i < 1000 && stand_ins_.load(std::memory_order_acquire) > blocked_.size(); ++i) {
            nobody.wait(100'000);
        }
    }

    // Whether the caller is called in a turn. relaxed: only this thread writes its own name there
    bool are_below() const noexcept {
        return holder_.load(std::memory_order_relaxed) == standard_platform::this_thread();
    }
    bool any_blocked() const noexcept { return !blocked_.empty(); }

    // `executor::drive` of the loop, on the thread that runs it, or in one of its turns.
    void drive(loop& l, parker& done, time_point limit) {
        if (are_below()) return block(l, done, limit);
        blocked* const next = next_ready(l);
        if (next == nullptr) return take(l, done, limit);
        parker back;
        base_ = &back;
        next->go.set();
        thread_place::leave_here();
        while (!back.wait()) continue;
    }

  private:
    // One that has blocked in a turn; on its stack.
    struct blocked {
        parker* done;
        time_point limit;
        std::exception_ptr error{};
        parker go{};

        blocked(parker& d, time_point l) noexcept : done(&d), limit(l) {}
    };
    // A stand-in without a turn; on its stack.
    struct spare {
        spare* next;
        loop* next_loop = nullptr;  // null: it has to end
        parker called{};

        explicit spare(spare* n) noexcept : next(n) {}
    };

    void block(loop& l, parker& done, time_point limit) {
        blocked me(done, limit);
        blocked_.push_back(&me);
        hold_no_more();
        if (!pass_on(l)) {  // there is no thread to be had: on top of the caller
            hold();
            blocked_.pop_back();
            return l.turn(done, limit);
        }
        thread_place::leave_here();
        l.sleep(done, limit);
        while (!me.go.wait()) continue;
        hold();
        if (me.error) std::rethrow_exception(me.error);
    }

    // A turn, on a thread that has none yet. An error is for the one that has blocked last.
    void take(loop& l, parker& done, time_point limit) {
        for (const blocked* each : blocked_) limit = smaller(limit, each->limit);
        hold();
        try {
            l.turn(done, limit);
        } catch (const deadlock_error&) {
            hold_no_more();
            if (blocked_.empty()) throw;
            blocked_.back()->error = std::current_exception();
        } catch (...) {
            hold_no_more();
            throw;
        }
        hold_no_more();
    }

    // Of those that can go on the one that has been blocked for longest; null: none.
    blocked* next_ready(const loop& l) noexcept {
        for (std::size_t i = 0; i < blocked_.size(); ++i) {
            blocked* const each = blocked_[i];
            if (!each->done->is_set() && !each->error && l.instant() < each->limit) continue;
            blocked_.erase(blocked_.begin() + static_cast<std::ptrdiff_t>(i));
            return each;
        }
        return nullptr;
    }

    // To the thread below that waits for its turn, or to a stand-in. False: there is neither.
    bool pass_on(loop& l) noexcept {
        if (base_ != nullptr) {
            std::exchange(base_, nullptr)->set();
            return true;
        }
        if (spares_ != nullptr) {
            call(&l);
            return true;
        }
        first_ = &l;
        stand_ins_.fetch_add(1, std::memory_order_relaxed);  // before the thread can count itself out
        if (begin_thread<&loop_turns::run>(this)) return true;
        stand_ins_.fetch_sub(1, std::memory_order_relaxed);  // nobody else has seen it
        return false;
    }
    void call(loop* l) noexcept {
        spare* const one = std::exchange(spares_, spares_->next);
        one->next_loop = l;
        one->called.set();
    }

    // What a stand-in of `turns` does.
    static void run(void* turns) noexcept {
        standard_platform::name_thread("weir loop");
        static_cast<void>(basic_thread_record<standard_platform>::acquire());
        auto& all = *static_cast<loop_turns*>(turns);
        for (loop* l = all.first_; l != nullptr;) l = all.stand_in(*l);
        all.stand_ins_.fetch_sub(1, std::memory_order_release);  // pairs with the destructor
    }
    // Until it is called again, or, by null, to end.
    loop* stand_in(loop& l) noexcept {
        parker nobody;
        parker* to = nullptr;
        while (to == nullptr) {
            if (base_ != nullptr) {
                to = std::exchange(base_, nullptr);
            } else if (blocked* const next = next_ready(l)) {
                to = &next->go;
            } else {
                take(l, nobody, (time_point::max)());
            }
        }
        spare me(spares_);
        spares_ = &me;
        to->set();
        while (!me.called.wait()) continue;
        return me.next_loop;
    }

    // relaxed, both: see are_below()
    void hold() noexcept { holder_.store(standard_platform::this_thread(), std::memory_order_relaxed); }
    void hold_no_more() noexcept {
        holder_.store({}, std::memory_order_relaxed);  // as above
    }

    standard_platform::atomic<decltype(standard_platform::this_thread())> holder_{};
    // Of the thread that has the turn.
    std::vector<blocked*> blocked_;  // the one that came first is the first
    spare* spares_ = nullptr;
    loop* first_ = nullptr;   // of a stand-in that begins
    parker* base_ = nullptr;  // of the thread that runs the loop, while it waits for a turn

    standard_platform::atomic<std::size_t> stand_ins_{0};
    process_of_origin born_;
};

}  // namespace weir::detail

#endif
