// weir stages: what may be the function of a pipe, and what it gives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PIPE_FUNCTION_HPP
#define WEIR_STAGES_PIPE_FUNCTION_HPP

#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/stage.hpp>

#include <functional>   // for std::invoke
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::forward

namespace weir {

namespace detail {

// How a stage's function gives its results: `value` is the type of one item that leaves the stage.
template <class R>
struct stage_result {
    using value = R;
};
template <class U>
struct stage_result<std::optional<U>> {
    using value = U;
};
template <class U>
struct stage_result<generator<U>> {
    using value = std::remove_cvref_t<U>;
};
template <class U>
struct stage_result<async_generator<U>> {
    using value = U;
};

// A function that is made anew for each slot of a stage.
template <class Make>
struct slot_factory {
    Make make;
};

template <class F>
inline constexpr bool is_slot_factory = false;
template <class Make>
inline constexpr bool is_slot_factory<slot_factory<Make>> = true;

// What a function tells of what it copied to a device, if it does such a thing.
template <class F>
std::optional<transfer_stats> transfers_of(const F& f) {
    if constexpr (is_slot_factory<F>) {
        return detail::transfers_of(f.make);
    } else if constexpr (requires { f.transfers(); }) {
        return f.transfers();
    } else {
        return std::nullopt;
    }
}

// Before a run without statistics: the function takes no figures of its own, either.
template <class F>
void measure_nothing(F& f) {
    if constexpr (is_slot_factory<F>) {
        detail::measure_nothing(f.make);
    } else if constexpr (requires { f.measure_nothing(); }) {
        f.measure_nothing();
    }
}

// What a slot calls.
template <class F>
struct function_of {
    using type = F;
};
template <class Make>
struct function_of<slot_factory<Make>> {
    using type = std::remove_cvref_t<std::invoke_result_t<Make&>>;
};

// Named so that the compiler's own message reads as a sentence: "in instantiation of
// the_function<F>::is_given<T>".
template <class F>
struct the_function {
    template <class Given>
    struct is_given {
        static constexpr bool takes_it = std::is_invocable_v<F&, Given>;
        // It also wants to know which item it is.
        static constexpr bool takes_call = !takes_it && std::is_invocable_v<F&, Given, const invocation&>;
        static constexpr bool by_reference =
            std::conjunction_v<std::bool_constant<!takes_it && !takes_call>, std::is_invocable<F&, Given&>>;
        static_assert(!by_reference,
                      "weir: an item is given away to a stage's function, and this one takes it by T&; take "
                      "it by value, by const T& or by T&&");
        static_assert(takes_it || takes_call || by_reference,
                      "weir: this stage's function can't be called with what the stage before it "
                      "gives; the types are those of the_function<...>::is_given<...> in this message");
        using type = typename std::conditional_t<
            takes_it, std::invoke_result<F&, Given>,
            std::conditional_t<takes_call, std::invoke_result<F&, Given, const invocation&>,
                               std::type_identity<int>>>::type;
    };
};

template <class F, class In>
using stage_call_t = typename the_function<F>::template is_given<In>::type;

template <class F, class In>
struct pipe_types {
    using call = stage_call_t<F, In>;
    using result = awaited_t<call>;
    using value = typename stage_result<std::conditional_t<std::is_void_v<result>, int, result>>::value;
    static constexpr bool takes_call = the_function<F>::template is_given<In>::takes_call;
    static constexpr bool waits = awaitable<call>;
    static constexpr bool gives_many = is_generator<result> || is_async_generator<result>;
    static constexpr bool may_skip = is_optional<result>;
    // Last: clang knows nothing of what comes after an assertion that fails.
    static_assert(!std::is_void_v<result>,
                  "weir: a stage's function has to give an item to the next stage; this one gives "
                  "nothing. Return the item, or std::optional where some are dropped");
};

}  // namespace detail

/// Makes the function of a `pipe` anew for each of its slots: for what can't be shared (a decoder, a
/// connection).
///
///     weir::pipe(weir::per_slot([] { return [d = decoder()](packet p) mutable { return d(p); }; }),
///                {.concurrency = 4})
///
/// \param make  called without arguments, on the stage's executor, once by each slot before its first
///              item, and again when a slot that was taken out of service comes back. The function that it
///              returns is destroyed there when the slot ends or leaves service.
/// Errors: an exception from it stops the run, as a failure of the stage.
/// Threads: slots make theirs at the same time; one slot alone calls each function.
template <class Make>
[[nodiscard]] auto per_slot(Make&& make) {
    static_assert(std::is_invocable_v<std::decay_t<Make>&>,
                  "weir: per_slot needs a function without parameters that returns the stage's function");
    static_assert(!std::is_void_v<std::invoke_result_t<std::decay_t<Make>&>>,
                  "weir: the function given to per_slot returns the stage's function, and this one returns "
                  "nothing");
    return detail::slot_factory<detail::kept_t<Make>>{std::forward<Make>(make)};
}

/// One of several functions of a name gets a sentence.
template <class F = detail::not_deduced, class = detail::refused_t<F>>
void per_slot(F) noexcept;

}  // namespace weir

#endif
