// weir stages: the end of a pipeline whose items a consumer takes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SINK_HPP
#define WEIR_STAGES_SINK_HPP

#include <weir/channel/channel.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>          // for std::size_t
#include <source_location>  // for std::source_location
#include <type_traits>      // for std::is_trivially_copyable_v

namespace weir {

namespace detail {

// The default capacity of a sink. With 3, a consumer that is faster than the stages is woken for nearly every
// item; 32 reduces that cost to a seventh (bench/lab/README.md), but is used only for small values, as the
// memory of other items is unknown.
template <class Item>
inline constexpr std::size_t usual_in_sink =
    std::is_trivially_copyable_v<Item> && !std::is_pointer_v<Item> && sizeof(Item) <= 64 ? 32 : 3;

struct sink_stage : stage_base {
    static constexpr const char* kind = "sink";
    static constexpr bool ends_pipelines = true;

    // `capacity`: 0 for the default, which is known when the pipeline has a source.
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
        run.merge_sink(self.options, in);
        return in;
    }
};

// The argument of `sink`. Gives a message for a function in its place, without a second overload of `sink`.
struct sink_capacity {
    sink_capacity() = default;
    template <class N>
    // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): a number
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

}  // namespace detail

/// The end of a pipeline: a stage that moves items into the queue from which the consumer takes them. The
/// stage may hold one item. It uses no thread and no time: its slot always waits, to get or to put.
///
/// \param capacity  the capacity of that queue, in items: how far the pipeline may run ahead of the consumer.
///                  By default 32 for small values (trivially copyable, not a pointer, at most 64 bytes), and
///                  3 for others, which may be large. The options say 0 until the pipeline has a source. A
///                  function as an argument is refused at compile time.
/// \param where     see `stage_options::where`.
/// Order:  kept.
/// Errors: `std::invalid_argument` for 0, and for negative numbers.
[[nodiscard]] inline auto sink(detail::sink_capacity capacity = {},
                               std::source_location where = detail::call_place::current()) {
    detail::refuse_negative(capacity.items, "weir: the capacity of a sink was negative; give it 1 or more");
    return detail::sink_stage(capacity.items, where);
}

}  // namespace weir

#endif
