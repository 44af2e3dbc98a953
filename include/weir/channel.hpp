// weir floor 7: a bounded queue between coroutines, and between them and threads, that measures itself
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_HPP
#define WEIR_CHANNEL_HPP

#include <weir/channel_core.hpp>
#include <weir/channel_operations.hpp>
#include <weir/clock.hpp>
#include <weir/detail/ring.hpp>
#include <weir/executor.hpp>
#include <weir/policy.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>

#include <cstddef>      // for std::size_t
#include <mutex>        // for std::lock_guard
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::is_nothrow_move_constructible_v
#include <utility>      // for std::move

namespace weir {

/// A bounded first-in first-out queue for many producers and many consumers.
///
/// Order:    items come out in the order in which they went in; who waits is served first come,
///           first served. An item for a waiting get goes to it directly, past the queue.
/// Suspends: `put` only while it is full, `get` only while it is empty; and one in 128 operations that
///           don't wait goes to the end of its executor's queue, so that others get their turn.
/// Resumes:  on the executor of the coroutine that waits, by a post; never inside the call of whoever
///           woke it.
/// Threads:  any number, on all members but the destructor.
/// Errors:   `std::invalid_argument` for a capacity of 0; `std::logic_error` where a coroutine that
///           no executor runs would have to wait. Nothing else, and nothing after a suspension.
/// Lifetime: outlives every operation on it. Destroying it destroys what is inside.
/// Cost:     O(1) and one short lock an operation; no allocation after the constructor but in
///           `set_capacity`. An operation that doesn't wait reads the clock only if it makes the
///           channel empty or ends its being empty; one that waits, once, and so does who answers.
///
/// \tparam T      moves and is destroyed without throwing. Its move constructor, and its destructor
///                after a move, run under the lock, so they must not touch the channel.
/// \tparam Policy `measured`, or `unmeasured`: no statistics, and no member that would hold them.
template <class T, class Policy = measured>
class channel final : public detail::channel_core<Policy> {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "weir: a channel's items must be movable without throwing, so that none is lost "
                  "between two places; put std::unique_ptr of this type instead");

    using core = detail::channel_core<Policy>;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using wakes = detail::wake_list<typename core::platform>;

  public:
    using value_type = T;
    using core_type = core;
    using policy_type = Policy;

    /// \param capacity  in items, at least 1. Statistics are in the time of the executor of the first
    ///                  coroutine that finds the channel empty or full, and begin there; that executor
    ///                  then has to outlive the channel.
    explicit channel(std::size_t capacity) : core(capacity, nullptr, {}), ring_(capacity) {}

    /// \param clock  whose time the statistics are in, from now on. Outlives the channel.
    /// \param name   for statistics and deadlock reports.
    channel(std::size_t capacity, executor& clock, std::string name = {})
        : core(capacity, &clock, std::move(name)), ring_(capacity) {}

