// weir stages: the stage whose function may add items to the stage itself: for trees and searches
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSE_HPP
#define WEIR_STAGES_TRAVERSE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/feeder.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>          // for std::size_t
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <type_traits>      // for std::remove_cvref_t
#include <utility>          // for std::forward, std::move
#include <vector>           // for std::vector

namespace weir {

/// Which pending item (added, but not yet taken) a slot (worker) of a `traverse` takes next, and in which
/// order results leave.
enum class traverse_order {
    /// The item that the slot itself has added last; without such an item, the oldest item of another slot.
    /// Results leave as they are done.
    depth_first,
    as_found,  ///< the item added first; results leave in the order in which the items were added
};

/// The options of `traverse` and `traverse_each`.
struct traverse_options {
    std::string name = {};  ///< the name in reports; empty: that of the function's class, or `traverse#2`
    /// How many items the stage works on at the same time; so many threads may call the function at once.
    std::size_t concurrency = 1;
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The order in which slots take pending items. The order bounds the number of pending items: with
    /// `depth_first`, for each slot, by the depth of the tree times the children of a node; with `as_found`,
    /// by the nodes of two adjacent levels.
    traverse_order order = traverse_order::depth_first;
    /// How many items may be pending, which means added but not yet taken by a slot; at least 1.
    /// `feeder::add` throws `std::length_error` for one more item: a wait in `add` could deadlock, because
    /// only the stage itself takes pending items.
    std::size_t max_waiting = 1'000'000;
    /// The capacity of the queue behind the stage, in items; at least 1. `traverse_each` has no such queue.
    std::size_t capacity = 2;
    /// The limit of that queue in bytes, in addition to `capacity`; 0: no limit. `item_size` gives the bytes
    /// that an item counts.
    std::size_t max_bytes = 0;
    /// How many items may fail; one more stops the run. Not set: failures count towards the run's limit.
    std::optional<failure_limit> max_failures = std::nullopt;
    /// How long one call of the function may take; 0: no limit. A longer call fails the item: see
    /// `stage_options::time_limit`.
    duration time_limit = duration(0);
    /// Objects of the user that are called around the stage and around each call of its function.
    std::vector<shared_hook> hooks = {};
    /// The source location that reports show: of the braces of these options, or of the call without any.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// A base of the state of an iteration (the work on one item). Stores the second argument of the function: the
// feeder.
template <class T>
struct with_feeder {
    feeder<T>* second_argument;
};
// The traits of the call of the function; asserts that they fit. Its name is part of the compiler's message.
template <class Function>
struct the_traversal {
    template <class T>
    struct is_given : call_traits<Function, T, feeder<T>> {
        static_assert(is_given::fits,
                      "weir: the function of a traverse is called with what the stage before it gives and a "
                      "feeder of that, [](T item, weir::feeder<T>& more), and this one can't be; the types "
                      "are those of the_traversal<...>::is_given<...> in this message");
    };
};
// How a traversal calls its function: with an item and a feeder. See `function_call`.
template <class Given, class C>
struct traversal_call {
    using traits =
        typename the_traversal<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    using argument_state = with_feeder<carried_value_t<C>>;
};

// The base of the results of `traverse` and `traverse_each`, which describe the stage.
template <class Function>
struct traversal_stage : stage_base {
    template <class G>
    traversal_stage(G&& f, kept_options kept, const traverse_options& o)
        : stage_base{std::move(kept)}, function(std::forward<G>(f)), order(o.order),
          max_waiting(o.max_waiting) {}

    // Throws if `max_waiting` is 0, or was negative.
    template <class Policy>
    void refuse_limits(run_core<Policy>& run) const {
        run.refuse_unless(max_waiting >= 1, options,
                          "lets no item wait that its function adds; give it .max_waiting = 1 or more");
        run.refuse_unless(!was_negative(max_waiting), options,
                          "has a .max_waiting that was negative, or is above half of the greatest "
                          "std::size_t; give it 1 or more, below that");
    }

    Function function;
    traverse_order order;
    std::size_t max_waiting;
};

template <class Function>
struct traverse_stage : traversal_stage<Function> {
    static constexpr const char* kind = "traverse";
    using traversal_stage<Function>::traversal_stage;

