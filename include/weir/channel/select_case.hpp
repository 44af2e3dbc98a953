// weir channel: the cases of a select, and its result
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_CASE_HPP
#define WEIR_CHANNEL_SELECT_CASE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/choice.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/task/stop_token.hpp>

#include <concepts>    // for std::same_as
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint8_t
#include <functional>  // for std::reference_wrapper
#include <optional>    // for std::optional
#include <span>  // for std::ranges::range_reference_t, which <span> needs, and <ranges> has with all views
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::to_string
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::forward, std::in_place_index_t, std::move
#include <variant>      // for std::variant
#include <vector>       // for std::vector

namespace weir {

/// The result of a `select`: which case was chosen, and the result of that case.
template <class... Results>
class [[nodiscard]] select_result {
  public:
    /// Called by `select` when it has chosen the case of index `Index`.
    template <std::size_t Index, class Result>
    select_result(std::in_place_index_t<Index> which, Result&& result)
        : chosen_(which, std::forward<Result>(result)) {}

    /// The number of the chosen case, in the order of the arguments, from 0.
    [[nodiscard]] std::size_t(index)() const noexcept { return (chosen_.index)(); }

    /// How the chosen case ended: `success`, `closed`, `timed_out` or `stopped`.
    [[nodiscard]] channel_status status() const noexcept {
        return std::visit([](const auto& result) { return status_of(result); }, chosen_);
    }

    /// The result of case `Index`: a `get_result` for a get, a `get_from` for a get from a range, else the
    /// `channel_status`. Lifetime: that of this object.
    /// Errors: `std::logic_error` if another case was chosen.
    template <std::size_t Index>
    [[nodiscard]] auto& get() & {
        return result_of<Index>(*this);
    }
    template <std::size_t Index>
    [[nodiscard]] const auto& get() const& {
        return result_of<Index>(*this);
    }
    /// The same result, by value.
    template <std::size_t Index>
    [[nodiscard]] auto get() && {
        return std::move(result_of<Index>(*this));
    }

  private:
    static channel_status status_of(channel_status s) noexcept { return s; }
    template <class T>
    static channel_status status_of(const get_result<T>& r) noexcept {
        return r.status();
    }
    template <std::size_t Index, class Self>
    static auto& result_of(Self& self) {
        static_assert(Index < sizeof...(Results),
                      "weir: this select has fewer cases; they are counted from 0, in the order of its "
                      "arguments");
        if constexpr (Index < sizeof...(Results)) {
            if (auto* const chosen = std::get_if<Index>(&self.chosen_)) return *chosen;
            throw std::logic_error("weir: the select chose case " + std::to_string((self.chosen_.index)()) +
                                   ", and is asked for case " + std::to_string(Index) +
                                   "; look at its index() before");
        } else {
            return self.chosen_;
        }
    }

    std::variant<Results...> chosen_;
};

}  // namespace weir

namespace weir::detail {

// The kind of a case: a put or get, a time limit, or a stop.
enum class select_kind : std::uint8_t { operation, time, stop };

// The type of a case has these members:
// - `kind`.
// - `size`: the number of its operations, each a put or a get.
// - `place`: a class that holds the operations, constructed from the case in the frame of the coroutine. Its
//   member `fill_in` writes a pointer to each operation, or null if the range has a null pointer there.
// - `result`: the type that `place::take` returns for the chosen operation.
template <class Channel>
struct get_case {
    using result = get_result<typename Channel::value_type>;
    using platform = typename Channel::core_type::platform;
    static constexpr select_kind kind = select_kind::operation;
    static constexpr std::size_t size() noexcept { return 1; }

    explicit get_case(Channel& c) noexcept : channel(&c) {}

    class place {
      public:
        explicit place(get_case&& given) noexcept : case_(*given.channel) {}
        static constexpr std::size_t size() noexcept { return 1; }
        void fill_in(any_choice_case<platform>** at) noexcept { *at = &case_; }
        result take(std::size_t) noexcept { return case_.take(); }

      private:
        choice_case<Channel, false> case_;
    };

    Channel* channel;
};

// The channel of an element of the range in `on_get(range)`; null if the element is a null pointer.
template <class T, class Policy>
channel<T, Policy>* channel_in(channel<T, Policy>& c) noexcept {
    return &c;
}
template <class Channel>
auto channel_in(const std::reference_wrapper<Channel>& c) noexcept -> decltype(detail::channel_in(c.get())) {
    return &c.get();
}
template <class Pointer>
auto channel_in(const Pointer& p) noexcept -> decltype(detail::channel_in(*p)) {
    return p ? &*p : nullptr;
}

// The case `on_get(range)`: a get from any channel of a range.
template <class Channel>
struct get_from_case {
    using result = get_from<typename Channel::value_type>;
    using platform = typename Channel::core_type::platform;
    static constexpr select_kind kind = select_kind::operation;
    std::size_t size() const noexcept { return channels.size(); }

    template <class Range>
    explicit get_from_case(std::in_place_t, Range& range) {
        if constexpr (std::ranges::sized_range<Range>)
            channels.reserve(static_cast<std::size_t>(std::ranges::size(range)));
        for (auto&& each : range) channels.push_back(detail::channel_in(each));
    }

