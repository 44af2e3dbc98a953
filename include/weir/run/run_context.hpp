// weir run, internal: the state that all stages of a run share: executors, pauses, failures, checkpoints
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CONTEXT_HPP
#define WEIR_RUN_RUN_CONTEXT_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr, std::uncaught_exceptions
#include <memory>     // for std::shared_ptr
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// The rule by which a `wait_queue` (a line of waiting slots) decides: slots (workers of stages) wait while
// the run is paused, and are refused when the run is over. An `item_quota`, which limits the items of a
// stage, uses the rule, too: `paused` if no item is admitted.
struct pause_rule {
    using ticket = char;  // what a slot tells the rule: nothing here
    bool paused = false;
    bool over = false;
    admission ask(ticket) const noexcept {
        if (over) return admission::refused;
        return paused ? admission::wait : admission::go;
    }
};

// The rule by which a `wait_queue` decides: sources wait while the queues of the run hold too many bytes.
// When the run is over, this rule lets sources go on, and `pause_rule` refuses them.
struct budget_rule {
    using ticket = std::uint64_t;  // the sources that wait, as bits
    const byte_budget* budget;
    bool over = false;
    admission ask(ticket sources) const noexcept {
        return budget->is_spent(sources) && !over ? admission::wait : admission::go;
    }
};
// The limit of the bytes in all queues of a run together (`run_options::max_bytes`): above, sources wait.
class run_budget final : public byte_budget {
  public:
    explicit run_budget(std::size_t most) noexcept;
    void wake_sources() noexcept override {  // called when the limit has room again
        sources_.update([](budget_rule&) {});
    }
    void end() noexcept {  // the run ends
        sources_.update([](budget_rule& rule) { rule.over = true; });
    }
    template <class Slot>
    auto wait(std::uint64_t sources, Slot& me) noexcept {
        return sources_.wait(sources, me, slot_state::wait_turn);
    }

  private:
    wait_queue<budget_rule> sources_;
};

// The part of a run that does not depend on its policy, which says what the run measures. Each stage has a
// reference to the `run_context`.
class run_context : public detached_task_owner {
  public:
    run_context(executor& ex, run_options options);
    run_context(const run_context&) = delete;
    run_context& operator=(const run_context&) = delete;

    executor& main_executor() const noexcept { return *executor_; }
    // The executor for a stage. Called once for each stage, in the order in which items pass.
    executor& executor_of(const stage_options& options);

    // Calls `wait`, which blocks this thread. Meanwhile the thread also runs stages whose executors have no
    // threads of their own, if this thread is the one that runs such an executor: `executor::drive` tells.
    template <class Wait>
    auto drive_loops_in(Wait wait) const {
        if (loops_.empty()) return wait();
        const also_driven stages(&loops_);
        return wait();
    }

    // Whether at least one stage has a loop: an executor without threads of its own, and not the run's, which
    // a waiting thread drives anyway.
    bool has_loops() const noexcept { return !loops_.empty(); }

    // True in a forked child of the process that has the run's threads. Nothing of the run may be used there:
    // coroutines may be at any instruction, and locks may be held.
    bool orphaned() const noexcept { return !born_.is_here() && has_lost_threads(); }
    void check_threads() const {  // throws there
        if (orphaned()) throw forked_error();
    }

    // Throws `std::invalid_argument`, with the name of the stage and the `problem`, unless `is_valid`.
    static void refuse_unless(bool is_valid, const stage_options& options, const char* problem);
    static void check_time_limit(const stage_options& options);  // throws for a negative limit

    // The counter of the failures of all stages that have no `max_failures` of their own.
    failure_counter& failure_counts() noexcept { return failure_counts_; }
    // Whether a slot may have to wait before it begins with an item. The causes: a pause, the limit of bytes,
    // later stages (`run_options::later_stages_first`), or a profile, which tries one stage after the other.
    // Costs one load for each item. relaxed: a hint; if true, `stage_gate::must_wait` tests each cause.
    bool may_have_to_wait() const noexcept { return may_have_to_wait_.load(std::memory_order_relaxed); }

    // With `run_options::later_stages_first`: whether coroutines of later stages are ready, so that a slot on
    // this executor lets them run first.
    bool yields_to_later_stages(const executor& ex) const noexcept {
        return lanes_ && lanes_->has_more_urgent(ex);
    }

    // The epoch (pass over the data) with which the sources begin: 0, unless the run continues from a
    // checkpoint in a later epoch.
    std::uint64_t first_epoch() const noexcept { return first_epoch_; }