    template <class C>
    using output = typename call_signature<traversal_call<Function, C>, C>::D;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        self.refuse_limits(run);
        const bool first_found_first = self.order == traverse_order::as_found;
        stage_options options = self.options;
        if (first_found_first) options.output_order = output_order::input;
        using kind_of_stage = running_traversal<pipe_kind<Function, C, Policy, traversal_call<Function, C>>>;
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return run.template append<stage_of<kind_of_stage>>(options, in, first_found_first, self.max_waiting,
                                                            std::forward<Self>(self).function);
    }
};

template <class Function>
struct traverse_each_stage : traversal_stage<Function> {
    static constexpr const char* kind = "traverse_each";
    static constexpr bool ends_pipelines = true;
    using traversal_stage<Function>::traversal_stage;

    template <class C>
    using output = typename for_each_types<typename traversal_call<Function, C>::traits>::value;

    template <class Self, class Policy, class C>
    static channel<no_item, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        self.refuse_limits(run);
        using kind_of_stage =
            running_traversal<running_for_each<Function, C, Policy, traversal_call<Function, C>>>;
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return run.template append_last<stage_of<kind_of_stage>>(self.options, in,
                                                                 self.order == traverse_order::as_found,
                                                                 self.max_waiting,
                                                                 std::forward<Self>(self).function);
    }
};

// Makes the description of the stage. `Stage`: `traverse_stage` or `traverse_each_stage`.
template <template <class> class Stage, class Function>
auto traversal_of(Function&& function, const traverse_options& o) {
    using stage = Stage<kept_t<Function>>;
    return stage(std::forward<Function>(function),
                 kept_options::of_function<std::remove_cvref_t<Function>>(detail::common_options_of(o),
                                                                          stage::kind),
                 o);
}

}  // namespace detail

/// Applies a function to each item, and to each item that the function adds: for a tree, a search, a crawler,
/// or items that are to be tried again later.
///
///     auto sizes = weir::source({root})
///                | weir::traverse([](folder f, weir::feeder<folder>& more) {
///                      for (folder& sub : f.folders()) more.add(std::move(sub));
///                      return f.size();
///                  }, {.concurrency = 4})
///                | weir::sink();
///
/// \param function  called with an item (moved in), with a `feeder`, and, if it requires a third argument,
///                  with the `invocation`. The result of the function leaves the stage, as for a `pipe`.
///                  `per_slot`, which makes a function for each slot, works as for a `pipe`. For a function
///                  without results: `traverse_each`.
/// \param options   see `traverse_options`.
/// Order:  see `traverse_order`. Pending items are taken before the next item of the queue before the stage.
///         An added item belongs to the epoch (pass over the data) of the item whose call added it, and
///         leaves before the end of that epoch.
/// Ends:   when the stage before has ended, no item is pending, and no slot works on one.
/// Resumes: as for a `pipe`.
/// Errors: an exception from the function fails its item, which is lost: see
///         `traverse_options::max_failures`. Items that the call has added stay added.
///         `std::invalid_argument` at the start of a run for a `max_waiting` of 0, and for `as_found` or a
///         time limit with a function that returns a generator. Pending items are destroyed if the stage ends
///         early: by a stop of the run, by a failure, or because a later stage has ended.
/// Cost:   memory for pending items, which is freed at the end of the run; see bench/results.md.
/// Source: work stealing, by Blumofe and Leiserson (JACM 1999): each slot has a deque.
template <class Function>
[[nodiscard]] auto traverse(Function&& function, const traverse_options& options = {}) {
    return detail::traversal_of<detail::traverse_stage>(std::forward<Function>(function), options);
}

/// The same as `traverse`, at the end of a pipeline, without a queue behind the stage. The run ends by
/// itself, as with `for_each`: see `run<void>`.
///
/// \param function  as that of a `traverse`; a result of the function is dropped.
/// \param options   see `traverse_options`; `start` refuses a `capacity` or `max_bytes`. With
///                  `as_found`, calls of the function begin in the order in which the items were added.
template <class Function>
[[nodiscard]] auto traverse_each(Function&& function, const traverse_options& options = {}) {
    return detail::traversal_of<detail::traverse_each_stage>(std::forward<Function>(function), options);
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = traverse_options,
          class = detail::refused_t<Function, Options, traverse_options>>
void traverse(Function&&, Options&& = {}) noexcept;
/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = traverse_options,
          class = detail::refused_t<Function, Options, traverse_options>>
void traverse_each(Function&&, Options&& = {}) noexcept;

}  // namespace weir

#endif
