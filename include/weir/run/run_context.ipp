// weir run, internal: bodies of the functions of run/run_context.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CONTEXT_IPP
#define WEIR_RUN_RUN_CONTEXT_IPP

#include <weir/run/run_context.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::find
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir::detail {

WEIR_INLINE run_budget::run_budget(std::size_t most) noexcept
    : byte_budget(most),
      sources_(budget_rule{this}, "for the run's queues to hold fewer bytes", wait_kind::others) {}

WEIR_INLINE run_context::run_context(executor& ex, run_options options)
    : reports_(std::move(options.reports), options.hooks), options_(std::move(options)),
      executor_(&ex, executor_user::run) {
    refuse_if(options_.lap < duration(0), "weir: a lap can't be negative; 0 means no laps");
    refuse_negative(options_.max_bytes, "weir: the max_bytes of a run were negative; 0 means no limit");
    refuse_negative(options_.recording, "weir: the recording of a run was negative; 0 means none");
    check_threads_of(ex);
    if (options_.later_stages_first) lanes_.emplace(ex);
    if (options_.max_bytes != 0) budget_.emplace(options_.max_bytes);
    change_pause([](pause_rule&) {});
}

WEIR_INLINE run_context::~run_context() = default;

WEIR_INLINE executor& run_context::executor_of(const stage_options& options) {
    // exclusive: virtual time (a simulated clock), whose one thread runs all stages.
    if (options.executor != nullptr && !executor_->traits().exclusive) {
        check_threads_of(*options.executor);
        others_.emplace_back(options.executor, executor_user::run);
        const bool is_loop = !options.executor->traits().has_threads && options.executor != &*executor_;
        if (is_loop && std::find(loops_.begin(), loops_.end(), options.executor) == loops_.end()) {
            loops_.push_back(options.executor);
        }
        return *options.executor;
    }
    return lanes_ ? lanes_->add() : *executor_;
}

WEIR_INLINE void run_context::refuse_unless(bool is_valid, const stage_options& options,
                                            const char* problem) {
    if (!is_valid) throw std::invalid_argument("weir: stage '" + options.name + "' " + problem);
}

WEIR_INLINE void run_context::check_time_limit(const stage_options& options) {
    refuse_unless(options.time_limit >= duration(0), options,
                  "has a negative time limit; 0 means that there is none");
}

WEIR_INLINE void run_context::set_first_epoch(std::uint64_t first) {
    if (has_epochs_ && first != first_epoch_) {
        throw std::invalid_argument("weir: the sources and caches of this run begin with epochs " +
                                    std::to_string(first_epoch_) + " and " + std::to_string(first) +
                                    "; they can only be joined if they are at the same one");
    }
    has_epochs_ = true;
    first_epoch_ = first;
}

WEIR_INLINE void run_context::add_progress(std::uint64_t first, std::shared_ptr<progress_listener> progress) {
    set_first_epoch(first);
    if (progress_) why_no_checkpoint_ = one_sampler;
    progress_ = std::move(progress);
}

WEIR_INLINE void run_context::set_no_checkpoint(const stage_options& options, const char* reason) {
    why_no_checkpoint_ = "stage '" + options.name + "' " + reason;
}

WEIR_INLINE void run_context::pause(bool paused) noexcept {
    change_pause([paused](pause_rule& rule) { rule.paused = paused; });
}

WEIR_INLINE bool run_context::is_stopped_by(const std::exception_ptr& error) const noexcept {
    if (!own_stop_.stop_requested()) return false;
    try {
        std::rethrow_exception(error);
    } catch (const stopped&) {
        return true;
    } catch (...) {
        return false;
    }
}

WEIR_INLINE void run_context::report_failure(const failure& f) {
    reports_.call_each([&f](run_report& r) { r.failed(f); });
    if (options_.on_failure) options_.on_failure(f);
}

WEIR_INLINE void run_context::set_outcome(run_outcome how) noexcept {
    run_outcome before = run_outcome::running;
    // acq_rel; pairs with outcome(): the caller of outcome() sees all work before the first set_outcome()
    outcome_.compare_exchange_strong(before, how, std::memory_order_acq_rel);
}

WEIR_INLINE void run_context::record(failure f, bool reported) noexcept {
    set_outcome(run_outcome::failed);
    failures_.add(std::move(f), reported);
}

WEIR_INLINE void run_context::worker_left() noexcept {
    // acq_rel; pairs with itself: the last worker sees the effects of the others
    if (workers_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_left_.request_stop();
}

WEIR_INLINE void run_context::release_waiting() noexcept {
    own_stop_source_.request_stop();
    if (budget_) budget_->end();
    pause_.update([this](pause_rule& rule) {
        rule.over = true;
        paused_.store(true, std::memory_order_relaxed);  // so that slots test the rule, and are refused
        // relaxed, both stores: hints, as in change_pause()
        may_have_to_wait_.store(true, std::memory_order_relaxed);
    });
}

}  // namespace weir::detail

#endif
