// weir run, internal: where a slot that has an item waits until it may begin with it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_ADMISSION_GATE_HPP
#define WEIR_RUN_ADMISSION_GATE_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/turnstile.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <utility>    // for std::declval

namespace weir::detail {

// Awaitable of bool: of a pause, stages that go first, and the stage's turnstile, if it has one, waits for
// the first one. False: the run ends, and nothing is to begin. Resumes on the stage's executor.
template <class Slot>
class [[nodiscard("co_await this, or nothing holds it up")]] admission_gate {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };

  public:
    admission_gate(run_context& run, executor& ex, Slot& me, turnstile* stile) noexcept
        : run_(run), executor_(ex), me_(me), stile_(stile),
          pause_(stile == nullptr || run.is_paused() ? run.end_of_pause(me) : stile->wait(me)) {}
    bool await_ready() noexcept {
        // A pause that begins or ends meanwhile is found by who asks again.
        pauses_ = run_.is_paused() || (stile_ != nullptr && !run_.gives_way(executor_));
        return pauses_ ? pause_.await_ready() : !run_.gives_way(executor_);
    }
    // Resumes on the stage's executor: behind what is posted there, or posted by whoever ends the pause.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if (pauses_) return pause_.await_suspend(h);
        gives_way_ = true;
        if constexpr (is_measured) {
            me_.catch_up(detail::clock_of(me_));
            me_.enter(slot_state::runnable, me_.last_reading);
        }
        executor_.post(h);  // this frame may be running elsewhere from here on
        return true;
    }
    bool await_resume() noexcept {
        if (gives_way_) detail::slot_resumed(me_);
        return !pauses_ || pause_.await_resume();
    }

  private:
    run_context& run_;
    executor& executor_;
    Slot& me_;
    turnstile* stile_;
    decltype(std::declval<run_context&>().end_of_pause(std::declval<Slot&>())) pause_;
    bool pauses_ = false;
    bool gives_way_ = false;
};

}  // namespace weir::detail

#endif
