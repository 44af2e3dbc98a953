// A stand-in for an implementation of std::execution: its protocol (P2300), and nothing that is built on it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_EXECUTION_STAND_IN_HPP
#define WEIR_TESTS_EXECUTION_STAND_IN_HPP

#include <concepts>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace stdexec {

struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
struct scheduler_t {};

// What a receiver is told, once; a member of it each.
struct set_value_t {
    template <class Receiver, class... Ts>
    void operator()(Receiver&& receiver, Ts&&... values) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(receiver).set_value(std::forward<Ts>(values)...)));
        std::forward<Receiver>(receiver).set_value(std::forward<Ts>(values)...);
    }
};
struct set_error_t {
    template <class Receiver, class Error>
    void operator()(Receiver&& receiver, Error&& error) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(receiver).set_error(std::forward<Error>(error))));
        std::forward<Receiver>(receiver).set_error(std::forward<Error>(error));
    }
};
struct set_stopped_t {
    template <class Receiver>
    void operator()(Receiver&& receiver) const noexcept {
        static_assert(noexcept(std::forward<Receiver>(receiver).set_stopped()));
        std::forward<Receiver>(receiver).set_stopped();
    }
};
inline constexpr set_value_t set_value;
inline constexpr set_error_t set_error;
inline constexpr set_stopped_t set_stopped;

// Environments, and what they are asked.
struct empty_env {};
struct get_env_t {
    template <class T>
    decltype(auto) operator()(const T& of) const noexcept {
        if constexpr (requires { of.get_env(); }) {
            return of.get_env();
        } else {
            return empty_env();
        }
    }
};
inline constexpr get_env_t get_env;
template <class T>
using env_of_t = decltype(get_env(std::declval<T>()));

class never_stop_token {
    class never {
      public:
        template <class F>
        never(never_stop_token, F&&) noexcept {}
    };

  public:
    template <class F>
    using callback_type = never;
    static constexpr bool stop_requested() noexcept { return false; }
    static constexpr bool stop_possible() noexcept { return false; }
    bool operator==(const never_stop_token&) const = default;
};
template <class Token, class F>
using stop_callback_for_t = typename Token::template callback_type<F>;
template <class Token>
concept stoppable_token =
    std::copyable<Token> && std::equality_comparable<Token> && requires(const Token& t) {
        typename Token::template callback_type<void (*)()>;
        { t.stop_requested() } noexcept -> std::same_as<bool>;
        { t.stop_possible() } noexcept -> std::same_as<bool>;
    };

struct get_stop_token_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept {
        if constexpr (requires { env.query(*this); }) {
            static_assert(stoppable_token<std::remove_cvref_t<decltype(env.query(*this))>>);
            return env.query(*this);
        } else {
            return never_stop_token();
        }
    }
};
struct get_scheduler_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept {
        return env.query(*this);
    }
};
template <class Tag>
struct get_completion_scheduler_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept {
        return env.query(*this);
    }
};
inline constexpr get_stop_token_t get_stop_token;
inline constexpr get_scheduler_t get_scheduler;
template <class Tag>
inline constexpr get_completion_scheduler_t<Tag> get_completion_scheduler;
template <class Env>
using stop_token_of_t = std::remove_cvref_t<decltype(get_stop_token(std::declval<Env>()))>;

template <class T>
concept receiver = std::move_constructible<std::remove_cvref_t<T>> &&
                   std::derived_from<typename std::remove_cvref_t<T>::receiver_concept, receiver_t>;
template <class T>
concept sender = std::move_constructible<std::remove_cvref_t<T>> &&
                 std::derived_from<typename std::remove_cvref_t<T>::sender_concept, sender_t>;

// How a sender may complete.
template <class... Signatures>
struct completion_signatures {};

template <template <class...> class Tuple, template <class...> class Variant, class Found,
          class... Signatures>
struct values_among;
template <template <class...> class Tuple, template <class...> class Variant, class... Found>
struct values_among<Tuple, Variant, std::tuple<Found...>> {
    using type = Variant<Found...>;
};
template <template <class...> class Tuple, template <class...> class Variant, class... Found, class... Ts,
          class... Rest>
struct values_among<Tuple, Variant, std::tuple<Found...>, set_value_t(Ts...), Rest...>
    : values_among<Tuple, Variant, std::tuple<Found..., Tuple<Ts...>>, Rest...> {};
template <template <class...> class Tuple, template <class...> class Variant, class Found, class Other,
          class... Rest>
struct values_among<Tuple, Variant, Found, Other, Rest...> : values_among<Tuple, Variant, Found, Rest...> {};

template <template <class...> class Tuple, template <class...> class Variant, class Signatures>
struct values_of;
template <template <class...> class Tuple, template <class...> class Variant, class... Signatures>
struct values_of<Tuple, Variant, completion_signatures<Signatures...>>
    : values_among<Tuple, Variant, std::tuple<>, Signatures...> {};
template <class Sender, class Env, template <class...> class Tuple, template <class...> class Variant>
using value_types_of_t =
    typename values_of<Tuple, Variant, typename std::remove_cvref_t<Sender>::completion_signatures>::type;

struct connect_t {
    template <sender Sender, receiver Receiver>
    auto operator()(Sender&& from, Receiver&& to) const {
        return std::forward<Sender>(from).connect(std::forward<Receiver>(to));
    }
};
struct start_t {
    template <class Operation>
    void operator()(Operation& it) const noexcept {
        static_assert(std::derived_from<typename Operation::operation_state_concept, operation_state_t> &&
                      noexcept(it.start()));
        it.start();
    }
};
struct schedule_t {
    template <class Scheduler>
    auto operator()(Scheduler&& on) const {
        return std::forward<Scheduler>(on).schedule();
    }
};
inline constexpr connect_t connect;
inline constexpr start_t start;
inline constexpr schedule_t schedule;
template <class Sender, class Receiver>
using connect_result_t = decltype(connect(std::declval<Sender>(), std::declval<Receiver>()));
template <class Scheduler>
using schedule_result_t = decltype(schedule(std::declval<Scheduler>()));

template <class T>
concept scheduler =
    std::copyable<std::remove_cvref_t<T>> && std::equality_comparable<std::remove_cvref_t<T>> &&
    std::derived_from<typename std::remove_cvref_t<T>::scheduler_concept, scheduler_t> && requires(T&& on) {
        { schedule(std::forward<T>(on)) } -> sender;
    };

}  // namespace stdexec

#endif