    /// Adds one item, waiting while the channel is full.
    ///
    /// \param item  is moved from when there is room for it, and only then: a rejected item is still
    ///              the caller's. Await the operation in the same expression, `co_await c.put(std::move(x))`.
    /// \param stop  gives up waiting when asked.
    /// \returns     awaitable of `bool`: true = it is in; false = the channel is closed, or was
    ///              stopped (`closed()` tells which).
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item) {
        return detail::put_operation<channel>(*this, item, {});
    }
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item, stop_token stop) {
        return detail::put_operation<channel>(*this, item, std::move(stop));
    }

    /// The same with a copy of the item.
    [[nodiscard("co_await this, or nothing is put")]] auto put(const T& item, stop_token stop = {})
        requires std::is_copy_constructible_v<T>
    {
        return detail::put_copy_operation<channel>(*this, item, std::move(stop));
    }

    /// What can't be copied gets a sentence.
    template <class Item>
        requires(std::is_same_v<Item, T> && !std::is_copy_constructible_v<T>)
    void put(const Item&, stop_token = {}) {
        static_assert(std::is_copy_constructible_v<Item>,
                      "weir: put copies what has a name, and this channel's items can't be copied: "
                      "co_await c.put(std::move(item))");
    }

    /// Takes the next item, waiting while the channel is empty.
    ///
    /// \returns awaitable of `optional<T>`: empty when the channel is closed and drained, or when the
    ///          wait was stopped. A stop never loses an item: one that was handed over is delivered.
    [[nodiscard("co_await this, or nothing is got")]] auto get(stop_token stop = {}) {
        return detail::get_operation<channel>(*this, std::move(stop));
    }

    /// Without waiting.
    /// \param item  is moved from if it went in.
    /// \returns     `success`, `full` or `closed`.
    channel_status try_put(T&& item) {
        wakes woken;
        detail::outcome how;
        {
            const std::lock_guard guard(lock_);
            how = offer(item, nullptr, woken);
        }
        core::wake_all(woken);
        return how == detail::outcome::done     ? channel_status::success
               : how == detail::outcome::closed ? channel_status::closed
                                                : channel_status::full;
    }

    /// Without waiting.
    /// \returns an item, or `empty`, or `closed` (and drained).
    [[nodiscard]] get_result<T> try_get() {
        wakes woken;
        std::optional<T> item;
        std::uint64_t number = 0;
        detail::outcome how;
        {
            const std::lock_guard guard(lock_);
            how = take(item, number, nullptr, woken);
        }
        core::wake_all(woken);
        if (item) return get_result<T>(std::move(*item));
        return get_result<T>(how == detail::outcome::closed ? channel_status::closed
                                                            : channel_status::empty);
    }

    /// For plain threads: blocks while the channel is full, at most for `timeout`. Where the channel's
    /// executor has no threads of its own (virtual time), the thread runs it meanwhile, and the
    /// time-out is in its time.
    ///
    /// \param item  is moved from if it went in, and only then.
    /// \returns     `success`, `closed` or `timed_out`.
    channel_status blocking_put(T&& item, duration timeout = duration::max()) {
        return detail::block_on_put(*this, item, timeout);
    }

    /// For plain threads: blocks while the channel is empty, at most for `timeout`, as `blocking_put`.
    /// \returns an item, or `closed` (and drained), or `timed_out`. No item is lost by a time-out.
    [[nodiscard]] get_result<T> blocking_get(duration timeout = duration::max()) {
        return detail::block_on_get(*this, timeout);
    }

    /// From now on nothing goes in; what is inside still comes out. Everybody who waits is woken: puts
    /// with false, their items still theirs, gets with nothing. May be called again, and by anyone.
    void close() noexcept {
        wakes woken;
        {
            const std::lock_guard guard(lock_);
            shut(woken);
        }
        core::wake_all(woken);
    }

    /// Closes, and destroys what is inside: for a consumer that wants no more.
    void cancel() noexcept {
        wakes woken;
        detail::ring<T> discarded(0);  // destroyed after the lock
        {
            const std::lock_guard guard(lock_);
            shut(woken);
            if (ring_.size() != 0) core::now_empty(true, nullptr);
            ring_.swap(discarded);
        }
        core::wake_all(woken);
    }

    [[nodiscard]] bool closed() const noexcept {
        const std::lock_guard guard(lock_);
        return closed_;
    }
    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard guard(lock_);
        return ring_.size();
    }
    [[nodiscard]] std::size_t capacity() const noexcept {
        const std::lock_guard guard(lock_);
        return capacity_;
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Changes the capacity while the channel is in use. More room wakes as many puts as fit. With
    /// less, nothing is lost: what is inside stays, and puts wait until it has come below.
    ///
    /// Errors: `std::invalid_argument` for 0; `std::bad_alloc`, and then nothing has changed.
    void set_capacity(std::size_t capacity) {
        if (capacity == 0) {
            throw std::invalid_argument(
                "weir: a channel of capacity 0 could never take an item; give it 1 or more");
        }
        wakes woken;
        detail::ring<T> other(capacity);  // the old block is freed after the lock
        {
            const std::lock_guard guard(lock_);
            capacity_ = capacity;
            if (capacity > ring_.places() && !(closed_ && ring_.places() == 0)) {
                while (ring_.size() != 0) {
                    other.push(std::move(ring_.front()));
                    ring_.pop();
                }
                ring_.swap(other);
            }
            admit_putters(nullptr, woken);
        }
        core::wake_all(woken);
    }

    /// What happened until now, open waits included. At any time, from any thread.
    [[nodiscard]] channel_stats stats() {
        channel_stats s;
        {
            const std::lock_guard guard(lock_);
            core::fill(s);
            s.size = ring_.size();
        }
        return s;
    }

  private:
    template <class>
    friend class detail::put_operation;
    template <class>
    friend class detail::get_operation;
    template <class C>
    friend channel_status detail::block_on_put(C&, typename C::value_type&, duration);
    template <class C>
    friend get_result<typename C::value_type> detail::block_on_get(C&, duration);

    using core::capacity_;
    using core::closed_;
    using core::getters_;
    using core::lock_;
    using core::name_;
    using core::num_get_;
    using core::num_put_;
    using core::putters_;

    // The functions below run under the lock.

    detail::outcome offer(T& item, const detail::slot* measured, wakes& woken) noexcept {
        if (closed_) return detail::outcome::closed;
        if (waiter* const getter = getters_.front()) {
            core::take_out(*getter, side::get, detail::outcome::done, core::reading(measured));
            static_cast<std::optional<T>*>(getter->item)->emplace(std::move(item));
            ++num_put_;
            getter->number = num_get_++;
            woken.push(*getter);
            return detail::outcome::done;
        }
        if (ring_.size() >= capacity_) return detail::outcome::pending;
        if (ring_.size() == 0) core::now_empty(false, measured);
        ring_.push(std::move(item));
        ++num_put_;
        return detail::outcome::done;
    }

    detail::outcome take(std::optional<T>& into, std::uint64_t& number, const detail::slot* measured,
                         wakes& woken) noexcept {
        if (ring_.size() == 0) {
            return closed_ ? detail::outcome::closed : detail::outcome::pending;
        }
        into.emplace(std::move(ring_.front()));
        ring_.pop();
        number = num_get_++;
        admit_putters(measured, woken);
        if (ring_.size() == 0) core::now_empty(true, measured);
        return detail::outcome::done;
    }

    // Whoever waits to put gets the places that are free.
    void admit_putters(const detail::slot* measured, wakes& woken) noexcept {
        while (ring_.size() < capacity_ && !putters_.empty()) {
            waiter* const putter = putters_.front();
            core::take_out(*putter, side::put, detail::outcome::done, core::reading(measured));
            ring_.push(std::move(*static_cast<T*>(putter->item)));
            ++num_put_;
            woken.push(*putter);
        }
    }

    void shut(wakes& woken) noexcept {
        closed_ = true;
        for (const side line : {side::put, side::get}) {
            auto& waiters = line == side::put ? putters_ : getters_;
            while (waiter* const w = waiters.front()) {
                core::take_out(*w, line, detail::outcome::closed, core::reading(nullptr));
                woken.push(*w);
            }
        }
    }

    detail::ring<T> ring_;
};

}  // namespace weir

#endif
