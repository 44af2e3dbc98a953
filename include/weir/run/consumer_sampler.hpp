// weir run, internal: keeps a sample of the times that the consumer of a run takes for its items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_CONSUMER_SAMPLER_HPP
#define WEIR_RUN_CONSUMER_SAMPLER_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional

namespace weir::detail {

// Times the consumer from the return of a call that takes an item to the next call. If two consumers call at
// the same time, no times are given: a time could belong to either of them.
//
// All atomic operations are relaxed. One consumer, or several that take turns, order their calls themselves.
// With several at once each value may be wrong, and no sample is given.
class consumer_sampler {
  public:
    // `most`: the maximum size of the sample. Lifetime: `clock` outlives this object.
    consumer_sampler(std::size_t most, const executor& clock) : clock_(clock), kept_(most, 0) {}

    // The run begins. `now`: ns of the clock.
    void begin(std::int64_t now) noexcept { kept_.begin(now); }

    // A consumer calls a function that takes an item, such as `run::get`.
    void called() noexcept {
        if (is_calling_.load(std::memory_order_relaxed)) has_several_.store(true, std::memory_order_relaxed);
        is_calling_.store(true, std::memory_order_relaxed);
        if (!is_sampled_.load(std::memory_order_relaxed)) return;
        const std::int64_t now = reading();
        const std::int64_t since = since_.load(std::memory_order_relaxed);
        spent_.store(add_interval(spent_.load(std::memory_order_relaxed), since, now),
                     std::memory_order_relaxed);
        since_.store(now, std::memory_order_relaxed);
    }
    // That call has returned. `got_item`: false after a time-out, or at the end of an epoch; then the time
    // until the next call belongs to the item before.
    void returned(bool got_item) noexcept {
        is_calling_.store(false, std::memory_order_relaxed);
        if (is_sampled_.load(std::memory_order_relaxed)) {
            got_item ? end_item() : since_.store(reading(), std::memory_order_relaxed);
        }
        if (!got_item) return;
        const std::uint64_t left = left_.load(std::memory_order_relaxed);
        if (left != 0) return left_.store(left - 1, std::memory_order_relaxed);
        spent_.store(0, std::memory_order_relaxed);
        since_.store(reading(), std::memory_order_relaxed);
        is_sampled_.store(true, std::memory_order_relaxed);
    }
    // A call has seen the end of the stream.
    void ended() noexcept {
        is_calling_.store(false, std::memory_order_relaxed);
        if (is_sampled_.load(std::memory_order_relaxed)) end_item();
    }

    // Any thread, at any time. None: several consumers have called at once. Errors: `std::bad_alloc`.
    std::optional<task_samples> samples() const {
        if (has_several_.load(std::memory_order_relaxed)) return std::nullopt;
        return kept_.samples();
    }

  private:
    std::int64_t reading() const noexcept { return clock_.now().time_since_epoch().count(); }

    void end_item() noexcept {
        is_sampled_.store(false, std::memory_order_relaxed);
        task_sample one;
        one.run = duration(spent_.load(std::memory_order_relaxed));
        left_.store(kept_.keep(one, since_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    }

    template <class T>
    using atomic = standard_platform::atomic<T>;

    const executor& clock_;
    task_sampler kept_;
    atomic<bool> is_calling_{false};
    atomic<bool> has_several_{false};
    atomic<bool> is_sampled_{false};  // the consumer works on an item whose time the sample may keep
    atomic<std::int64_t> since_{0};   // when the last call began or returned, for such an item
    atomic<std::int64_t> spent_{0};   // ns that the consumer has spent on this item until `since_`
    atomic<std::uint64_t> left_{0};   // items before the next one whose time is measured
};

}  // namespace weir::detail

#endif
