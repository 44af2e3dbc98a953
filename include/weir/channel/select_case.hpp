// weir channel, internal: what a select is given: a get, a put, a time; and what it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_CASE_HPP
#define WEIR_CHANNEL_SELECT_CASE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/choice_case.hpp>
#include <weir/channel/choice_operation.hpp>
#include <weir/channel/get_result.hpp>

#include <concepts>  // for std::same_as
#include <utility>   // for std::move

namespace weir::detail {

// Each has: `result`, what the select gives of it; `place`, what is made of it in the frame of the coroutine
// that waits; `is_operation`: false for a time.
template <class Channel>
struct get_case {
    using result = get_result<typename Channel::value_type>;
    using platform = typename Channel::core_type::platform;
    static constexpr bool is_operation = true;

    explicit get_case(Channel& c) noexcept : channel(&c) {}

    class place {
      public:
        explicit place(get_case&& given) noexcept : case_(*given.channel) {}
        any_choice_case<platform>* operation() noexcept { return &case_; }
        result take() noexcept { return case_.take(); }

      private:
        choice_case<Channel, false> case_;
    };

    Channel* channel;
};

// `Item`: a reference to the caller's, or a copy.
template <class Channel, class Item>
struct put_case {
    using result = channel_status;
    using platform = typename Channel::core_type::platform;
    static constexpr bool is_operation = true;

    put_case(Channel& c, Item&& it) : channel(&c), item(static_cast<Item&&>(it)) {}

    class place {
      public:
        explicit place(put_case&& given) noexcept
            : item_(static_cast<Item&&>(given.item)), case_(*given.channel, item_) {}
        any_choice_case<platform>* operation() noexcept { return &case_; }
        result take() noexcept { return case_.take(); }

      private:
        Item item_;
        choice_case<Channel, true> case_;
    };

    Channel* channel;
    Item item;
};

struct time_case {
    using result = channel_status;
    static constexpr bool is_operation = false;

    explicit time_case(duration d) noexcept : limit(d) {}

    class place {
      public:
        explicit place(time_case&&) noexcept {}
        static constexpr std::nullptr_t operation() noexcept { return nullptr; }
        static result take() noexcept { return channel_status::timed_out; }
    };

    wait_limit limit;
};

template <class C>
concept select_case = requires(C& c) {
    typename C::result;
    typename C::place;
    { C::is_operation } -> std::same_as<const bool&>;
};

}  // namespace weir::detail

#endif