    class place {
      public:
        explicit place(get_from_case&& given) : cases_(given.channels.size()) {
            for (std::size_t i = 0; i < cases_.size(); ++i) {
                if (given.channels[i] != nullptr) cases_[i].emplace(*given.channels[i]);
            }
        }
        std::size_t size() const noexcept { return cases_.size(); }
        void fill_in(any_choice_case<platform>** at) noexcept {
            for (auto& each : cases_) *at++ = each ? &*each : nullptr;
        }
        result take(std::size_t which) noexcept { return {which, cases_[which]->take()}; }

      private:
        std::vector<std::optional<choice_case<Channel, false>>> cases_;
    };

    std::vector<Channel*> channels;
};

// The case `on_put`. `Item`: a reference to the item of the caller, or the type of a copy.
template <class Channel, class Item>
struct put_case {
    using result = channel_status;
    using platform = typename Channel::core_type::platform;
    static constexpr select_kind kind = select_kind::operation;
    static constexpr std::size_t size() noexcept { return 1; }

    put_case(Channel& c, Item&& given) : channel(&c), item(static_cast<Item&&>(given)) {}

    class place {
      public:
        explicit place(put_case&& given) noexcept
            : item_(static_cast<Item&&>(given.item)), case_(*given.channel, std::addressof(item_)) {}
        static constexpr std::size_t size() noexcept { return 1; }
        void fill_in(any_choice_case<platform>** at) noexcept { *at = &case_; }
        result take(std::size_t) noexcept { return case_.take(); }

      private:
        Item item_;
        choice_case<Channel, true> case_;
    };

    Channel* channel;
    Item item;
};

// The `place` of a time limit or a stop, which has no operation.
template <channel_status Given>
struct ending_place {
    template <class Case>
    explicit ending_place(const Case&) noexcept {}
    static constexpr std::size_t size() noexcept { return 0; }
    static void fill_in(auto**) noexcept {}
    static channel_status take(std::size_t) noexcept { return Given; }
};
struct time_case {  // the case `after`
    using result = channel_status;
    using place = ending_place<channel_status::timed_out>;
    static constexpr select_kind kind = select_kind::time;
    static constexpr std::size_t size() noexcept { return 0; }

    explicit time_case(duration d) noexcept : limit(d) {}

    wait_limit limit;
};
template <class Platform>
struct stop_case {  // the case of a stop token
    using result = channel_status;
    using place = ending_place<channel_status::stopped>;
    static constexpr select_kind kind = select_kind::stop;
    static constexpr std::size_t size() noexcept { return 0; }

    explicit stop_case(basic_stop_token<Platform>&& token) noexcept : stop(std::move(token)) {}

    basic_stop_token<Platform> stop;
};

// The type of the case for an argument of `select`: `stop_case` for a stop token, else the argument's type.
template <class C>
struct select_case_of {
    using type = C;
};
template <class Platform>
struct select_case_of<basic_stop_token<Platform>> {
    using type = stop_case<Platform>;
};
template <>
struct select_case_of<std_stop_token> : select_case_of<stop_token> {};
template <class C>
using select_case_t = typename select_case_of<C>::type;

template <class C>
concept select_case = requires(select_case_t<C>& c) {  // `select` accepts the argument
    typename select_case_t<C>::result;
    typename select_case_t<C>::place;
    { c.kind } -> std::same_as<const select_kind&>;
};

// The number of cases of a kind.
template <select_kind Kind, class... Cases>
inline constexpr std::size_t num_of_kind =
    (std::size_t{0} + ... + (select_case_t<Cases>::kind == Kind ? 1 : 0));
// Whether a `select` accepts the cases together: at least one operation, at most one time limit and one stop.
template <class... Cases>
inline constexpr bool are_valid_cases =
    num_of_kind<select_kind::operation, Cases...> != 0 && num_of_kind<select_kind::time, Cases...> <= 1 &&
    num_of_kind<select_kind::stop, Cases...> <= 1;

// The platform (the type that supplies locks and atomics) of the first channel among the cases.
template <class Case, class... Others>
struct platform_of_cases : platform_of_cases<Others...> {};
template <class Case, class... Others>
    requires(Case::kind == select_kind::operation)
struct platform_of_cases<Case, Others...> {
    using type = typename Case::platform;
};

// The time limit of the `after` among the cases; without an `after`, there is none.
template <class... Cases>
wait_limit limit_of(const Cases&... cases) noexcept {
    wait_limit limit;
    const auto look_at = [&limit]<class Case>([[maybe_unused]] const Case& c) {
        if constexpr (Case::kind == select_kind::time) limit = c.limit;
    };
    (look_at(cases), ...);
    return limit;
}
// The stop token among the cases; without one, a token that never requests a stop.
template <class Platform, class... Cases>
basic_stop_token<Platform> stop_of(const Cases&... cases) noexcept {
    basic_stop_token<Platform> stop;
    const auto look_at = [&stop]<class Case>([[maybe_unused]] const Case& c) {
        if constexpr (Case::kind == select_kind::stop) stop = c.stop;
    };
    (look_at(cases), ...);
    return stop;
}

}  // namespace weir::detail

#endif
