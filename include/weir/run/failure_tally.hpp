// weir run, internal: how many invocations there were, how many of them failed, and whether that is too many
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FAILURE_TALLY_HPP
#define WEIR_RUN_FAILURE_TALLY_HPP

#include <weir/platform/spin_lock.hpp>
#include <weir/run/failure.hpp>

#include <cstdint>          // for std::uint64_t
#include <exception>        // for std::exception_ptr
#include <mutex>            // for std::lock_guard
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::exchange, std::move

namespace weir::detail {

// Of a stage, or of all stages of a run that have no limit of their own. Judged with each invocation that
// ends: by each failure, and by the success that ends the probation of a rate; a later one only makes the
// rate less. Any thread.
class failure_tally {
  public:
    // Who failed, and how. The name outlives it.
    struct culprit {
        const std::string* stage = nullptr;
        std::uint64_t item = 0;
        std::exception_ptr error;
        std::source_location where = {};
    };

    explicit failure_tally(const failure_limit& limit) noexcept : limit_(limit) {}

    // Whether it has to be told of successes, too.
    bool is_rate() const noexcept { return limit_.is_rate(); }

    // One has failed. True: that is more than is tolerated.
    bool failed(culprit one) noexcept {
        culprit before;  // outlives the lock: the destructor of what was thrown is a user's
        const std::lock_guard guard(lock_);
        ++failures_;
        const bool on_probation = ++invocations_ < failure_limit::probation;
        if (is_rate() && on_probation) before = std::exchange(last_, std::move(one));
        return limit_.exceeded(failures_, invocations_);
    }

    // One has succeeded. True: before it, more had failed than is tolerated; the last was `blamed()`.
    bool succeeded() noexcept {
        const std::lock_guard guard(lock_);
        ++invocations_;
        return invocations_ == failure_limit::probation && limit_.exceeded(failures_, invocations_);
    }
    culprit blamed() noexcept {
        const std::lock_guard guard(lock_);
        return last_;
    }

  private:
    const failure_limit limit_;
    spin_lock lock_;  // guards the rest; together, so that each judgement is of one moment
    std::uint64_t failures_ = 0;
    std::uint64_t invocations_ = 0;
    culprit last_;  // of a probation
};

}  // namespace weir::detail

#endif
