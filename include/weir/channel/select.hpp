// weir channel: select does the first of several puts and gets that can be done
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_HPP
#define WEIR_CHANNEL_SELECT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/choice.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/select_case.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/stop_token.hpp>

#include <algorithm>    // for std::ranges::find_if
#include <array>        // for std::array
#include <coroutine>    // for std::suspend_never
#include <cstddef>      // for std::size_t
#include <functional>   // for std::identity
#include <optional>     // for std::optional
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <stdexcept>    // for std::invalid_argument
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::integral_constant, std::is_convertible_v
#include <utility>  // for std::in_place_index, std::index_sequence, std::move, std::declval, std::in_place
#include <vector>   // for std::vector

namespace weir::detail {

// The awaitable of a select. Constructs the `place` of each case, which holds the operations of the case, and
// a list of the operations of all cases.
template <class... Cases>
class select_operation : public choice_operation<typename platform_of_cases<Cases...>::type> {
    using platform = typename platform_of_cases<Cases...>::type;
    using base = choice_operation<platform>;
    using result = select_result<typename Cases::result...>;
    using any_case = typename base::any_case;
    static constexpr auto all = std::index_sequence_for<Cases...>();
    // With a range among the cases, the number of operations is known at run time only.
    static constexpr bool has_fixed_size =
        requires { typename std::integral_constant<std::size_t, (Cases::size() + ... + 0)>; };
    template <bool HasFixedSize, class... Each>
    struct list {  // of the operations of all cases
        using type = std::vector<any_case*>;
        static type of(std::size_t n) { return type(n); }
    };
    template <class... Each>
    struct list<true, Each...> {
        using type = std::array<any_case*, (Each::size() + ... + 0)>;
        static type of(std::size_t) noexcept { return {}; }
    };
    using operations = list<has_fixed_size, Cases...>;

  public:
    explicit select_operation(Cases&&... cases)
        : base((cases.size() + ... + 0), detail::limit_of(cases...), detail::stop_of<platform>(cases...)),
          operations_(operations::of((cases.size() + ... + 0))), places_(std::move(cases)...) {
        any_case** at = operations_.data();
        std::apply([&at](auto&... c) { ((c.fill_in(at), at += c.size()), ...); }, places_);
        if constexpr (!has_fixed_size) {
            const auto any = std::ranges::find_if(operations_, std::identity());
            if (any == operations_.end()) {
                throw std::invalid_argument(
                    "weir: a select has nothing to choose from, as no channel is in the ranges that it was "
                    "given; leave its loop when the last channel is closed");
            }
        }
        this->set_cases(operations_.data());
    }
    select_operation(const select_operation&) = delete;
    select_operation& operator=(const select_operation&) = delete;
    ~select_operation() { this->clean_up(); }

    result await_resume() {
        const std::size_t done = this->resumed();
        if (done != operations_.size()) return take(done, all);
        return end_by(this->status_without_case() == channel_status::stopped ? select_kind::stop
                                                                             : select_kind::time,
                      all);
    }

  private:
    // The result of operation `which`, counted from 0 through the operations of all cases.
    template <std::size_t... Index>
    result take(std::size_t which, std::index_sequence<Index...>) {
        std::optional<result> r;
        const auto take_if_here = [&]<std::size_t N>(std::in_place_index_t<N> at) {
            auto& place = std::get<N>(places_);
            if (which < place.size()) {
                r.emplace(at, place.take(which));
                return true;
            }
            which -= place.size();
            return false;
        };
        static_cast<void>((take_if_here(std::in_place_index<Index>) || ...));
        return *std::move(r);
    }
    // The result of a select that the time limit or a stop ended.
    template <std::size_t... Index>
    result end_by(select_kind kind, std::index_sequence<Index...>) {
        std::optional<result> r;
        const auto take_if = [&]<std::size_t N>(std::in_place_index_t<N> at, bool is_it) {
            if (is_it) r.emplace(at, std::get<N>(places_).take(0));
        };
        (take_if(std::in_place_index<Index>, Cases::kind == kind), ...);
        return *std::move(r);
    }

    typename operations::type operations_;
    std::tuple<typename Cases::place...> places_;
};

}  // namespace weir::detail

