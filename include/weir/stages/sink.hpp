// weir stages: the stage that every pipeline ends with: its queue is what the consumer reads
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

// If none is given. With 3 a consumer that is faster than the stages is woken for nearly every item; with 32
// that costs a seventh (bench/lab/README.md). How much memory waiting items hold is known of values alone.
template <class Item>
inline constexpr std::size_t usual_in_sink =
    std::is_trivially_copyable_v<Item> && !std::is_pointer_v<Item> && sizeof(Item) <= 64 ? 32 : 3;

struct sink_stage : stage_base {
    static constexpr const char* kind = "sink";
    static constexpr bool ends_pipelines = true;

    // 0: as usual, once a source stands before it.
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

// Or what was given in its place. So there is one function `sink`, and its name alone means it.
struct sink_capacity {
    sink_capacity() = default;
    template <class N>
    // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): it is a number
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
    std::size_t items = 0;  // which is refused where it is given
};

}  // namespace detail

/// The end of a pipeline: a stage that passes items on into the queue from which the consumer takes them, and
/// may have one in its hand. It takes no time and no thread, so its slot always waits: to get, or to put.
///
/// \param capacity  of that queue, in items: how far the pipeline may run ahead of the consumer. If it isn't
///                  given: 32 of small values (trivially copyable, not a pointer, at most 64 bytes), else 3,
///                  as items may be large; the options say 0 until a source stands before it. A function is
///                  refused at compile time.
/// \param where     see `stage_options::where`.
/// Order:  kept.
/// Errors: `std::invalid_argument` for 0, and for what was negative.
[[nodiscard]] inline auto sink(detail::sink_capacity capacity = {},
                               std::source_location where = detail::call_place::current()) {
    detail::refuse_negative(capacity.items, "weir: the capacity of a sink was negative; give it 1 or more");
    return detail::sink_stage(capacity.items, where);
}

}  // namespace weir

#endif
