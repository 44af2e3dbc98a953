// weir channel, internal: the statistics of a channel, and the clock for them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_ACCOUNTS_HPP
#define WEIR_CHANNEL_CHANNEL_ACCOUNTS_HPP

#include <weir/channel/channel_end.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/process.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// The executor whose clock a channel uses: the executor that the channel's constructor was given, which
// outlives the channel; or else the first executor on which an operation needs the time. That executor may be
// destroyed before the channel, and is not used from then on. Changed under the locks of the channel.
template <class Platform>
class channel_clock {
  public:
    // `given`: the argument of the constructor of the channel, or null.
    explicit channel_clock(executor* given) noexcept
        : bound_(given != nullptr), owner_(given), given_(given, executor_user::channel) {}

    bool bound() const noexcept { return bound_; }

    // The executor, which a waiting thread may have to run; null: none is known, or it was destroyed. A hint
    // if called without a lock of the channel.
    executor* owner() const noexcept {
        executor* const ex = owner_.load(std::memory_order_acquire);  // pairs with bind(): sees end_
        return ex == nullptr || end_.is_set() ? nullptr : ex;
    }

    // Whether this is a forked process, and the threads of the executor exist only in its parent. If one of
    // them held a lock of the channel during the fork, the copy of this lock is never unlocked here.
    // Cost: one load in a process that was not forked.
    bool is_orphaned() const noexcept {
        if (!was_forked()) return false;
        const executor* const ex = owner();
        return ex != nullptr && ex->orphaned();
    }

    // The time in ns; 0 before the channel has a clock. INT64_MIN if the executor was destroyed: the times of
    // the channel stand still then. relaxed: only tells whether there ever was an executor
    std::int64_t now() const noexcept {
        if (const executor* const ex = owner()) return ex->now().time_since_epoch().count();
        if (owner_.load(std::memory_order_relaxed) != nullptr) return INT64_MIN;
        return bound_ ? Platform::now() : 0;
    }

    // Uses the clock of `ex` from now on. False: the channel already has a clock. An executor with the trait
    // `passing` may be destroyed at any time: for such an executor, the channel uses the platform's clock.
    bool bind(executor& ex) noexcept {
        if (bound_) return false;
        bound_ = true;
        if (ex.traits().passing) return true;
        executor& owner = ex.lasting();  // the executor to which `ex` forwards, if any; else `ex`
        end_ = executor_use::end_of(owner);
        owner_.store(&owner, std::memory_order_release);  // publishes end_; pairs with owner()
        return true;
    }

  private:
    bool bound_;  // the channel has a clock: the owner's, or the platform's if there is no owner
    typename Platform::template atomic<executor*> owner_;  // null: none is known
    end_flag end_;  // tells that the owner was destroyed; never set for an owner given to the constructor
    const executor_use given_;  // counts the channel as a user of a given executor, which must outlive it
};

// The type of the slots (workers) of a stage. `Policy`: what the run (a started pipeline) measures:
// `measured`, `summed` (without histograms) or `unmeasured`.
template <class Policy>
using slot_of = std::conditional_t<Policy::statistics, timed_slot<keeps_histograms<Policy>>, slot>;

// The statistics of a channel, which change only under the locks of the channel. The parameter `measured` is
// the slot (a worker of a stage) that does the operation; null for other coroutines and for threads.
template <class Policy>
class channel_accounts : public channel_ends<Policy> {
    using ends = channel_ends<Policy>;

  public:
    using typename ends::platform;
    using typename ends::whole_lock;
    using slot_type = slot_of<Policy>;

    // Measures from `now` on, the beginning of the run. `feeds_consumer`: the run's consumer (the coroutine
    // or thread that takes its results) gets from this channel.
    void start_measuring(std::int64_t now, [[maybe_unused]] bool feeds_consumer = false) noexcept {
        if constexpr (Policy::statistics) {
            const whole_lock held(*this);
            this->records_first_get_ = feeds_consumer;
            meter_.start(now);
            if (sink_ != nullptr) sink_->start(now);
        }
    }

    // When the consumer got the first item, in ns of the clock; empty: not yet, or not recorded.
    std::optional<std::int64_t> first_got() const noexcept {
        if constexpr (Policy::statistics) {
            const whole_lock held(*this);
            if (meter_.first() != INT64_MIN) return meter_.first();
        }
        return std::nullopt;
    }

  protected:
    using ends::bytes_;
    using ends::get_end_;
    using ends::put_end_;
    using ends::size;

    channel_accounts(std::size_t capacity, executor* clock) : ends(capacity), clock_(clock) {
        if constexpr (Policy::statistics) {
            if (clock_.bound()) meter_.start(reading(nullptr));
        }
    }
    ~channel_accounts() = default;

    // The current time. If the slot has done no work since its last clock reading, returns that reading,
    // which is a few instructions old. Otherwise, or without a slot, reads the clock.
    std::int64_t reading(slot* measured) const noexcept {
        if constexpr (Policy::statistics) {
            return measured != nullptr ? reading_of(*measured) : clock_.now();
        } else {
            return 0;
        }
    }

    static std::int64_t reading_of(slot& measured) noexcept {
        auto& me = static_cast<slot_type&>(measured);
        if (me.meter.is_behind()) me.catch_up(clock_of(me));
        return me.last_reading;
    }

