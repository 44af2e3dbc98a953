// weir run, internal: the slots of a stage, their worker coroutines, and changes of the concurrency
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_WORKER_SET_HPP
#define WEIR_RUN_WORKER_SET_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/slot_accounting.hpp>

#include <coroutine>        // for std::coroutine_handle
#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::int64_t, std::uint64_t
#include <mutex>            // for std::lock_guard
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::declval
#include <vector>           // for std::vector

namespace weir::detail {

// The number of items with which a stage may still begin while its run is profiled (its stages are tried one
// by one); 0 before `admit`.
class item_quota {
  public:
    // Returns whether a slot (worker of the stage) may begin with its item. If true, subtracts the item from
    // the quota, unless `counted` is false, as for the mark that ends an epoch (a pass of the source
    // over its data). If false, the slot awaits `wait`, and calls this function again. `clock`: the executor
    // of the run.
    bool try_admit(const executor& clock, bool counted = true) noexcept;
    // Awaitable of bool: waits until items are admitted. False: the run ends.
    template <class Slot>
    auto wait(Slot& me) noexcept {
        return slots_.wait(char(), me, slot_state::off);
    }

    // Admits `items` items, instead of the admitted items that have not begun, and measures their pace.
    // `num_slots`: the number of slots of the stage.
    void admit(std::size_t items, std::size_t num_slots = 1) noexcept;
    // The pace of the items that were admitted last.
    pace_meter meter() const noexcept {
        return slots_.read([this](const pause_rule&) { return meter_; });
    }
    // Admits all items from now on. A quota that was opened remains open.
    void open() noexcept {
        is_open_.store(true, std::memory_order_relaxed);  // a slot that misses the store takes the lock
        admit(SIZE_MAX);
    }
    // The run ends: slots that wait are refused.
    void end() noexcept {
        slots_.update([](pause_rule& rule) { rule.over = true; });
    }

  private:
    standard_platform::atomic<bool> is_open_{false};  // all items are admitted: see open()
    std::size_t left_ = 0;  // items still admitted; guarded, as meter_ is, by the lock of slots_
    pace_meter meter_;
    wait_queue<pause_rule> slots_{pause_rule{true}, "for the other stages to be tried", wait_kind::outside};
};

// Awaitable of bool: waits for the end of a pause; without a pause, for coroutines of later stages that are
// ready (`run_options::later_stages_first`); else for the quota of the stage, if there is one. False: the run
// ends. Resumes on the stage's executor.
template <class Slot>
class [[nodiscard("co_await this, or the slot does not wait")]] admission_wait {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };

  public:
    admission_wait(run_context& run, executor& ex, Slot& me, item_quota* quota) noexcept
        : run_(run), executor_(ex), me_(me), quota_(quota),
          wait_(quota == nullptr || run.is_paused() ? run.wait_for_resume(me) : quota->wait(me)) {}
    bool await_ready() noexcept {
        // If a pause begins or ends after `must_wait`, the worker's next call of `must_wait` sees the change.
        uses_wait_ = run_.is_paused() || (quota_ != nullptr && !run_.yields_to_later_stages(executor_));
        return uses_wait_ ? wait_.await_ready() : !run_.yields_to_later_stages(executor_);
    }
    // Resumes on the stage's executor. A slot that waits for later stages is posted at once: its executor is
    // a lane (priority_lanes), which lets the ready coroutines of later stages run first. Any other slot is
    // posted by the thread that ends the pause, admits items to the stage, or ends the run.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if (uses_wait_) return wait_.await_suspend(h);
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
        return !uses_wait_ || wait_.await_resume();
    }

  private:
    run_context& run_;
    executor& executor_;
    Slot& me_;
    item_quota* quota_;
    decltype(std::declval<run_context&>().wait_for_resume(
        std::declval<Slot&>())) wait_;  // waits for the end of a pause, or for a quota
    bool uses_wait_ = false;            // the slot waits by `wait_`
    bool yields_ = false;               // the slot waits for later stages
};

