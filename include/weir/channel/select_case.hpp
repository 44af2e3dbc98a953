// weir channel, internal: what a select is given: gets, a put, a time, a stop; and what it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_CASE_HPP
#define WEIR_CHANNEL_SELECT_CASE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/choice_case.hpp>
#include <weir/channel/choice_operation.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/task/stop_token.hpp>

#include <concepts>    // for std::same_as
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint8_t
#include <functional>  // for std::reference_wrapper
#include <optional>    // for std::optional
#include <span>  // for std::ranges::range_reference_t, which <span> needs, and <ranges> has with all views
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// What ends a select.
enum class select_kind : std::uint8_t { operation, time, stop };

// Each has: `result`, what the select gives of it; `place`, what is made of it in the frame of the coroutine
// that waits; `kind`; `size`: among how many operations it is a choice. A place fills in as many pointers to
// them, null for none, and gives what has become of the one that was chosen.
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

// The channel that an element of a range is, or names; null: none.
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

// A get from any channel of a range.
template <class Channel>
struct get_from_case {
    using result = get_from<typename Channel::value_type>;
    using platform = typename Channel::core_type::platform;
    static constexpr select_kind kind = select_kind::operation;
    std::size_t size() const noexcept { return channels.size(); }

    template <class Range>
    explicit get_from_case(std::in_place_t, Range& range) {
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

// `Item`: a reference to the caller's, or a copy.
template <class Channel, class Item>
struct put_case {
    using result = channel_status;
    using platform = typename Channel::core_type::platform;
    static constexpr select_kind kind = select_kind::operation;
    static constexpr std::size_t size() noexcept { return 1; }

    put_case(Channel& c, Item&& it) : channel(&c), item(static_cast<Item&&>(it)) {}

    class place {
      public:
        explicit place(put_case&& given) noexcept
            : item_(static_cast<Item&&>(given.item)), case_(*given.channel, item_) {}
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

// A case that no operation is.
template <channel_status Given>
struct ending_place {
    template <class Case>
    explicit ending_place(const Case&) noexcept {}
    static constexpr std::size_t size() noexcept { return 0; }
    static void fill_in(auto**) noexcept {}
    static channel_status take(std::size_t) noexcept { return Given; }
};
struct time_case {
    using result = channel_status;
    using place = ending_place<channel_status::timed_out>;
    static constexpr select_kind kind = select_kind::time;
    static constexpr std::size_t size() noexcept { return 0; }

    explicit time_case(duration d) noexcept : limit(d) {}

    wait_limit limit;
};
template <class Platform>
struct stop_case {
    using result = channel_status;
    using place = ending_place<channel_status::stopped>;
    static constexpr select_kind kind = select_kind::stop;
    static constexpr std::size_t size() noexcept { return 0; }

    explicit stop_case(basic_stop_token<Platform>&& token) noexcept : stop(std::move(token)) {}

    basic_stop_token<Platform> stop;
};

// What a select makes of an argument: a stop token is a case as it is.
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
concept select_case = requires(select_case_t<C>& c) {
    typename select_case_t<C>::result;
    typename select_case_t<C>::place;
    { c.kind } -> std::same_as<const select_kind&>;
};

}  // namespace weir::detail

#endif
