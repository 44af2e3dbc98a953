// weir run, internal: a started pipeline without its item type: start, laps, stop, end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CORE_HPP
#define WEIR_RUN_RUN_CORE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/profiled_graph.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::forward, std::move

namespace weir::detail {

// Owns the queues, stages and coroutines of a run, and ends them. Made by `pipeline::start`, and used by
// `run_control` and `run`. `Policy`: what the run measures: `measured`, `summed` or `unmeasured`.
template <class Policy>
class run_core final : public profiled_graph<Policy> {
    using base = profiled_graph<Policy>;
    using base::queues_;
    using base::stages_;

  public:
    using base::base;
    ~run_core();

    // Starts all coroutines of the run. If it throws, none was started.
    void start();

    // Ends all queues, and destroys their items, so that every worker (a coroutine of a stage) ends after its
    // current item. May be called at any time.
    void cancel() noexcept;

    // Ends the run as `cancel`, after a failure of a callback. But the queue from which the consumer (the
    // user's code) takes is only closed to new items: so it still gets the results that were finished before.
    void cancel_stages() noexcept;

    // Requests the end of the run, without waiting. May be called in work of the run: in a stage's function,
    // a hook, a callback or a report.
    void request_stop(run_outcome how = run_outcome::stopped) noexcept;

    // Requests the end of the run, and blocks until all coroutines of the run have ended. May be called by
    // any number of threads. Throws as `refuse_within_run`. Does nothing before `start`.
    void stop();

    // Throws `std::logic_error` in work of this run: a wait for the end of the run would last for ever there.
    void refuse_within_run() const;

    // Called by a profiler (`profiled_run::end`).
    void end() noexcept override { request_stop(); }
    // Counts one more worker, as a concurrency grows. False: all coroutines of the run have ended, so none
    // may start.
    bool try_add_worker() noexcept override;

    // Records what a checkpoint needs. Throws `std::logic_error` if the run has no checkpoint.
    const progress_recorder& recorder();

    // Called when a consumer has seen the end of the stream; or, in a run without a consumer, when all stages
    // have ended. From now on `has_ended` returns true.
    void mark_ended() noexcept;
    // acquire; pairs with mark_ended(): a caller that gets true sees all work before the end
    bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire) != 0; }

    // Called at the end of each coroutine of the run. After the last call, `join` returns.
    void ended() noexcept override;

    // Ends the statistics, if all workers have ended; else does nothing. Called when a consumer has seen the
    // end of the stream, and by `stop`. If workers still work, `end_run` calls this function later.
    void freeze() noexcept;

  private:
    // Called when `run_options::stop` is stopped: requests the end of the run.
    struct cancel_run {
        run_core* run;
        void operator()() const noexcept;
    };

    // Called when all stages have ended. A run without a consumer has then ended, too.
    struct end_run {
        run_core* run;
        void operator()() const noexcept;
    };

    // Blocks until all coroutines of the run have ended.
    void join();
    // Called if no coroutine can continue: destroys one worker that has not ended. False: there is none.
    bool abandon_worker() noexcept;

    // Reports each lap, an interval of `run_options::lap` with the statistics of this interval alone; and the
    // end of the run. `all_left`: stopped when all workers have left, which ends the sleep. `before_all`: a
    // lap ends before other work of the same instant.
    detached_task<void> report_laps() {
        pipeline_stats before;
        time_point end = this->begin_;
        const duration length = has_laps() ? this->options_.lap : (duration::max)();
        while (true) {
            // The next report comes at the first end of a lap after now. If ends of laps have passed without
            // a report, the next report joins the missed laps with the current lap. Computed without a loop:
            // a clock may be set ahead by years.
            const time_point t = this->main_executor().now();
            if (end <= t) end = weir::saturating_add(t, length - (t - end) % length);
            const bool whole = co_await weir::sleep_until(end, this->all_left(), timer_order::before_all);
            if (!whole || end == (time_point::max)()) break;
            if (!call_with_stats("on_lap", before, [this](const pipeline_stats& lap, const pipeline_stats&) {
                    this->reports_.call_each([&lap](run_report& r) { r.lap(lap); });
                    if (this->options_.on_lap) this->options_.on_lap(lap);
                })) {
                cancel_stages();
                break;
            }
        }
        if (!has_end()) co_return;
        co_await weir::sleep_until((time_point::max)(), this->all_left(), timer_order::before_all);
        static_cast<void>(
            call_with_stats("on_end", before, [this](const pipeline_stats& rest, const pipeline_stats& all) {
                this->report_outcome();
                this->reports_.call_each([&](run_report& r) { r.ends(rest, all); });
                if (this->options_.on_end) this->options_.on_end(rest, all);
            }));
    }
    bool has_laps() const noexcept {
        return this->options_.lap > duration(0) && (this->options_.on_lap || !this->reports_.empty());
    }
    bool has_end() const noexcept { return this->options_.on_end || !this->reports_.empty(); }
    // Sets `before` to the statistics since the start, and calls `call` with the statistics since the former
    // `before`, and with those since the start. Returns false if `call` threw, or if there was no memory for
    // the statistics. The run then fails, and the failure names `name` instead of a stage.
    template <class Callback>
    bool call_with_stats(const char* name, pipeline_stats& before, const Callback& call) noexcept {
        std::exception_ptr error;
        try {
            pipeline_stats all = this->stats();
            const pipeline_stats since = all - before;
            trampoline::set_work_here(this);  // so that refuse_within_run() recognises a call by `call`
            before = std::move(all);          // also if `call` throws, so that no time is reported twice
            call(since, before);
            return true;
        } catch (...) {
            error = std::current_exception();
        }
        this->has_callback_failed_ = true;
        this->record(failure(name, 0, error), false);
        return false;
    }

    // Calls the profiler, which tries the stages one by one, from time to time, as stages do not report that
    // they are idle; and at once when all workers have ended.
    detached_task<void> profile_stages() {
        while (const std::optional<time_point> next = this->take_step()) {
            static_cast<void>(co_await weir::sleep_until(*next, this->all_left()));
        }
        this->release_stages();
        if (!this->has_conclusion()) co_return;
        while (const std::optional<time_point> next = this->mark_begin_of_rest()) {
            static_cast<void>(co_await weir::sleep_until(*next, this->all_left()));
        }
        co_await weir::sleep_until((time_point::max)(), this->all_left(), timer_order::before_all);
        this->conclude_profile();
    }

    bool started_ = false;                            // set by start(); before, stop() does nothing
    standard_platform::atomic<unsigned> ended_{0};    // 1: mark_ended() was called
    standard_platform::atomic<std::size_t> left_{0};  // coroutines of the run that have not ended
    stop_source nothing_left_;                        // stopped when left_ is 0
    // Destroyed in reverse order: the callbacks first, so that none runs while the coroutines are destroyed.
    later<detached_task<void>> reporter_;        // report_laps()
    later<detached_task<void>> profiling_;       // profile_stages()
    later<stop_callback<end_run>> on_all_left_;  // when all workers have left
    later<stop_callback<cancel_run>> on_stop_;   // when `run_options::stop` is stopped
};

WEIR_COMPILED(class run_core<measured>);
WEIR_COMPILED(class run_core<summed>);
WEIR_COMPILED(class run_core<unmeasured>);

}  // namespace weir::detail

#include <weir/run/run_core.ipp>

#endif
