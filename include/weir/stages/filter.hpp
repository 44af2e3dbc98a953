// weir stages: the stages that drop items: `filter` by a predicate, `take` and `skip` by number
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FILTER_HPP
#define WEIR_STAGES_FILTER_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>
#include <weir/task/task.hpp>

#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_constructible_v
#include <utility>      // for std::as_const, std::move

namespace weir {

/// The options of `take` and `skip`: `name` and `where`, as in `stage_options`, and the `capacity` of the
/// queue behind the stage, in items, at least 1.
using take_options = detail::queue_options;

namespace detail {

// The traits of the call of a predicate; its name is part of the compiler's message.
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

// Makes the function of a pipe from a predicate: see `adapted`. `give` returns the item in an optional, which
// is empty if the predicate is false; a task of this optional if the predicate returns an awaitable.
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

// The operation of a `take`: the object whose `push` the stage calls with each item (stages/transform.hpp).
// Gives `n` items, then ends the stage.
template <class T>
class take_op {
  public:
    explicit take_op(std::uint64_t n) noexcept : left_(n) {}

    void push(T&& item, std::optional<T>& result) {
        result.emplace(std::move(item));
        --left_;
    }
    bool finished() const noexcept { return left_ == 0; }

  private:
    std::uint64_t left_;
};

// The operation of a `skip`, called in the same way: drops `n` items, then gives all others.
template <class T>
class skip_op {
  public:
    explicit skip_op(std::uint64_t n) noexcept : left_(n) {}

    void push(T&& item, std::optional<T>& result) {
        if (left_ == 0) {
            result.emplace(std::move(item));
        } else {
            --left_;
        }
    }

  private:
    std::uint64_t left_;
};

// The base of the results of `take` and `skip`. `Own`: the derived class; `Op`: the operation. `Own` has the
// ends of messages: why the stage has one slot, and why a run with it has no checkpoint.
template <class Own, template <class> class Op>
struct counting_stage : transform_stage<Own> {
    counting_stage(std::uint64_t num_items, const take_options& o)
        : transform_stage<Own>{detail::stage_options_of(o, Own::kind)}, n(num_items) {
        refuse_negative(n, Own::negative);
    }
    template <class T>
    static Op<T> op(const Own& self) {
        return Op<T>(self.n);
    }

    std::uint64_t n;
};

struct take_stage : counting_stage<take_stage, take_op> {
    static constexpr const char* kind = "take";
    static constexpr const char* one_slot =
        "takes the first items, one after the other: its concurrency is 1";
    static constexpr const char* no_checkpoint = "would take as many items again in a resumed run";
    static constexpr const char* negative = "weir: take can't give a negative number of items; 0 gives none";
    using counting_stage::counting_stage;
};

struct skip_stage : counting_stage<skip_stage, skip_op> {
    static constexpr const char* kind = "skip";
    static constexpr const char* one_slot =
        "skips the first items, one after the other: its concurrency is 1";
    static constexpr const char* no_checkpoint = "would skip as many items again in a resumed run";
    static constexpr const char* negative = "weir: skip can't drop a negative number of items; 0 drops none";
    using counting_stage::counting_stage;
};

}  // namespace detail

/// Gives the items for which `predicate` is true; destroys the others.
///
/// \param predicate  called with an item, as a constant, and with the `invocation` if `predicate` requires a
///                   second argument. Gives a bool, or a `task<bool>` or another awaitable of a bool.
///                   `per_slot`, which makes a function for each slot, works as for `pipe`.
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

/// Gives the first `n` items; then the stream ends. The stages before `take` end, too; their items, and those
/// in the queues between these stages, are destroyed. `take(0)` gives nothing.
///
/// With epochs (passes over the data): `n` items in all. The last epoch ends with the last item, and later
/// stages give what they hold, such as a batch. A run with this stage has no checkpoint (record of consumed
/// items), unless the stage is on the side of a `tee`, whose results are dropped.
///
/// In a branch of a `split`, which divides each batch, an item is a part of a batch: the split gives `n`
/// batches. In a `route` there, the batch of the last item is the split's last one.
/// Order:  kept.
/// Errors: `std::invalid_argument` for negative numbers, and at the start of a run for a capacity of 0.
[[nodiscard]] inline auto take(std::uint64_t n, take_options options = {}) {
    return detail::take_stage(n, options);
}

/// Drops the first `n` items, and gives all others; with epochs, drops `n` in all. A run with this stage has
/// no checkpoint, unless the stage is on the side of a `tee`.
///
/// Order:  kept.
/// Errors: as for `take`.
[[nodiscard]] inline auto skip(std::uint64_t n, take_options options = {}) {
    return detail::skip_stage(n, options);
}

}  // namespace weir

#endif
