// weir channel: does the one of several puts and gets that can be done first
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_HPP
#define WEIR_CHANNEL_SELECT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/choice_operation.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/select_case.hpp>
#include <weir/measure/clock.hpp>

#include <array>        // for std::array
#include <coroutine>    // for std::suspend_never
#include <cstddef>      // for std::size_t
#include <optional>     // for std::optional
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::to_string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::forward, std::index_sequence
#include <variant>      // for std::variant

namespace weir {

/// Which case of a `select` it was, and what has become of it.
template <class... Results>
class [[nodiscard]] select_result {
  public:
    /// For `select`: the case of index `I`.
    template <std::size_t I, class Result>
    select_result(std::in_place_index_t<I> which, Result&& it) : it_(which, std::forward<Result>(it)) {}

    /// Of the case that was done, or whose channel is closed, or whose time is over; in the order of the
    /// arguments, from 0.
    [[nodiscard]] std::size_t index() const noexcept { return it_.index(); }

    /// `success`, `closed` or `timed_out`.
    [[nodiscard]] channel_status status() const noexcept {
        return std::visit([](const auto& it) { return status_of(it); }, it_);
    }

    /// What that case gives: of a get the item, or `closed`, as a `get_result`; of a put and a time the
    /// `channel_status`. Lifetime: that of this object.
    /// Errors: `std::logic_error` that names both, if it was another case.
    template <std::size_t I>
    [[nodiscard]] auto& get() & {
        return case_of<I>(*this);
    }
    template <std::size_t I>
    [[nodiscard]] const auto& get() const& {
        return case_of<I>(*this);
    }
    /// The same, by value.
    template <std::size_t I>
    [[nodiscard]] auto get() && {
        return std::move(case_of<I>(*this));
    }

  private:
    static channel_status status_of(channel_status s) noexcept { return s; }
    template <class T>
    static channel_status status_of(const get_result<T>& r) noexcept {
        return r.status();
    }
    template <std::size_t I, class Self>
    static auto& case_of(Self& self) {
        static_assert(I < sizeof...(Results),
                      "weir: this select has fewer cases; they are counted from 0, in the order of its "
                      "arguments");
        if constexpr (I < sizeof...(Results)) {
            if (auto* const it = std::get_if<I>(&self.it_)) return *it;
            throw std::logic_error("weir: the select chose case " + std::to_string(self.it_.index()) +
                                   ", and is asked for case " + std::to_string(I) +
                                   "; look at its index() before");
        } else {
            return self.it_;
        }
    }

    std::variant<Results...> it_;
};

namespace detail {

template <class... Cases>
inline constexpr std::size_t num_operations = (std::size_t{0} + ... + (Cases::is_operation ? 1 : 0));

// The platform of the channels.
template <class Case, class... Others>
struct platform_of_cases : platform_of_cases<Others...> {};
template <class Case, class... Others>
    requires Case::is_operation
struct platform_of_cases<Case, Others...> {
    using type = typename Case::platform;
};

inline wait_limit limit_of() noexcept { return wait_limit(); }
template <class Case, class... Others>
wait_limit limit_of(const Case& first, const Others&... others) noexcept {
    if constexpr (Case::is_operation) {
        return detail::limit_of(others...);
    } else {
        return first.limit;
    }
}

template <class... Cases>
class select_operation : public choice_operation<typename platform_of_cases<Cases...>::type> {
    using base = choice_operation<typename platform_of_cases<Cases...>::type>;
    using result = select_result<typename Cases::result...>;
    static constexpr auto all = std::index_sequence_for<Cases...>();

  public:
    explicit select_operation(Cases&&... cases)
        : base(sizeof...(Cases), detail::limit_of(cases...)), cases_(std::move(cases)...),
          operations_(std::apply(
              [](auto&... c) {
                  return std::array<typename base::any_case*, sizeof...(Cases)>{c.operation()...};
              },
              cases_)) {
        this->choose_among(operations_.data());
    }
    select_operation(const select_operation&) = delete;
    select_operation& operator=(const select_operation&) = delete;
    ~select_operation() { this->clean_up(); }

    result await_resume() {
        const std::size_t done = this->resumed();
        return take(done != sizeof...(Cases) ? done : time_, all);
    }

