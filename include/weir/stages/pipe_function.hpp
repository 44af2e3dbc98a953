// weir stages: functions of stages: how they are called, what they return, and `per_slot`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PIPE_FUNCTION_HPP
#define WEIR_STAGES_PIPE_FUNCTION_HPP

#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>

#include <functional>   // for std::invoke
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_invocable_v, std::is_member_pointer_v, std::remove_cvref_t
#include <utility>      // for std::declval, std::forward, std::move

namespace weir {

namespace detail {

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

// The result type of a call. If the call returns an awaitable, the type of the awaited result.
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

// Calls a function with an item, with `more`, and, if the function requires it, with the invocation `info`,
// which describes the call. For all other functions `info` may be null.
template <class Function, class Given, class... More>
decltype(auto) call(Function& f, Given&& item, [[maybe_unused]] const invocation* info, More&... more) {
    if constexpr (callable<Function, Given, More&...>) {
        if constexpr (std::is_member_pointer_v<Function>) {
            return std::invoke(f, std::forward<Given>(item), more...);
        } else {
            return f(std::forward<Given>(item), more...);
        }
    } else if constexpr (callable<Function, Given, More&..., const invocation&>) {
        return std::invoke(f, std::forward<Given>(item), more..., *info);
    } else {
        return 0;  // never called: the stage kind asserts `call_traits::fits`
    }
}

// Whether the function can be called only with the invocation, too. A concept, so that the second operand of
// `&&` is not instantiated if the first is false: a function with a pack, as `[](auto... all)`, would be an
// error there.
template <class Function, class Given, class... More>
concept needs_call =
    !callable<Function, Given, More&...> && callable<Function, Given, More&..., const invocation&>;

// The traits of calling a `Function` with a `Given` and with references to `More`. `Given`: a reference, or
// the type of an item that is moved in. Each stage asserts its requirements in a template whose name is part
// of the compiler's message, such as `the_function<Function>::is_given<T>`.
template <class Function, class Given, class... More>
struct call_traits {
    static constexpr bool takes_item = callable<Function, Given, More&...>;
    static constexpr bool takes_call = needs_call<Function, Given, More...>;
    static constexpr bool fits = takes_item || takes_call;
    using returned =
        decltype(detail::call<Function, Given, More...>(std::declval<Function&>(), std::declval<Given>(),
                                                        nullptr, std::declval<More&>()...));
    static constexpr bool waits = awaitable<returned>;
    using result = awaited_t<returned>;
    static constexpr bool is_void = std::is_void_v<result>;
    static constexpr bool gives_many = is_generator<result> || is_async_generator<result>;
};

// The item type behind a stage whose function returns `R`, maybe in an optional or a generator.
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

// A factory that makes a function for each slot (worker) of a stage: see `per_slot`.
template <class Make>
struct slot_factory {
    Make make;
};

template <class Function>
inline constexpr bool is_slot_factory = false;
template <class Make>
inline constexpr bool is_slot_factory<slot_factory<Make>> = true;

// The statistics of a function, or of a factory, that copies items to a device. Empty if the function has no
// member `transfers`.
template <class Function>
std::optional<transfer_stats> transfers_of(const Function& f) {
    if constexpr (is_slot_factory<Function>) {
        return detail::transfers_of(f.make);
    } else if constexpr (requires { f.transfers(); }) {
        return f.transfers();
    } else {
        return std::nullopt;
    }
}

// Tells a function that measures something to measure nothing. Called before a run without statistics.
template <class Function>
void measure_nothing(Function& f) {
    if constexpr (is_slot_factory<Function>) {
        detail::measure_nothing(f.make);
    } else if constexpr (requires { f.measure_nothing(); }) {
        f.measure_nothing();
    }
}

// The type of the function that a slot calls: `Function`, or the function that the factory makes.
template <class Function>
struct function_of {
    using type = Function;
};
template <class Make>
struct function_of<slot_factory<Make>> {
    using type = std::remove_cvref_t<std::invoke_result_t<Make&>>;
};

// Whether the function could be called only with an lvalue reference to the item. A concept, as `needs_call`:
// for an `adapted` function, the second operand would fail a static assertion.
template <class Traits, class Function, class Given>
concept fits_only_by_reference = !Traits::fits && callable<Function, Given&>;

// The traits of the call of a pipe's function; asserts that they fit. Its name is part of the compiler's
// message.
template <class Function>
struct the_function {
    template <class Given>
    struct is_given : call_traits<Function, Given> {
        static constexpr bool by_reference =
            fits_only_by_reference<call_traits<Function, Given>, Function, Given>;
        static_assert(!by_reference,
                      "weir: an item is given away to a stage's function, and this one takes it by T&; take "
                      "it by value, by const T& or by T&&");
        static_assert(is_given::fits || by_reference,
                      "weir: this stage's function can't be called with what the stage before it "
                      "gives; the types are those of the_function<...>::is_given<...> in this message");
    };
};

// The types of a pipe. `Call`: the `call_traits` of its function.
template <class Call>
struct pipe_types : Call {
    using result = typename Call::result;
    using value = typename stage_result<std::conditional_t<std::is_void_v<result>, int, result>>::value;
    static constexpr bool may_skip = is_optional<result>;
    // The assertion is the last member, because clang ignores all members after an assertion that fails.
    static_assert(!std::is_void_v<result>,
                  "weir: a stage's function has to give an item to the next stage; this one gives "
                  "nothing. Return the item, or std::optional where some are dropped; weir::for_each(f) or "
                  "weir::traverse_each(f), at the end in place of the sink, is for a function that gives "
                  "nothing");
};

// A function for a pipe, which wraps a user's function. Takes the invocation if the user's function requires
// the invocation. `Kind`, such as `filtering`, declares `template traits_of<F, T>`, the traits of the call,
// and `give(f, item, invocation)`, which calls the user's function and returns the result for the pipe.
template <class Kind, class Function>
class adapted {
    template <class T>
    using traits_of = typename Kind::template traits_of<Function, T>;

