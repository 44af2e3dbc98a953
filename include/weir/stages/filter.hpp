// weir stages: the stage that gives only the items for which a predicate is true
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FILTER_HPP
#define WEIR_STAGES_FILTER_HPP

#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/task/task.hpp>

#include <optional>     // for std::optional
#include <type_traits>  // for std::is_constructible_v
#include <utility>      // for std::as_const, std::move

namespace weir {

namespace detail {

template <class P>
struct the_predicate {
    template <class T>
    struct is_given : call_traits<P, const T&> {
        static_assert(is_given::fits,
                      "weir: a filter's predicate is called with the item as a constant, and can't be; the "
                      "types are those of the_predicate<...>::is_given<...> in this message");
        using type = std::conditional_t<is_given::waits, task<std::optional<T>>, std::optional<T>>;
        static_assert(std::is_constructible_v<bool, typename is_given::result>,
                      "weir: a filter's predicate has to give a bool, or an awaitable of one; the types "
                      "are those of the_predicate<...>::is_given<...> in this message");
    };
};

// Makes the function of a pipe from a predicate: returns the item, or nothing. See `adapted`.
struct filtering {
    template <class P, class T>
    using traits_of = typename the_predicate<P>::template is_given<T>;

    template <class P, class T>
    static typename traits_of<P, T>::type give(P& predicate, T& item, const invocation* call) {
        if constexpr (traits_of<P, T>::waits) {
            return give_later(predicate, std::move(item), call);
        } else {
            std::optional<T> kept;
            if (detail::call(predicate, std::as_const(item), call)) kept.emplace(std::move(item));
            return kept;
        }
    }
    template <class P, class T>
    static task<std::optional<T>> give_later(P& predicate, T item, const invocation* call) {
        std::optional<T> kept;
        auto pending = detail::call(predicate, std::as_const(item), call);
        auto wanted = co_await std::move(pending);
        if (wanted) kept.emplace(std::move(item));
        co_return kept;
    }
};

}  // namespace detail

/// Gives the items for which `predicate` is true; destroys the others.
///
/// \param predicate  called with an item, as a constant, and with the `invocation` if it takes that, too.
///                   Gives a bool, or a `task<bool>` or another awaitable of one. `per_slot` works as it
///                   does for `pipe`.
/// \param options    see `stage_options`.
/// \returns          the stage: a `pipe`.
/// Everything else is as for `pipe`: `output_order::input` keeps the order with any concurrency, and an
/// exception fails the item.
template <class Predicate>
[[nodiscard]] auto filter(Predicate&& predicate, stage_options options = {}) {
    return detail::pipe_of<Predicate>("filter",
                                      detail::adapt<detail::filtering>(std::forward<Predicate>(predicate)),
                                      std::move(options));
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = stage_options,
          class = detail::refused_t<Function, Options>>
void filter(Function&&, Options&& = {}) noexcept;

}  // namespace weir

#endif
