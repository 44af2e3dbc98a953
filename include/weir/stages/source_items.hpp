// weir stages, internal: the items of what a source is made from, one a call
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SOURCE_ITEMS_HPP
#define WEIR_STAGES_SOURCE_ITEMS_HPP

#include <weir/measure/channel_meter.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

#include <functional>   // for std::reference_wrapper
#include <optional>     // for std::optional
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <type_traits>  // for std::invoke_result_t
#include <utility>      // for std::move

namespace weir::detail {

template <class T>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

// Gives the items of what a source was made from, one a call, then nothing. `item` is their type;
// `waits` tells whether a call has to be awaited.
template <class S>
class items_of;

template <class R>
inline constexpr bool is_run = false;
template <class T, class Policy>
inline constexpr bool is_run<run<T, Policy>> = true;

template <class R>
concept source_range = std::ranges::input_range<R&> && !is_run<R>;

// A range: a container is owned by the run, so that its elements can be moved out; what a view or a
// generator of references names is not. (A generator of values gives them to be moved out.)
template <source_range R>
class items_of<R> {
  public:
    using item = std::ranges::range_value_t<R&>;
    static constexpr bool waits = false;

    explicit items_of(R&& range) : range_(std::move(range)) {}

    std::optional<item> next() {
        if (!at_) {
            at_.emplace(std::ranges::begin(range_));
        } else if (*at_ != std::ranges::end(range_)) {
            ++*at_;
        }
        if (*at_ == std::ranges::end(range_)) return std::nullopt;
        if constexpr (std::ranges::view<R> || is_generator<R> || !std::is_constructible_v<item, movable>) {
            return std::optional<item>(**at_);
        } else {
            return std::optional<item>(static_cast<movable>(**at_));
        }
    }

  private:
    using movable = std::ranges::range_rvalue_reference_t<R&>;
    R range_;
    std::optional<std::ranges::iterator_t<R>> at_;
};

// A range that the user keeps: std::ref(range).
template <class R>
    requires source_range<R>
class items_of<std::reference_wrapper<R>> {
  public:
    using item = std::ranges::range_value_t<R&>;
    static constexpr bool waits = false;

    explicit items_of(std::reference_wrapper<R>&& range) : range_(range) {}

    std::optional<item> next() {
        if (!at_) {
            at_.emplace(std::ranges::begin(range_.get()));
        } else if (*at_ != std::ranges::end(range_.get())) {
            ++*at_;
        }
        if (*at_ == std::ranges::end(range_.get())) return std::nullopt;
        return std::optional<item>(**at_);
    }

  private:
    std::reference_wrapper<R> range_;
    std::optional<std::ranges::iterator_t<R>> at_;
};

template <class T>
class items_of<async_generator<T>> {
  public:
    using item = T;
    static constexpr bool waits = true;

    explicit items_of(async_generator<T>&& values) : values_(std::move(values)) {}
    auto next(coroutine_env&) { return values_.next(); }

  private:
    async_generator<T> values_;
};

// A function that gives an optional item, or something to await that does.
template <class F>
concept gives_optional = std::is_invocable_v<F&> && is_optional<awaited_t<std::invoke_result_t<F&>>>;

template <gives_optional F>
class items_of<F> {
    using call = std::invoke_result_t<F&>;

  public:
    using item = typename awaited_t<call>::value_type;
    static constexpr bool waits = awaitable<call>;

    explicit items_of(F&& function) : function_(std::move(function)) {}

    std::optional<item> next()
        requires(!waits)
    {
        return function_();
    }
    decltype(auto) next(coroutine_env& env)
        requires waits
    {
        pending_.emplace(function_());
        return detail::await_measured(*pending_, env);
    }

  private:
    F function_;
    std::conditional_t<waits, std::optional<call>, no_meter> pending_;
};

// A function that gives a range or a generator: called anew in each run.
template <class F>
concept gives_range =
    std::is_invocable_v<F&> && !gives_optional<F> &&
    (source_range<std::invoke_result_t<F&>> || is_async_generator<std::invoke_result_t<F&>>);

template <gives_range F>
class items_of<F> {
    using inner = items_of<std::decay_t<std::invoke_result_t<F&>>>;

  public:
    using item = typename inner::item;
    static constexpr bool waits = inner::waits;

    explicit items_of(F&& function) : function_(std::move(function)) {}

    template <class... Env>
    decltype(auto) next(Env&... env) {
        if (!items_) items_.emplace(std::decay_t<std::invoke_result_t<F&>>(function_()));
        return items_->next(env...);
    }

  private:
    F function_;
    std::optional<inner> items_;
};

// Another run: its items, one run inside of another.
template <class T, class Policy>
class items_of<run<T, Policy>> {
  public:
    using item = typename run<T, Policy>::value_type;
    static constexpr bool waits = true;

    explicit items_of(run<T, Policy>&& inner) : inner_(std::move(inner)) {}
    // A task, which tells the slot that it waits.
    task<std::optional<item>> next(coroutine_env&) {
        auto got = co_await inner_.next();
        co_return got;
    }

  private:
    run<T, Policy> inner_;
};

template <class S>
concept source_like = requires { typename items_of<S>::item; };

}  // namespace weir::detail

#endif
