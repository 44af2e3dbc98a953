// weir cuda, internal: measures how long copies took, and how much of this time was hidden behind other work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TRANSFER_LOG_HPP
#define WEIR_CUDA_TRANSFER_LOG_HPP

#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/env.hpp>

#include <algorithm>    // for std::clamp
#include <cstddef>      // for std::size_t
#include <memory>       // for std::shared_ptr
#include <mutex>        // for std::mutex, std::scoped_lock
#include <optional>     // for std::optional
#include <type_traits>  // for std::invoke_result_t
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::cuda::detail {

using shared_event = std::shared_ptr<pooled_event>;

// The events of one batch that a stage copies. `begin` and `end` are recorded before and after its copy.
// `start` exists if the batch is handed over to the stream of its user, the consumer: that stream can begin.
// `idle`: that stream has done its work on the batch before (null: unknown, as for the first batch). The copy
// is exposed, not hidden, while the stream waits for it.
//
//     copying stream   ----[begin ===copy=== end]--------------
//     consumer         ==batch before==[idle ........ start]==this batch==
//                                             ^^^^^^ exposed
struct copy_times {
    std::size_t bytes = 0;
    shared_event begin, end, idle, start;
};

// The times of all copies of one `to_device` or `to_host` stage in one run. Each time is that between two
// close events: cudaEventElapsedTime returns a float, which is too coarse for long times.
class transfer_log {
  public:
    // Calls harvest() only when there are more than twice as many copies as harvest() left the last time. So
    // each copy is queried only a few times, even if the consumer's stream is far behind.
    void add(std::shared_ptr<copy_times> copy) {
        const std::scoped_lock held(lock_);
        if (copies_.size() >= most_) harvest();
        copies_.push_back(std::move(copy));
    }

    // Records that the consumer's stream `by` begins with a batch after the event `start`. Streams are
    // compared by cudaStream_t, as several `stream` objects may have the same one.
    void taken_over(copy_times& copy, cudaStream_t by, shared_event start) {
        const std::scoped_lock held(lock_);
        for (const auto& [stream, idle] : idle_since_) {
            if (stream == by) copy.idle = idle;
        }
        copy.start = std::move(start);
    }
    // Records that the consumer's stream `by` has ended its work on a batch at the event `idle`.
    void done_with(cudaStream_t by, shared_event idle) {
        const std::scoped_lock held(lock_);
        std::erase_if(idle_since_, [by](const auto& known) { return known.first == by; });
        if (idle_since_.size() == most_streams) idle_since_.erase(idle_since_.begin());
        idle_since_.emplace_back(by, std::move(idle));
    }

    // Add the time of a wait for a block, a piece of page-locked host memory from a pool; or of a wait for
    // memory of the device.
    void waited_for_block(duration d) noexcept {
        const std::scoped_lock held(lock_);
        ++sum_.num_block_waits;
        sum_.block_wait += d;
    }
    void waited_for_memory(duration d) noexcept {
        const std::scoped_lock held(lock_);
        ++sum_.num_memory_waits;
        sum_.memory_wait += d;
    }

    // Statistics of all finished copies. A batch that a consumer still holds is counted after its release, as
    // only then its events are complete.
    transfer_stats stats() {
        const std::scoped_lock held(lock_);
        harvest();
        return sum_;
    }

  private:
    static constexpr std::size_t least = 16;         // copies before the first harvest()
    static constexpr std::size_t most_streams = 16;  // in `idle_since_`; the least recently used is removed

    // Removes each copy that is finished, whose event `start`, if any, is over, and whose batch nobody holds
    // any more. Adds the times of these copies to the sums, except of copies that failed. Sets `most_`.
    void harvest() {
        std::erase_if(copies_, [this](const std::shared_ptr<copy_times>& c) {
            return c.use_count() == 1 && c->end->is_over() && (!c->start || c->start->is_over()) && count(*c);
        });
        most_ = least + 2 * copies_.size();
    }

    // Adds the times of a copy to the sums. Returns true, for `erase_if`: the copy can be removed.
    bool count(const copy_times& c) noexcept {
        const std::optional<duration> took = between(c.begin, c.end);
        if (!took) return true;  // the copy failed
        ++sum_.num_copies;
        sum_.bytes += c.bytes;
        sum_.copying += *took;
        if (!c.start) return true;
        ++sum_.num_handed_over;
        sum_.handed_over += *took;
        duration exposed = *took;
        if (c.idle) {
            const std::optional<duration> idle = between(c.idle, c.start);
            const std::optional<duration> late = between(c.end, c.start);
            if (idle && late) exposed = std::clamp(*idle - *late, duration(0), *took);
        }
        sum_.exposed += exposed;
        return true;
    }

    // The time between two events on the device; none: the query fails, as if the copy has failed.
    static std::optional<duration> between(const shared_event& a, const shared_event& b) noexcept {
        float ms = 0;
        const exempt_from_captures asking;
        if (without_last_error(cudaEventElapsedTime(&ms, a->get(), b->get())) != cudaSuccess)
            return std::nullopt;
        return duration(static_cast<duration::rep>(static_cast<double>(ms) * 1e6));
    }

    std::mutex lock_;
    std::vector<std::shared_ptr<copy_times>> copies_;  // not yet in `sum_`
    std::size_t most_ = least;                         // the number of copies at which add() calls harvest()
    // By consumer's stream: when the stream ended its last batch. The most recently used stream comes last.
    std::vector<std::pair<cudaStream_t, shared_event>> idle_since_;
    transfer_stats sum_;  // of the copies that are finished
};

// Measures a wait, by the clock of the thread's executor, from the construction to the call of `was_for_...`.
// `log`: records the time; null: no measurement.
class measured_wait {
  public:
    explicit measured_wait(transfer_log* log)
        : log_(log), clock_(*weir::detail::current_executor()),
          begin_(log == nullptr ? time_point() : clock_.now()) {}

    // End the measurement, and add the time to the log: as that of a wait for a block, a piece of page-locked
    // host memory from a pool; or as that of a wait for memory of the device.
    void was_for_block() const {
        if (log_ != nullptr) log_->waited_for_block(clock_.now() - begin_);
    }
    void was_for_memory() const {
        if (log_ != nullptr) log_->waited_for_memory(clock_.now() - begin_);
    }

  private:
    transfer_log* log_;
    const executor& clock_;
    const time_point begin_;
};

// Makes the function of each slot (worker) of a `to_device` or `to_host` stage. All slots of a run share a
// state, whose member `log` is null or the run's transfer_log. `MakeState`: a function object that has the
// options of the stage, and returns a shared_ptr to a new state. A copy of this object is for another run:
// the copy has a new state, with new statistics and, unless these options name a stream, a new stream.
template <class Slot, class Part, class MakeState>
class slots_of_run {
  public:
    slots_of_run(Part part, MakeState make)
        : part_(std::move(part)), make_(std::move(make)), state_(make_()) {}
    slots_of_run(const slots_of_run& other) : slots_of_run(other.part_, other.make_) {}
    slots_of_run(slots_of_run&&) noexcept = default;
    slots_of_run& operator=(const slots_of_run&) = delete;
    ~slots_of_run() = default;

    Slot operator()() const { return Slot(state_, part_); }

    // Turns statistics off. Called before the first slot is made.
    void measure_nothing() noexcept { state_->log = nullptr; }
    std::optional<transfer_stats> transfers() const {
        if (!state_->log) return std::nullopt;
        return state_->log->stats();
    }

  private:
    Part part_;
    MakeState make_;
    std::invoke_result_t<MakeState&> state_;
};

}  // namespace weir::cuda::detail

#endif
