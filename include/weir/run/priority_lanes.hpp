// weir run: executors with priorities that share the threads of another executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PRIORITY_LANES_HPP
#define WEIR_RUN_PRIORITY_LANES_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/detached_task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <exception>  // for std::terminate
#include <optional>   // for std::optional
#include <vector>     // for std::vector

namespace weir {

/// Executors, called lanes, on the threads of one other executor. Coroutines in a lane run before all
/// coroutines that wait in lanes added earlier; within a lane, they run in the order of the posts.
///
///     weir::priority_lanes lanes(pool);
///     weir::executor& decode = lanes.add();
///     weir::executor& train = lanes.add();   // has priority over decode
///
/// With a lane for each stage, added in the order of the stages, few items are in a pipeline at any time, as
/// items near the end have priority. `run_options::later_stages_first` does this; bench/results.md has
/// figures.
///
/// A timer posts its coroutine to the other executor directly: until its next wait, this coroutine runs
/// regardless of priorities. After 64 coroutines of lanes, a thread lets such coroutines run.
///
/// Threads:  `add`: one call at a time, before any use; the lanes: any.
/// Lifetime: the other executor outlives this object, which outlives all coroutines in the lanes. The
///           destructor waits until no thread runs a coroutine of a lane.
/// Errors:   `std::bad_alloc`, from the constructor and from `add`.
/// Cost:     a short lock for each post, and one for each coroutine that runs.
class priority_lanes final : detail::detached_task_owner {
  public:
    /// \param base  the executor with the threads.
    explicit priority_lanes(executor& base);
    priority_lanes(const priority_lanes&) = delete;
    priority_lanes& operator=(const priority_lanes&) = delete;
    ~priority_lanes();

    /// Adds a lane with priority over all existing ones.
    /// \returns the lane. Lifetime: that of this object.
    executor& add();

    /// \returns whether a coroutine waits in a lane with priority over `than`; false if `than` is no lane.
    [[nodiscard]] bool has_more_urgent(const executor& than) const noexcept;

  private:
    class lane final : public executor {
      public:
        lane(priority_lanes& all, std::size_t number)
            : executor(traits_of(*all.base_)), place(number), all_(all) {}
        void post(std::coroutine_handle<> h) noexcept override { all_.add(*this, h); }
        void add(timer& t) noexcept override { all_.base_->add(t); }
        void cancel(timer& t) noexcept override { all_.base_->cancel(t); }
        time_point now() const noexcept override { return all_.base_->now(); }
        std::size_t parallelism() const noexcept override { return all_.base_->parallelism(); }
        // Called by a thread that blocks: runs coroutines on this thread until `done` is set, by `drive` of
        // the other executor. If a pump (see below) runs on this thread, another pump may work in its place
        // meanwhile: see `pump_blocks`.
        WEIR_INLINE bool drive(flag& done, time_point limit) override;

        void run(std::coroutine_handle<> h) { resume(h); }  // called by a pump
        detail::ready_queue waiting{256};                   // guarded by `lock_`
        const std::size_t place;                            // the higher, the more urgent

      private:
        // Returns the traits of `base`, but with `continues_with_forks` false. A thread whose coroutine
        // suspends must continue with the coroutine of the highest priority, not with a fork: a part of its
        // own job.
        static executor_traits traits_of(executor& base);
        priority_lanes& all_;
    };

    // A coroutine that runs the coroutines of the lanes. The number of pumps is that of the executor's
    // threads, plus the largest number of pumps that were blocked at once. Never ends.
    static detail::detached_task<void> pump(priority_lanes& all);
    void ended() noexcept override { std::terminate(); }  // an exception left a coroutine, and so the pump

    // Waits until a coroutine is posted to a lane; or, if it `yields`, lets other coroutines of `base_` run.
    class pause {
      public:
        pause(priority_lanes& all, bool yields) noexcept : all_(all), yields_(yields) {}
        bool await_ready() const noexcept { return false; }
        // Resumes on `base_`: posted here if `yields_`; else by a later post to a lane, as each post wakes
        // one resting pump. False: a coroutine waits in a lane already.
        bool await_suspend(std::coroutine_handle<> h) const noexcept;
        void await_resume() const noexcept {}

      private:
        priority_lanes& all_;
        const bool yields_;
    };

    // Resumes the oldest coroutine of the lane with the highest priority, of all lanes that are not empty.
    // Returns false if all lanes are empty.
    bool run_first();

    // Adds a coroutine to a lane, and wakes a pump if one rests. A pump looks at the lanes under the lock
    // before the pump rests, so it finds every post. The posted coroutine may run at once, and be the last
    // coroutine of the lanes: this object may then be destroyed, so no member is used after the lock is
    // released.
    void add(lane& to, std::coroutine_handle<> h) noexcept;

    // Returns the place of a lane, plus 1; 0 for another executor. Takes logarithmic time.
    // For a thread or coroutine that only knows its current executor.
    std::size_t place_of(const executor* ex) const noexcept;
    static bool is_less_urgent(const lane* a, const lane* b) noexcept { return a->place < b->place; }
    // Adds a lane to the heap `ready_`, or removes the first one. Called under the lock.
    void push_ready(lane& added) noexcept;
    void pop_ready() noexcept;
    // Called when a coroutine that a pump runs begins to block, or continues. `pump_blocks` adds a pump if
    // fewer unblocked pumps are left than the executor has threads, unless memory lacks. Pumps are never
    // removed.
    void pump_blocks() noexcept;
    void pump_goes_on() noexcept;

    // Registers a pump that rests until a post wakes the pump. Returns false if a coroutine waits in a lane
    // already. After true, the pump may run on another thread, or be destroyed.
    bool rest(std::coroutine_handle<> h) noexcept;

    static constexpr int longest_slice = 64;  // coroutines that a pump resumes before it yields
    detail::executor_use base_;               // the other executor, whose threads run the pumps
    // The lanes, in blocks: each block has twice as many places as the one before, so that an address tells
    // the place of a lane.
    static constexpr std::size_t first_block = 16;
    std::vector<detail::owned<std::optional<lane>[]>> blocks_;
    std::size_t num_lanes_ = 0;
    // The place of the first lane in `ready_`, plus 1; 0: none. Written under the lock.
    detail::standard_platform::atomic<std::size_t> most_urgent_{0};
    detail::spin_lock lock_;    // guards the next five members
    std::vector<lane*> ready_;  // heap of the lanes in which coroutines wait; has capacity for all lanes
    std::vector<std::coroutine_handle<>> idle_;       // pumps that rest; has capacity for all pumps
    std::vector<detail::detached_task<void>> pumps_;  // all pumps, which never end
    std::size_t blocked_ = 0;                         // pumps whose coroutines block
    bool closing_ = false;                            // the destructor waits until all pumps rest
    detail::parker all_idle_;                         // wakes the destructor
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/priority_lanes.ipp>
#endif

#endif
