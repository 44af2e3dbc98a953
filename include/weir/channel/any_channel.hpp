// weir channel, internal: the base of all channels, without the item type; pipelines use this base
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ANY_CHANNEL_HPP
#define WEIR_CHANNEL_ANY_CHANNEL_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/channel_puts.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/detached_task.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move

namespace weir {
template <class T, class Policy>
class channel;
}

namespace weir::detail {

template <class, class, bool>
class channel_awaiter;
template <class, class>
class put_operation;
template <class, class>
class get_operation;
template <class>
class numbered_put;
template <class, bool>
class choice_case;

// The operations that lock both ends of a channel, the putting and the getting one: puts and gets that wait
// or wake a waiter, closing, and changes of the capacity. They are compiled once for all item types: an item
// is a `void*`. A public member without a comment does the same as the member of `channel` with its name.
template <class Policy>
class any_channel : public channel_puts<Policy> {
    using items = channel_items<Policy>;
    using puts = channel_puts<Policy>;

  public:
    using core = channel_core<Policy>;
    using typename items::side;
    using typename items::waiter;

    // Virtual: a run (a started pipeline) destroys its channels through pointers to this class.
    virtual ~any_channel();

    // `line`: the end at which `w` waits. `stop`, called when a stop is requested, ends the wait of `w`; if
    // `w` is not yet in line, it will not wait. `forget`, called by the owner of `w`, removes `w` from the
    // line; false: `w` was not in line. With a limit in bytes, both functions then admit puts behind the put
    // `w` whose smaller items fit.
    void stop(waiter& w, side line) noexcept {
        core::stop(w, line);
        if (line == side::put) admit_waiting_puts();
    }
    bool forget(waiter& w, side line) noexcept {
        const bool waited = core::forget(w, line);
        if (waited && line == side::put) admit_waiting_puts();
        return waited;
    }

    // Puts, or gets, as many items as possible without waiting; returns their number. Returns 0 in a forked
    // process without the threads of the channel's executor, one of which may have held a lock during the
    // fork: the operation then suspends, and the suspension throws `forked_error`.
    template <class T>
    std::size_t put_some(T* from, std::size_t most) noexcept {
        if (core::clock_.is_orphaned()) return 0;
        std::size_t n = items::put_many(from, most);
        if (n != 0) return n;
        locked_change locked(*this);
        while (n != most && offer(from + n, nullptr, locked.woken()) == outcome::done) {
            this->update_hints();
            ++n;
            n += this->push_some(from + n, most - n);
        }
        return n;
    }
    template <class T>
    std::size_t get_some(T* into, std::size_t most) noexcept {
        if (core::clock_.is_orphaned()) return 0;
        std::size_t n = items::get_many(into, most);
        if (n == most || (n != 0 && !Policy::statistics)) return n;
        locked_change locked(*this);
        uninitialised_slot<T> place;
        std::uint64_t number = 0;  // of the item, in the order of the gets; not needed here
        while (n != most && take(place.address(), number, nullptr, locked.woken()) == outcome::done) {
            this->update_hints();
            into[n++] = std::move(*place.take());
            n += this->pop_some(into + n, most - n);
        }
        return n;
    }

    // A put or get by a thread, which blocks for `max_wait` at most (`blocking_put`, `blocking_get`). `item`:
    // the item to move from, or the memory to construct it in.
    outcome block(side line, void* item, duration max_wait);

    // The number of early items in a channel with `keep_order`: their puts are done, but gets do not see them
    // before items with lower numbers are in. For a profiler: the stage has made these items.
    std::size_t num_early() const noexcept {
        const typename core::whole_lock held(*this);
        std::size_t n = 0;
        if (core::order_ != nullptr) core::order_->each_item([&n](std::uint64_t) { ++n; });
        return n;
    }

    // From now on, a thread that blocks without a time limit may run coroutines of the channel's executor
    // meanwhile. It then takes the place of a thread of the executor, and that thread pauses: see
    // `executor::lend_place`. Called before the channel is used. (Consumers: threads of the program that take
    // the results of a run.)
    void let_consumers_help() noexcept { core::consumers_help_ = true; }

