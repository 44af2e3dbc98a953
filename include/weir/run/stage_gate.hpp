// weir run, internal: where a slot of a stage waits before it begins with an item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_GATE_HPP
#define WEIR_RUN_STAGE_GATE_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::make_unique, std::unique_ptr
#include <utility>    // for std::declval

namespace weir::detail {

// Limits with how many items a stage begins while its run is profiled: with none before `admit`.
class item_quota {
  public:
    // Whether a slot may begin with an item, or with the end of an epoch, which is not `counted`. If not, the
    // slot waits, and asks again. `clock`: the executor of the run.
    bool try_admit(const executor& clock, bool counted = true) noexcept;
    // Awaitable of bool: waits until items are admitted. False: the run ends.
    template <class Slot>
    auto wait(Slot& me) noexcept {
        return slots_.wait(char(), me, slot_state::off);
    }

    // Admits so many items from now on, and measures their pace in a stage of `num_slots` slots.
    void admit(std::size_t items, std::size_t num_slots = 1) noexcept;
    // The pace of the items that were admitted last.
    pace_meter meter() const noexcept;
    // Admits all items from now on, for good.
    void open() noexcept;
    // The run ends: slots that wait are refused.
    void end() noexcept;

  private:
    standard_platform::atomic<bool> is_open_{false};
    std::size_t left_ = 0;  // under the lock of slots_, as meter_
    pace_meter meter_;
    wait_queue<pause_rule> slots_{pause_rule{true}, "for the other stages to be tried", wait_kind::outside};
};

// Awaitable of bool: waits for the end of a pause, for later stages, or for the quota of the stage, but only
// for the first of them that applies. False: the run ends. Resumes on the stage's executor.
template <class Slot>
class [[nodiscard("co_await this, or the slot does not wait")]] admission_wait {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };

  public:
    admission_wait(run_context& run, executor& ex, Slot& me, item_quota* quota) noexcept
        : run_(run), executor_(ex), me_(me), quota_(quota),
          closed_(quota == nullptr || run.is_paused() ? run.wait_for_resume(me) : quota->wait(me)) {}
    bool await_ready() noexcept {
        // If a pause begins or ends meanwhile, the slot finds out when it asks again.
        is_closed_ = run_.is_paused() || (quota_ != nullptr && !run_.yields_to_later_stages(executor_));
        return is_closed_ ? closed_.await_ready() : !run_.yields_to_later_stages(executor_);
    }
    // Resumes on the stage's executor: behind the coroutines that are posted there, or posted by the thread
    // that ends the pause.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if (is_closed_) return closed_.await_suspend(h);
        yields_ = true;
        if constexpr (is_measured) {
            me_.catch_up(detail::clock_of(me_));
            me_.enter(slot_state::runnable, me_.last_reading);
        }
        executor_.post(h);  // the frame may run on another thread from here on
        return true;
    }
    bool await_resume() noexcept {
        if (yields_) detail::slot_resumed(me_);
        return !is_closed_ || closed_.await_resume();
    }

  private:
    run_context& run_;
    executor& executor_;
    Slot& me_;
    item_quota* quota_;
    decltype(std::declval<run_context&>().wait_for_resume(
        std::declval<Slot&>())) closed_;  // waits for a pause or a quota
    bool is_closed_ = false;
    bool yields_ = false;
};

// Slots that a lower concurrency took out of service wait until it grows again, or the stage ends.
struct service_rule {
    using ticket = const slot*;
    bool over = false;
    admission ask(const slot* who) const noexcept;
};

// The base of every stage of a run: where the stage runs, and whether its slots may begin with an item.
class stage_gate {
  public:
    stage_gate(run_context& run, executor& ex) noexcept : run_(run), executor_(ex) {}

    executor& own_executor() const noexcept { return executor_; }

    // Called before the run begins, if it is profiled.
    void add_quota() { quota_ = std::make_unique<item_quota>(); }
    // Null: the run is not profiled.
    item_quota* quota() const noexcept { return quota_.get(); }

    run_context& run() const noexcept { return run_; }
    bool may_have_to_wait() const noexcept { return run_.may_have_to_wait(); }
    // Whether a slot has to wait before it begins with an item: for the end of a pause, for later stages, or
    // for its quota. Every worker asks before each item, and again after each `wait_for_admission`.
    // `sources`: the sources of the run that the stage is, as bits; sources also wait for the limit of bytes.
    // `counted`: the slot begins with an item, not with the end of an epoch.
    bool must_wait(std::uint64_t sources, bool counted) const noexcept;

    // See `admission_wait`.
    template <class Slot>
    auto wait_for_admission(Slot& me) noexcept {
        return admission_wait<Slot>(run_, executor_, me, quota_.get());
    }

  protected:
    run_context& run_;
    executor& executor_;

  private:
    std::unique_ptr<item_quota> quota_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/stage_gate.ipp>
#endif

#endif
