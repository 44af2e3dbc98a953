// weir channel, internal: what a channel does whatever its items are: lines of waiters, clock, figures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_CORE_HPP
#define WEIR_CHANNEL_CHANNEL_CORE_HPP

#include <weir/channel/channel_clock.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/sink_meter.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <memory>       // for std::unique_ptr
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir::detail {

// A slot of a stage whose queues have this policy.
template <class Policy>
using slot_of = std::conditional_t<Policy::statistics, timed_slot<keeps_histograms<Policy>>, slot>;

// Items are added and taken by `channel<T>`; here is who waits, since when, and what that adds up to.
template <class Policy>
class channel_core : public wait_site, public channel_ends<Policy> {
    using ends = channel_ends<Policy>;

  public:
    using typename ends::platform;
    using typename ends::record;
    using typename ends::side;
    using typename ends::waiter;
    using typename ends::whole;
    using parker = basic_parker<platform>;
    using slot_type = slot_of<Policy>;

    void inspect(site_seen& seen) const override {
        const whole held(*this);
        seen.site = this;
        seen.channel = merged_name_.empty() ? &name_ : &merged_name_;
        seen.size = size();
        seen.capacity = capacity_;
        seen.closed = closed_;
        for (const side line : {side::put, side::get}) {
            const bool puts = line == side::put;
            const waiter* w = (puts ? putters_ : getters_).front();
            for (; w != nullptr; w = w->next) {
                seen.waiting.push_back({w->wait, puts ? wait_kind::put : wait_kind::get,
                                        puts ? "to put into channel" : "to get from channel",
                                        w->measured != nullptr ? w->measured : w->work_of,
                                        w->measured == nullptr, w->thread != nullptr, w->has_limit});
            }
        }
    }

    std::uint64_t moved() const noexcept override {
        return put_end_.count.load(std::memory_order_relaxed) +
               get_end_.count.load(std::memory_order_relaxed);
    }

    // An operation asked to stop: wakes it if it still waits. If it was answered already, that
    // stands: nothing is lost. If it does not wait yet, it won't.
    void stop(waiter& w, side line) noexcept {
        {
            const whole held(*this);
            if (!w.linked) {
                w.stop_seen = true;
                return;
            }
            take_out(w, line, outcome::stopped, reading(nullptr));
        }
        wake(w);
    }

    // A slot that was marked as recalled need not wait for an item any longer.
    void recall(const slot& who) noexcept {
        waiter* found = nullptr;
        {
            const whole held(*this);
            found = getters_.front();
            while (found != nullptr && found->measured != &who) found = found->next;
            if (found == nullptr) return;
            take_out(*found, side::get, outcome::stopped, reading(nullptr));
        }
        wake(*found);
    }

    // A frame is destroyed, or a thread gives up, while it may still wait: true if it was still in
    // the line.
    bool forget(waiter& w, side line) noexcept {
        const whole held(*this);
        if (!w.linked) return false;
        take_out(w, line, outcome::timed_out, reading(nullptr));
        return true;
    }

    // The last thing done to a waiter that was taken out of its line.
    static void wake(waiter& w) noexcept {
        if (w.thread != nullptr) {
            w.thread->set();
        } else {
            executor* const ex = w.executor;
            ex->post(std::coroutine_handle<>::from_address(w.coroutine));
        }
    }

    WEIR_ALWAYS_INLINE static void wake_all(wake_list<platform>& list) noexcept {
        while (!list.empty()) wake(*list.pop());
        if (list.budget != nullptr) list.budget->has_room();
    }

    // Under the whole: a coroutine of `ex` begins to wait. The first executor that wants to names the
    // channel's waiters in its reports; where the channel was given no clock, it uses the first's.
    // `me`: of the calling thread.
    WEIR_ALWAYS_INLINE void wait_in_line(waiter& w, side line, executor& ex, record* me) noexcept {
        if (!is_registered() && !ex.traits().passing) register_site(*this, ex);
        if (!clock_.bound()) bind(ex);
        const std::int64_t now = reading(w.measured);
        if constexpr (Policy::statistics) {
            if (me != nullptr && w.measured != nullptr) me->ends_turn(&w.measured->clock(), now);
        }
        put_in(w, line, now);
    }

    // An operation is done, and its coroutine is about to be posted all the same.
    static void turn_ends(waiter& w) noexcept {
        if constexpr (Policy::statistics) {
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, reading_of(*w.measured));
        }
    }

    // Measures from now on, which is the beginning of the run that it belongs to.
    void start_measuring(std::int64_t now) noexcept {
        if constexpr (Policy::statistics) {
            const whole held(*this);
            meter_.start(now);
            if (sink_ != nullptr) sink_->start(now);
        }
    }

    // The same for a thread, which may be that of a coroutine. Returns the executor that it may have to
    // run meanwhile, if any.
    executor* wait_in_line(waiter& w, side line) noexcept {
        if (executor* const here = current_executor()) bind(*here);
        executor* const clock = clock_.owner();
        if (clock != nullptr && !is_registered() && !clock->traits().exclusive) register_site(*this, *clock);
        put_in(w, line, reading(nullptr));
        return clock;
    }

  protected:
    using ends::bytes_;
    using ends::capacity_;
    using ends::closed_;
    using ends::get_end_;
    using ends::getters_;
    using ends::put_end_;
    using ends::putters_;
    using ends::size;

    channel_core(std::size_t capacity, executor* clock, std::string name)
        : ends(capacity), clock_(clock), name_(std::move(name)) {
        if (clock != nullptr && clock->traits().exclusive) {
            put_end_.lock.reserve();
            get_end_.lock.reserve();
        }
        if constexpr (Policy::statistics) {
            if (clock_.bound()) meter_.start(reading(nullptr));
        }
    }
    ~channel_core() = default;

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
    static std::int64_t about_now(slot& measured) noexcept {
        auto& me = static_cast<slot_type&>(measured);
        return me.meter.can_tell() ? add_way(me.last_reading, 0, me.meter.unread_time()) : reading_of(me);
    }

    // A channel that was built without a clock measures by that of the first coroutine that needs
    // it, from then on; not by the object where that may be gone before the channel.
    void bind(executor& ex) noexcept {
        if (!clock_.bind(ex)) return;
        if constexpr (Policy::statistics) {
            meter_.start(reading(nullptr));
        }
    }

    // An operation begins to wait.
    void put_in(waiter& w, side line, std::int64_t now) noexcept {
        line_of(line).push(w);
        w.wait = ++waits_;
        if constexpr (Policy::statistics) {
            w.since = meter_.settle(now);
            ++side_of(line).waiting;
            if (w.measured != nullptr) {
                w.measured->enter(line == side::put ? slot_state::wait_put : slot_state::wait_get, w.since);
            }
        }
    }

    // A wait ends. Slot and channel get the same instants, so their sums agree.
    // `counts`: false for a mark, whose wait is no operation's.
    void take_out(waiter& w, side line, detail::outcome how, std::int64_t now,
                  [[maybe_unused]] bool counts = true) noexcept {
        line_of(line).remove(w);
        w.outcome = how;
        if constexpr (Policy::statistics) {
            w.ready = meter_.settle(now);
            --side_of(line).waiting;
            if (how == outcome::done && counts && meter_.started()) {
                // A thread may have begun to wait before there was a clock.
                side_of(line).waits.record(time_between(larger(w.since, meter_.begin()), w.ready));
            }
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, w.ready);
        }
    }

    // Whether it is the queue of a sink, too, which is to be told of each item.
    WEIR_ALWAYS_INLINE bool has_sink() const noexcept { return Policy::statistics && sink_ != nullptr; }
    template <class IsMark>
    void tell_sink([[maybe_unused]] slot* measured, [[maybe_unused]] IsMark is_mark) noexcept {
        if constexpr (Policy::statistics) {
            const std::int64_t now = measured != nullptr ? about_now(*measured) : reading(nullptr);
            sink_->advance(meter_.settle(now), put_end_.count.load(std::memory_order_relaxed),
                           get_end_.count.load(std::memory_order_relaxed), closed_ && putters_.empty(), is_mark);
        }
    }

    // The first item comes, or the last one goes, without anybody waiting for it.
    void now_empty([[maybe_unused]] bool empty, [[maybe_unused]] slot* measured) noexcept {
        if constexpr (Policy::statistics) {
            if (!clock_.bound()) {
                if (executor* const here = current_executor()) bind(*here);
            } else {
                meter_.settle(measured != nullptr ? about_now(*measured) : reading(nullptr));
            }
            meter_.set_empty(empty);
        }
    }

    // `until`: null: until this instant.
    void fill(channel_stats& s, [[maybe_unused]] std::optional<std::int64_t> until,
              [[maybe_unused]] std::optional<sink_figures>* sink = nullptr) noexcept {
        s.capacity = capacity_;
        s.num_put = put_end_.count.load(std::memory_order_relaxed) - put_marks_;
        s.num_get = get_end_.count.load(std::memory_order_relaxed) - discarded_ - get_marks_;
        s.size = size() - static_cast<std::size_t>(put_marks_ - get_marks_);
        s.bytes = bytes_.bytes;
        s.max_bytes = bytes_.most;
        if constexpr (Policy::statistics) {
            const std::int64_t now = until ? *until : reading(nullptr);
            meter_.fill(s, now);
            if (sink == nullptr || sink_ == nullptr) return;
            if (meter_.started()) sink_->settle(meter_.settle(now));
            sink->emplace(sink_->figures(put_end_.count.load(std::memory_order_relaxed)));
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
    std::uint64_t waits_ = 0;      // how many operations have begun to wait
    std::uint64_t discarded_ = 0;  // items that were cancelled; at the end for getting, they have passed
    // How many of the items were none, but marks (channel/epoch_item.hpp). Each under the lock of its end.
    std::uint64_t put_marks_ = 0;
    std::uint64_t get_marks_ = 0;
    std::conditional_t<Policy::statistics, channel_meter<platform, keeps_histograms<Policy>>, no_meter>
        meter_;
    // Of the sink whose queue it is, too; null: of none. Made before it is used.
    std::unique_ptr<sink_meter<platform, keeps_histograms<Policy>>> sink_;
    const std::string name_;
    std::string merged_name_;  // where it is a sink's, too: of both, for reports

  private:
    waiter_line<platform>& line_of(side line) noexcept { return line == side::put ? putters_ : getters_; }
    auto& side_of(side line) noexcept { return line == side::put ? meter_.puts : meter_.gets; }
};

WEIR_COMPILED(class channel_core<measured>);
WEIR_COMPILED(class channel_core<summed>);

}  // namespace weir::detail

#endif
