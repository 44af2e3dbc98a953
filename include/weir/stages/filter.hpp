// weir stages: the stage that lets only some items pass
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FILTER_HPP
#define WEIR_STAGES_FILTER_HPP

#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <functional>   // for std::invoke
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::as_const, std::forward

namespace weir {

namespace detail {

// Named so that the compiler's own message reads as a sentence.
template <class P>
struct the_predicate {
    template <class T>
    struct is_given {
        static constexpr bool takes_it = std::is_invocable_v<P&, const T&>;
        static constexpr bool takes_call = !takes_it && std::is_invocable_v<P&, const T&, const invocation&>;
        static_assert(takes_it || takes_call,
                      "weir: a filter's predicate is called with the item as a constant, and can't be; the "
                      "types are those of the_predicate<...>::is_given<...> in this message");
        using call = typename std::conditional_t<
            takes_it, std::invoke_result<P&, const T&>,
            std::conditional_t<takes_call, std::invoke_result<P&, const T&, const invocation&>,
                               std::type_identity<bool>>>::type;
        static constexpr bool waits = awaitable<call>;
        using type = std::conditional_t<waits, task<std::optional<T>>, std::optional<T>>;
        static_assert(std::is_constructible_v<bool, awaited_t<call>>,
                      "weir: a filter's predicate has to give a bool, or an awaitable of one; the types "
                      "are those of the_predicate<...>::is_given<...> in this message");
    };
};

// What a predicate is for a pipe: an item is given on or dropped. Takes the invocation only where the
// predicate asks for it.
template <class P>
class filtering {
    template <class T>
    using about = typename the_predicate<P>::template is_given<T>;

  public:
    explicit filtering(P predicate) : predicate_(std::move(predicate)) {}

    template <class T>
        requires(!std::is_lvalue_reference_v<T> && !about<T>::takes_call)
    typename about<T>::type operator()(T&& item) {
        return judge(std::forward<T>(item), nullptr);
    }
    template <class T>
        requires(!std::is_lvalue_reference_v<T> && about<T>::takes_call)
    typename about<T>::type operator()(T&& item, const invocation& call) {
        return judge(std::forward<T>(item), &call);
    }

  private:
    template <class T>
    typename about<T>::type judge(T&& item, const invocation* call) {
        if constexpr (about<T>::waits) {
            return judge_later(std::forward<T>(item), call);
        } else {
            std::optional<T> kept;
            if (ask(item, call)) kept.emplace(std::forward<T>(item));
            return kept;
        }
    }
    template <class T>
    task<std::optional<T>> judge_later(T item, const invocation* call) {
        std::optional<T> kept;
        auto pending = ask(item, call);
        auto wanted = co_await std::move(pending);
        if (wanted) kept.emplace(std::move(item));
        co_return kept;
    }
    template <class T>
    decltype(auto) ask(const T& item, [[maybe_unused]] const invocation* call) {
        if constexpr (about<T>::takes_call) {
            return std::invoke(predicate_, item, *call);
        } else {
            return std::invoke(predicate_, item);
        }
    }

    P predicate_;
};

}  // namespace detail

/// Lets the items pass for which `predicate` is true; the others are destroyed.
///
/// \param predicate  called with an item, as a constant, and with the `invocation` if it takes that, too.
///                   Gives a bool, or a `task<bool>` or another awaitable of one. `per_slot` works as it
///                   does for `pipe`.
/// \param options    see `stage_options`.
/// Everything else is as for `pipe`: with `output_order::input` the order is kept whatever the concurrency,
/// and an exception fails the item.
template <class Predicate>
[[nodiscard]] auto filter(Predicate&& predicate, stage_options options = {}) {
    using given = detail::kept_t<Predicate>;
    if (options.name.empty()) options.name = "filter";
    if constexpr (detail::is_slot_factory<given>) {
        auto make = [factory = std::forward<Predicate>(predicate)]() mutable {
            return detail::filtering<typename detail::function_of<given>::type>(factory.make());
        };
        return weir::pipe(weir::per_slot(std::move(make)), std::move(options));
    } else {
        return weir::pipe(detail::filtering<given>(std::forward<Predicate>(predicate)), std::move(options));
    }
}

/// One of several functions of a name gets a sentence.
template <class F = detail::not_deduced, class = detail::refused_t<F>>
void filter(F, stage_options = {}) noexcept;
/// What is no options gets one, too.
template <class F, class Options, class = detail::refused_options_t<Options>>
void filter(F&&, Options&&) noexcept;

}  // namespace weir

#endif
