// weir channel: puts and gets of a coroutine with a time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_TIMED_OPERATIONS_HPP
#define WEIR_CHANNEL_TIMED_OPERATIONS_HPP

#include <weir/channel/channel_operations.hpp>
#include <weir/channel/choice.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::suspend_never
#include <memory>       // for std::addressof
#include <optional>     // for std::nullopt
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// The awaitable of a put or get with a time limit and a stop token: a `choice_operation` with one case.
template <class Channel, bool Puts>
class timed_operation : public choice_operation<typename Channel::core_type::platform> {
    using base = choice_operation<typename Channel::core_type::platform>;
    using T = typename Channel::value_type;
    using typename base::stop_token;

  public:
    // `item`: of a put; null for a get.
    timed_operation(Channel& channel, T* item, const wait_limit& limit, stop_token&& stop) noexcept
        : base(1, limit, std::move(stop)), case_(channel, item) {
        this->set_cases(&only_case_);
    }
    timed_operation(const timed_operation&) = delete;
    timed_operation& operator=(const timed_operation&) = delete;
    ~timed_operation() { this->clean_up(); }

    auto await_resume() {
        if constexpr (Puts) {
            return this->resumed() == 0 ? case_.take() : this->status_without_case();
        } else {
            return this->resumed() == 0 ? case_.take()
                                        : get_result<T>(std::nullopt, this->status_without_case());
        }
    }

  private:
    choice_case<Channel, Puts> case_;
    typename base::any_case* const only_case_ = &case_;
};

// Holds the copy of the item in the awaitable.
template <class Channel>
class timed_put_of_a_copy : held_item<typename Channel::value_type>, public timed_operation<Channel, true> {
    using T = typename Channel::value_type;

  public:
    template <class Stop>
    timed_put_of_a_copy(Channel& channel, const T& item, const wait_limit& limit, Stop&& stop)
        : held_item<T>(item), timed_operation<Channel, true>(channel, std::addressof(held_item<T>::item_),
                                                             limit, std::forward<Stop>(stop)) {}
};

// Base of a channel: its members with a time limit. `Policy`: what the channel measures (`measured`, `summed`
// or `unmeasured`), and its platform, the type that supplies locks and atomics; tests have another one.
template <class Channel, class T, class Policy>
class timed_operations {
    using stop_token = basic_stop_token<typename Policy::platform>;
    // Whether the members accept such an item; such a limit and stop token.
    template <class Item>
    static constexpr bool can_put = std::is_convertible_v<Item, T&&> ||
                                    (std::is_convertible_v<Item, T> && std::is_copy_constructible_v<T>);
    template <class Limit, class Wanted, class Stop>
    static constexpr bool limits_fit =
        std::is_convertible_v<Limit, Wanted> && std::is_convertible_v<Stop, stop_token>;

  public:
    /// Takes the next item, as `get` does, and waits for `max_wait` at most.
    ///
    /// \param stop  ends the wait, too, when a stop is requested, as with `get`.
    /// \returns awaitable of `get_result<T>`: the item, `closed` (and drained), `timed_out` or `stopped`. No
    ///          item is lost: an item that arrives as the wait ends is delivered or stays in the channel.
    ///          With a duration of 0 or less the get does not wait: if there is no item, and no stop is
    ///          requested, the coroutine only yields, to the end of its executor's queue. With
    ///          `duration::max()` there is no limit. Await it once; call `get_for` again for each wait.
    /// Errors:  `stopped`, `forked_error` and `std::system_error`, as from a wait in `channel`.
    ///          `std::logic_error` if it is awaited a second time. The time is that of the coroutine's
    ///          executor.
    /// Cost:    to wait, that of a `get` and a timer of the executor. No allocation.
    [[nodiscard("co_await this, or nothing is got")]] auto get_for(duration max_wait, stop_token stop = {}) {
        return timed_operation<Channel, false>(self(), nullptr, wait_limit(max_wait), std::move(stop));
    }
    /// The same as `get_for`, until the instant `deadline` of the clock of the coroutine's executor. With
    /// `time_point::max()` there is no limit.
    [[nodiscard("co_await this, or nothing is got")]] auto get_until(time_point deadline,
                                                                     stop_token stop = {}) {
        return timed_operation<Channel, false>(self(), nullptr, wait_limit(deadline), std::move(stop));
    }

