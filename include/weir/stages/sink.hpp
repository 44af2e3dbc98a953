// weir stages: the ends of a pipeline: `sink`, for a consumer, and `for_each`, which calls a function
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SINK_HPP
#define WEIR_STAGES_SINK_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/running_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/stages/stage_worker.hpp>
#include <weir/task/awaitable.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::uint64_t
#include <source_location>  // for std::source_location
#include <type_traits>      // for std::is_trivially_copyable_v
#include <utility>          // for std::exchange, std::forward, std::move

namespace weir {

namespace detail {

// The default capacity of a sink. With 3, a consumer (it takes the results) that is faster than the stages is
// woken for nearly every item; 32 reduces that cost to a seventh (bench/lab/README.md), but is used only for
// small values, as the memory of other items is unknown.
template <class Item>
inline constexpr std::size_t usual_in_sink =
    std::is_trivially_copyable_v<Item> && !std::is_pointer_v<Item> && sizeof(Item) <= 64 ? 32 : 3;

struct sink_stage : stage_base {
    static constexpr const char* kind = "sink";
    static constexpr bool ends_pipelines = true;

    // `capacity`: 0 stands for the default, which depends on the item type: see `make_pipeline`.
    sink_stage(std::size_t capacity, const std::source_location& where) {
        options.name = kind;
        options.where = where;
        options.capacity = capacity;
    }

    template <class In>
    using output = In;

    template <class Self, class Policy, class In>
    static channel<In, Policy>& attach(Self&& self, run_core<Policy>& run, channel<In, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "is the sink: it passes one item on after the other, its concurrency is 1");
        run.merge_sink(self.options, &in, in.capacity());
        return in;
    }
};

// The argument of `sink`. The constructor refuses a function at compile time, so that `sink` needs no
// overload that rejects functions.
struct sink_capacity {
    sink_capacity() = default;
    // Implicit, so that `sink(3)` works. A template, so that a function as the argument fails with the
    // sentence in `number`. The template hides the copy constructor from objects that are not const; the
    // library copies none.
    template <class N>
    // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): see above
    sink_capacity(N&& n) : items(number(n)) {
        refuse_if(items == 0, "weir: sink(0) could never take an item; give it a capacity of 1 or more");
    }
    template <class N>
    static std::size_t number(const N& n) {
        static_assert(
            std::is_convertible_v<N, std::size_t>,
            "weir: a sink takes a capacity and calls no function: weir::for_each(f), in its place, calls "
            "one with each item");
        if constexpr (std::is_convertible_v<N, std::size_t>) return static_cast<std::size_t>(n);
        return 1;
    }
    std::size_t items = 0;  // 0: not given
};

// The types of a `for_each`. `Call`: the `call_traits` of its function.
template <class Call>
struct for_each_types : Call {
    using result = typename Call::result;
    using value = void;
    static_assert(
        !Call::gives_many && !awaitable<result>,
        "weir: what the function of a for_each returns is dropped, and this, a generator or a task in a "
        "task, would never run: await it, or loop over it, in the function");
};

// The resources of a slot (worker): the number of its successful calls, and its own function if `per_slot`
// makes one.
template <class Tools>
struct with_success_count : Tools {
    std::uint64_t num_done = 0;  // added to `run_result::items` when the slot ends, or leaves service
};

// The state of one call of the function. `More`: for example, with a second argument of the function.
// `item_provenance`: the item's epoch and origin, for checkpoints (records of consumed items).
template <class C, class More>
struct for_each_state : More {
    [[no_unique_address]] typename epoch_item_traits<C>::provenance item_provenance;
};

// The stage of a run that `for_each` makes. `Given`: the function, or a factory of functions; `Call`: how the
// function is called.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
class running_for_each
    : public function_stage<Given, for_each_types<typename Call::traits>, C, no_item, Policy> {
    using base = function_stage<Given, for_each_types<typename Call::traits>, C, no_item, Policy>;

  public:
    using resources = with_success_count<typename base::resources>;
    using iteration =
        typename base::template iteration_with<for_each_state<C, typename Call::argument_state>, resources>;

    template <class G>
    running_for_each(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                     typename base::output_queue& end)
        : base(run, "for_each", options, std::forward<G>(f), in, end) {
        run_context::refuse_unless(options.output_order == output_order::completion, options,
                                   "gives nothing on, and so in no order: leave .output_order out");
    }

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    decltype(auto) work(iteration& it) {
        if constexpr (base::waits) {
            return this->call(it);
        } else if (!it.place.mark) {
            static_cast<void>(this->call(it));
        }
    }
    static void store_result(iteration&, auto&&) noexcept {}
    static void store_result(iteration&) noexcept {}
    // Called after a successful call, or for a mark (the end of an epoch). There is no result: the item
    // counts as consumed.
    no_item* next_result(iteration& it) noexcept {
        if (!it.place.mark) ++it.context->resources.num_done;
        it.item_provenance.acknowledge(true);
        return nullptr;
    }
    void release_resources(auto& context) noexcept {
        base::release_resources(context);
        this->run_.count_done(std::exchange(context.resources.num_done, 0));
    }
};

template <class Function>
struct for_each_stage : stage_base {
    static constexpr const char* kind = "for_each";
    static constexpr bool ends_pipelines = true;

