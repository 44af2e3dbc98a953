// weir run, internal: what all stages of a run share: executors, pauses, failures, the end, checkpoints
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CONTEXT_HPP
#define WEIR_RUN_RUN_CONTEXT_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/errors.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <cstdio>     // for std::fputs
#include <exception>  // for std::rethrow_exception
#include <memory>     // for std::shared_ptr
#include <mutex>      // for std::lock_guard
#include <optional>   // for std::optional
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::exchange, std::move
#include <vector>     // for std::vector

namespace weir::detail {

// Slots wait while it is paused, and are refused when it is over.
struct pause_rule {
    using ticket = char;
    bool paused = false;
    bool over = false;
    admission ask(ticket) const noexcept {
        if (over) return admission::refused;
        return paused ? admission::wait : admission::go;
    }
};

// Sources wait while the queues of the run hold too many bytes.
struct budget_rule {
    using ticket = std::uint64_t;  // the sources that wait, as bits
    const byte_budget* budget;
    bool over = false;
    admission ask(ticket sources) const noexcept {
        return budget->is_spent(sources) && !over ? admission::wait : admission::go;
    }
};
// The limit of bytes of a run: see `run_options::max_bytes`.
class run_budget final : public byte_budget {
  public:
    explicit run_budget(std::size_t most) noexcept
        : byte_budget(most),
          room_(budget_rule{this}, "for the run's queues to hold fewer bytes", wait_kind::room) {}
    void has_room() noexcept override {
        room_.update([](budget_rule&) {});
    }
    void end() noexcept {
        room_.update([](budget_rule& rule) { rule.over = true; });
    }
    template <class Slot>
    auto wait(std::uint64_t sources, Slot& me) noexcept {
        return room_.wait(sources, me, slot_state::wait_turn);
    }

  private:
    wait_queue<budget_rule> room_;
};

// The state of a run that is no template, by which stages know their run.
class run_context : public detached_task_owner {
  public:
    run_context(executor& ex, run_options options)
        : reports_(std::move(options.reports), options.hooks), options_(std::move(options)),
          executor_(&ex, executor_user::run) {
        refuse_if(options_.lap < duration(0), "weir: a lap can't be negative; 0 means no laps");
        refuse_negative(options_.max_bytes, "weir: the max_bytes of a run were negative; 0 means no limit");
        check_threads_of(ex);
        if (options_.later_stages_first) lanes_.emplace(ex);
        if (options_.max_bytes != 0) budget_.emplace(options_.max_bytes);
        change_pause([](pause_rule&) {});
    }
    run_context(const run_context&) = delete;
    run_context& operator=(const run_context&) = delete;

    executor& main_executor() const noexcept { return *executor_; }
    // The executor for a stage. Called once for each stage, in the order in which items pass.
    executor& executor_of(const stage_options& options) {
        if (options.executor != nullptr && !executor_->traits().exclusive) {
            check_threads_of(*options.executor);
            others_.emplace_back(options.executor, executor_user::run);
            return *options.executor;
        }
        return lanes_ ? lanes_->add() : *executor_;
    }

    // True in a forked child of the process that has the run's threads. Nothing of the run may be used there:
    // coroutines may be at any instruction, and locks may be held.
    bool orphaned() const noexcept { return !born_.is_here() && has_lost_threads(); }
    void check_threads() const {
        if (orphaned()) throw forked_error();
    }

    static void refuse_unless(bool right, const stage_options& options, const char* what) {
        if (!right) throw std::invalid_argument("weir: stage '" + options.name + "' " + what);
    }

    // The counts for stages without a failure limit of their own.
    failure_counter& failure_counts() noexcept { return failure_counts_; }
    // Whether a slot may have to wait before it begins with an item: for a pause, the limit of bytes, later
    // stages, a profile. One load for each item; only if true, `stage_gate::must_wait` looks at each of them.
    bool may_have_to_wait() const noexcept { return may_have_to_wait_.load(std::memory_order_relaxed); }

    // Whether coroutines of later stages are ready, so that a slot on this executor lets them run first.
    bool yields_to_later_stages(const executor& ex) const noexcept {
        return lanes_ && lanes_->has_more_urgent(ex);
    }

    // The first epoch of the sources.
    std::uint64_t first_epoch() const noexcept { return first_epoch_; }

    // Called for a source with epochs, the first of which is `first`. `progress` records which draws of the
    // source a consumer has taken.
    void add_progress(std::uint64_t first, std::shared_ptr<progress_listener> progress) {
        if (progress_ && first != first_epoch_) {
            throw std::invalid_argument("weir: the sources of this run begin with epochs " +
                                        std::to_string(first_epoch_) + " and " + std::to_string(first) +
                                        "; they can only be joined if they are at the same one");
        }
        if (progress_) why_no_checkpoint_ = one_sampler;
        first_epoch_ = first;
        progress_ = std::move(progress);
    }
    const std::shared_ptr<progress_listener>& progress() const noexcept { return progress_; }
    // Why the run has no checkpoint; empty: it has one. Final when the run starts, as sources then decide
    // whether to record progress.
    std::string& why_no_checkpoint() noexcept { return why_no_checkpoint_; }
    void set_no_checkpoint(const stage_options& options, const char* as_it) {
        why_no_checkpoint_ = "stage '" + options.name + "' " + as_it;
    }
    static constexpr auto one_sampler = "its one source has to be a sampler, which knows where to go on";