  public:
    explicit adapted(Function function) : function_(std::move(function)) {}

    template <class T>
        requires(!std::is_lvalue_reference_v<T> && !traits_of<T>::takes_call)
    typename traits_of<T>::type operator()(T&& item) {
        return Kind::give(function_, item, nullptr);
    }
    template <class T>
        requires(!std::is_lvalue_reference_v<T> && traits_of<T>::takes_call)
    typename traits_of<T>::type operator()(T&& item, const invocation& call) {
        return Kind::give(function_, item, &call);
    }

  private:
    Function function_;
};

// Wraps a function, or the functions of a factory.
template <class Kind, class Function>
auto adapt(Function&& function) {
    using given = kept_t<Function>;
    if constexpr (is_slot_factory<given>) {
        auto make = [factory = std::forward<Function>(function)]() mutable {
            return adapted<Kind, typename function_of<given>::type>(factory.make());
        };
        return slot_factory<decltype(make)>{std::move(make)};
    } else {
        return adapted<Kind, given>(static_cast<typename kept<Function>::given>(function));
    }
}

}  // namespace detail

/// Makes a function for each slot (worker) of a `pipe`, or of another stage that calls a function: for
/// functions that slots can't share (a decoder, a connection).
///
///     weir::pipe(weir::per_slot([] { return [d = decoder()](packet p) mutable { return d(p); }; }),
///                {.concurrency = 4})
///
/// \param make  called without arguments, on the stage's executor, once by each slot before its first
///              item, and again when a slot returns after a change of the concurrency. The returned function
///              is destroyed, on this executor, when the slot ends or is no longer used.
/// Errors: an exception from `make` stops the run, as a failure of the stage, whatever `max_failures` says.
/// Threads: several slots call `make` at the same time; each function is called by one slot only.
template <class Make>
[[nodiscard]] auto per_slot(Make&& make) {
    static_assert(std::is_invocable_v<std::decay_t<Make>&>,
                  "weir: per_slot needs a function without parameters that returns the stage's function");
    static_assert(!std::is_void_v<std::invoke_result_t<std::decay_t<Make>&>>,
                  "weir: the function given to per_slot returns the stage's function, and this one returns "
                  "nothing");
    return detail::slot_factory<detail::kept_t<Make>>{std::forward<Make>(make)};
}

/// Rejects the name of an overloaded function at compile time.
template <class Function = detail::not_deduced, class = detail::refused_t<Function>>
void per_slot(Function) noexcept;

}  // namespace weir

#endif
