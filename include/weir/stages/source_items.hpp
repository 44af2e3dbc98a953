// weir stages, internal: how a source gets its items: from ranges, generators, functions, runs and channels
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SOURCE_ITEMS_HPP
#define WEIR_STAGES_SOURCE_ITEMS_HPP

#include <weir/channel/channel.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_context.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

#include <functional>   // for std::reference_wrapper, std::unwrap_reference_t
#include <optional>     // for std::optional
#include <span>         // for std::ranges::input_range and empty, which <ranges> has with all views, too
#include <type_traits>  // for std::conditional_t, std::invoke_result_t
#include <utility>      // for std::move

namespace weir::detail {

// Gets the items from the argument of `source`, of type `S`. Each call of `next` returns an optional item,
// empty at the end. `item`: the item type; `waits`: whether `next` returns an awaitable of the optional, and
// takes the environment of the awaiting coroutine; `is_shared`: declared if code outside of the run puts the
// items. If `end` is declared, the stage calls it when the source ends, for whatever reason.
template <class S>
class items_of;

template <class R>
inline constexpr bool is_run = false;
template <class T, class Policy>
inline constexpr bool is_run<run<T, Policy>> = true;

template <class R>
concept source_range = std::ranges::input_range<R&> && !is_run<R>;

// The type of a range that is given by value, or by std::ref.
template <class S>
using range_of = std::remove_reference_t<std::unwrap_reference_t<S>>;

// A range. A container belongs to the run, which moves the elements out of it. The elements of a view, of a
// std::ref, or of a generator of references are copied; those of a generator of values are moved.
template <class S>
    requires source_range<range_of<S>>
class items_of<S> {
    using range = range_of<S>;
    using movable = std::ranges::range_rvalue_reference_t<range&>;

  public:
    using item = std::ranges::range_value_t<range&>;
    static constexpr bool waits = false;

    explicit items_of(S&& items) : range_(std::move(items)) {}

    std::optional<item> next() {
        range& all = range_;
        if (!at_) {
            at_.emplace(std::ranges::begin(all));
        } else if (*at_ != std::ranges::end(all)) {
            ++*at_;
        }
        if (*at_ == std::ranges::end(all)) return std::nullopt;
        if constexpr (gives_away) {
            return std::optional<item>(static_cast<movable>(**at_));
        } else {
            return std::optional<item>(**at_);
        }
    }

  private:
    // Whether the run owns the elements, and so may move them out of the range.
    static constexpr bool gives_away =
        std::is_same_v<S, range> && !std::ranges::view<range> && std::is_constructible_v<item, movable>;
    S range_;
    later<std::ranges::iterator_t<range>> at_;  // the element given last; none before the first `next`
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

// A function that gives an optional item, or an awaitable of one.
template <class Function>
concept gives_optional = callable<Function> && is_optional<awaited_t<std::invoke_result_t<Function&>>>;

template <gives_optional Function>
class items_of<Function> {
    using returned = std::invoke_result_t<Function&>;

  public:
    using item = typename awaited_t<returned>::value_type;
    static constexpr bool waits = awaitable<returned>;

    explicit items_of(Function&& function) : function_(std::move(function)) {}

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
    Function function_;
    later<std::conditional_t<waits, returned, int>> pending_;  // the result of the last call
};

// A function that gives a range, a `generator` or an `async_generator`: called once in each run, by the first
// `next`.
template <class Function>
concept gives_range =
    callable<Function> && !gives_optional<Function> &&
    (source_range<std::invoke_result_t<Function&>> || is_async_generator<std::invoke_result_t<Function&>>);

template <gives_range Function>
class items_of<Function> {
    using inner = items_of<std::decay_t<std::invoke_result_t<Function&>>>;

  public:
    using item = typename inner::item;
    static constexpr bool waits = inner::waits;

    explicit items_of(Function&& function) : function_(std::move(function)) {}

    template <class... Env>
    decltype(auto) next(Env&... env) {
        if (!items_) items_.emplace(std::decay_t<std::invoke_result_t<Function&>>(function_()));
        return items_->next(env...);
    }

  private:
    Function function_;
    later<inner> items_;  // what the function has returned; none before the first `next`
};

// The items of another run.
template <class T, class Policy>
    requires(!std::is_void_v<T>)
class items_of<run<T, Policy>> {
  public:
    using item = typename run<T, Policy>::value_type;
    static constexpr bool waits = true;

    explicit items_of(run<T, Policy>&& inner) : inner_(std::move(inner)) {}
    // A task, because a task records that the slot (the worker of the source) waits.
    task<std::optional<item>> next(coroutine_env&) {
        auto got = co_await inner_.next();
        co_return got;
    }

  private:
    run<T, Policy> inner_;
};

// The items of a channel. `end` closes the channel, so that no producer waits for a run that has ended.
template <class T, class Policy>
class items_of<std::reference_wrapper<channel<T, Policy>>> {
  public:
    using item = T;
    static constexpr bool waits = true;
    static constexpr bool is_shared = true;

    explicit items_of(std::reference_wrapper<channel<T, Policy>> from) noexcept : from_(from) {}
    auto next(coroutine_env&) { return from_.get().get(); }
    void end() noexcept { from_.get().close(); }

  private:
    std::reference_wrapper<channel<T, Policy>> from_;
};

template <class S>
concept source_like = requires { typename items_of<S>::item; };

// Gets the items from any source whose `next` does not wait. The type `any_items` does not depend on the
// source's type, so that the stage is compiled once for each item type.
template <class T>
class any_items {
    struct holder : hidden_object {
        virtual std::optional<T> next() = 0;
    };
    template <class S>
    struct holder_of final : holder {
        explicit holder_of(S&& from) : items(std::move(from)) {}
        std::optional<T> next() override { return items.next(); }
        items_of<S> items;
    };

  public:
    using item = T;
    static constexpr bool waits = false;

    template <source_like S>
    explicit any_items(S&& from) : items_(new holder_of<S>(std::forward<S>(from))) {}
    std::optional<T> next() { return static_cast<holder&>(*items_).next(); }

  private:
    owned<hidden_object> items_;
};

// Whether `items` is a container that has none. A view may get some later.
template <class S>
bool is_empty_container(const S& items) {
    if constexpr (requires { std::ranges::empty(items); } && !std::ranges::view<S>)
        return std::ranges::empty(items);
    return false;
}

// Whether the source records which of its items were consumed, for checkpoints.
template <class S>
concept has_progress = requires(items_of<S>& items, run_context& run) { items.add_progress(run); };

// The type from which the stage of a source `S` gets its items.
template <class S>
using kept_items_t = std::conditional_t<items_of<S>::waits || has_progress<S>, items_of<S>,
                                        any_items<typename items_of<S>::item>>;

}  // namespace weir::detail

#endif