    void close() noexcept;               // ends all waits; gets still take the items inside
    void close_to_newcomers() noexcept;  // the same, but puts that wait now are done when there is room
    void cancel() noexcept;              // closes, and destroys the items inside
    // If `merge_sink` has merged the queue behind the sink with this queue: `of_sink` is the new capacity of
    // the queue behind the sink (0: unchanged), and `capacity` that of both queues, plus 1.
    void set_capacity(std::size_t capacity, std::size_t of_sink = 0);
    // Merges this queue, which is before the last stage (the sink), with the queue behind that stage. The
    // sink passes items on unchanged, and then needs no coroutine. Called before the queue is used. `sink`:
    // the name of the sink. `capacity`: of both queues together, plus 1 for the item that the sink holds.
    // `of_sink`, `bytes_of_sink`: the limits of the queue behind the sink, in items and in bytes; the limit
    // in bytes is added to that of this queue.
    void merge_sink(const std::string& sink, std::size_t capacity, std::size_t of_sink,
                    std::size_t bytes_of_sink);
    void set_max_bytes(std::size_t bytes);  // limits the sum of the items' sizes; 0: no limit
    // From now on all puts have numbers, from 0 without gaps, and items enter in the order of these numbers.
    // For a stage that preserves the order of its input. Called before the channel is used.
    void keep_order() { core::order_ = owned<put_order>(new put_order(capacity_, ring_.places())); }
    // Sets the name for statistics and reports. Called before the channel is used.
    void set_name(std::string name) noexcept { core::name_ = std::move(name); }
    // For a channel with `keep_order`. Called when the stage that puts ends at its item `last`, as by a
    // failure: puts with a number above `last` end with `closed`, also those that wait. No get sees an early
    // item above `last`.
    void block_puts(std::uint64_t last) noexcept {
        locked_change locked(*this);
        puts::block_puts(last, locked.woken());
    }
    // Returns the statistics. `now`: an instant in ns of the channel's clock, not before the last change of
    // the statistics; empty: the current time. `sink`: if `merge_sink` has merged a sink and its queue with
    // this channel, receives the figures of that sink; null: not wanted.
    channel_stats stats(std::optional<std::int64_t> now, later<sink_figures>* sink = nullptr);
    // The average size in bytes of the items that came into the queue; 0: no item came, or bytes are not
    // counted.
    std::size_t item_bytes() {
        const typename core::whole_lock held(*this);
        const byte_gauge& all = core::bytes_;
        return all.num_items == 0 ? 0 : number_as<std::size_t>(all.all_bytes / all.num_items);
    }
    const std::string& name() const noexcept { return core::name_; }
    // Returns a sentence if the state of the channel contradicts itself, as when a get waits though an item
    // is inside; else null. Called by simulations (tests on one thread) after each step, under no lock.
    const char* contradiction() const noexcept override;

  protected:
    using core::capacity_;
    using core::closed_;
    using core::get_end_;
    using core::getters_;
    using core::put_end_;
    using core::putters_;
    using items::ring_;
    using items::type_;
    using puts::channel_puts;
    using puts::offer;
    using typename puts::wakes;

    // Locks both ends of the channel. The destructor unlocks, and then wakes the waiters in `woken`.
    // `ends_apart`: takes both locks even if one lock guards both ends, for a caller that lets one lock guard
    // both from now on, or no longer does.
    class [[nodiscard]] locked_change {
      public:
        explicit locked_change(any_channel& c, bool ends_apart = false) noexcept : held_(c, ends_apart) {}
        wakes& woken() noexcept { return waker_.woken; }

      private:
        struct waker {
            wakes woken;
            waker() noexcept = default;
            waker(const waker&) = delete;
            waker& operator=(const waker&) = delete;
            ~waker() { core::wake_all(woken); }
        };
        waker waker_;  // first member: destroyed after `held_` has unlocked
        const typename core::whole_lock held_;
    };

    // ---- under the whole_lock. `woken` receives the waiters that are to be woken after unlocking. --------
    // `measured`: the slot (a worker of a stage) that does the operation; null: another coroutine, a thread.

