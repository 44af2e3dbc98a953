// weir channel, internal: the statistics of a channel, and the clock that they are measured by
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_ACCOUNTS_HPP
#define WEIR_CHANNEL_CHANNEL_ACCOUNTS_HPP

#include <weir/channel/channel_end.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/process.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <memory>       // for std::unique_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// The executor that a channel was given as its clock, which outlives it; or the first on which somebody needs
// the time, which may be gone before: then nothing of that is touched any more. Changed under the channel's
// locks.
template <class Platform>
class channel_clock {
  public:
    // `given`: null for none.
    explicit channel_clock(executor* given) noexcept
        : bound_(given != nullptr), owner_(given), given_(given, executor_user::channel) {}

    bool bound() const noexcept { return bound_; }

    // Which a thread may have to run that waits; null: none. Under no lock: a hint.
    executor* owner() const noexcept {
        executor* const it = owner_.load(std::memory_order_acquire);  // pairs with bind()
        return it == nullptr || end_.is_set() ? nullptr : it;
    }

    // Whether that has its threads in another process, where they may have locked the channel. One load where
    // nothing was forked.
    bool is_orphaned() const noexcept {
        if (!was_forked()) return false;
        const executor* const it = owner();
        return it != nullptr && it->orphaned();
    }

    // In ns. Without a clock 0; before all that there was, if that is gone: time stands still.
    std::int64_t now() const noexcept {
        if (const executor* const it = owner()) return it->now().time_since_epoch().count();
        if (owner_.load(std::memory_order_relaxed) != nullptr) return INT64_MIN;
        return bound_ ? Platform::now() : 0;
    }

    // By the object only where that isn't gone sooner than one would think. False: it had a clock before.
    bool bind(executor& ex) noexcept {
        if (bound_) return false;
        bound_ = true;
        if (ex.traits().passing) return true;
        executor& owner = ex.lasting();
        end_ = executor_use::end_of(owner);
        owner_.store(&owner, std::memory_order_release);  // pairs with owner(): end_ is there before
        return true;
    }

  private:
    bool bound_;  // to a clock; the one of `executor::now` if there is no owner
    typename Platform::template atomic<executor*> owner_;
    end_flag end_;  // of an owner that wasn't given
    const executor_use given_;
};

// A slot of a stage whose queues have this policy.
template <class Policy>
using slot_of = std::conditional_t<Policy::statistics, timed_slot<keeps_histograms<Policy>>, slot>;

// Written under the channel's locks, as the ends are.
template <class Policy>
class channel_accounts : public channel_ends<Policy> {
    using ends = channel_ends<Policy>;

  public:
    using typename ends::platform;
    using typename ends::whole_lock;
    using slot_type = slot_of<Policy>;

    // Measures from now on, which is the beginning of the run that it belongs to. `feeds_consumer`: it is the one
    // from which the consumer takes.
    void start_measuring(std::int64_t now, [[maybe_unused]] bool feeds_consumer = false) noexcept {
        if constexpr (Policy::statistics) {
            const whole_lock held(*this);
            this->records_first_get_ = feeds_consumer;
            meter_.start(now);
            if (sink_ != nullptr) sink_->start(now);
        }
    }

    // When the first item was got of a queue from which the consumer takes; null: not yet, or not known.
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

    // The instant of what happens now: a slot's last reading of the clock, which is as old as the
    // few instructions since the end of its invocation; where something else was done since, or there is no
    // slot, another one.
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

    // The same without a reading, where short invocations share one: by how long they usually take.
    static std::int64_t estimated_now(slot& measured) noexcept {
        auto& me = static_cast<slot_type&>(measured);
        return me.meter.can_estimate() ? add_way(me.last_reading, 0, me.meter.estimate()) : reading_of(me);
    }

    // A channel that was built without a clock measures by that of the first coroutine that needs
    // it, from then on; not by the object where that may be gone before the channel.
    void bind(executor& ex) noexcept {
        if (!clock_.bind(ex)) return;
        if constexpr (Policy::statistics) {
            meter_.start(reading(nullptr));
        }
    }

    // Whether it is the queue of a sink, too, which is to be told of each item.
    WEIR_ALWAYS_INLINE bool has_sink() const noexcept {
        if constexpr (Policy::statistics) {
            return sink_ != nullptr;
        } else {
            return false;
        }
    }
    template <class IsMark>
    void tell_sink([[maybe_unused]] slot* measured, [[maybe_unused]] IsMark is_mark) noexcept {
        if constexpr (Policy::statistics) {
            const std::int64_t now = measured != nullptr ? estimated_now(*measured) : reading(nullptr);
            sink_->advance(meter_.settle(now), put_end_.count.load(std::memory_order_relaxed),
                           get_end_.count.load(std::memory_order_relaxed),
                           this->closed_ && this->putters_.empty(), is_mark);
        }
    }

    // The first item comes, or the last one goes, without anybody waiting for it.
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

    // `until`: null: until this instant.
    void fill(channel_stats& s, [[maybe_unused]] std::optional<std::int64_t> until,
              [[maybe_unused]] std::optional<sink_figures>* sink = nullptr) noexcept {
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

    // An item was got that is no mark. Where it isn't the first, or nobody asks, that is a look at a flag.
    WEIR_ALWAYS_INLINE void record_first_get([[maybe_unused]] slot* measured) noexcept {
        if constexpr (Policy::statistics) {
            if (!this->records_first_get_) return;
            this->records_first_get_ = false;
            meter_.note_first(reading(measured));
        }
    }

    // A mark was handed over.
    void count_mark() noexcept {
        ++put_marks_;
        ++get_marks_;
    }
    // All that are inside are taken out, and don't count as got.
    void discard(std::uint64_t items) noexcept {
        discarded_ += items - (put_marks_ - get_marks_);
        get_marks_ = put_marks_;
        if constexpr (Policy::statistics) {
            if (sink_ != nullptr && !sink_->is_over()) sink_->discard(meter_.settle(reading(nullptr)));
        }
    }

    channel_clock<platform> clock_;
    std::uint64_t discarded_ = 0;  // items that were cancelled; at the end for getting, they have passed
    // How many of the items were none, but marks (channel/epoch_item.hpp). Each under the lock of its end.
    std::uint64_t put_marks_ = 0;
    std::uint64_t get_marks_ = 0;
    std::conditional_t<Policy::statistics, channel_meter<platform, keeps_histograms<Policy>>, no_meter>
        meter_;
    // Of the sink whose queue it is, too; null: of none. Made before it is used.
    [[no_unique_address]] std::conditional_t<
        Policy::statistics, std::unique_ptr<sink_meter<platform, keeps_histograms<Policy>>>, no_sink> sink_;
};

WEIR_COMPILED(class channel_accounts<measured>);
WEIR_COMPILED(class channel_accounts<summed>);

}  // namespace weir::detail

#endif
