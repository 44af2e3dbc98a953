// weir stages: the stage that every pipeline ends with: its queue is what the consumer reads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SINK_HPP
#define WEIR_STAGES_SINK_HPP

#include <weir/channel/channel.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>    // for std::size_t
#include <memory>     // for std::make_unique
#include <optional>   // for std::optional
#include <stdexcept>  // for std::invalid_argument

namespace weir {

namespace detail {

template <class T, class Policy>
class running_sink final : public running_stage<Policy> {
    using queue = channel<T, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_sink(run_context& run, const stage_options& options, queue& in, queue& out)
        : running_stage<Policy>(run, "sink", options), in_(in), out_(out) {}

  private:
    worker make_worker(slot& me) override { return pass_on(me); }

    worker pass_on(slot& me) {
        this->arrive(me);
        while (true) {
            get_operation<queue> get(in_, &me);
            std::optional<T> item = co_await get;
            if (!item) break;
            // Not held up by a pause, as what is finished can be taken; and no stage is nearer to the end.
            this->went_on(me);
            put_operation<queue> put(out_, *item, &me);
            const bool taken = co_await put;
            if (!taken) {
                in_.cancel();
                break;
            }
        }
        this->leave(me, out_);
    }

    queue& in_;
    queue& out_;
};

struct sink_stage : stage_base {
    explicit sink_stage(std::size_t capacity) {
        options.name = "sink";
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
            auto& out = run.template add_queue<In>(self.options);
            run.add_stage(std::make_unique<running_sink<In, Policy>>(run, self.options, in, out), {&in},
                          {&out});
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
    if (capacity == 0 || detail::was_negative(capacity)) {
        throw std::invalid_argument(
            capacity == 0 ? "weir: sink(0) could never take an item; give it a capacity of 1 or more"
                          : "weir: the capacity of a sink was negative; give it 1 or more");
    }
    return detail::sink_stage(capacity);
}

}  // namespace weir

#endif