    // An estimate of the current time, if the slot has only invoked its function since its last clock
    // reading: that reading, plus the number of invocations times their usual duration. Else `reading_of`.
    static std::int64_t estimated_now(slot& measured) noexcept {
        auto& me = static_cast<slot_type&>(measured);
        return me.meter.can_estimate() ? add_interval(me.last_reading, 0, me.meter.estimate())
                                       : reading_of(me);
    }

    // Gives a channel without a clock the clock of `ex`, on which an operation needs the time; statistics
    // begin now.
    void bind(executor& ex) noexcept {
        if (!clock_.bind(ex)) return;
        if constexpr (Policy::statistics) {
            meter_.start(reading(nullptr));
        }
    }

    // Whether this queue is merged with the last stage (the sink) and its queue: see
    // `any_channel::merge_sink`. Puts and gets then update the sink's meter. `is_mark(n)`: whether element
    // `n` of the queue is a mark of the end of an epoch (a pass over the data).
    WEIR_ALWAYS_INLINE bool has_sink() const noexcept {
        if constexpr (Policy::statistics) {
            return sink_ != nullptr;
        } else {
            return false;
        }
    }
    template <class IsMark>
    void update_sink_meter([[maybe_unused]] slot* measured, [[maybe_unused]] IsMark is_mark) noexcept {
        if constexpr (Policy::statistics) {
            const std::int64_t now = measured != nullptr ? estimated_now(*measured) : reading(nullptr);
            sink_->advance(meter_.settle(now), put_end_.count.load(std::memory_order_relaxed),
                           get_end_.count.load(std::memory_order_relaxed),
                           this->closed_ && this->putters_.empty(), is_mark);
        }
    }

    // Records when the channel becomes empty (`empty`) or stops being empty. Not called for an item that is
    // handed to a waiting get: the channel remains empty.
    void emptiness_changed([[maybe_unused]] bool empty, [[maybe_unused]] slot* measured) noexcept {
        if constexpr (Policy::statistics) {
            if (!clock_.bound()) {
                if (executor* const here = current_executor()) bind(*here);
            } else {
                meter_.settle(measured != nullptr ? estimated_now(*measured) : reading(nullptr));
            }
            meter_.set_empty(empty);
        }
    }

    // Sets all members of `s` except the name. `until`: the instant up to which waits count, in ns of the
    // channel's clock; empty: the current time. `sink`: receives the figures of the merged sink, if there is
    // one.
    void fill(channel_stats& s, [[maybe_unused]] std::optional<std::int64_t> until,
              [[maybe_unused]] later<sink_figures>* sink = nullptr) noexcept {
        s.capacity = this->capacity_;
        s.num_put = put_end_.count.load(std::memory_order_relaxed) - put_marks_;
        s.num_get = get_end_.count.load(std::memory_order_relaxed) - discarded_ - get_marks_;
        s.num_discarded = discarded_;
        s.size = size() - number_as<std::size_t>(put_marks_ - get_marks_);
        s.bytes = bytes_.bytes;
        s.max_bytes = bytes_.most;
        if constexpr (Policy::statistics) {
            const std::int64_t now = until ? *until : reading(nullptr);
            meter_.fill(s, now);
            if (sink == nullptr || sink_ == nullptr) return;
            if (meter_.started()) sink_->settle(meter_.settle(now));
            sink->emplace(sink_->figures(put_end_.count.load(std::memory_order_relaxed)));
            (*sink)->moved =
                sink_->moved(get_end_.count.load(std::memory_order_relaxed), size(), meter_.turned());
        }
    }

    // Called for each item that is got, but not for a mark (see `count_mark`). After the first item, a call
    // only checks a flag.
    WEIR_ALWAYS_INLINE void record_first_get([[maybe_unused]] slot* measured) noexcept {
        if constexpr (Policy::statistics) {
            if (!this->records_first_get_) return;
            this->records_first_get_ = false;
            meter_.note_first(reading(measured));
        }
    }

    // Counts a mark of the end of an epoch, a pass over the data (channel/epoch_item.hpp), that was handed to
    // a waiting get.
    void count_mark() noexcept {
        ++put_marks_;
        ++get_marks_;
    }
    // Counts the items inside as discarded, not as got, when the channel is cancelled. `items`: the number of
    // items and marks inside.
    void discard(std::uint64_t items) noexcept {
        discarded_ += items - (put_marks_ - get_marks_);
        get_marks_ = put_marks_;
        if constexpr (Policy::statistics) {
            if (sink_ != nullptr && !sink_->is_over()) sink_->discard(meter_.settle(reading(nullptr)));
        }
    }

    channel_clock<platform> clock_;
    // The number of items that a cancel removed; `get_end_.count` includes these items.
    std::uint64_t discarded_ = 0;
    // How many marks (of the end of an epoch) were put, and got. Each number is guarded by the lock of its
    // end of the channel.
    std::uint64_t put_marks_ = 0;
    std::uint64_t get_marks_ = 0;
    // The times of the merged sink (see `has_sink`) and its queue; null: none. Made before the queue is used.
    [[no_unique_address]] std::conditional_t<
        Policy::statistics, owned<sink_meter<platform, keeps_histograms<Policy>>>, no_sink> sink_;
    // The times of waits, and the time in which the channel was empty.
    std::conditional_t<Policy::statistics, channel_meter<platform, keeps_histograms<Policy>>, no_meter>
        meter_;
};

WEIR_COMPILED(class channel_accounts<measured>);
WEIR_COMPILED(class channel_accounts<summed>);

}  // namespace weir::detail

#endif
