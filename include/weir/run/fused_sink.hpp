// weir run, internal: a sink without a worker: its queue and the queue before it are one queue
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FUSED_SINK_HPP
#define WEIR_RUN_FUSED_SINK_HPP

#include <weir/measure/channel_meter.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string

namespace weir::detail {

// A sink only passes items on. So one queue stands for the queue before the sink, the item in the sink's
// slot, and the queue behind it. No coroutine has to be resumed for the sink, which saves a fifth of an
// item's time in a pipeline of three stages that do nothing. This class divides the capacity and the
// statistics of that one queue between the three.
class fused_sink {
  public:
    fused_sink(const stage_options& options, std::size_t capacity_before)
        : options_(options), before_(capacity_before) {}

    const stage_options& options() const noexcept { return options_; }
    const std::string& name() const noexcept { return options_.name; }

    // The capacity of both queues, and one item in the slot.
    std::size_t total_capacity() const noexcept { return before_ + 1 + options_.capacity; }

    // Change the capacity of the queue behind the sink, or before it; return the total.
    std::size_t set_capacity_behind(std::size_t capacity) noexcept;
    std::size_t set_capacity_before(std::size_t capacity) noexcept;

    // Divides the statistics of the queue at index `last` among two queues and the sink. `kept`: the figures
    // of the sink, if the run measures.
    void split(pipeline_stats& s, std::size_t last, const std::optional<sink_figures>& kept) const;

  private:
    static void measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
                         const sink_figures& kept);

    stage_options options_;
    std::size_t before_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/fused_sink.ipp>
#endif

#endif
