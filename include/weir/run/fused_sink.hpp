// weir run, internal: a sink without a stage of its own, as its queue and the one before it are one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FUSED_SINK_HPP
#define WEIR_RUN_FUSED_SINK_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

// The one queue holds what both would, and the slot between them. Of its capacity and its figures, this
// knows which part is whose.
class fused_sink {
  public:
    fused_sink(const stage_options& options, std::size_t capacity_before)
        : options_(options), before_(capacity_before) {}

    const stage_options& options() const noexcept { return options_; }
    const std::string& name() const noexcept { return options_.name; }

    // Changes the capacity of the sink's queue, or of the one before it; returns that of both.
    std::size_t set_behind(std::size_t capacity) noexcept {
        options_.capacity = capacity;
        return whole();
    }
    std::size_t set_before(std::size_t capacity) noexcept {
        before_ = capacity;
        return whole();
    }

    // What the two queues and the slot between them would hold: a sink passes on what it can. `last`: the
    // queue's place in the statistics.
    void split(pipeline_stats& s, std::size_t last) const {
        stage_stats sink;
        sink.name = options_.name;
        sink.kind = "sink";
        sink.concurrency = 1;
        sink.slots.resize(1);
        sink.inputs = {last};
        sink.outputs = {s.channels.size()};
        s.stages.push_back(sink);
        channel_stats& before = s.channels[last];
        channel_stats behind = before;
        const std::size_t all = before.size;
        behind.name = options_.name;
        behind.capacity = options_.capacity;
        behind.size = detail::smaller(all, behind.capacity);
        behind.num_put = behind.num_get + behind.size;
        before.capacity = before_;
        before.size = all - detail::smaller(all, behind.capacity + 1);
        before.num_get = behind.num_put + (all > behind.capacity ? 1 : 0);
        before.bytes = all == 0 ? 0 : before.bytes / all * before.size;  // of each item nobody knows
        behind.bytes -= before.bytes;
        s.channels.push_back(behind);
    }

  private:
    std::size_t whole() const noexcept { return before_ + 1 + options_.capacity; }

    stage_options options_;
    std::size_t before_;
};

}  // namespace weir::detail

#endif