    /// Adds one item, as `put` does, and waits for `max_wait` at most, as `get_for`.
    ///
    /// \param item  is moved from when there is room for it, and only then.
    /// \param stop  ends the wait, too, when a stop is requested.
    /// \returns     awaitable of `channel_status`: `success`, `closed`, `timed_out` or `stopped`.
    [[nodiscard("co_await this, or nothing is put")]] auto put_for(T&& item, duration max_wait,
                                                                   stop_token stop = {}) {
        return timed_operation<Channel, true>(self(), std::addressof(item), wait_limit(max_wait),
                                              std::move(stop));
    }
    /// The same as `put_for`, until an instant, as `get_until`.
    [[nodiscard("co_await this, or nothing is put")]] auto put_until(T&& item, time_point deadline,
                                                                     stop_token stop = {}) {
        return timed_operation<Channel, true>(self(), std::addressof(item), wait_limit(deadline),
                                              std::move(stop));
    }
    /// The same as `put_for`, with a copy of the item. Errors: those of copying, before anything else
    /// happens.
    [[nodiscard("co_await this, or nothing is put")]] auto put_for(const T& item, duration max_wait,
                                                                   stop_token stop = {})
        requires std::is_copy_constructible_v<T>
    {
        return timed_put_of_a_copy<Channel>(self(), item, wait_limit(max_wait), std::move(stop));
    }
    /// The same as `put_until`, with a copy of the item, and with the same errors.
    [[nodiscard("co_await this, or nothing is put")]] auto put_until(const T& item, time_point deadline,
                                                                     stop_token stop = {})
        requires std::is_copy_constructible_v<T>
    {
        return timed_put_of_a_copy<Channel>(self(), item, wait_limit(deadline), std::move(stop));
    }

    // These overloads reject wrong arguments at compile time.
    template <class Limit, class Stop = stop_token>
        requires(!limits_fit<Limit, duration, Stop>)
    auto get_for(Limit&&, Stop&& = {}) {
        return refuse<T, Limit, duration, Stop>();
    }
    template <class Limit, class Stop = stop_token>
        requires(!limits_fit<Limit, time_point, Stop>)
    auto get_until(Limit&&, Stop&& = {}) {
        return refuse<T, Limit, time_point, Stop>();
    }
    template <class Item, class Limit, class Stop = stop_token>
        requires(!can_put<Item> || !limits_fit<Limit, duration, Stop>)
    auto put_for(Item&&, Limit&&, Stop&& = {}) {
        return refuse<Item, Limit, duration, Stop>();
    }
    template <class Item, class Limit, class Stop = stop_token>
        requires(!can_put<Item> || !limits_fit<Limit, time_point, Stop>)
    auto put_until(Item&&, Limit&&, Stop&& = {}) {
        return refuse<Item, Limit, time_point, Stop>();
    }

  protected:
    ~timed_operations() = default;

  private:
    Channel& self() noexcept { return static_cast<Channel&>(*this); }

    template <class Item, class Limit, class Wanted, class Stop>
    static auto refuse() noexcept {
        static_assert(std::is_convertible_v<Limit, Wanted>,
                      "weir: get_for and put_for wait for a duration, 100ms; get_until and put_until until a "
                      "weir::time_point of the executor's clock; and this limit is not what is asked for");
        static_assert(std::is_convertible_v<Stop, stop_token>,
                      "weir: behind its limit a timed put or get takes a stop_token, as that of a source, "
                      "source.get_token(), and this is none");
        static_assert(std::is_convertible_v<Item, T> || std::is_same_v<std::remove_cvref_t<Item>, T>,
                      "weir: this channel takes no Item: it is neither a T nor implicitly convertible to T; "
                      "the types are those of channel<T> and Item in this message");
        static_assert(!limits_fit<Limit, Wanted, Stop> || std::is_convertible_v<Item, T&&> ||
                          std::is_copy_constructible_v<T>,
                      "weir: put copies an lvalue or a constant, and this channel's items can't be copied; "
                      "move the item: co_await c.put_for(std::move(item), 100ms)");
        return std::suspend_never();
    }
};

}  // namespace weir::detail

#endif
