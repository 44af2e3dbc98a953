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
#include <cstdint>    // for SIZE_MAX, std::uint64_t
#include <memory>     // for std::make_unique, std::unique_ptr
#include <utility>    // for std::declval

namespace weir::detail {

// Lets nobody in before it is told to. What it lets in it counts, so that a stage begins with exactly so
// many.
class item_quota {
  public:
    // Asks for one item, which counts, or the end of an epoch, which doesn't. False: not now; a slot then
    // waits, and asks again. `clock`: that of the run.
    bool try_admit(const executor& clock, bool counts = true) noexcept {
        // relaxed: once it is open it stays so, and who doesn't see it yet asks under the lock
        if (is_open_.load(std::memory_order_relaxed)) return true;
        bool mine = false;
        room_.update([this, &clock, counts, &mine](pause_rule& rule) {
            mine = left_ != 0;
            if (!mine || !counts) return;
            meter_.count_item([&clock] { return clock.now().time_since_epoch().count(); });
            if (--left_ == 0) rule.paused = true;
        });
        return mine;
    }
    // Awaitable of bool; false: the run ends, and nothing is to begin any more.
    template <class Slot>
    auto wait(Slot& me) noexcept {
        return room_.wait(char(), me, slot_state::off);
    }

    // Lets so many in from now on, and nobody behind them. With `slots` at a time their pace is measured.
    void admit(std::size_t items, std::size_t num_slots = 1) noexcept {
        room_.update([this, items, num_slots](pause_rule& rule) {
            left_ = items;
            if (items != 0) meter_.restart(num_slots);
            rule.paused = items == 0;
        });
    }
    // Of those that were let in last.
    pace_meter meter() const noexcept {
        return room_.read([this](const pause_rule&) { return meter_; });
    }
    // Lets in whoever comes, for good.
    void open() noexcept {
        is_open_.store(true, std::memory_order_relaxed);
        admit(SIZE_MAX);
    }
    // The run ends.
    void end() noexcept {
        room_.update([](pause_rule& rule) { rule.over = true; });
    }

  private:
    standard_platform::atomic<bool> is_open_{false};
    std::size_t left_ = 0;  // under the room's lock, as the meter
    pace_meter meter_;
    wait_queue<pause_rule> room_{pause_rule{true}, "for the other stages to be tried", wait_kind::outside};
};

// Awaitable of bool: of a pause, stages that go first, and the stage's item_quota, if it has one, waits for
// the first one. False: the run ends, and nothing is to begin. Resumes on the stage's executor.
template <class Slot>
class [[nodiscard("co_await this, or nothing holds it up")]] admission_wait {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };

  public:
    admission_wait(run_context& run, executor& ex, Slot& me, item_quota* quota) noexcept
        : run_(run), executor_(ex), me_(me), stile_(quota),
          pause_(quota == nullptr || run.is_paused() ? run.wait_for_resume(me) : quota->wait(me)) {}
    bool await_ready() noexcept {
        // A pause that begins or ends meanwhile is found by who asks again.
        pauses_ = run_.is_paused() || (stile_ != nullptr && !run_.yields_to_later_stages(executor_));
        return pauses_ ? pause_.await_ready() : !run_.yields_to_later_stages(executor_);
    }
    // Resumes on the stage's executor: behind what is posted there, or posted by whoever ends the pause.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if (pauses_) return pause_.await_suspend(h);
        yields_ = true;
        if constexpr (is_measured) {
            me_.catch_up(detail::clock_of(me_));
            me_.enter(slot_state::runnable, me_.last_reading);
        }
        executor_.post(h);  // this frame may be running elsewhere from here on
        return true;
    }
    bool await_resume() noexcept {
        if (yields_) detail::slot_resumed(me_);
        return !pauses_ || pause_.await_resume();
    }

  private:
    run_context& run_;
    executor& executor_;
    Slot& me_;
    item_quota* stile_;
    decltype(std::declval<run_context&>().wait_for_resume(std::declval<Slot&>())) pause_;
    bool pauses_ = false;
    bool yields_ = false;
};

// Where slots are that were taken out of service, until they are wanted again or the stage ends.
struct service_rule {
    using ticket = const slot*;
    bool over = false;
    admission ask(const slot* who) const noexcept {
        if (over) return admission::refused;
        return who->recalled.load(std::memory_order_relaxed) ? admission::wait : admission::go;
    }
};

// The base of every stage of a run.
class stage_gate {
  public:
    stage_gate(run_context& run, executor& ex) noexcept : run_(run), executor_(ex) {}

    // Where it runs.
    executor& own_executor() const noexcept { return executor_; }

    // Before the run begins: its stages are to be tried one by one.
    void add_quota() { quota_ = std::make_unique<item_quota>(); }
    // Null: they aren't.
    item_quota* quota() const noexcept { return quota_.get(); }

    run_context& run() const noexcept { return run_; }
    bool may_be_held_up() const noexcept { return run_.may_have_to_wait(); }
    // Whether a slot has to wait before it begins with an item: for the end of a pause, for stages that go
    // first, or for other stages that are tried alone. Every worker asks before each item, and again whenever
    // it has awaited `admitted`. `sources`: which sources of the run the stage is, as a set of bits: too many
    // bytes in the queues of the run hold those up, too. `counts`: the slot begins with an item, not with the
    // end of an epoch; only an item is counted as admitted.
    bool must_wait(std::uint64_t sources, bool counts) const noexcept {
        if (!run_.may_have_to_wait()) return false;
        if (run_.is_paused() || run_.yields_to_later_stages(executor_)) return true;
        if (sources != 0 && run_.budget() != nullptr && run_.budget()->is_spent(sources)) return true;
        return quota_ != nullptr && !quota_->try_admit(run_.main_executor(), counts);
    }

    // Awaitable of bool: waits for the first of these things. False: the run ends, and nothing is to begin.
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

#endif
