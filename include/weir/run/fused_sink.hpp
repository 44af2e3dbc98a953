// weir run, internal: a sink without a worker: its queue and the queue before it are one queue
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FUSED_SINK_HPP
#define WEIR_RUN_FUSED_SINK_HPP

#include <weir/measure/channel_meter.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
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
    std::size_t set_capacity_behind(std::size_t capacity) noexcept {
        options_.capacity = capacity;
        return total_capacity();
    }
    std::size_t set_capacity_before(std::size_t capacity) noexcept {
        before_ = capacity;
        return total_capacity();
    }

    // Divides the statistics of the queue at index `last` among two queues and the sink. `kept`: the figures
    // of the sink, if the run measures.
    void split(pipeline_stats& s, std::size_t last, const std::optional<sink_figures>& kept) const {
        channel_stats& before = s.channels[last];
        channel_stats behind = before;
        const std::size_t all = before.size;
        behind.name = options_.name;
        behind.capacity = options_.capacity;
        behind.max_bytes = options_.max_bytes;
        before.capacity = before_;
        before.max_bytes -= options_.max_bytes;
        stage_stats sink;
        sink.name = options_.name;
        sink.kind = "sink";
        sink.per_slot.resize(1);
        sink.inputs = {last};
        sink.outputs = {s.channels.size()};
        if (kept) {
            measured(before, sink, behind, *kept);
        } else {
            behind.num_put = behind.num_get + detail::smaller(all, behind.capacity);
            before.num_get = behind.num_put + (all > behind.capacity ? 1 : 0);
            // The bytes of single items are not known: the average.
            before.bytes = all == 0 ? 0 : before.bytes / all * (before.num_put - before.num_get);
        }
        for (channel_stats* const each : {&before, &behind}) {
            // A discard takes all items: those that were put and not got are all inside, or all discarded.
            const std::uint64_t rest = each->num_put - each->num_get;
            all != 0 ? void(each->size = static_cast<std::size_t>(rest)) : void(each->num_discarded = rest);
        }
        behind.bytes -= before.bytes;
        s.stages.push_back(sink);
        s.channels.push_back(behind);
    }

  private:
    static void measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
                         const sink_figures& kept) {
        before.num_get = kept.num_taken;
        before.bytes = kept.bytes_before;
        before.get_wait = before.get_blocked = kept.wait_get;
        before.get_waits = kept.get_waits;
        before.empty = kept.empty;
        behind.num_put = kept.num_passed;
        behind.put_wait = behind.put_blocked = kept.wait_put;
        behind.put_waits = kept.put_waits;
        sink.elapsed = before.elapsed;
        sink.per_slot[0].wait_get = kept.wait_get;
        sink.per_slot[0].wait_put = kept.wait_put;
        sink.per_slot[0].off = before.elapsed - kept.wait_get - kept.wait_put;
    }

    stage_options options_;
    std::size_t before_;
};

}  // namespace weir::detail

#endif
