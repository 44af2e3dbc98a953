// weir run, internal: a started pipeline without its item type: start, laps, stop, end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CORE_HPP
#define WEIR_RUN_RUN_CORE_HPP

#include <weir/executor/errors.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/profiled_graph.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <cstdio>     // for std::fprintf
#include <cstdlib>    // for std::abort
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::forward, std::move

namespace weir::detail {

// Owns a run. Made by `pipeline::start`, and used by `run_control` and `run`.
template <class Policy>
class run_core final : public profiled_graph<Policy> {
    using base = profiled_graph<Policy>;
    using base::queues_;
    using base::stages_;

  public:
    using base::base;
    ~run_core() {
        try {
            stop();
        } catch (const std::logic_error& within_itself) {
            std::fprintf(stderr, "%s\n", within_itself.what());
            std::abort();
        }
        this->report_unseen_failure([this] { return this->description(); });
        this->leave_registry();
        for (auto& stage : stages_) stage->destroy_workers();
    }

    void start() {
        std::size_t workers = 0;
        for (auto& stage : stages_) {
            stage->make_workers();
            workers += stage->num_workers();
        }
        if (this->is_profiled()) {
            this->hold_stages();
            static_cast<void>(profiling_.emplace(profile_stages()));
        }
        if (has_laps() || has_end()) static_cast<void>(reporter_.emplace(report_laps()));
        if (Policy::statistics && this->trail() != nullptr) this->mark_queues(*this->trail());
        if (!this->reports_.empty()) announce();
        // Nothing below throws.
        this->begin_ = this->main_executor().now();
        if (this->trail() != nullptr) this->trail()->begin(this->begin_.time_since_epoch().count());
        if (Policy::statistics && !this->main_executor().traits().exclusive) this->process_.begin();
        this->expect_workers(workers);
        left_.store(workers + (reporter_ ? 1U : 0U) + (profiling_ ? 1U : 0U), std::memory_order_relaxed);
        started_ = true;
        on_all_left_.emplace(this->all_left(), end_run{this});
        bool announced = true;
        for (auto& stage : stages_) announced = announced && stage->call_begin_hooks();
        const std::int64_t now = this->begin_.time_since_epoch().count();
        for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i]->start_measuring(now, i == this->last_);
        for (auto& stage : stages_) stage->begin(now);
        if (!this->main_executor().traits().exclusive)
            the_registry->add(*this);  // after everything has begun
        // With later_stages_first, later stages start first, so that no earlier stage runs before them.
        const std::size_t n = stages_.size();
        const bool last_first = this->options_.later_stages_first;
        for (std::size_t i = 0; i < n; ++i) stages_[last_first ? n - 1 - i : i]->start();
        if (reporter_) reporter_->start(this->main_executor(), nullptr, *this);
        if (profiling_) profiling_->start(this->main_executor(), nullptr, *this);
        if (!announced) cancel();
        if (this->options_.stop.stop_possible()) on_stop_.emplace(this->options_.stop, cancel_run{this});
    }

    // Ends all queues, so that every worker ends after its current item. At any time.
    void cancel() noexcept {
        this->release_waiting();
        this->end_profiling();
        for (auto& queue : queues_) queue->cancel();
    }

    // Ends the stages, but not the queue from which the consumer takes their last results.
    void cancel_stages() noexcept {
        for (std::size_t i = 0; i < queues_.size(); ++i) {
            if (i != this->last_) queues_[i]->cancel();
        }
    }

    // Asks the run to end, without waiting. Also from its own work.
    void request_stop(run_outcome how = run_outcome::stopped) noexcept {
        this->set_outcome(how);
        cancel();
    }

    // The same, and blocks until all coroutines of the run have ended. Any number of threads.
    void stop() {
        if (!started_) return;
        refuse_within_run();
        request_stop();
        join();
        freeze();
        if (this->end_) this->end_->close();  // if its stage was abandoned
    }

    // Throws in work of this run, which would wait for its own end for ever.
    void refuse_within_run() const {
        std::string who;
        if (trampoline::is_below(this)) who = this->all_left().stop_requested() ? "on_end" : "on_lap";
        for (const auto& stage : stages_) {
            if (who.empty() && stage->is_below()) who = "stage '" + stage->name() + "'";
        }
        if (who.empty()) return;
        throw std::logic_error("weir: " + who +
                               " can't wait for the end of its own run, as stop(), wait(), drain() and the "
                               "destructor do: request_stop() asks for it, and returns at once");
    }

    void end() noexcept override { request_stop(); }
    bool try_add_worker() noexcept override {
        // relaxed, both: a worker that is left orders it, or nothing happens. 0 is final: the run may be
        // destroyed then.
        std::size_t left = left_.load(std::memory_order_relaxed);
        do {
            if (left == 0) return false;
        } while (!left_.compare_exchange_weak(left, left + 1, std::memory_order_relaxed));
        this->count_added_worker();
        return true;
    }

    const progress_recorder& recorder() {
        if (this->why_no_checkpoint().empty()) return *this->progress()->recorder();
        throw std::logic_error("weir: this run has no checkpoint: " + this->why_no_checkpoint());
    }

