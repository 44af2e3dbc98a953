// weir measure, internal: keeps a sample of the invocations of a slot, or of its batches
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_SAMPLER_HPP
#define WEIR_MEASURE_SLOT_SAMPLER_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/platform/bounds.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t

namespace weir::detail {

// The sample of a slot: the times of invocations that are chosen at random. Only the slot's coroutines use
// this object, except for `samples`.
class slot_sampler : public task_sampler {
  public:
    using task_sampler::task_sampler;

    // For the stage kind `aggregate`: the sample is one of batches, not of invocations.
    void sample_batches() noexcept { is_of_batches_ = true; }
    bool is_of_batches() const noexcept { return is_of_batches_; }

    // An invocation of the sample begins, or has ended, at the last clock reading of the slot.
    void begin_task(slot& me) noexcept {
        step_ = step::begun;
        before_ = me.spent_before(me.last_reading);
        current_ = task_sample();
        current_.results = 0;
    }
    void end_task(slot& me, bool failed) noexcept {
        if (step_ != step::begun) return;
        step_ = step::ended;
        const spent_times now = me.spent_before(me.last_reading);
        const auto spent = [&](slot_state in) {
            const auto i = static_cast<std::size_t>(in);
            return duration(time_between(before_[i], now[i]));
        };
        current_.run = spent(slot_state::run);
        current_.await = spent(slot_state::await);
        current_.runnable = spent(slot_state::runnable);
        current_.failed = failed;
    }
    void count_result() noexcept { ++current_.results; }
    // All results of the item are put, and none follows. Returns whether an invocation of the sample has
    // ended; then `between` is the number of invocations between it and the next one of the sample.
    bool end_item(slot& me, std::uint64_t& between) noexcept {
        const bool has_ended = step_ == step::ended;
        step_ = step::none;
        if (has_ended) between = keep(current_, me.last_reading);
        return has_ended;
    }

    // For batches: an item was taken; a batch is given, at the instant `at`. `lacks_item`: the item taken
    // last is not in this batch, but begins the next one.
    void take_item() noexcept { ++num_taken_; }
    void give_batch(bool lacks_item, std::int64_t at) noexcept {
        current_ = task_sample();
        current_.taken = num_taken_ - (lacks_item ? 1 : 0);
        num_taken_ = lacks_item ? 1 : 0;
        if (num_skipped_ != 0) {
            --num_skipped_;
        } else {
            num_skipped_ = keep(current_, at);
        }
    }

  private:
    using spent_times = std::array<std::int64_t, slot_states>;
    enum class step : std::uint8_t { none, begun, ended };

    bool is_of_batches_ = false;
    step step_ = step::none;
    task_sample current_;
    spent_times before_{};           // the times of the slot in its states when the invocation began
    std::uint32_t num_taken_ = 0;    // items for the next batch
    std::uint64_t num_skipped_ = 0;  // batches before the next one of the sample
};

}  // namespace weir::detail

#endif
