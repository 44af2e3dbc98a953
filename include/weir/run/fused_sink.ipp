// weir run, internal: bodies of the functions of run/fused_sink.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FUSED_SINK_IPP
#define WEIR_RUN_FUSED_SINK_IPP

#include <weir/run/fused_sink.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

WEIR_INLINE std::size_t fused_sink::set_capacity_behind(std::size_t capacity) noexcept {
    options_.capacity = capacity;
    return total_capacity();
}

WEIR_INLINE std::size_t fused_sink::set_capacity_before(std::size_t capacity) noexcept {
    before_ = capacity;
    return total_capacity();
}

WEIR_INLINE void fused_sink::split(pipeline_stats& s, std::size_t last,
                                   const std::optional<sink_figures>& kept) const {
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

WEIR_INLINE void fused_sink::measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
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

}  // namespace weir::detail

#endif