    // acq_rel; pairs with has_ended(): a reader of the end sees all work before it; and with end_run
    void mark_ended() noexcept {
        this->set_outcome(run_outcome::finished);
        ended_.fetch_or(1, std::memory_order_acq_rel);
    }
    // acquire; pairs with mark_ended()
    bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire) != 0; }

    // Called at the end of each coroutine of the run.
    void ended() noexcept override {
        // acq_rel; pairs with itself: the last one sees what the others did. A thread that waits may destroy
        // the run during the call: the stop state lives until it returns.
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) nothing_left_.request_stop();
    }

    // The end of the stream was seen: the statistics end now; or, if workers are still at work after a stop
    // or a failure, when the last of them ends and calls this.
    void freeze() noexcept {
        if (!this->have_all_left()) return;
        this->process_.end();
        std::int64_t expected = base::running;
        // release; pairs with stats()
        this->frozen_at_.compare_exchange_strong(expected, this->now(), std::memory_order_release,
                                                 std::memory_order_relaxed);
    }

  private:
    struct cancel_run {
        run_core* run;
        void operator()() const noexcept {
            if (!run->orphaned()) run->request_stop(run_outcome::stopped_by_token);
        }
    };

    // Called when all stages have ended. A run without a consumer has then ended, too.
    struct end_run {
        run_core* run;
        void operator()() const noexcept {
            if (run->end_) run->mark_ended();
            // acq_rel; pairs with mark_ended(): the second of the two freezes
            if (run->ended_.fetch_or(0, std::memory_order_acq_rel) != 0) run->freeze();
        }
    };

    void join() {
        parker done;
        const stop_callback when_over(nothing_left_.get_token(), [&done]() noexcept { done.set(); });
        while (!done.is_set()) {
            try {
                detail::block_until(done, this->main_executor());
            } catch (const deadlock_error&) {
                // Virtual time: a stage's function waits for an event that never comes. Its frame is
                // destroyed, which ends its waits; then others may continue.
                abandon_one();
            }
        }
    }

    void abandon_one() noexcept {
        for (auto& stage : stages_) {
            if (!stage->abandon_one()) continue;
            this->worker_left();
            ended();
            return;
        }
    }

    detached_task<void> report_laps() {
        pipeline_stats before;
        time_point end = this->begin_;
        const duration length = has_laps() ? this->options_.lap : (duration::max)();
        while (true) {
            // If the last lap was late by a lap or more, both are one lap. Not counted one by one: a clock
            // may be set ahead by years.
            const time_point t = this->main_executor().now();
            if (end <= t) end = weir::saturating_add(t, length - (t - end) % length);
            const bool whole = co_await weir::sleep_until(end, this->all_left(), timer_order::before_all);
            if (!whole || end == (time_point::max)()) break;
            if (!tell("on_lap", before, [this](const pipeline_stats& lap, const pipeline_stats&) {
                    this->reports_.tell([&lap](run_report& r) { r.lap(lap); });
                    if (this->options_.on_lap) this->options_.on_lap(lap);
                })) {
                cancel_stages();
                break;
            }
        }
        if (!has_end()) co_return;
        co_await weir::sleep_until((time_point::max)(), this->all_left());
        static_cast<void>(
            tell("on_end", before, [this](const pipeline_stats& rest, const pipeline_stats& all) {
                this->reports_.tell([&](run_report& r) { r.ends(rest, all); });
                if (this->options_.on_end) this->options_.on_end(rest, all);
            }));
    }
    void announce() {
        // At time 0, as nothing has begun: else slots would have been off since the clock's first instant.
        pipeline_stats all = this->stats_until([] { return std::int64_t{0}; });
        all.process.reset();
        this->reports_.tell([&all](run_report& r) { r.begins(all); });
    }
    bool has_laps() const noexcept {
        return this->options_.lap > duration(0) && (this->options_.on_lap || !this->reports_.empty());
    }
    bool has_end() const noexcept { return this->options_.on_end || !this->reports_.empty(); }
    // Calls `told` with the statistics since `before`, and all. False: it threw, and the run fails.
    template <class Told>
    bool tell(const char* whom, pipeline_stats& before, const Told& told) noexcept {
        std::exception_ptr error;
        try {
            pipeline_stats all = this->stats();
            const pipeline_stats since = all - before;
            trampoline::is_work_of(this);  // only an executor resumes this coroutine
            told(since, all);
            before = std::move(all);
            return true;
        } catch (...) {
            error = std::current_exception();
        }
        this->record(failure(whom, 0, error), false);
        return false;
    }

    // Calls the profiler from time to time, as stages do not report that they are idle; at once when all
    // workers have ended.
    detached_task<void> profile_stages() {
        while (const std::optional<time_point> next = this->take_step()) {
            static_cast<void>(co_await weir::sleep_until(*next, this->all_left()));
        }
        this->release_stages();
    }

    bool started_ = false;
    standard_platform::atomic<unsigned> ended_{0};  // 1: a consumer has seen the end
    standard_platform::atomic<std::size_t> left_{0};
    stop_source nothing_left_;  // stopped when left_ is 0
    // Destroyed in reverse: the callback first.
    std::optional<detached_task<void>> reporter_;
    std::optional<detached_task<void>> profiling_;
    std::optional<stop_callback<end_run>> on_all_left_;
    std::optional<stop_callback<cancel_run>> on_stop_;
};

WEIR_COMPILED(class run_core<measured>);
WEIR_COMPILED(class run_core<summed>);
WEIR_COMPILED(class run_core<unmeasured>);

}  // namespace weir::detail

#endif