    // Called for a stage that makes epochs, such as a source with epochs or a cache: keeps `first`, the first
    // epoch of the stage. Throws if an earlier such stage has another first epoch.
    void set_first_epoch(std::uint64_t first);
    // The same for a source of draws (indices that the source's sampler chose). Also keeps `progress`, which
    // records which draws a consumer has taken. With a second such source, the run has no checkpoint.
    void add_progress(std::uint64_t first, std::shared_ptr<progress_listener> progress);
    const std::shared_ptr<progress_listener>& progress() const noexcept { return progress_; }
    // Why the run has no checkpoint; empty: it has one. Final when the run starts, as sources then decide
    // whether to record progress.
    std::string& why_no_checkpoint() noexcept { return why_no_checkpoint_; }
    // Says that a stage prevents checkpoints. `reason`: the end of a sentence whose subject is the stage with
    // these options.
    void set_no_checkpoint(const stage_options& options, const char* reason);
    // True while the stages in the branches of a `split` are added. A `split` divides each batch among its
    // branches. In their stages, the part of a batch counts as an epoch, which a mark in the queue ends.
    bool& is_in_split() noexcept { return is_in_split_; }
    // A reason for `why_no_checkpoint`: a source doesn't draw from a sampler, or two of them do.
    static constexpr auto one_sampler = "its one source has to be a sampler, which knows where to go on";

    // Whether slots must not begin with items, because the run is paused or ends. relaxed: only a hint;
    // `wait_for_resume` asks the rule, under the lock.
    bool is_paused() const noexcept { return paused_.load(std::memory_order_relaxed); }
    // Awaitable of bool: waits while the run is paused. False: the run ends.
    template <class Slot>
    auto wait_for_resume(Slot& me) noexcept {
        return pause_.wait(char(), me, slot_state::off);
    }
    void pause(bool paused) noexcept;  // true: begins a pause; false: ends it
    // Whether the stages are profiled (tried one by one): the `item_quota` of each stage limits its items.
    bool is_profiled() const noexcept { return is_profiled_; }
    void set_profiled(bool is_profiled) noexcept {
        change_pause([this, is_profiled](pause_rule&) { is_profiled_ = is_profiled; });
    }
    // The maximum number of invocations of each stage, chosen at random, whose times the statistics keep; 0:
    // they keep none.
    std::size_t recording() const noexcept { return options_.recording; }
    // Null: there is no limit of bytes.
    run_budget* budget() noexcept { return budget_ ? &*budget_ : nullptr; }
    // Stopped when the run is stopped, also by the destructor, so that the functions of stages return.
    const stop_token& own_stop() const noexcept { return own_stop_; }
    // Whether the functions of stages may have seen a stop request: of the run, or of `run_options::stop`,
    // before the run has reacted to it.
    bool may_give_up() const noexcept { return own_stop_.stop_requested() || options_.stop.stop_requested(); }

    // Whether the error is no failure: it is `stopped`, the exception of a wait that a stop has ended, and
    // the run was stopped.
    bool is_stopped_by(const std::exception_ptr& error) const noexcept;
    const std::vector<shared_hook>& hooks() const noexcept { return options_.hooks; }
    // The object that records the trace of some items; null: no report of the run needs a trace.
    run_trail* trail() const noexcept { return reports_.trail(); }
    // Tells the reports and the user's function `run_options::on_failure` of a failure.
    void report_failure(const failure& f);
    bool has_on_failure() const noexcept { return static_cast<bool>(options_.on_failure); }

    // Sets why the run ends. Called before the run ends; only the first call has an effect.
    void set_outcome(run_outcome how) noexcept;
    // acquire; pairs with set_outcome(): the caller sees all work before that call
    run_outcome outcome() const noexcept { return outcome_.load(std::memory_order_acquire); }
    // Whether a stop request was the first cause that ended the run, or is ending it.
    bool was_stopped() const noexcept {
        return outcome() == run_outcome::stopped || outcome() == run_outcome::stopped_by_token;
    }

    // Records a failure that stops the run. The outcome of the run becomes `failed`, unless an earlier cause
    // has set the outcome. `reported`: whether `run_options::on_failure` was called with the failure.
    void record(failure f, bool reported) noexcept;
    bool has_failed() const noexcept { return failures_.has_failed(); }
    // Whether an exception destroys the run: what the run has put elsewhere lacks items then.
    bool is_unwinding() const noexcept { return is_unwinding_.load(); }
    // Tells the reports why the stages have ended.
    void report_outcome() noexcept { reports_.end_by(outcome(), failures_.first_stage()); }
    void throw_failure() { failures_.throw_once(); }
    // Calls the failure sink, the function of `set_failure_sink`, if no consumer has got the failure that
    // ended the run, or the failure of `on_lap` or `on_end`. Called by the run's destructor, when no consumer
    // can take an item any more. After a stop or the end of the stream, failures of stages are not reported.
    template <class Name>
    void report_unseen_failure(Name name) noexcept {
        if (outcome() == run_outcome::failed || has_callback_failed_) failures_.report_unseen(name);
    }