    // Whether `attempt` would finish the operation. A `select` claims its choice between the two calls.
    bool needs_no_waiting(side line, const waiter& w) const noexcept {
        const std::size_t before = core::size();
        if (closed_ || line == side::get) return closed_ || before != 0;
        return before < capacity_ && puts::fits(before, w.item) && putters_.empty();
    }

    // Does the operation of `w` if that is possible without waiting. Returns `pending` if the operation has
    // to wait, `closed` if it never will be possible.
    WEIR_ALWAYS_INLINE outcome attempt(side line, waiter& w, wakes& woken) noexcept {
        if (line == side::get) return take(w.item, w.number, w.measured, woken);
        return core::order_ == nullptr ? offer(w.item, w.measured, woken) : puts::offer_in_order(w, woken);
    }
    // A get that does not wait. Constructs the item at `into`, and sets `number`, its place in the order of
    // the gets. Without an item inside, returns `pending`, or `closed` if the channel is closed. A mark (the
    // end of an epoch, a pass over the data) is taken as an item is, but counted apart.
    outcome take(void* into, std::uint64_t& number, slot* measured, wakes& woken) noexcept {
        number = get_end_.count.load(std::memory_order_relaxed);
        get_end_.seen = put_end_.count.load(std::memory_order_relaxed);
        if (number == get_end_.seen) return closed_ ? outcome::closed : outcome::pending;
        ring_.take(number, into);
        puts::is_mark(into) ? void(++this->get_marks_) : core::record_first_get(measured);
        items::popped(number + 1);
        if (core::bytes_.counts()) woken.budget = core::bytes_.remove(type_.bytes(into));
        const bool admitted = puts::waits_to_put() && puts::admit_putters(measured, woken);
        if (core::size() == 0) core::emptiness_changed(true, measured);
        if (core::has_sink() && (admitted || this->sink_->waits_to_put())) items::update_sink_meter(measured);
        return outcome::done;
    }

  private:
    // Blocks the thread until `w` is served or `max_wait` has passed by the clock of `ex`, the channel's
    // executor; null, or if `ex` is destroyed meanwhile: by the platform's clock. Meanwhile the thread runs
    // `ex` if `ex` has no threads of its own: see `help_until`.
    outcome block_in_line(waiter& w, side line, typename core::parker& flag, executor* ex, duration max_wait);

    void admit_waiting_puts() noexcept;  // with a limit in bytes: the puts that fit now are done

    // ---- under the whole_lock -------------------------------------------------------------------------

    void close_locked(wakes& woken) noexcept;
    void admit_putters_to_sink(wakes& woken) noexcept {  // waiting puts for which there is room are done
        if (puts::admit_putters(nullptr, woken) && core::has_sink()) items::update_sink_meter(nullptr);
    }
    // Moves all items to `discarded`, also the early items (see `num_early`), and counts the items as
    // discarded, except the early ones. If this makes room in the run's limit in bytes, stores that limit in
    // `woken`, so that sources that wait for room continue. The caller destroys the items after it unlocks
    // the channel. Returns the number of the last item, plus 1.
    std::uint64_t discard(ring& discarded, wakes& woken) noexcept;
    bool keeps_waiting_puts_ = false;  // closed, but puts that waited at the close can still be done
    std::size_t sink_capacity_ = 0;    // the part of the capacity for a merged sink and its queue; 0: no sink

    template <class, class, bool>
    friend class channel_awaiter;
    template <class, class>
    friend class put_operation;
    template <class, class>
    friend class get_operation;
    template <class>
    friend class numbered_put;
    template <class, bool>
    friend class choice_case;
};

// Returns the base of a channel. For other parts of the library: programs don't see that base.
template <class T, class Policy>
any_channel<checked_policy_t<Policy>>& base_of(channel<T, Policy>&) noexcept;

WEIR_COMPILED(class any_channel<measured>);
WEIR_COMPILED(class any_channel<summed>);
WEIR_COMPILED(class any_channel<unmeasured>);

}  // namespace weir::detail

#include <weir/channel/any_channel.ipp>

#endif