// The rule by which a `wait_queue` (a line of waiting slots) decides: slots that a lower concurrency has
// taken out of service wait until the concurrency grows again. All slots are refused when the stage ends.
// relaxed: `set_concurrency` stores `recalled` before it takes the lock under which the queue asks the rule.
// The slots with the lowest numbers are in service, so the slots wait in the order of their numbers.
struct service_rule {
    using ticket = const slot*;
    bool over = false;
    admission ask(const slot* who) const noexcept {
        if (over) return admission::refused;
        return who->recalled.load(std::memory_order_relaxed) ? admission::wait : admission::go;
    }
    static bool goes_before(const slot* a, const slot* b) noexcept { return a->number() < b->number(); }
};

// The base of every stage of a run: where the stage runs, and whether its slots may begin with an item.
class stage_gate {
  public:
    stage_gate(run_context& run, executor& ex) noexcept : run_(run), executor_(ex) {}

    executor& own_executor() const noexcept { return executor_; }

    // Called before the run begins, if the run is profiled.
    void add_quota() { quota_ = owned<item_quota>(new item_quota()); }
    // Null: the run is not profiled.
    item_quota* quota() const noexcept { return quota_.get(); }

    run_context& run() const noexcept { return run_; }
    bool may_have_to_wait() const noexcept { return run_.may_have_to_wait(); }
    // Whether a slot has to wait before it begins with an item: for the end of a pause, for later stages, or
    // for the quota. If false, and if `counted`, the item is subtracted from the quota. Every worker asks
    // before each item, and again after each `wait_for_admission`. `sources`: for a source, its bit in the
    // masks of `byte_budget`, as sources also wait for the limit of bytes; else 0. `counted`: the slot begins
    // with an item, not with the end of an epoch.
    bool must_wait(std::uint64_t sources, bool counted) const noexcept {
        if (!run_.may_have_to_wait()) return false;
        if (run_.is_paused() || run_.yields_to_later_stages(executor_)) return true;
        if (sources != 0 && run_.budget() != nullptr && run_.budget()->is_spent(sources)) return true;
        return quota_ != nullptr && !quota_->try_admit(run_.main_executor(), counted);
    }

    // Waits for the end of a pause, for later stages, or for the quota: see `admission_wait`.
    template <class Slot>
    auto wait_for_admission(Slot& me) noexcept {
        return admission_wait<Slot>(run_, executor_, me, quota_.get());
    }

  protected:
    run_context& run_;
    executor& executor_;

  private:
    owned<item_quota> quota_;  // null: see quota()
};

// The slots of a stage. Each has a worker: a coroutine that `make_worker` of the derived class makes.
// `Policy`: what the run measures: `measured`, `summed` or `unmeasured`.
template <class Policy>
class worker_set : public stage_gate {
  public:
    using slot = slot_of<Policy>;

    worker_set(run_context& run, const stage_options& options);
    worker_set(const worker_set&) = delete;
    worker_set& operator=(const worker_set&) = delete;
    virtual ~worker_set() = default;

    const std::string& name() const noexcept { return name_; }
    const std::source_location& where() const noexcept { return where_; }

    // Makes a worker for each slot. Called before the start; may throw. The workers then wait for `start`.
    void make_workers() {
        for (const auto& s : slots_) workers_.push_back(make_worker(*s));
    }
    std::size_t num_workers() const noexcept { return slots_.size(); }
    std::size_t concurrency() const {
        const std::lock_guard guard(lock_);
        return concurrency_;
    }
    // The run begins at `now`, ns of its clock: the slots begin to measure.
    void begin(std::int64_t now) noexcept {
        begin_ = now;
        for (const auto& s : slots_) s->begin(now);
        for (const auto& each : samplers_) each->begin(now);
    }
    void start() noexcept {
        for (std::size_t i = 0; i < workers_.size(); ++i) start(i);
    }

    // Changes the number of slots in service: adds slots, or lets those with the highest numbers go.
    void set_concurrency(std::size_t concurrency);

    // Whether this kind of stage can have several slots.
    virtual bool is_resizable() const noexcept { return false; }
    // Whether the stage's function keeps its thread until it returns, because it never suspends.
    virtual bool blocks_threads() const noexcept { return false; }