    // Items processed by the last stage of a run without a consumer. relaxed: a count, which is complete
    // after the end of the run
    void count_done(std::uint64_t items) noexcept { num_done_.fetch_add(items, std::memory_order_relaxed); }
    std::uint64_t num_done() const noexcept { return num_done_.load(std::memory_order_relaxed); }

    // Called before one more worker starts: counts the worker. False: all coroutines of the run have ended,
    // and no worker may start.
    virtual bool try_add_worker() noexcept = 0;

    // Called by a worker (the coroutine of a slot) that takes no more items. The last worker requests a stop
    // at `all_left`, by which the coroutines end that report laps (parts of the run) and profile stages.
    void worker_left() noexcept;

  protected:
    ~run_context();

    // relaxed, both: called before the workers start, and a start orders the count before worker_left()
    void set_num_workers(std::size_t workers) noexcept {
        workers_left_.store(workers, std::memory_order_relaxed);
    }
    void count_added_worker() noexcept { workers_left_.fetch_add(1, std::memory_order_relaxed); }
    // The run ends: stops `own_stop`, and ends the waits for the end of a pause and for the limit of bytes.
    // `pause_rule` then refuses these slots. (`profiled_graph::end_profiling` ends the waits for a quota.)
    void release_waiting() noexcept;
    // Called by the run's destructor: more exceptions than when the run was made mean that one destroys it.
    void note_unwinding() noexcept { is_unwinding_.store(std::uncaught_exceptions() > exceptions_); }
    bool have_all_left() const noexcept { return all_left_.stop_requested(); }
    stop_token all_left() const noexcept { return all_left_.get_token(); }

    run_reports reports_;
    const run_options options_;
    bool has_callback_failed_ = false;  // `on_lap` or `on_end`; read when the coroutine that set it has ended

  private:
    // Whether the threads of one of the run's executors are missing here, as after a fork.
    WEIR_NOINLINE bool has_lost_threads() const noexcept {
        bool lost = executor_->orphaned();
        for (const executor_use& other : others_) lost = lost || other->orphaned();
        return lost;
    }

    template <class Change>
    void change_pause(Change change) noexcept {
        pause_.update([this, change](pause_rule& rule) {
            if (rule.over) return;
            change(rule);
            // relaxed: hints; the rule decides, under its lock
            paused_.store(rule.paused, std::memory_order_relaxed);
            may_have_to_wait_.store(rule.paused || is_profiled_ || lanes_ || budget_,
                                    std::memory_order_relaxed);
        });
    }

    const int exceptions_ = std::uncaught_exceptions();  // when the run was made: see note_unwinding()
    standard_platform::atomic<bool> is_unwinding_{false};
    const process_of_origin born_;  // tells whether this object was made before the last fork
    executor_use executor_;
    std::vector<executor_use> others_;  // the executors of stages that have one of their own
    std::vector<executor*> loops_;      // those of `others_` without threads of their own, each once
    later<priority_lanes> lanes_;       // with `run_options::later_stages_first`
    later<run_budget> budget_;          // with a limit of bytes
    std::uint64_t first_epoch_ = 0;
    bool has_epochs_ = false;                      // a stage has set first_epoch_
    std::shared_ptr<progress_listener> progress_;  // null: no source of draws
    std::string why_no_checkpoint_;
    bool is_in_split_ = false;
    standard_platform::atomic<bool> paused_{false};
    standard_platform::atomic<bool> may_have_to_wait_{false};
    bool is_profiled_ = false;  // changed under the lock of pause_; read there, or before the workers start
    wait_queue<pause_rule> pause_{pause_rule{}, "for the run to be resumed", wait_kind::outside};
    failure_record failures_;
    standard_platform::atomic<run_outcome> outcome_{run_outcome::running};
    standard_platform::atomic<std::uint64_t> num_done_{0};
    standard_platform::atomic<std::size_t> workers_left_{0};  // workers that still take items
    stop_source all_left_;  // requested by the last worker: see worker_left()
    stop_source own_stop_source_;
    const stop_token own_stop_{own_stop_source_.get_token()};
    failure_counter failure_counts_{options_.max_failures};
};

WEIR_COMPILED(class wait_queue<pause_rule>);
WEIR_COMPILED(class wait_queue<pause_rule>::awaiter<timed_slot<true>>);
WEIR_COMPILED(class wait_queue<budget_rule>);
WEIR_COMPILED(class wait_queue<budget_rule>::awaiter<timed_slot<true>>);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/run_context.ipp>
#endif

#endif
