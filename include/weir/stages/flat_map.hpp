// weir stages: the stage that makes many items of one, by a function that gives a range
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FLAT_MAP_HPP
#define WEIR_STAGES_FLAT_MAP_HPP

#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

#include <functional>   // for std::invoke
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <type_traits>  // for std::is_lvalue_reference_v
#include <utility>      // for std::move

namespace weir {

namespace detail {

// What a flat_map's function gives: a range, or a generator as it is. Named so that the compiler's own
// message reads as a sentence.
template <class R>
struct many_items {
    using type = generator<int>;
    static_assert(std::ranges::input_range<R&>,
                  "weir: flat_map's function has to give a range, a generator or an async_generator, or an "
                  "awaitable of one; this one's result is the type in many_items<...> in this message");
};
template <std::ranges::input_range R>
    requires(!is_generator<R>)
struct many_items<R> {
    using type = generator<std::ranges::range_value_t<R&>>;
};
template <class R>
    requires(is_generator<R> || is_async_generator<R>)
struct many_items<R> {
    using type = R;
};

// The elements of a range, which is the generator's own or, by `Range&`, somebody else's: a container of
// its own gives its elements away, what a view names is copied. (A member of a class template, as g++ 12
// warns of the frame of a function template that holds something of a lambda's type.)
template <class Range>
struct elements {
    using element = std::ranges::range_value_t<Range>;
    using named = std::ranges::range_reference_t<Range>;
    static constexpr bool copies = (std::is_lvalue_reference_v<Range> || std::ranges::view<Range>) &&
                                   std::is_constructible_v<element, named>;

    static generator<element> of(Range range) {
        for (auto at = std::ranges::begin(range); at != std::ranges::end(range); ++at) {
            if constexpr (copies) {
                element each(*at);
                co_yield std::move(each);
            } else {
                element each(std::ranges::iter_move(at));
                co_yield std::move(each);
            }
        }
    }
};

// What such a function is for a pipe. Takes the invocation only where the function asks for it.
template <class F>
class expanding {
    template <class T>
    struct about {
        static constexpr bool takes_call = the_function<F>::template is_given<T>::takes_call;
        using call = stage_call_t<F, T>;
        using result = awaited_t<call>;
        static constexpr bool waits = awaitable<call>;
        static constexpr bool is_range = !is_generator<result> && !is_async_generator<result>;
        using many = typename many_items<result>::type;
        using type = std::conditional_t<!is_range, call, std::conditional_t<waits, task<many>, many>>;
    };

  public:
    explicit expanding(F function) : function_(std::move(function)) {}

    // By reference, so that a view of the item is as good as the item.
    template <class T>
        requires(!std::is_lvalue_reference_v<T> && !about<T>::takes_call)
    typename about<T>::type operator()(T&& item) {
        return expand(item, nullptr);
    }
    template <class T>
        requires(!std::is_lvalue_reference_v<T> && about<T>::takes_call)
    typename about<T>::type operator()(T&& item, const invocation& call) {
        return expand(item, &call);
    }

  private:
    template <class T>
    typename about<T>::type expand(T& item, const invocation* call) {
        if constexpr (!about<T>::is_range) {
            return ask(item, call);
        } else if constexpr (about<T>::waits) {
            return expand_later(item, call);
        } else {
            return elements<typename about<T>::call>::of(ask(item, call));
        }
    }
    template <class T>
    task<typename about<T>::many> expand_later(T& item, const invocation* call) {
        auto pending = ask(item, call);
        auto got = co_await std::move(pending);
        co_return elements<typename about<T>::result>::of(std::move(got));
    }
    template <class T>
    decltype(auto) ask(T& item, [[maybe_unused]] const invocation* call) {
        if constexpr (about<T>::takes_call) {
            return std::invoke(function_, std::move(item), *call);
        } else {
            return std::invoke(function_, std::move(item));
        }
    }

    F function_;
};

}  // namespace detail

/// Gives the elements of what `function` makes of each item, one by one.
///
///     weir::flat_map([](const std::string& line) { return words_of(line); })
///
/// \param function  called as a `pipe`'s is. Gives a container, whose elements are moved out; a view, or a
///                  reference to a container, whose elements are copied (it may name the item, which outlives
///                  it, if the function takes the item by reference); a `generator` or `async_generator`; or
///                  an awaitable of one of these. `per_slot` works as it does for `pipe`.
/// \param options   see `stage_options`.
/// Order:  with one slot, that of the items; with more, elements of several items come mixed, those of one
///         item in their order. Never across the end of an epoch.
/// Errors: as for a `pipe`; what was given before an exception stays given. `std::invalid_argument` at the
///         start for `output_order::input`, or a time limit.
/// Cost:   one allocation an item; an element leaves as soon as it is there, the next one waits for room.
template <class F>
[[nodiscard]] auto flat_map(F&& function, stage_options options = {}) {
    using given = detail::kept_t<F>;
    if (options.name.empty()) options.name = "flat_map";
    if constexpr (detail::is_slot_factory<given>) {
        auto make = [factory = std::forward<F>(function)]() mutable {
            return detail::expanding<typename detail::function_of<given>::type>(factory.make());
        };
        return weir::pipe(weir::per_slot(std::move(make)), std::move(options));
    } else {
        return weir::pipe(detail::expanding<given>(std::forward<F>(function)), std::move(options));
    }
}

/// One of several functions of a name gets a sentence.
template <class F = detail::not_deduced, class = detail::refused_t<F>>
void flat_map(F, stage_options = {}) noexcept;
/// What is no options gets one, too.
template <class F, class Options, class = detail::refused_options_t<Options>>
void flat_map(F&&, Options&&) noexcept;

}  // namespace weir

#endif
