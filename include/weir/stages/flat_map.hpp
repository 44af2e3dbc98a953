// weir stages: the stages that make several items of one: `flat_map`, by a function, and `disaggregate`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FLAT_MAP_HPP
#define WEIR_STAGES_FLAT_MAP_HPP

#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::size_t
#include <optional>     // for std::optional
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <type_traits>  // for std::is_lvalue_reference_v
#include <utility>      // for std::move

namespace weir {

/// The options of `disaggregate`: `name` and `where`, as in `stage_options`, and the `capacity` of the queue
/// behind the stage, in items, at least 1.
using disaggregate_options = detail::queue_options;

namespace detail {

// A result of a flat_map's function that has elements; `R` may be void.
template <class R>
concept range_given = !std::is_void_v<R> && std::ranges::input_range<std::add_lvalue_reference_t<R>>;

// The type of the generator that replaces the result of a flat_map's function: for a range, a generator of
// the range's elements; for a `generator` or `async_generator`, its own type.
template <class R>
struct many_items {
    using type = generator<int>;
    static_assert(range_given<R>,
                  "weir: flat_map's function has to give a range, a generator or an async_generator, or an "
                  "awaitable of one; this one's result is the type in many_items<...> in this message");
};
template <range_given R>
    requires(!is_generator<R>)
struct many_items<R> {
    using type = generator<std::ranges::range_value_t<R&>>;
};
template <class R>
    requires(is_generator<R> || is_async_generator<R>)
struct many_items<R> {
    using type = R;
};

// A generator of the elements of a range. If `Range` is a container, the generator owns the container, and
// moves its elements. If `Range` is a view or a reference, the generator copies the elements, or moves
// elements that can't be copied. `of` is a member of a class template, because g++ 12 warns of coroutines
// whose frames hold an object of a lambda's type.
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

// Makes the function of a pipe, which returns a generator, from a function that returns a range or a
// generator: see `adapted`.
struct expanding {
    template <class Function, class T>
    struct traits_of : the_function<Function>::template is_given<T> {
        using base = typename traits_of::is_given;
        static constexpr bool is_range = !base::gives_many;
        using many = typename many_items<typename base::result>::type;
        static constexpr bool fits = !is_range || range_given<typename base::result>;
        using type = std::conditional_t<is_range, std::conditional_t<base::waits && fits, task<many>, many>,
                                        typename base::returned>;
    };

    // `item` is a reference, so that the function may return a view of the item.
    template <class Function, class T>
    static typename traits_of<Function, T>::type give(Function& function, T& item, const invocation* call) {
        if constexpr (!traits_of<Function, T>::fits) {
            return elements<std::span<int>>::of({});  // the assertion of `many_items` has failed
        } else if constexpr (!traits_of<Function, T>::is_range) {
            return detail::call(function, std::move(item), call);
        } else if constexpr (traits_of<Function, T>::waits) {
            return give_later(function, item, call);
        } else {
            return elements<typename traits_of<Function, T>::returned>::of(
                detail::call(function, std::move(item), call));
        }
    }
    template <class Function, class T>
    static task<typename traits_of<Function, T>::many> give_later(Function& function, T& item,
                                                                  const invocation* call) {
        auto pending = detail::call(function, std::move(item), call);
        auto got = co_await std::move(pending);
        co_return elements<typename traits_of<Function, T>::result>::of(std::move(got));
    }
};

// The element type of the items of a disaggregate.
template <class In>
struct element {
    using type = int;
    static_assert(std::ranges::input_range<In&>,
                  "weir: disaggregate takes ranges apart, and the stage before it gives none; the "
                  "type is that of element<...> in this message");
};
template <std::ranges::input_range In>
struct element<In> {
    using type = std::ranges::range_value_t<In&>;
};

// The operation of a disaggregate: the object whose `push` the stage calls with each item, and then `pop` for
// each result (stages/transform.hpp). Stores an item, and then gives its elements one by one.
template <class In>
class unpack_op {
    using Out = typename element<In>::type;

