// weir channel, internal: the type-erased base of a channel, which other rooms use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ANY_CHANNEL_HPP
#define WEIR_CHANNEL_ANY_CHANNEL_HPP

#include <weir/channel/channel_store.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
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
template <class, bool>
class choice_case;

// The operations that lock the channel themselves. Members named as members of `channel` do the same.
template <class Policy>
class any_channel : public channel_store<Policy> {
    using store = channel_store<Policy>;

  public:
    using typename store::core;
    using typename store::side;
    using typename store::waiter;

    // Virtual: a run owns its channels through pointers to this type.
    virtual ~any_channel() = default;

    // As in `channel_core`. Then admits puts that waited behind this put: the item of this put may have been
    // too large for the limit in bytes, while their items fit.
    void stop(waiter& w, side line) noexcept {
        core::stop(w, line);
        if (line == side::put) admit_waiting_puts();
    }
    bool forget(waiter& w, side line) noexcept {
        const bool waited = core::forget(w, line);
        if (waited && line == side::put) admit_waiting_puts();
        return waited;
    }

    // Puts, or gets, as many items as possible without waiting; returns their number. Returns 0 in a process
    // that was forked from the process of the channel's threads.
    template <class T>
    std::size_t put_some(T* from, std::size_t most) noexcept {
        if (core::clock_.is_orphaned()) return 0;
        std::size_t n = store::put_many(from, most);
        if (n != 0) return n;
        change locked(*this);
        while (n != most && this->offer(from + n, nullptr, locked.woken()) == outcome::done) {
            this->update_hints();
            ++n;
            n += this->push_some(from + n, most - n);
        }
        return n;
    }
    template <class T>
    std::size_t get_some(T* into, std::size_t most) noexcept {
        if (core::clock_.is_orphaned()) return 0;
        std::size_t n = store::get_many(into, most);
        if (n == most || (n != 0 && !Policy::statistics)) return n;
        change locked(*this);
        uninitialised_slot<T> place;
        std::uint64_t number = 0;
        while (n != most && this->take(place.address(), number, nullptr, locked.woken()) == outcome::done) {
            this->update_hints();
            into[n++] = std::move(*place.take());
            n += this->pop_some(into + n, most - n);
        }
        return n;
    }

    // A put or get by a thread, which blocks for `max_wait` at most.
    outcome block(side line, void* item, duration max_wait);

    void close() noexcept;
    void close_to_newcomers() noexcept;
    void cancel() noexcept;
    // `of_sink`: the new capacity of the queue behind the sink, if this queue serves as that queue, too; 0:
    // as before. `capacity` then includes it: see `merge_sink`.
    void set_capacity(std::size_t capacity, std::size_t of_sink = 0);
    // Makes this queue serve also as the queue behind the sink of that name, which then needs no coroutine.
    // Called before the queue is used. `capacity`: that of both queues, plus 1 for the item that the sink
    // holds. `of_sink`, `bytes_of_sink`: the limits of the queue behind the sink, in items and in bytes; the
    // limit in bytes is added to that of this queue.
    void merge_sink(const std::string& sink, std::size_t capacity, std::size_t of_sink,
                    std::size_t bytes_of_sink);
    void set_max_bytes(std::size_t bytes);
    // `now`: an instant in ns of the clock, not before the last event; empty: the current time.
    // `sink`: receives the figures of the sink that this queue serves, too, if it serves one.
    channel_stats stats(std::optional<std::int64_t> now, std::optional<sink_figures>* sink = nullptr);
    const std::string& name() const noexcept { return core::name_; }

  protected:
    using store::store;
    using typename store::wakes;

    // Locks the whole channel. After unlocking it wakes the waiters in `woken`.
    class [[nodiscard]] change {
      public:
        explicit change(any_channel& c, bool ends_apart = false) noexcept : held_(c, ends_apart) {}
        wakes& woken() noexcept { return waker_.woken; }

      private:
        struct waker {
            wakes woken;
            waker() noexcept = default;
            waker(const waker&) = delete;
            waker& operator=(const waker&) = delete;
            ~waker() { core::wake_all(woken); }
        };
        waker waker_;
        const typename core::whole_lock held_;
    };

  private:
    // Blocks the thread until `w` is served or `max_wait` has passed by the clock of `ex`, the channel's
    // executor, or null. Meanwhile this thread runs an executor that has no threads: `help_until`.
    outcome block_in_line(waiter& w, side line, typename core::parker& flag, executor* ex, duration max_wait);

    void admit_waiting_puts() noexcept;

    template <class, class, bool>
    friend class channel_awaiter;
    template <class, class>
    friend class put_operation;
    template <class, class>
    friend class get_operation;
    template <class, bool>
    friend class choice_case;
};

// The base of a channel, for other parts of the library.
template <class T, class Policy>
any_channel<Policy>& inside(channel<T, Policy>&) noexcept;

WEIR_COMPILED(class any_channel<measured>);
WEIR_COMPILED(class any_channel<summed>);
WEIR_COMPILED(class any_channel<unmeasured>);

}  // namespace weir::detail

#include <weir/channel/any_channel.ipp>

#endif
