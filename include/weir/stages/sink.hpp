// weir stages: the stage that every pipeline ends with: its queue is what the consumer reads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SINK_HPP
#define WEIR_STAGES_SINK_HPP

#include <weir/channel/channel.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/worker_loop.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir {

namespace detail {

template <class T, class Policy>
class running_sink : public stage_kind<T, T, Policy> {
    using base = stage_kind<T, T, Policy>;

  public:
    using pass = typename base::template hand<>;
    static constexpr bool is_invoked = false;
    static constexpr bool gives_item = true;

    running_sink(run_context& run, const stage_options& options, channel<T, Policy>& in,
                 channel<T, Policy>& out)
        : base(run, "sink", options, &in, &out) {}

    // Not by a pause, as what is finished can be taken.
    bool is_held_up(std::uint64_t) const noexcept { return false; }
    T* next(pass& now) noexcept { return now.item; }
};

struct sink_stage : stage_base {
    static constexpr const char* kind = "sink";

    explicit sink_stage(std::size_t capacity) {
        options.name = kind;
        options.capacity = capacity;
    }

    template <class In>
    using output = In;

    template <class Self, class Policy, class In>
    static channel<In, Policy>& attach(Self&& self, run_core<Policy>& run, channel<In, Policy>& in) {
        run.check(self.options.concurrency == 1, self.options,
                  "is the sink: it passes one item on after the other, its concurrency is 1");
        if constexpr (!Policy::statistics) {
            // With nobody to see the difference, one queue that holds as much as the two and the slot
            // between them: a fifth of the time of an item in a pipeline of three stages that do nothing.
            run.merge_sink(self.options, in.capacity());
            in.set_capacity(in.capacity() + 1 + self.options.capacity);
            run.set_last(&in);
            return in;
        } else {
            auto& out = run.template append<worker_loop<running_sink<In, Policy>>>(self.options, in);
            run.set_last(&out);
            return out;
        }
    }
};

}  // namespace detail

/// The end of a pipeline: a stage of its own that moves items into the queue from which the consumer
/// takes them.
///
/// \param capacity  of that queue, in items: how far the pipeline may run ahead of the consumer.
/// Order:  kept.
/// Errors: `std::invalid_argument` for 0, and for what was negative.
[[nodiscard]] inline auto sink(std::size_t capacity = 3) {
    detail::refuse_if(capacity == 0,
                      "weir: sink(0) could never take an item; give it a capacity of 1 or more");
    detail::refuse_negative(capacity, "weir: the capacity of a sink was negative; give it 1 or more");
    return detail::sink_stage(capacity);
}

}  // namespace weir

#endif
