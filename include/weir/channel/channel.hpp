// weir channel: a bounded queue between coroutines, and between them and threads, that measures itself
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_HPP
#define WEIR_CHANNEL_CHANNEL_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/channel/channel_refusals.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/timed_operations.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <span>         // for std::span
#include <string>       // for std::string
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir {

/// A bounded first-in first-out queue for many producers and many consumers.
///
/// Order:    items come out in the order in which they went in; who waits is served first come,
///           first served. An item for a waiting get goes to it directly, past the queue.
/// Suspends: `put` only while it is full, `get` only while it is empty; and one in 128 operations
///           goes to the end of its executor's queue, so that others get their turn.
/// Resumes:  on the executor of the coroutine that waits, by a post; never inside the call of whoever
///           woke it. One of another library that runs on no executor: on that which its promise names by a
///           member `weir::executor& weir_executor()`; else on a thread of this library, one for all such
///           coroutines, which begins with the first of them and must not be blocked. A promise that brings
///           its coroutine back to a scheduler of its own after each await does so from there.
/// Threads:  any number, on all members but the destructor.
/// Errors:   `std::invalid_argument` for a capacity of 0 or less. Nothing else but what a member says, and
///           memory for the constructor; nothing after a suspension. Where that thread can't be started:
///           `std::system_error`; in a process that was forked after it was: `forked_error`, as from a
///           wait where the channel measures by the clock of a pool that was made before the fork.
///           `stopped`, from a wait in the function of a stage whose run is stopped: the item of a put stays
///           with the caller, and what was answered before gives what it has.
/// Lifetime: outlives its operations. Destroys what is inside; past 100 channels in each other, at its end.
/// Cost:     O(1), one short lock for an operation that doesn't wait and wakes nobody, and for any where the
///           capacity is 1 or 2; else two. They cost next to nothing while one thread alone uses the channel
///           (figures: bench/results.md). No allocation after the constructor but in `set_capacity`; the
///           places are a power of two. An operation that doesn't wait reads the clock only if it makes the
///           channel empty or ends its being empty; one that waits, once, and so does who answers.
/// Source:   a ring under the two locks of Michael and Scott's queue (PODC 1996), which are biased
///           (platform/biased_lock.hpp); items go to who waits directly.
///
/// \tparam T      is aligned to 64 bytes at most; moves and is destroyed without throwing: under the lock,
///                so its move constructor, and its destructor after a move, must not touch the channel.
/// \tparam Policy `measured`; or `summed`: no histograms; or `unmeasured`: no statistics. No member is
///                there that would hold what isn't kept.
template <class T, class Policy = measured>
class channel final : detail::any_channel<Policy>,
                      public detail::channel_refusals<T, Policy>,
                      public detail::timed_operations<channel<T, Policy>, T, Policy> {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a channel's items are objects that move in and out: neither references nor "
                  "constants; put pointers instead");
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "weir: a channel's items must be movable without throwing, so that none is lost "
                  "between two places; put std::unique_ptr of this type instead");

    using base = detail::any_channel<Policy>;
    using core = typename base::core;
    using change = typename base::change;
    using whole_lock = typename core::whole_lock;
    // stop_token, on every platform but one that a test supplies.
    using stop_token = basic_stop_token<typename core::platform>;
    using refusals = detail::channel_refusals<T, Policy>;

  public:
    using refusals::blocking_put;
    using refusals::get, refusals::get_some;
    using refusals::put, refusals::put_some;
    using refusals::try_put;

    using value_type = T;
    using core_type = core;
    using policy_type = Policy;

    /// \param capacity  in items, at least 1. Statistics are in the time of the executor of the first
    ///                  coroutine that finds the channel empty or full, and begin there. Where that is
    ///                  gone before the channel, times stand still from then on, and all else goes on.
    explicit channel(std::size_t capacity) : base(detail::item_type_of<T>, capacity, nullptr, {}) {}

    /// \param clock  whose time the statistics are in, from now on. Outlives the channel.
    /// \param name   for statistics and deadlock reports.
    channel(std::size_t capacity, executor& clock, std::string name = {})
        : base(detail::item_type_of<T>, capacity, &clock, std::move(name)) {}

    /// Rejects what is no executor, or is one without a name, at compile time.
    template <class Ex>
        requires(!std::is_convertible_v<Ex, executor&>)
    channel(std::size_t, Ex&&, std::string = {}) : base(detail::item_type_of<T>, 1, nullptr, {}) {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: a channel(capacity, clock, name) measures in the time of an executor that "
                      "outlives it: a thread_pool, a run_loop, virtual_time, or what derives from "
                      "weir::executor, with a name");
    }

    ~channel() override { this->leave_registry(); }

    /// Adds one item, waiting while the channel is full.
    ///
    /// \param item  is moved from when there is room for it, and only then: a rejected item is still
    ///              the caller's. Await the operation in the same expression, `co_await c.put(std::move(x))`.
    /// \returns     awaitable of `bool`: true = it is in; false = the channel is closed.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item) {
        return detail::put_operation<channel>(*this, item);
    }
    /// The same, and gives up waiting when `stop` asks: false, then, too; `closed()` tells which it was.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item, stop_token stop) {
        return detail::put_operation<channel, stop_token>(*this, item, nullptr, std::move(stop));
    }

    /// The same with a copy of the item. Errors: those of copying it, before anything else happens.
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

    /// Adds an item that is made of `args` in the operation, at once, by a constructor or as an aggregate: no
    /// `T{...}` has to stand in an expression that awaits, where g++ 12 destroys it twice.
    ///
    ///     co_await out.emplace(std::move(name), 3);
    ///
    /// \returns as `put`. A rejected item is gone, and with it what its making took away.
    /// Errors:  those of making it, before anything else happens.
    template <class... Args>
    [[nodiscard("co_await this, or nothing is put")]] auto emplace(Args&&... args) {
        static_assert(detail::makes<T, Args...>,
                      "weir: emplace makes an item of what it is given, and this channel's can't be made of "
                      "that; the types are those of channel<T> and Args in this message");
        return detail::put_made_operation<channel>(*this, detail::no_stop(), std::forward<Args>(args)...);
    }

    /// Takes the next item, waiting while the channel is empty.
    ///
    /// \returns awaitable of `optional<T>`: empty when the channel is closed and drained, or when the
    ///          wait was stopped. A stop never loses an item: one that was handed over is delivered.
    [[nodiscard("co_await this, or nothing is got")]] auto get() {
        return detail::get_operation<channel>(*this);
    }
    [[nodiscard("co_await this, or nothing is got")]] auto get(stop_token stop) {
        return detail::get_operation<channel, stop_token>(*this, nullptr, std::move(stop));
    }

    /// Adds as many items of `from` as there is room for, in their order, waiting only while there is none.
    /// Where it waits, it does so with the first of them, and others' may come between that and the rest.
    ///
    /// \param from  stay where they are until it has ended; those that are in have been moved from.
    /// \returns      awaitable of `std::size_t`: how many are in, from 1 on; 0 = the channel is closed, or
    ///               `stop` asked, or there were none.
    /// Cost: that of one operation, and of moving the items.
    [[nodiscard("co_await this, or nothing is put")]] auto put_some(std::span<T> from) {
        return detail::batch_operation<channel, detail::no_stop, true>(*this, from);
    }
    [[nodiscard("co_await this, or nothing is put")]] auto put_some(std::span<T> from, stop_token stop) {
        return detail::batch_operation<channel, stop_token, true>(*this, from, std::move(stop));
    }

    /// Takes as many items as are inside and `into` has room for, waiting only while there is none.
    ///
    /// \param into  is assigned to, from its beginning, partly under the lock: assigning must not throw, nor
    ///              touch the channel.
    /// \returns     awaitable of `std::size_t`: how many came, from 1 on; 0 = the channel is closed and
    ///              drained, or `stop` asked, or `into` is empty. A stop never loses an item.
    /// Cost: as of `put_some`.
    [[nodiscard("co_await this, or nothing is got")]] auto get_some(std::span<T> into) {
        return detail::batch_operation<channel, detail::no_stop, false>(*this, into);
    }
    [[nodiscard("co_await this, or nothing is got")]] auto get_some(std::span<T> into, stop_token stop) {
        return detail::batch_operation<channel, stop_token, false>(*this, into, std::move(stop));
    }

    /// Without waiting.
    /// \param item  is moved from if it went in.
    /// \returns     `success`, `full` or `closed`.
    channel_status try_put(T&& item) {
        if (this->put_unawaited(item)) return channel_status::success;
        change now(*this);
        const detail::outcome how = this->offer(&item, nullptr, now.woken());
        return how == detail::outcome::done     ? channel_status::success
               : how == detail::outcome::closed ? channel_status::closed
                                                : channel_status::full;
    }

    /// Without waiting.
    /// \returns an item, or `empty`, or `closed` (and drained).
    [[nodiscard]] get_result<T> try_get() {
        detail::uninitialised_slot<T> place;
        std::uint64_t number = 0;
        if (this->get_unawaited(place.address(), number)) return get_result<T>(*place.take());
        change now(*this);
        const detail::outcome how = this->take(place.address(), number, nullptr, now.woken());
        if (how == detail::outcome::done) return get_result<T>(*place.take());
        return get_result<T>(how == detail::outcome::closed ? channel_status::closed : channel_status::empty);
    }

    /// For plain threads: blocks while the channel is full, at most for `max_wait`. Where the channel's
    /// executor has no threads of its own (virtual time), the thread runs it meanwhile, and the
    /// time-out is in its time.
    ///
    /// \param item  is moved from if it went in, and only then.
    /// \returns     `success`, `closed` or `timed_out`.
    /// Errors: `deadlock_error` on virtual time, where nothing can go on; `forked_error` where its executor
    ///         is a pool of before a fork. Nothing went in then.
    channel_status blocking_put(T&& item, duration max_wait = (duration::max)()) {
        const detail::outcome how = base::block(core::side::put, &item, max_wait);
        return how == detail::outcome::done        ? channel_status::success
               : how == detail::outcome::timed_out ? channel_status::timed_out
                                                   : channel_status::closed;
    }

    /// For plain threads: blocks while the channel is empty, at most for `max_wait`, as `blocking_put`.
    /// \returns an item, or `closed` (and drained), or `timed_out`. No item is lost by a time-out.
    /// Errors: as of `blocking_put`; no item is lost.
    [[nodiscard]] get_result<T> blocking_get(duration max_wait = (duration::max)()) {
        detail::uninitialised_slot<T> place;
        const detail::outcome how = base::block(core::side::get, place.address(), max_wait);
        if (how == detail::outcome::done) return get_result<T>(*place.take());
        return get_result<T>(how == detail::outcome::timed_out ? channel_status::timed_out
                                                               : channel_status::closed);
    }

    /// From now on nothing goes in; what is inside still comes out. Everybody who waits is woken: puts
    /// with false, their items still theirs, gets with nothing. May be called again, and by anyone.
    void close() noexcept { base::close(); }

    /// The same, but who waits to put has his item let in, as there is room, and it comes out: what was
    /// finished before isn't lost.
    void close_to_newcomers() noexcept { base::close_to_newcomers(); }

    /// Closes, and destroys what is inside (`channel_stats::num_discarded`): for who wants no more.
    void cancel() noexcept { base::cancel(); }

    /// Whether nothing goes in any more; something may still be inside.
    [[nodiscard]] bool closed() const noexcept {
        const whole_lock held(*this);
        return this->closed_;
    }
    /// How many items are inside.
    [[nodiscard]] std::size_t size() const noexcept {
        const whole_lock held(*this);
        return core::size();
    }
    /// In items, as it was last set.
    [[nodiscard]] std::size_t capacity() const noexcept {
        const whole_lock held(*this);
        return this->capacity_;
    }
    [[nodiscard]] const std::string& name() const noexcept { return base::name(); }  ///< as constructed

    /// Changes the capacity while the channel is in use. More room wakes as many puts as fit. With
    /// less, nothing is lost: what is inside stays, and puts wait until it has come below.
    ///
    /// Errors: `std::invalid_argument` for 0; `std::bad_alloc`, and then nothing has changed.
    void set_capacity(std::size_t capacity) { base::set_capacity(capacity); }

    /// A limit in bytes beside the one in items, by `item_size`; 0, as at first: none. An item that is
    /// larger alone goes in when the channel is empty. May be changed while the channel is in use.
    ///
    /// Errors: `std::invalid_argument` for what was negative.
    /// Cost: with a limit every operation takes the locks of both ends, and asks for the size of its item.
    void set_max_bytes(std::size_t bytes) { base::set_max_bytes(bytes); }

    /// What happened until now, open waits included. At any time, from any thread. Errors: `std::bad_alloc`.
    [[nodiscard]] channel_stats stats() { return base::stats(std::nullopt); }

  private:
    friend base& detail::inside<T, Policy>(channel&) noexcept;
    friend detail::timed_operations<channel, T, Policy>;
};

namespace detail {

template <class T, class Policy>
any_channel<Policy>& inside(channel<T, Policy>& c) noexcept {
    return c;
}

}  // namespace detail
}  // namespace weir

#endif
