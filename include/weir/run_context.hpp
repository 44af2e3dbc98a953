// weir floor 6: what the stages of a run have in common: where it runs, and its failures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_CONTEXT_HPP
#define WEIR_RUN_CONTEXT_HPP

#include <weir/detail/platform.hpp>
#include <weir/detail/spin_lock.hpp>
#include <weir/executor.hpp>
#include <weir/failure.hpp>
#include <weir/root.hpp>
#include <weir/stage_options.hpp>
#include <weir/stop_token.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::rethrow_exception
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

class run_context : public root_owner {
  public:
    run_context(executor& home, run_options options) : options_(std::move(options)), home_(home) {
        if (options_.lap < duration(0)) {
            throw std::invalid_argument("weir: a lap can't be negative; 0 means no laps");
        }
        fatal_.reserve(most_recorded);
    }
    run_context(const run_context&) = delete;
    run_context& operator=(const run_context&) = delete;

    executor& home() const noexcept { return home_; }

    // Where a stage runs.
    executor& home_of(const stage_options& options) const noexcept {
        return options.executor != nullptr && !home_.exclusive() ? *options.executor : home_;
    }

    static void check(bool right, const stage_options& options, const char* what) {
        if (!right) throw std::invalid_argument("weir: stage '" + options.name + "' " + what);
    }

    bool limits_by_rate() const noexcept { return options_.max_failures.is_rate(); }
    void count_success() noexcept { invocations_.fetch_add(1, std::memory_order_relaxed); }

    // One more failure. True if that is more than the run tolerates.
    bool exceeds_limit() noexcept {
        const std::uint64_t failures = failures_.fetch_add(1, std::memory_order_relaxed) + 1;
        return options_.max_failures.exceeded(
            failures, invocations_.load(std::memory_order_relaxed) + failures);
    }

    void tell(const failure& f) {
        if (options_.on_failure) options_.on_failure(f);
    }

    // The run stops because of this.
    void record(failure f) noexcept {
        const std::lock_guard guard(lock_);
        if (!thrown_ && fatal_.size() < most_recorded) fatal_.push_back(std::move(f));
    }

    // Throws what stopped the run, once.
    void throw_failure() {
        std::vector<failure> failures;
        {
            const std::lock_guard guard(lock_);
            if (fatal_.empty()) return;
            failures.swap(fatal_);
            thrown_ = true;
        }
        try {
            std::rethrow_exception(failures.front().error);
        } catch (...) {
            std::throw_with_nested(pipeline_failure(std::move(failures)));
        }
    }

    // A worker takes nothing any more. The last one ends the laps.
    void worker_left() noexcept {
        if (workers_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_left_.request_stop();
    }

  protected:
    ~run_context() = default;

    void expect_workers(std::size_t workers) noexcept {
        workers_left_.store(workers, std::memory_order_relaxed);
    }
    bool have_all_left() const noexcept { return all_left_.stop_requested(); }
    stop_token all_left() const noexcept { return all_left_.get_token(); }

    const run_options options_;

  private:
    static constexpr std::size_t most_recorded = 16;

    executor& home_;
    spin_lock lock_;  // guards the two below; nothing is allocated under it
    std::vector<failure> fatal_;
    bool thrown_ = false;
    standard_platform::atomic<std::size_t> workers_left_{0};
    stop_source all_left_;
    standard_platform::atomic<std::uint64_t> failures_{0};
    standard_platform::atomic<std::uint64_t> invocations_{0};
};

}  // namespace weir::detail

#endif
