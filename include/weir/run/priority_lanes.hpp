// weir run: executors that share another one's threads, the later made ones first
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PRIORITY_LANES_HPP
#define WEIR_RUN_PRIORITY_LANES_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/task/detached_task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <exception>  // for std::terminate
#include <memory>     // for std::make_unique
#include <mutex>      // for std::lock_guard
#include <new>        // for std::bad_alloc
#include <vector>     // for std::vector

namespace weir {

/// Lanes into one executor. What is posted to a lane runs before all that waits in lanes that were added
/// before it, in the order of the posts; as many at once as the executor runs.
///
///     weir::priority_lanes lanes(pool);
///     weir::executor& decode = lanes.add();
///     weir::executor& train = lanes.add();   // goes before decode
///
/// With a lane for each stage, later ones after earlier ones, little is under way at any time: whatever is
/// nearest to its end goes on first. `run_options::later_stages_first` does that; what it brings is in
/// bench/results.md.
///
/// A coroutine that a timer wakes goes past the lanes, once. After 64 of its own coroutines a lane's
/// thread lets the executor's others have their turn.
///
/// Threads:  `add`: one at a time, before any use; the lanes: any.
/// Lifetime: no longer than the executor, and longer than all that runs in the lanes; the destructor
///           waits until their threads have left them.
/// Errors:   `std::bad_alloc`, from the constructor and from `add`.
/// Cost:     two short locks a post.
class priority_lanes final : detail::detached_task_owner {
  public:
    /// \param base  whose threads run what is in the lanes.
    explicit priority_lanes(executor& base) : base_(&base, detail::executor_user::lanes) {
        const std::size_t threads = base.traits().parallelism;
        pumps_.reserve(threads);
        for (std::size_t i = 0; i < threads; ++i) pumps_.push_back(pump(*this));
        for (auto& each : pumps_) idle_.push_back(each.prepare(base, nullptr, *this));
    }
    priority_lanes(const priority_lanes&) = delete;
    priority_lanes& operator=(const priority_lanes&) = delete;
    ~priority_lanes() {
        // The pumps are at work in the parent, and may hold the lock; or never come to an end.
        if (base_->orphaned() || detail::exits_in_a_coroutine()) {
            for (auto& each : pumps_) each.forget();
            return;
        }
        bool busy;
        {
            const std::lock_guard guard(lock_);
            closing_ = true;
            busy = idle_.size() != pumps_.size();
        }
        if (busy) detail::block_until(all_idle_, *base_);
    }

    /// A lane before all there are. It lives as long as this.
    executor& add() {
        lanes_.push_back(std::make_unique<lane>(*this));
        return *lanes_[lanes_.size() - 1];
    }

    /// \returns true if something waits in a lane that goes before this one; false for any other executor.
    [[nodiscard]] bool has_more_urgent(const executor& than) const noexcept {
        bool ahead = false;
        for (const lane* each : lanes_) {
            if (ahead && !each->waiting.empty()) return true;
            ahead = ahead || each == &than;
        }
        return false;
    }

  private:
    class lane final : public executor {
      public:
        explicit lane(priority_lanes& all) : executor(traits_of(*all.base_)), all_(all) {}
        void post(std::coroutine_handle<> h) noexcept override { all_.add(waiting, h); }
        void add(timer& t) noexcept override { all_.base_->add(t); }
        void cancel(timer& t) noexcept override { all_.base_->cancel(t); }
        time_point now() const noexcept override { return all_.base_->now(); }
        // A pump that blocks in one of its coroutines runs no other: one more is there until it goes on.
        bool drive(flag& done, time_point limit) override {
            const bool is_pump = all_.has_lane(detail::current_executor());
            if (is_pump) all_.pump_blocks();
            const bool driven = all_.base_->drive(done, limit);
            if (is_pump) all_.pump_goes_on();
            return driven;
        }

        bool run_one() {
            void* const next = waiting.pop();
            if (next != nullptr) resume(std::coroutine_handle<>::from_address(next));
            return next != nullptr;
        }
        detail::basic_inbox<> waiting;

