// weir run, internal: bodies of the functions of run/run_core.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CORE_IPP
#define WEIR_RUN_RUN_CORE_IPP

#include <weir/run/run_core.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>    // for std::int64_t
#include <cstdio>     // for std::fprintf
#include <cstdlib>    // for std::abort
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string

namespace weir::detail {

template <class Policy>
WEIR_INLINE run_core<Policy>::~run_core() {
    this->note_unwinding();
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

template <class Policy>
WEIR_INLINE void run_core<Policy>::start() {
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
    // The trail records the trace of some items; null: no report needs a trace.
    if (Policy::statistics && this->trail() != nullptr) this->mark_queues(*this->trail());
    if (!this->reports_.empty()) {
        // Statistics until time 0 of the clock, so that all times are 0: nothing has begun.
        pipeline_stats all = this->stats_until([] { return std::int64_t{0}; });
        all.process.reset();
        this->reports_.call_each([&all](run_report& r) { r.begins(all); });
    }
    // Nothing below throws.
    this->begin_ = this->main_executor().now();
    if (this->trail() != nullptr) this->trail()->begin(this->begin_.time_since_epoch().count());
    if (Policy::statistics && !this->main_executor().traits().exclusive) this->process_.begin();
    this->set_num_workers(workers);
    // relaxed: the start of each coroutine orders the store before the coroutine's ended()
    left_.store(workers + (reporter_ ? 1U : 0U) + (profiling_ ? 1U : 0U), std::memory_order_relaxed);
    started_ = true;
    on_all_left_.emplace(this->all_left(), end_run{this});
    bool announced = true;
    for (auto& stage : stages_) announced = announced && stage->call_begin_hooks();
    const std::int64_t now = this->begin_.time_since_epoch().count();
    for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i]->start_measuring(now, i == this->last_);
    // A consumer that works for the pool would not see what is posted to a loop of its thread meanwhile.
    if (this->options_.consumers_help && !this->has_loops()) queues_[this->last_]->let_consumers_help();
    for (auto& stage : stages_) stage->begin(now);
    if (this->consumer() != nullptr) this->consumer()->begin(now);
    // Only now, as the queues and slots have begun: from here on, a watchdog, which searches for deadlocks,
    // may inspect the run. Virtual time (`exclusive`) finds deadlocks itself.
    if (!this->main_executor().traits().exclusive) the_registry->add(*this);
    // Before the stages start, so that none begins with an item.
    if (!announced) cancel();
    if (this->options_.stop.stop_requested()) request_stop(run_outcome::stopped_by_token);
    // With later_stages_first, later stages start first, so that no earlier stage runs before them.
    const std::size_t n = stages_.size();
    const bool last_first = this->options_.later_stages_first;
    for (std::size_t i = 0; i < n; ++i) stages_[last_first ? n - 1 - i : i]->start();
    if (reporter_) reporter_->start(this->main_executor(), nullptr, *this);
    if (profiling_) profiling_->start(this->main_executor(), nullptr, *this);
    if (this->options_.stop.stop_possible()) on_stop_.emplace(this->options_.stop, cancel_run{this});
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::cancel() noexcept {
    this->release_waiting();
    this->end_profiling();
    for (auto& queue : queues_) queue->cancel();
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::cancel_stages() noexcept {
    this->release_waiting();
    this->end_profiling();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (i == this->last_ && !this->end_) {
            queues_[i]->close_to_newcomers();
        } else {
            queues_[i]->cancel();
        }
    }
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::request_stop(run_outcome how) noexcept {
    this->set_outcome(how);
    cancel();
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::stop() {
    if (!started_) return;
    refuse_within_run();
    request_stop();
    join();
    freeze();
    // `end_` stands for the end of a run without a consumer; open if join() has destroyed the last stage's
    // worker.
    if (this->end_) this->end_->close();
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::refuse_within_run() const {
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

template <class Policy>
WEIR_INLINE bool run_core<Policy>::try_add_worker() noexcept {
    // relaxed, both: the increment publishes nothing; ended() orders the ends of coroutines. A count of 0 is
    // final: the run may be destroyed then.
    std::size_t left = left_.load(std::memory_order_relaxed);
    do {
        if (left == 0) return false;
    } while (!left_.compare_exchange_weak(left, left + 1, std::memory_order_relaxed));
    this->count_added_worker();
    return true;
}

template <class Policy>
WEIR_INLINE auto run_core<Policy>::recorder() -> const progress_recorder& {
    if (this->why_no_checkpoint().empty()) return *this->progress()->recorder();
    throw std::logic_error("weir: this run has no checkpoint: " + this->why_no_checkpoint());
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::mark_ended() noexcept {
    this->set_outcome(run_outcome::finished);
    // acq_rel; pairs with has_ended(): a thread that sees the end sees all work before it; and with end_run
    ended_.fetch_or(1, std::memory_order_acq_rel);
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::ended() noexcept {
    // acq_rel; pairs with itself: the last coroutine sees the effects of the others. A thread in join() may
    // destroy the run during request_stop(): the stop state lives until that call returns.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) nothing_left_.request_stop();
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::freeze() noexcept {
    if (!this->have_all_left()) return;
    this->process_.end();
    std::int64_t expected = base::not_frozen;
    // release; pairs with stats(): a caller that sees this instant also sees the end of process_. relaxed on
    // failure: an earlier call has stored the instant
    this->frozen_at_.compare_exchange_strong(expected, this->now(), std::memory_order_release,
                                             std::memory_order_relaxed);
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::cancel_run::operator()() const noexcept {
    if (!run->orphaned()) run->request_stop(run_outcome::stopped_by_token);
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::end_run::operator()() const noexcept {
    if (run->end_) run->mark_ended();
    // acq_rel; pairs with mark_ended(). If mark_ended() was called before, this function freezes the
    // statistics. Else the call of freeze() that follows mark_ended() sees that all workers have left
    if (run->ended_.fetch_or(0, std::memory_order_acq_rel) != 0) run->freeze();
}

template <class Policy>
WEIR_INLINE void run_core<Policy>::join() {
    parker done;
    const stop_callback when_over(nothing_left_.get_token(), [&done]() noexcept { done.set(); });
    while (!done.is_set()) {
        try {
            this->drive_loops_in([&] { detail::block_until(done, this->main_executor()); });
        } catch (const deadlock_error&) {
            // Virtual time: no coroutine can continue, as when a stage's function waits for an event that
            // never comes. Destroys the frame of one worker that has not ended. This ends the waits of the
            // worker's function, so other workers may continue. If none can, the next deadlock destroys
            // another worker.
            if (abandon_worker()) continue;
            // No coroutine runs any more, not even one that is ready: a simulation has made its last step.
            for (auto* observer : {&reporter_, &profiling_}) {
                if (!*observer || (*observer)->done()) continue;
                (*observer)->abandon();
                ended();
            }
        }
    }
}

template <class Policy>
WEIR_INLINE bool run_core<Policy>::abandon_worker() noexcept {
    for (auto& stage : stages_) {
        if (!stage->abandon_one()) continue;
        this->worker_left();
        ended();
        return true;
    }
    return false;
}

}  // namespace weir::detail

#endif