  public:
    void push(In&& item, std::optional<Out>&) { whole_.emplace(std::move(item)); }
    void pop(std::optional<Out>& result) {
        if (!whole_) return;
        if (!at_) {
            at_.emplace(std::ranges::begin(*whole_));
        } else {
            ++*at_;
        }
        if (*at_ == std::ranges::end(*whole_)) {
            at_.reset();
            whole_.reset();
        } else if constexpr (std::ranges::view<In>) {
            result.emplace(**at_);  // a view does not own its elements: they are copied
        } else {
            result.emplace(std::ranges::iter_move(*at_));
        }
    }
    std::optional<std::size_t> num_results() noexcept {
        if constexpr (std::ranges::sized_range<In&>) {
            return static_cast<std::size_t>(std::ranges::size(*whole_));
        } else {
            return std::nullopt;
        }
    }

  private:
    std::optional<In> whole_;                        // the item whose elements are given
    std::optional<std::ranges::iterator_t<In>> at_;  // the element given last
};

struct disaggregate_stage : transform_stage<disaggregate_stage> {
    static constexpr const char* kind = "disaggregate";
    static constexpr const char* one_slot =  // the end of the error message for another concurrency
        "disaggregates: it takes one item apart after the other, its concurrency is 1";

    explicit disaggregate_stage(const disaggregate_options& o)
        : transform_stage{detail::stage_options_of(o, kind)} {}

    template <class In>
    using result = typename element<In>::type;

    template <class In>
    static unpack_op<In> op(const disaggregate_stage&) {
        return {};
    }
};

}  // namespace detail

/// Calls `function` with each item, and gives the elements of the returned range, one by one.
///
///     weir::flat_map([](const std::string& line) { return words_of(line); })
///
/// \param function  called as a `pipe` calls its function. Returns one of the following, or an awaitable of
///                  them: a container, whose elements are moved out; a view, or a reference to a container,
///                  whose elements are copied (if they can't be copied, moved); a `generator` or
///                  `async_generator`. If the function takes the item by reference, the result may refer to
///                  the item, which lives longer than the result. `per_slot`, which makes a function for
///                  each slot, works as for `pipe`.
/// \param options   see `stage_options`.
/// Order:  with a concurrency of 1, the order of the items. With more, elements of several items come mixed,
///         but the elements of one item keep their order. No element overtakes the end of an epoch (a pass
///         over the data).
/// Errors: as for a `pipe`; elements given before an exception stay in the pipeline. `std::invalid_argument`
///         at the start of a run for `output_order::input`, or a time limit.
/// Cost:   the frame of a coroutine for each item, whose memory is reused. Elements are put one by one.
template <class Function>
[[nodiscard]] auto flat_map(Function&& function, stage_options options = {}) {
    return detail::pipe_of<Function>("flat_map",
                                     detail::adapt<detail::expanding>(std::forward<Function>(function)),
                                     std::move(options));
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = stage_options,
          class = detail::refused_t<Function, Options>>
void flat_map(Function&&, Options&& = {}) noexcept;

/// Gives the elements of each item, which is a range, one by one.
///
/// For checkpoints (records of consumed items), element k counts as the k-th item that an earlier `aggregate`
/// has gathered into a `std::vector`, without `drop_last`. All functions between the two have to be
/// `stage_options::elementwise`, and the range has to be sized, with one element for each item. Otherwise
/// each element counts as all items of the batch, and a checkpoint has these items as consumed when the
/// consumer has taken the last element.
///
/// Order:  kept.
/// Errors: an exception from the iterators, or from a move or copy of an element, stops the run.
[[nodiscard]] inline auto disaggregate(disaggregate_options options = {}) {
    return detail::disaggregate_stage(options);
}

}  // namespace weir

#endif
