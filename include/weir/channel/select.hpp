// weir channel: does the one of several puts and gets that can be done first
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_HPP
#define WEIR_CHANNEL_SELECT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/select_case.hpp>
#include <weir/channel/select_operation.hpp>
#include <weir/channel/select_result.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>    // for std::suspend_never
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::declval, std::in_place, std::move

namespace weir {

namespace detail {

// What `on_get` takes.
template <class Range>
using channel_of_range =
    std::remove_pointer_t<decltype(detail::channel_in(*std::ranges::begin(std::declval<Range&>())))>;
// Of a range that goes when `on_get` ends, what it names stays.
template <class Range>
concept range_of_channels =
    std::ranges::input_range<Range> && requires { typename channel_of_range<Range>; } &&
    (std::is_lvalue_reference_v<Range> || std::ranges::borrowed_range<Range> ||
     std::is_pointer_v<std::ranges::range_value_t<Range>>);

// What `on_put` takes.
template <class Channel, class Item>
inline constexpr bool is_put = false;
template <class T, class Policy, class Item>
inline constexpr bool is_put<channel<T, Policy>&, Item> =
    std::is_convertible_v<Item, T&&> || (std::is_convertible_v<Item, T> && std::is_copy_constructible_v<T>);

}  // namespace detail

/// A case of a `select`: to take the next item of `c`, which outlives the select.
template <class T, class Policy>
[[nodiscard("give this to select")]] auto on_get(channel<T, Policy>& c) noexcept {
    return detail::get_case<channel<T, Policy>>(c);
}

/// A case of a `select`: to add one item to `c`, which outlives the select.
///
/// \param item  is moved from only if this case is chosen; else it is still the caller's. Await the select in
///              the same expression.
template <class T, class Policy>
[[nodiscard("give this to select")]] auto on_put(channel<T, Policy>& c,
                                                 std::type_identity_t<T>&& item) noexcept {
    return detail::put_case<channel<T, Policy>, T&&>(c, std::move(item));
}
/// The same with a copy of the item. Errors: those of copying it, before anything else happens.
template <class T, class Policy>
    requires std::is_copy_constructible_v<T>
[[nodiscard("give this to select")]] auto on_put(channel<T, Policy>& c, const std::type_identity_t<T>& item) {
    return detail::put_case<channel<T, Policy>, T>(c, T(item));
}

/// A case of a `select`: to take the next item of whichever channel of a range has one first.
///
///     auto done = co_await weir::select(weir::on_get(queues), weir::after(10ms), stop);
///     if (done.index() == 0 && done.get<0>()) work(done.get<0>().which(), *done.get<0>());
///
/// \param channels  a range of channels of one type, of pointers to them, which may be null: that is none; or
///                  of `std::reference_wrapper`. It is read here; the channels outlive the select.
/// \returns  the case, which gives a `get_from`: the item or `closed`, and of which channel.
/// Errors: `std::bad_alloc`.
/// Cost:   three allocations.
template <class Range>
    requires detail::range_of_channels<Range>
[[nodiscard("give this to select")]] auto on_get(Range&& channels) {
    return detail::get_from_case<detail::channel_of_range<Range>>(std::in_place, channels);
}

/// The case of a `select` that is chosen when `max_wait` is over and no other could be done by then.
/// With 0 or less the others are only tried; with `duration::max()` it is never chosen.
[[nodiscard("give this to select")]] inline auto after(duration max_wait) noexcept {
    return detail::time_case(max_wait);
}

/// Does one of several puts and gets, the first that can be done: exactly one, and nothing of the others.
///
///     auto done = co_await weir::select(weir::on_get(jobs), weir::on_get(orders), weir::after(10ms));
///     if (done.index() == 0 && done.status() == weir::channel_status::success) work(*done.get<0>());
///
/// \param cases  of `on_get`, `on_put`, at most one `after`, and at most one `stop_token`, whose case is
///               chosen when it asks while the select waits. A channel may be in several.
/// \returns  awaitable of `select_result`: which case was chosen, and the item, or that its channel is
///           `closed`, or that the time is over, or that it is `stopped`. Nothing is lost: what comes at that
///           moment is delivered, or stays in its channel; an item that was not put is still the caller's.
/// Order:    where several can be done, the search begins with any of the cases, at random: one that always
///           can be done is chosen at least once in as many selects as there are cases, on the average. A
///           closed channel is one that can, too. Random is a function of a count in the first channel, so
///           that a schedule is the same when it is repeated. Who waits stands in each line, first come,
///           first served.
/// Suspends: while none can be done, and where a `channel` would let others go first.
/// Resumes:  as of `channel`.
/// Errors:   those of `channel`; before it is awaited, of ranges, `std::invalid_argument` where no channel is
///           in them, nor beside them, and `std::bad_alloc`. The time is that of the coroutine's executor.
/// Cost:     for each channel that is tried, that of a put or a get that doesn't wait; to wait, twice the
///           locks of each, and a timer if there is a time. No allocation but of ranges. As each channel is
///           looked at by itself, a select that only tries may miss an item that goes from a channel before
///           it looks there to one that it has looked at.
/// Source:   `select` of Go, and its runtime's selectgo; the locks as in crossbeam-channel.
template <detail::select_case... Cases>
    requires detail::fit_together<Cases...>
[[nodiscard("co_await this, or nothing is chosen")]] auto select(Cases... cases) {
    return detail::select_operation<detail::select_case_t<Cases>...>(
        detail::select_case_t<Cases>(std::move(cases))...);
}

/// Rejects what is no channel, and no range of them, at compile time.
template <class Channel>
auto on_get(Channel&&) noexcept {
    static_assert(
        std::is_void_v<Channel>,
        "weir: on_get(channel) takes from a weir::channel with a name, which outlives the select and "
        "isn't constant, or from a range of such, or of pointers to them; and this is none");
    return detail::time_case(duration(0));
}
/// Rejects what is no channel, and what is none of its items, at compile time.
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
/// Rejects what is no time at compile time.
template <class Time>
    requires(!std::is_convertible_v<Time, duration>)
auto after(Time&&) noexcept {
    static_assert(
        std::is_convertible_v<Time, duration>,
        "weir: after(duration) takes a duration, as 10ms; for an instant, instant - executor.now()");
    return detail::time_case(duration(0));
}
/// Rejects what is no case at compile time.
template <class... Cases>
    requires(!(detail::select_case<std::remove_cvref_t<Cases>> && ...))
auto select(Cases&&...) noexcept {
    static_assert((detail::select_case<std::remove_cvref_t<Cases>> && ...),
                  "weir: select chooses among on_get(channel), on_put(channel, item), after(duration) and a "
                  "stop_token, and an argument is none of these");
    return std::suspend_never();
}
/// Rejects no put or get at all, two times, and two tokens, at compile time.
template <detail::select_case... Cases>
    requires(!detail::fit_together<Cases...>)
auto select(Cases...) noexcept {
    static_assert(
        detail::num_of_kind<detail::select_kind::operation, Cases...> != 0,
        "weir: select chooses among puts and gets of channels, and there is none; to let time pass, "
        "co_await sleep_for(10ms)");
    static_assert(detail::num_of_kind<detail::select_kind::time, Cases...> <= 1,
                  "weir: a select waits for one time at most; give it the shorter one");
    static_assert(detail::num_of_kind<detail::select_kind::stop, Cases...> <= 1,
                  "weir: a select is stopped by one token at most; let a stop_callback on one of them ask "
                  "the source of the other");
    return std::suspend_never();
}

}  // namespace weir

#endif