    template <class Function>
    void for_each_slot(Function function) const {
        const std::lock_guard guard(lock_);
        for (const auto& each : slots_) function(*each);
    }

    // Appends all slots to `seen`, for a watchdog; with `states`, which takes locks, also their states.
    void inspect(stage_seen& seen, [[maybe_unused]] bool states) const;

    // Whether work of this stage is a caller on the stack of this thread. A thread of the library stores the
    // stage that it works for. For threads of other libraries, each measured slot stores its thread.
    bool is_below() const;

    // Adds the name, concurrency, times and invocations of the stage. The slots' times end at one instant, so
    // that their sum is slots x elapsed. This is `until`, or the last change of a state if that is later.
    // `still` gets the instant at which each slot entered its state.
    void add_times(stage_stats& s, std::int64_t until, stillness& still) const;

    // Called if no worker of the run can ever be resumed: destroys a worker that has not ended, and its wait.
    // False: all workers of this stage have ended.
    bool abandon_one() noexcept;

    // Called while the derived class still exists, to which the frames of the workers refer.
    void destroy_workers() noexcept { workers_.clear(); }

  public:
    using worker = detached_task<void>;
    virtual worker make_worker(slot& me) = 0;

    // For a resizable stage. Ends the wait of a slot for an item, so that the slot can go out of service.
    virtual void recall(slot& waiting) noexcept { static_cast<void>(waiting); }
    // Called once behind the calls of `recall`. Ends other waits of these slots, such as for an added item.
    virtual void recall_other_waits() noexcept {}

    // Awaitable of bool: waits until the slot is in service again. False: the stage has ended.
    auto wait_for_service(slot& me) noexcept { return out_of_service_.wait(&me, me, slot_state::off); }

    // Called by a worker that takes no more items. True: no other worker of the stage takes items any more.
    bool leave(slot& me) noexcept;
    // The slot enters the state `off`. `late`: reads the clock, as the worker has called hooks since.
    void go_off(slot& me, [[maybe_unused]] bool late) noexcept;

    std::int64_t now() const noexcept { return run_.main_executor().now().time_since_epoch().count(); }

  private:
    owned<slot> make_slot(std::size_t index);  // with what records samples and traces, if the run does
    void start(std::size_t i) noexcept;        // posts the worker of slot `i`
    // Counts one more worker in `present_`. Returns false, and counts none, if the last worker has left.
    bool join() noexcept;
    // Adds a slot and its worker, which is not started yet. Called under lock_.
    void add_slot();
    // Makes room for many slots at once, so that a number that is far too large is an error at once. One slot
    // after the other would first take all memory of the machine. Errors: memory_shortage.
    void reserve(std::size_t num_slots);
    const std::string name_;
    // The index of the stage in the trace (the ways of some items) of the run; 0 without a trace.
    const std::size_t index_in_trail_{run_.trail() != nullptr ? run_.trail()->add_stage(name_) : 0};
    const std::source_location where_;
    // Ends the waits of the workers at a stop. The address of the name identifies the stage.
    const end_token end_token_{&run_.own_stop(), &name_};
    // Guards the members below, up to concurrency_, against a change of the concurrency.
    mutable standard_platform::mutex lock_;
    std::vector<owned<slot_sampler>> samplers_;  // of the slots, if the run has a `recording`
    std::vector<owned<slot>> slots_;
    std::vector<worker> workers_;
    std::size_t concurrency_;                         // the number of slots in service
    std::int64_t begin_ = 0;                          // the start of the run, in ns of its clock
    standard_platform::atomic<std::size_t> present_;  // workers that may still take items
    wait_queue<service_rule> out_of_service_{service_rule{}, "out of service", wait_kind::bench};
};

WEIR_COMPILED(class admission_wait<timed_slot<true>>);
WEIR_COMPILED(class wait_queue<service_rule>);
WEIR_COMPILED(class wait_queue<service_rule>::awaiter<timed_slot<true>>);
WEIR_COMPILED(class worker_set<measured>);
WEIR_COMPILED(class worker_set<summed>);
WEIR_COMPILED(class worker_set<unmeasured>);

}  // namespace weir::detail

#include <weir/run/worker_set.ipp>

#endif