  private:
    template <std::size_t... I>
    result take(std::size_t which, std::index_sequence<I...>) {
        std::optional<result> r;
        static_cast<void>(
            ((I == which && (r.emplace(std::in_place_index<I>, std::get<I>(cases_).take()), true)) || ...));
        return *std::move(r);
    }
    static constexpr std::size_t index_of_time() noexcept {
        constexpr std::array<bool, sizeof...(Cases)> is_operation{Cases::is_operation...};
        std::size_t i = 0;
        while (i < sizeof...(Cases) && is_operation[i]) ++i;
        return i;
    }
    static constexpr std::size_t time_ = index_of_time();

    std::tuple<typename Cases::place...> cases_;
    const std::array<typename base::any_case*, sizeof...(Cases)> operations_;
};

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

/// The case of a `select` that is chosen when `timeout` is over and none of the others could be done by then.
/// With 0 or less the others are only tried; with `duration::max()` it is never chosen.
[[nodiscard("give this to select")]] inline auto after(duration timeout) noexcept {
    return detail::time_case(timeout);
}

/// Does one of several puts and gets, the first that can be done: exactly one, and nothing of the others.
///
///     auto done = co_await weir::select(weir::on_get(jobs), weir::on_get(orders), weir::after(10ms));
///     if (done.index() == 0 && done.status() == weir::channel_status::success) work(*done.get<0>());
///
/// \param cases  of `on_get`, `on_put`, and at most one `after`. A channel may be in several.
/// \returns  awaitable of `select_result`: which case was chosen, and the item, or that its channel is
///           `closed`, or that the time is over. Nothing is lost: what comes at that moment is delivered, or
///           stays in its channel; an item that was not put is still the caller's.
/// Order:    where several can be done, the search begins with any of the cases, at random: one that always
///           can be done is chosen at least once in as many selects as there are cases, on the average. A
///           closed channel is one that can, too. Random is a function of a count in the first channel, so
///           that a schedule is the same when it is repeated. Who waits stands in each line, first come,
///           first served.
/// Suspends: while none can be done, and where a `channel` would let others go first.
/// Resumes:  as of `channel`.
/// Errors:   those of `channel`. The time is that of the coroutine's executor.
/// Cost:     for each channel that is tried, that of a put or a get that doesn't wait; to wait, twice the
///           locks of each, and a timer if there is a time. No allocation. As each channel is looked at by
///           itself, a select that only tries may miss an item that goes from a channel before it looks there
///           to one that it has looked at.
/// Source:   `select` of Go, and its runtime's selectgo; the locks as in crossbeam-channel.
template <detail::select_case... Cases>
    requires(detail::num_operations<Cases...> != 0 &&
             sizeof...(Cases) - detail::num_operations<Cases...> <= 1)
[[nodiscard("co_await this, or nothing is chosen")]] auto select(Cases... cases) {
    return detail::select_operation<Cases...>(std::move(cases)...);
}

/// Rejects what is no channel at compile time.
template <class Channel>
auto on_get(Channel&&) noexcept {
    static_assert(
        std::is_void_v<Channel>,
        "weir: on_get(channel) takes from a weir::channel with a name, which outlives the select and "
        "isn't constant, and this is none");
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
    static_assert(std::is_convertible_v<Time, duration>,
                  "weir: after(timeout) takes a duration, as 10ms; for an instant, instant - executor.now()");
    return detail::time_case(duration(0));
}
/// Rejects what is no case at compile time.
template <class... Cases>
    requires(!(detail::select_case<std::remove_cvref_t<Cases>> && ...))
auto select(Cases&&...) noexcept {
    static_assert((detail::select_case<std::remove_cvref_t<Cases>> && ...),
                  "weir: select chooses among on_get(channel), on_put(channel, item) and after(timeout), and "
                  "an argument is none of these");
    return std::suspend_never();
}
/// Rejects no put or get at all, and two times, at compile time.
template <detail::select_case... Cases>
    requires(detail::num_operations<Cases...> == 0 || sizeof...(Cases) - detail::num_operations<Cases...> > 1)
auto select(Cases...) noexcept {
    static_assert(
        detail::num_operations<Cases...> != 0,
        "weir: select chooses among puts and gets of channels, and there is none; to let time pass, "
        "co_await sleep_for(10ms)");
    static_assert(sizeof...(Cases) - detail::num_operations<Cases...> <= 1,
                  "weir: a select waits for one time at most; give it the shorter one");
    return std::suspend_never();
}

}  // namespace weir

#endif
