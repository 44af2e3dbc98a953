// weir channel: a bounded queue between coroutines and threads, with statistics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_HPP
#define WEIR_CHANNEL_CHANNEL_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/timed_operations.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::addressof
#include <optional>     // for std::nullopt
#include <span>         // for std::span
#include <string>       // for std::string
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir {

/// A bounded first-in first-out queue for many producers and many consumers.
///
/// Order:    items come out in the order in which they went in. Waiting operations are served first come,
///           first served. An item for a waiting get is handed to that get directly.
/// Suspends: `put` only while the channel is full, `get` only while it is empty; and every 128th put and get
///           yields: its coroutine goes to the end of its executor's queue.
/// Resumes:  on the executor of the waiting coroutine, by a post; never inside the call that ended the wait.
///           For a coroutine of another library, a member `weir::executor& weir_executor()` of its promise
///           names the executor. Without that member, the coroutine resumes on the executor whose coroutine
///           the thread runs at the await; or else on a thread of this library, which such coroutines share
///           and must not block. The other library may then move its coroutine to an executor of its own.
/// Threads:  any number may call any members at the same time; the destructor runs alone.
/// Errors:   `std::invalid_argument` for a capacity of 0 or less, `std::bad_alloc` from the constructor. A
///           wait throws `std::system_error` if the shared thread can't be started. A wait throws
///           `forked_error` in a process that was forked after the start of the shared thread, or of the pool
///           whose clock the channel uses. In such a process, a call that doesn't wait may hang if a thread
///           of the parent used the channel during the fork. A wait throws `stopped` in the function of a
///           pipeline's stage that is stopped or whose time limit is over, and in an argument of `when_any`
///           after another argument has ended: the item of a put then stays with the caller. An operation
///           that was completed before the stop returns its result.
/// Lifetime: outlives its operations. The destructor destroys the items inside. If channels are items of
///           channels, more than 100 levels deep, inner items are destroyed at the end of the outermost
///           destructor.
/// Cost:     O(1). One short lock if the capacity is 1 or 2, or if the operation doesn't wait, wakes nobody,
///           and doesn't change whether the channel is empty; else at most two. Locks cost next to nothing if
///           only one thread uses the channel (bench/results.md). Only the constructor, `set_capacity`,
///           `stats` and a histogram allocate; a histogram only for waits in more than 8 octaves (powers of
///           two), or for 2^32 waits in one bucket. The memory for items is that of the next power of two of
///           the capacity. An operation that doesn't wait reads the clock only if the channel becomes or
///           stops being empty. An operation that waits, and one that ends a wait, read the clock once each.
/// Source:   a ring, and two locks as in Michael and Scott's queue (PODC 1996): see platform/biased_lock.hpp.
///
/// \tparam T      is aligned to 64 bytes at most. Its move constructor and destructor don't throw. The move
///                constructor, and the destructor of a moved-from item, run under the lock: they must not
///                use the channel.
/// \tparam Policy `measured`; or `summed`: no histograms; or `unmeasured`: no statistics.
template <class T, class Policy = measured>
class channel final
    : detail::any_channel<detail::checked_policy_t<Policy>>,
      public detail::channel_refusals<T, detail::checked_policy_t<Policy>>,
      public detail::timed_operations<channel<T, Policy>, T, detail::checked_policy_t<Policy>> {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a channel's items are objects that move in and out: neither references nor "
                  "constants; put pointers instead");
    static_assert(detail::never_throws<T>::checked);
    using base = detail::any_channel<detail::checked_policy_t<Policy>>;
    using core = typename base::core;
    using locked_change = typename base::locked_change;
    using whole_lock = typename core::whole_lock;
    // `weir::stop_token`, unless a test supplies another platform (the type of atomics and locks).
    using stop_token = basic_stop_token<typename core::platform>;
    using refusals = detail::channel_refusals<T, detail::checked_policy_t<Policy>>;

  public:
    using refusals::blocking_put;
    using refusals::get, refusals::get_some;
    using refusals::put, refusals::put_some;
    using refusals::try_put;

    using value_type = T;
    using core_type = core;  // for other parts of the library
    using policy_type = detail::checked_policy_t<Policy>;

    /// \param capacity  in items, at least 1. Statistics use the clock of the executor of the first coroutine
    ///                  that waits or changes whether the channel is empty, and begin then. If that executor
    ///                  is destroyed before the channel, while no operation begins or ends, times stop then.
    explicit channel(std::size_t capacity) : base(detail::item_type_of<T>, capacity, nullptr, {}) {}

    /// \param clock  the executor whose clock the statistics use; they begin now. Outlives the channel.
    /// \param name   for statistics and deadlock reports.
    channel(std::size_t capacity, executor& clock, std::string name = {})
        : base(detail::item_type_of<T>, capacity, &clock, std::move(name)) {}

    /// Rejects at compile time a clock that is no executor, or is a temporary.
    template <class Ex>
        requires(!std::is_convertible_v<Ex, executor&>)
    channel(std::size_t, Ex&&, std::string = {}) : base(detail::item_type_of<T>, 1, nullptr, {}) {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: a channel(capacity, clock, name) measures in the time of an executor that "
                      "outlives it: a thread_pool, a run_loop, virtual_time, or what derives from "
                      "weir::executor, with a name");
    }

    ~channel() override { this->leave_registry(); }  // the list of channels that deadlock reports read

    /// Adds one item, waiting while the channel is full.
    ///
    /// \param item  is moved from when there is room, and only then: a rejected item stays with the caller.
    ///              Await the operation in the same expression, `co_await c.put(std::move(x))`.
    /// \returns     awaitable of `bool`: true = the item is in; false = the channel is closed.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item) {
        return detail::put_operation<channel>(*this, item);
    }
    /// The same as `put(T&&)`. A stop also ends the wait with false; `closed()` tells a close from a stop.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item, stop_token stop) {
        return detail::put_operation<channel, stop_token>(*this, item, nullptr, std::move(stop));
    }

    /// The same as `put(T&&)`, with a copy. Errors: those of copying the item, before anything else happens.
    [[nodiscard("co_await this, or nothing is put")]] auto put(const T& item)
        requires std::is_copy_constructible_v<T>
    {
        return detail::put_made_operation<channel>(*this, detail::no_stop(), item);
    }
    [[nodiscard("co_await this, or nothing is put")]] auto put(const T& item, stop_token stop)
        requires std::is_copy_constructible_v<T>
    {
        return detail::put_made_operation<channel, stop_token>(*this, std::move(stop), item);
    }

    /// Adds an item that this call constructs from `args` in the awaitable, by a constructor or as an
    /// aggregate. Use it instead of `co_await put(T{...})`: g++ 12 destroys such a temporary twice.
    ///
    ///     co_await out.emplace(std::move(name), 3);
    ///
    /// \returns as `put`. A rejected item is destroyed.
    /// Errors:  those of constructing the item, before anything else happens.
    template <class... Args>
    [[nodiscard("co_await this, or nothing is put")]] auto emplace(Args&&... args) {
        static_assert(detail::makes<T, Args...>,
                      "weir: emplace makes an item of what it is given, and this channel's can't be made of "
                      "that; the types are those of channel<T> and Args in this message");
        return detail::put_made_operation<channel>(*this, detail::no_stop(), std::forward<Args>(args)...);
    }

    /// Takes the next item, waiting while the channel is empty.
    ///
    /// \returns awaitable of `optional<T>`: empty when the channel is closed and drained, or when `stop`
    ///          ended the wait. A stop never loses an item: an item that was handed over is returned.
    [[nodiscard("co_await this, or nothing is got")]] auto get() {
        return detail::get_operation<channel>(*this);
    }
    [[nodiscard("co_await this, or nothing is got")]] auto get(stop_token stop) {
        return detail::get_operation<channel, stop_token>(*this, nullptr, std::move(stop));
    }

    /// Adds as many items of `from` as there is room for, in order, waiting only while there is no room. The
    /// first item may have to wait for room: items of other puts may come between it and the rest.
    ///
    /// \param from  outlives the await; the items that are in have been moved from.
    /// \returns     awaitable of `std::size_t`: the number of items that are in; 0 = the channel is closed, a
    ///              stop ended the wait, or `from` is empty.
    /// Cost: that of one operation, and of moving the items.
    [[nodiscard("co_await this, or nothing is put")]] auto put_some(std::span<T> from) {
        return detail::batch_operation<channel, detail::no_stop, true>(*this, from);
    }
    [[nodiscard("co_await this, or nothing is put")]] auto put_some(std::span<T> from, stop_token stop) {
        return detail::batch_operation<channel, stop_token, true>(*this, from, std::move(stop));
    }

    /// Takes as many items as are inside and fit into `into`, waiting only while no item is inside.
    ///
    /// \param into  its elements are assigned to, from the first on, partly under the lock: the assignment
    ///              must neither throw nor use the channel.
    /// \returns     awaitable of `std::size_t`: the number of items that were got; 0 = the channel is closed
    ///              and drained, a stop ended the wait, or `into` is empty. A stop never loses an item.
    /// Cost: that of `put_some`.
    [[nodiscard("co_await this, or nothing is got")]] auto get_some(std::span<T> into) {
        return detail::batch_operation<channel, detail::no_stop, false>(*this, into);
    }
    [[nodiscard("co_await this, or nothing is got")]] auto get_some(std::span<T> into, stop_token stop) {
        return detail::batch_operation<channel, stop_token, false>(*this, into, std::move(stop));
    }

    /// Adds one item if that is possible without waiting.
    /// \param item  is moved from if it went in.
    /// \returns     `success`, `full` or `closed`.
    channel_status try_put(T&& item) {
        if (this->put_unawaited(item)) return channel_status::success;
        locked_change locked(*this);
        const detail::outcome result = this->offer(std::addressof(item), nullptr, locked.woken());
        return result == detail::outcome::done     ? channel_status::success
               : result == detail::outcome::closed ? channel_status::closed
                                                   : channel_status::full;
    }

    /// Takes the next item if that is possible without waiting.
    /// \returns an item, or `empty`, or `closed` (and drained).
    [[nodiscard]] get_result<T> try_get() {
        detail::uninitialised_slot<T> place;  // where the item arrives
        std::uint64_t number = 0;             // of the item, in the order of the gets; not needed here
        if (this->get_unawaited(place.address(), number)) return get_result<T>(*place.take());
        locked_change locked(*this);
        const detail::outcome result = this->take(place.address(), number, nullptr, locked.woken());
        if (result == detail::outcome::done) return get_result<T>(*place.take());
        return get_result<T>(std::nullopt, result == detail::outcome::closed ? channel_status::closed
                                                                             : channel_status::empty);
    }

    /// For plain threads: adds one item; blocks while the channel is full, at most for `max_wait` by the
    /// clock that statistics use. If the executor with that clock has no threads of its own (virtual time),
    /// this thread runs the executor meanwhile.
    ///
    /// \param item  is moved from if it went in, and only then.
    /// \returns     `success`, `closed` or `timed_out`.
    /// Errors: `deadlock_error` on virtual time, if nothing can run any more; `forked_error` in a forked
    ///         process if the executor is a pool of the parent. The item did not go in then.
    channel_status blocking_put(T&& item, duration max_wait = (duration::max)()) {
        const detail::outcome result = base::block(core::side::put, std::addressof(item), max_wait);
        return result == detail::outcome::done        ? channel_status::success
               : result == detail::outcome::timed_out ? channel_status::timed_out
                                                      : channel_status::closed;
    }

    /// For plain threads: takes the next item; blocks while the channel is empty, at most for `max_wait`.
    /// \returns an item, or `closed` (and drained), or `timed_out`. No item is lost by a time-out.
    /// Errors: those of `blocking_put`; no item is lost.
    [[nodiscard]] get_result<T> blocking_get(duration max_wait = (duration::max)()) {
        detail::uninitialised_slot<T> place;  // where the item arrives
        const detail::outcome result = base::block(core::side::get, place.address(), max_wait);
        if (result == detail::outcome::done) return get_result<T>(*place.take());
        return get_result<T>(std::nullopt, result == detail::outcome::timed_out ? channel_status::timed_out
                                                                                : channel_status::closed);
    }

    /// Closes the channel: puts fail from now on; the items inside can still be got. All waits end: puts with
    /// false, and their items stay with the callers; gets with no item. May be called again, on any thread.
    void close() noexcept { base::close(); }

    /// The same as `close()`, but puts that wait now are still done when there is room: no item is lost.
    void close_to_newcomers() noexcept { base::close_to_newcomers(); }

    /// Closes the channel, and destroys the items inside (`channel_stats::num_discarded`).
    void cancel() noexcept { base::cancel(); }

    /// Whether the channel is closed; items may still be inside.
    [[nodiscard]] bool closed() const noexcept {
        const whole_lock held(*this);
        return this->closed_;
    }
    /// The number of items inside.
    [[nodiscard]] std::size_t size() const noexcept {
        const whole_lock held(*this);
        return core::size();
    }
    /// The capacity in items, as last set.
    [[nodiscard]] std::size_t capacity() const noexcept {
        const whole_lock held(*this);
        return this->capacity_;
    }
    [[nodiscard]] const std::string& name() const noexcept { return base::name(); }  ///< set at construction

    /// Changes the capacity, also while the channel is in use. More room wakes as many puts as fit. With less
    /// room the items inside stay, and puts wait until fewer items than the capacity are inside.
    ///
    /// Errors: `std::invalid_argument` for 0 or less; `std::bad_alloc`, and then nothing has changed.
    void set_capacity(std::size_t capacity) { base::set_capacity(capacity); }

    /// Limits the sum of the `item_size` of all items inside; 0, the default: no limit. An item larger than
    /// the limit goes in when the channel is empty. May be called while the channel is in use.
    /// Errors: `std::invalid_argument` for a negative number that was converted to `std::size_t`.
    /// Cost: with a limit every operation takes both locks, and computes the size of its item.
    void set_max_bytes(std::size_t bytes) { base::set_max_bytes(bytes); }

    /// The statistics until now; waits that have not ended count up to now. Errors: `std::bad_alloc`.
    [[nodiscard]] channel_stats stats() { return base::stats(std::nullopt); }

  private:
    friend base& detail::base_of<T, Policy>(channel&) noexcept;
    friend detail::timed_operations<channel, T, policy_type>;
};

namespace detail {

template <class T, class Policy>
any_channel<checked_policy_t<Policy>>& base_of(channel<T, Policy>& c) noexcept {
    return c;
}

}  // namespace detail
}  // namespace weir

#endif