      private:
        // A coroutine here that suspends may not have its thread go on with what others posted.
        static executor_traits traits_of(executor& base) {
            executor_traits all = base.traits();
            all.continues_with_forks = false;
            all.way_into = &base.lasting();
            return all;
        }
        priority_lanes& all_;
    };

    // A coroutine of the executor that runs those of the lanes; for each of its threads one. It never ends.
    static detail::detached_task<void> pump(priority_lanes& all) {
        while (true) {
            int left = longest_slice;
            while (left > 0 && all.run_first()) --left;
            co_await pause(all, left == 0);
        }
    }
    void ended() noexcept override { std::terminate(); }  // by an exception that left a coroutine

    // Rests until there is something to do; or gives others their turn.
    class pause {
      public:
        pause(priority_lanes& all, bool yields) noexcept : all_(all), yields_(yields) {}
        bool await_ready() const noexcept { return false; }
        // Resumes on the executor below, posted here, or by whoever posts to a lane.
        bool await_suspend(std::coroutine_handle<> h) const noexcept {
            if (!yields_) return all_.rest(h);
            all_.base_->post(h);
            return true;
        }
        void await_resume() const noexcept {}

      private:
        priority_lanes& all_;
        const bool yields_;
    };

    bool run_first() {
        for (std::size_t i = lanes_.size(); i-- != 0;) {
            if (lanes_[i]->run_one()) return true;
        }
        return false;
    }

    // One more pump is called if one rests. Who goes to rest looks under the lock, and finds what was
    // posted. So does the destructor: what is posted here may be the last coroutine of all, run by another
    // pump at once, and after the lock nothing of this is touched.
    void add(detail::basic_inbox<>& waiting, std::coroutine_handle<> h) noexcept {
        executor& base = *base_;
        std::coroutine_handle<> woken;
        {
            const std::lock_guard guard(lock_);
            waiting.push(h.address());
            if (idle_.empty()) return;
            woken = idle_.back();
            idle_.pop_back();
        }
        base.post(woken);
    }

    bool has_lane(const executor* ex) const noexcept {
        for (const lane* each : lanes_) {
            if (each == ex) return true;
        }
        return false;
    }
    // As many pumps are left as the executor below has threads; unless there is no memory for one more.
    void pump_blocks() noexcept {
        {
            const std::lock_guard guard(lock_);
            if (pumps_.size() >= base_->traits().parallelism + ++blocked_) return;
        }
        std::coroutine_handle<> more;
        try {
            auto one = pump(*this);
            const std::lock_guard guard(lock_);
            idle_.reserve(pumps_.size() + 1);
            pumps_.push_back(std::move(one));
            more = pumps_.back().prepare(*base_, nullptr, *this);
        } catch (const std::bad_alloc&) {
            more = nullptr;
        }
        if (more) base_->post(more);
    }
    void pump_goes_on() noexcept {
        const std::lock_guard guard(lock_);
        --blocked_;
    }

    // False: there is something to do. Else the pump may run elsewhere, or be gone, from here on.
    bool rest(std::coroutine_handle<> h) noexcept {
        bool last;
        {
            const std::lock_guard guard(lock_);
            for (const lane* each : lanes_) {
                if (!each->waiting.empty()) return false;
            }
            idle_.push_back(h);
            last = closing_ && idle_.size() == pumps_.size();
        }
        if (last) all_idle_.set();  // the last thing: the destructor waits for it
        return true;
    }

    static constexpr int longest_slice = 64;
    detail::executor_use base_;
    detail::owning_list<lane> lanes_;
    detail::spin_lock lock_;                     // guards what is below
    std::vector<std::coroutine_handle<>> idle_;  // has room for all pumps
    std::vector<detail::detached_task<void>> pumps_;
    std::size_t blocked_ = 0;
    bool closing_ = false;
    detail::parker all_idle_;
};

}  // namespace weir

#endif