namespace weir {

namespace detail {

// The type of the channels of a range, for `on_get`.
template <class Range>
using channel_of_range =
    std::remove_pointer_t<decltype(detail::channel_in(*std::ranges::begin(std::declval<Range&>())))>;
// A range that `on_get` takes: of channels, or of pointers or `std::reference_wrapper`s to channels. The
// select keeps the addresses of the channels. So a temporary range must not own channels: it has to be a
// borrowed range, such as a span, or to have pointers. (A temporary vector of `std::reference_wrapper`s is
// refused, too, although it owns no channels.)
template <class Range>
concept range_of_channels =
    std::ranges::input_range<Range> && requires { typename channel_of_range<Range>; } &&
    (std::is_lvalue_reference_v<Range> || std::ranges::borrowed_range<Range> ||
     std::is_pointer_v<std::ranges::range_value_t<Range>>);

// Whether `on_put` takes such a channel and such an item.
template <class Channel, class Item>
inline constexpr bool is_put = false;
template <class T, class Policy, class Item>
inline constexpr bool is_put<channel<T, Policy>&, Item> =
    std::is_convertible_v<Item, T&&> || (std::is_convertible_v<Item, T> && std::is_copy_constructible_v<T>);

}  // namespace detail

/// A case of a `select`: takes the next item of `c`. The channel outlives the select.
template <class T, class Policy>
[[nodiscard("give this to select")]] auto on_get(channel<T, Policy>& c) noexcept {
    return detail::get_case<channel<T, Policy>>(c);
}

/// A case of a `select`: adds one item to `c`. The channel outlives the select.
///
/// \param item  is moved from only if this case is chosen. Await the select in the same expression.
template <class T, class Policy>
[[nodiscard("give this to select")]] auto on_put(channel<T, Policy>& c,
                                                 std::type_identity_t<T>&& item) noexcept {
    return detail::put_case<channel<T, Policy>, T&&>(c, std::move(item));
}
/// The same as above, with a copy of the item. Errors: those of copying, before anything else happens.
template <class T, class Policy>
    requires std::is_copy_constructible_v<T>
[[nodiscard("give this to select")]] auto on_put(channel<T, Policy>& c, const std::type_identity_t<T>& item) {
    return detail::put_case<channel<T, Policy>, T>(c, T(item));
}

/// A case of a `select`: takes the next item of any channel of a range, whichever has an item first.
///
///     auto done = co_await weir::select(weir::on_get(queues), weir::after(10ms), stop);
///     if (done.index() == 0 && done.get<0>()) work(done.get<0>().which(), *done.get<0>());
///
/// \param channels  a range of channels of one type, or of `std::reference_wrapper` or pointers to them. A
///                  temporary range has to be a `std::ranges::borrowed_range`, or of pointers. Null pointers
///                  count in the numbers of the channels, and are not chosen. The range is read in this call;
///                  the channels outlive the select.
/// \returns  a case with the result `get_from`: the item or `closed`, and the number of the channel.
/// Errors: `std::bad_alloc`.
/// Cost:   two allocations; if the size of the range is unknown, also those of a vector that grows.
template <class Range>
    requires detail::range_of_channels<Range>
[[nodiscard("give this to select")]] auto on_get(Range&& channels) {
    return detail::get_from_case<detail::channel_of_range<Range>>(std::in_place, channels);
}

/// A case of a `select`: is chosen when no other case could be done within `max_wait`.
/// With 0 or less the other cases are tried once; with `duration::max()` this case is never chosen.
[[nodiscard("give this to select")]] inline auto after(duration max_wait) noexcept {
    return detail::time_case(max_wait);
}

/// Does the first of several puts and gets that can be done. The others have no effect.
///
///     auto done = co_await weir::select(weir::on_get(jobs), weir::on_get(orders), weir::after(10ms));
///     if (done.index() == 0 && done.status() == weir::channel_status::success) work(*done.get<0>());
///
/// \param cases  from `on_get` and `on_put`; at most one `after`; at most one `stop_token`, which is chosen
///               when a stop is requested before or during a wait, or before a time limit of 0 ends it.
///               Several cases may use the same channel.
/// \returns  awaitable of `select_result`: the chosen case, and its item, `closed`, `timed_out` or
///           `stopped`. No item is lost: an item that arrives when the wait ends is delivered or stays in its
///           channel; an item that was not put stays with the caller.
/// Order:    the search for a case that can be done begins at a random case. A case that can always be done
///           is chosen at least once in n selects of n cases, on average. A case whose channel is closed can
///           be done. The random number is a function of a counter in the first channel, so that schedules
///           can be repeated. A waiting select waits in the line of each channel, first come, first served.
/// Suspends: while no case can be done. Yields to other coroutines where a put or get of `channel` would, and
///           each time that a closed channel is chosen, or that a time limit of 0 ends the select. A loop
///           leaves out the case of a channel that is closed, or goes round and round with it.
/// Resumes:  as `channel`.
/// Errors:   those of `channel`. `std::logic_error` by a second await: call `select` again for each wait.
///           From the call itself, with ranges: `std::invalid_argument` if no case has a channel, and
///           `std::bad_alloc`. The time is that of the coroutine's executor.
/// Cost:     for each channel that is tried, that of a put or get that doesn't wait. To wait: twice the locks
///           of each channel, and a timer if there is an `after`. Allocations for ranges only. Channels are
///           looked at one after the other: a select that doesn't wait may miss an item that moves meanwhile
///           from a channel that the select has not looked at to one that it has looked at already.
/// Source:   `select` of Go, and selectgo of its runtime; the locks as in crossbeam-channel.
template <detail::select_case... Cases>
[[nodiscard("co_await this, or nothing is chosen")]] auto select(Cases... cases) {
    static_assert(
        detail::num_of_kind<detail::select_kind::operation, Cases...> != 0,
        "weir: select chooses among puts and gets of channels, and there is none; to let time pass, "
        "co_await sleep_for(10ms)");
    static_assert(detail::num_of_kind<detail::select_kind::time, Cases...> <= 1,
                  "weir: a select waits for one time at most; give it the shorter one");
    static_assert(detail::num_of_kind<detail::select_kind::stop, Cases...> <= 1,
                  "weir: a select is stopped by one token at most; let a stop_callback on one of them ask "
                  "the source of the other");
    if constexpr (detail::are_valid_cases<Cases...>) {
        return detail::select_operation<detail::select_case_t<Cases>...>(
            detail::select_case_t<Cases>(std::move(cases))...);
    } else {
        return std::suspend_never();
    }
}

/// Rejects at compile time an argument that is neither a channel nor a range of channels.
template <class Channel>
auto on_get(Channel&&) noexcept {
    static_assert(
        std::is_void_v<Channel>,
        "weir: on_get(channel) takes from a weir::channel with a name, which outlives the select and "
        "isn't constant, or from a range of such, or of pointers to them; and this is none");
    return detail::time_case(duration(0));
}
/// Rejects at compile time a wrong channel or item.
template <class Channel, class Item>
    requires(!detail::is_put<Channel, Item>)
auto on_put(Channel&&, Item&&) noexcept {
    static_assert(
        detail::is_put<Channel, Item>,
        "weir: on_put(channel, item) takes a weir::channel with a name, which outlives the select, and "
        "one of its items, or what becomes one by itself; what can't be copied is given away: "
        "on_put(channel, std::move(item))");
    return detail::time_case(duration(0));
}
/// Rejects at compile time an argument that is no duration.
template <class Time>
    requires(!std::is_convertible_v<Time, duration>)
auto after(Time&&) noexcept {
    static_assert(
        std::is_convertible_v<Time, duration>,
        "weir: after(duration) takes a duration, as 10ms; for an instant, instant - executor.now()");
    return detail::time_case(duration(0));
}
/// Rejects at compile time an argument that is no case.
template <class... Cases>
    requires(!(detail::select_case<std::remove_cvref_t<Cases>> && ...))
auto select(Cases&&...) noexcept {
    static_assert((detail::select_case<std::remove_cvref_t<Cases>> && ...),
                  "weir: select chooses among on_get(channel), on_put(channel, item), after(duration) and a "
                  "stop_token, and an argument is none of these");
    return std::suspend_never();
}

}  // namespace weir

#endif
