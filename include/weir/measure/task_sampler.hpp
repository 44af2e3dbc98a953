// weir measure, internal: chooses invocations of a slot, or items of a consumer, and keeps their times
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TASK_SAMPLER_HPP
#define WEIR_MEASURE_TASK_SAMPLER_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/parking.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t

namespace weir::detail {

// Keeps a sample of a sequence of invocations: one of each `one_in` successive ones, chosen at random before
// they begin. So the other invocations need no reading of the clock. When the sample is full, one of each two
// successive elements is removed at random, and `one_in` doubles. Each invocation has the same chance to be
// in the sample.
//
// Source: stratified sampling with one unit in each stratum: W. G. Cochran, "Sampling Techniques" (1977),
//         section 5A.7. The sizes of strata that double are our own. A reservoir (J. S. Vitter, "Random
//         sampling with a reservoir", ACM Transactions on Mathematical Software 11, 1985) has another
//         order than the invocations, and estimates means less exactly if times change during the run.
class task_sampler {
  public:
    // The sample has at most `most` elements; at most `most` + 1 if `most` is even. `recording`: the number
    // of invocations that the message names if memory lacks; 0: `most`. Errors: std::bad_alloc.
    task_sampler(std::size_t most, std::uint64_t seed, std::size_t recording = 0);

    // Called before the first invocation, with the instant from which `task_sample::at` counts.
    void begin(std::int64_t now) noexcept { begin_ = now; }

    // Adds `one`, the times of the invocation that was chosen last, to the sample. Before any choice, the
    // first invocation is chosen. `at`: the end of the invocation, in ns of the clock. Then chooses the next
    // invocation of the sample, and returns the number of invocations between the two.
    std::uint64_t keep(task_sample one, std::int64_t at) noexcept;

    // Returns a copy of the sample. Threads: any, at any time. Errors: `std::bad_alloc`.
    task_samples samples() const;

  private:
    std::uint64_t draw(std::uint64_t below) noexcept;
    void remove_half() noexcept;
    std::uint64_t choose_next() noexcept;

    const std::size_t most_;  // the size at which half of the sample is removed; even
    const std::uint64_t seed_;
    std::int64_t begin_ = 0;  // ns
    mutable spin_lock lock_;  // guards the members below
    task_samples kept_;
    std::uint64_t draws_ = 0;
    std::uint64_t chosen_ = 0;        // the number of the invocation chosen last
    std::uint64_t next_stratum_ = 1;  // the number of the first invocation that no choice covers yet
};

// The sample of a slot (worker of a stage): the times of invocations that are chosen at random. Only the
// slot's coroutines use this object, except for `samples`.
class slot_sampler : public task_sampler {
  public:
    using task_sampler::task_sampler;

    // Called for the stage kind `aggregate`: from now on the sample is one of batches, not of invocations.
    void sample_batches() noexcept { is_of_batches_ = true; }
    bool is_of_batches() const noexcept { return is_of_batches_; }

    // Measure an invocation of the sample, which begins (`begin_task`) or has ended (`end_task`) at the last
    // clock reading of the slot. `end_task` does nothing unless an invocation of the sample has begun.
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
    // ended; then sets `between`, the number of invocations before the next invocation of the sample.
    bool end_item(slot& me, std::uint64_t& between) noexcept {
        const bool has_ended = step_ == step::ended;
        step_ = step::none;
        if (has_ended) between = keep(current_, me.last_reading);
        return has_ended;
    }

    // Called for batches: take_item() when an item was taken; give_batch() when a batch is given, at the
    // instant `at`. `lacks_item`: the item taken last is not in this batch, but begins the batch after it.
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
    task_sample current_;            // the invocation or batch that is being measured
    spent_times before_{};           // the times of the slot in its states when the invocation began
    std::uint32_t num_taken_ = 0;    // items for the next batch
    std::uint64_t num_skipped_ = 0;  // batches before the next batch of the sample
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/measure/task_sampler.ipp>
#endif

#endif