    template <class G>
    for_each_stage(G&& f, stage_options o) : stage_base{std::move(o)}, function(std::forward<G>(f)) {}

    template <class C>
    using output = typename for_each_types<typename function_call<Function, C>::traits>::value;

    template <class Self, class Policy, class C>
    static channel<no_item, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        using running = stage_of<running_for_each<kept_function_t<Function, C>, C, Policy>>;
        const stage_options& options = self.options;
        auto&& kept = keep_function<Function, C>(std::forward<Self>(self).function);
        return run.template append_last<running>(options, in, std::forward<decltype(kept)>(kept));
    }

    Function function;
};

}  // namespace detail

/// The end of a pipeline. The consumer takes from the queue behind the sink. This queue and the queue before
/// the sink are one queue. It has the capacity of both, and room for one item that counts as held by the
/// sink. The sink uses no thread and no time: in statistics it is a stage whose slot (worker) always waits.
///
/// \param capacity  of the queue behind the sink, in items: how far the pipeline may get ahead of a consumer.
///                  By default 32 for small values (trivially copyable, not a pointer, at most 64 bytes) in a
///                  run without epochs, else 3. `pipeline::options` shows this default as 0 until the
///                  pipeline has a source. A function as an argument is refused at compile time.
/// \param where     the source location that reports show for the sink: that of the call.
/// Order:  kept.
/// Errors: `std::invalid_argument` for 0, and for negative numbers.
[[nodiscard]] inline auto sink(detail::sink_capacity capacity = {},
                               std::source_location where = detail::call_place::current()) {
    detail::refuse_negative(capacity.items,
                            "weir: the capacity of a sink was negative, or too large; give it 1 or more");
    return detail::sink_stage(capacity.items, where);
}

/// Calls a function with each item, at the end of a pipeline, in place of a sink:
///
///     auto run = (weir::source(files) | weir::pipe(shrink) | weir::for_each(write)).start(pool);
///     std::cout << run.wait().items << " files written";
///
/// Such a run needs no consumer, and ends by itself: see `run<void>`.
///
/// \param function  called as a `pipe` calls its function; awaited if it returns a `task`, or any awaitable.
///                  The result of the function is dropped.
/// \param options   see `stage_options`. No queue is behind the stage: `start` refuses a `capacity`, a
///                  `max_bytes` and an `output_order` other than the default.
/// Order:    with a concurrency of 1, the order of the items. With more, the function is called for several
///           items at once, also of two epochs.
/// Resumes:  a suspended function, where its awaitable resumes it; the stage, on its own executor.
/// Errors:   an exception from the function fails the item: if more fail than `stage_options::max_failures`,
///           the run stops. For a checkpoint an item counts as consumed when the call, or the task that the
///           call returned, has ended without a failure, or its failure is tolerated.
template <class Function>
[[nodiscard]] auto for_each(Function&& function, stage_options options = {}) {
    if (options.name.empty()) options.name = "for_each";
    return detail::for_each_stage<detail::kept_t<Function>>(std::forward<Function>(function),
                                                            std::move(options));
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = stage_options,
          class = detail::refused_t<Function, Options>>
void for_each(Function&&, Options&& = {}) noexcept;

}  // namespace weir

#endif