    // Whether slots must not begin with items. Only a hint: `wait_for_resume` looks under the lock.
    bool is_paused() const noexcept { return paused_.load(std::memory_order_relaxed); }
    // Awaitable of bool: waits while the run is paused. False: the run ends.
    template <class Slot>
    auto wait_for_resume(Slot& me) noexcept {
        return pause_.wait(char(), me, slot_state::off);
    }
    void pause(bool paused) noexcept {
        change_pause([paused](pause_rule& rule) { rule.paused = paused; });
    }
    // Whether the stages are profiled, and their quotas count.
    bool is_profiled() const noexcept { return is_profiled_; }
    void set_profiled(bool is_profiled) noexcept {
        change_pause([this, is_profiled](pause_rule&) { is_profiled_ = is_profiled; });
    }
    // Null: there is no limit of bytes.
    run_budget* budget() noexcept { return budget_ ? &*budget_ : nullptr; }
    // Stopped when the run is stopped: asks stage functions to return.
    const stop_token& ends() const noexcept { return ended_; }
    // Whether functions may have been asked to return: also by `run_options::stop`, before the run noticed.
    bool may_give_up() const noexcept { return ended_.stop_requested() || options_.stop.stop_requested(); }

    // Whether the error is `stopped` in a run that was stopped, and so is no failure.
    bool is_stopped_by(const std::exception_ptr& error) const noexcept {
        if (!ended_.stop_requested()) return false;
        try {
            std::rethrow_exception(error);
        } catch (const stopped&) {
            return true;
        } catch (...) {
            return false;
        }
    }
    const std::vector<shared_hook>& hooks() const noexcept { return options_.hooks; }
    run_trail* trail() const noexcept { return reports_.trail(); }
    void tell(const failure& f) {
        reports_.tell([&f](run_report& r) { r.failed(f); });
        if (options_.on_failure) options_.on_failure(f);
    }
    bool has_on_failure() const noexcept { return static_cast<bool>(options_.on_failure); }

    // Called before the run ends; the first call counts.
    void set_outcome(run_outcome how) noexcept {
        run_outcome before = run_outcome::running;
        // acq_rel; pairs with outcome(): its caller sees all that came before
        outcome_.compare_exchange_strong(before, how, std::memory_order_acq_rel);
    }
    // acquire; pairs with set_outcome()
    run_outcome outcome() const noexcept { return outcome_.load(std::memory_order_acquire); }
    // Whether a stop was the first cause of the end.
    bool was_stopped() const noexcept {
        return outcome() == run_outcome::stopped || outcome() == run_outcome::stopped_by_token;
    }

    // A failure stops the run. `reported`: `on_failure` was called.
    void record(failure f, bool reported) noexcept {
        set_outcome(run_outcome::failed);
        failures_.add(std::move(f), reported);
    }
    bool has_failed() const noexcept { return failures_.has_failed(); }
    void throw_failure() { failures_.throw_once(); }
    // Called by the destructor: no consumer asks any more. Failures after a stop are not reported.
    template <class Name>
    void report_unseen_failure(Name name) noexcept {
        if (outcome() == run_outcome::failed) failures_.report_unseen(name);
    }

    // Items processed by the `for_each` of a run without a consumer. relaxed: a count; after the end of the
    // run it is complete
    void count_done(std::uint64_t items) noexcept { num_done_.fetch_add(items, std::memory_order_relaxed); }
    std::uint64_t num_done() const noexcept { return num_done_.load(std::memory_order_relaxed); }

    // Called before one more worker starts. False: all workers have ended, and the run may end now.
    virtual bool try_add_worker() noexcept = 0;

    // Called by a worker that takes no more items. The last one ends the laps.
    void worker_left() noexcept {
        // acq_rel; pairs with itself: the last one sees what the others did
        if (workers_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_left_.request_stop();
    }

  protected:
    ~run_context() = default;

    // relaxed, both: the start of a worker orders them
    void expect_workers(std::size_t workers) noexcept {
        workers_left_.store(workers, std::memory_order_relaxed);
    }
    void count_added_worker() noexcept { workers_left_.fetch_add(1, std::memory_order_relaxed); }
    // The run ends: refuses all slots that wait for admission, so that they end.
    void release_waiting() noexcept {
        ends_.request_stop();
        if (budget_) budget_->end();
        pause_.update([this](pause_rule& rule) {
            rule.over = true;
            paused_.store(true, std::memory_order_relaxed);  // slots ask, and are refused
            may_have_to_wait_.store(true, std::memory_order_relaxed);
        });
    }
    bool have_all_left() const noexcept { return all_left_.stop_requested(); }
    stop_token all_left() const noexcept { return all_left_.get_token(); }

    run_reports reports_;
    const run_options options_;

  private:
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

    const process_of_origin born_;
    executor_use executor_;
    std::vector<executor_use> others_;  // of stages
    std::optional<priority_lanes> lanes_;
    std::optional<run_budget> budget_;
    std::uint64_t first_epoch_ = 0;
    std::shared_ptr<progress_listener> progress_;
    std::string why_no_checkpoint_;
    standard_platform::atomic<bool> paused_{false};
    standard_platform::atomic<bool> may_have_to_wait_{false};
    bool is_profiled_ = false;  // under the lock of pause_
    wait_queue<pause_rule> pause_{pause_rule{}, "for the run to be resumed", wait_kind::outside};
    failure_record failures_;
    standard_platform::atomic<run_outcome> outcome_{run_outcome::running};
    standard_platform::atomic<std::uint64_t> num_done_{0};
    standard_platform::atomic<std::size_t> workers_left_{0};
    stop_source all_left_;
    stop_source ends_;
    const stop_token ended_{ends_.get_token()};
    failure_counter failure_counts_{options_.max_failures};
};

}  // namespace weir::detail

#endif
