// weir stages, internal: how a stage calls a user's function, and what the function gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_CALL_TRAITS_HPP
#define WEIR_STAGES_CALL_TRAITS_HPP

#include <weir/run/invocation.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>

#include <functional>   // for std::invoke
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_member_pointer_v, std::remove_cvref_t
#include <utility>      // for std::declval, std::forward

namespace weir::detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_generator = false;
template <class T>
inline constexpr bool is_generator<generator<T>> = true;

template <class T>
inline constexpr bool is_async_generator = false;
template <class T>
inline constexpr bool is_async_generator<async_generator<T>> = true;

// What a call gives once it was awaited, if it has to be.
template <class R>
struct awaited {
    using type = R;
};
template <awaitable R>
struct awaited<R> {
    using type = await_result_t<R>;
};
template <class R>
using awaited_t = std::remove_cvref_t<typename awaited<R>::type>;

// As std::is_invocable_v<Function&, Given...>, which takes several times as long to compile.
template <class Function, class... Given>
concept callable = requires(Function& f) { f(std::declval<Given>()...); } ||
                   (std::is_member_pointer_v<Function> && std::is_invocable_v<Function&, Given...>);

// Calls a function with an item, with `more`, and with the invocation if it can't be called without.
template <class Function, class Given, class... More>
decltype(auto) call(Function& f, Given&& item, [[maybe_unused]] const invocation* about, More&... more) {
    if constexpr (callable<Function, Given, More&...>) {
        if constexpr (std::is_member_pointer_v<Function>) {
            return std::invoke(f, std::forward<Given>(item), more...);
        } else {
            return f(std::forward<Given>(item), more...);
        }
    } else if constexpr (callable<Function, Given, More&..., const invocation&>) {
        return std::invoke(f, std::forward<Given>(item), more..., *about);
    } else {
        return 0;  // refused by whoever asked
    }
}

// What is known of calling a `Function` with a `Given`: a reference, or the type of an item that is moved in;
// and with references to `More`.
// What a kind of stage asks of it is asserted in a template whose name is part of the compiler's message:
// `the_function<Function>::is_given<T>`.
template <class Function, class Given, class... More>
struct call_traits {
    static constexpr bool takes_item = callable<Function, Given, More&...>;
    static constexpr bool takes_call = !takes_item && callable<Function, Given, More&..., const invocation&>;
    static constexpr bool fits = takes_item || takes_call;
    using call =
        decltype(detail::call<Function, Given, More...>(std::declval<Function&>(), std::declval<Given>(),
                                                        nullptr, std::declval<More&>()...));
    static constexpr bool waits = awaitable<call>;
    using result = awaited_t<call>;
    static constexpr bool is_void = std::is_void_v<result>;
    static constexpr bool gives_many = is_generator<result> || is_async_generator<result>;
};

}  // namespace weir::detail

#endif
