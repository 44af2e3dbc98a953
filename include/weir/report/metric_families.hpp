// weir report, internal: which metrics there are of a run, with their names, units and values
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRIC_FAMILIES_HPP
#define WEIR_REPORT_METRIC_FAMILIES_HPP

#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/metric_samples.hpp>

namespace weir::detail {

// A family and what of it is known of a T.
template <class T>
struct metric {
    metric_family family;
    void (*add)(metric_samples& to, const T& of);
};

// The table in include/weir/report/README.md is that of these.
namespace metrics_of {

using enum metric_type;

inline constexpr metric<pipeline_stats> run[] = {
    {{"weir.run.elapsed", "s", gauge, "From the start of the run to the snapshot."},
     [](metric_samples& to, const pipeline_stats& p) { to.add(p.elapsed); }},
    {{"weir.run.idle", "s", gauge, "For how long nothing has moved at the snapshot."},
     [](metric_samples& to, const pipeline_stats& p) { to.add(p.idle); }},
    {{"weir.run.items", "{item}", counter, "Items that the consumer has taken."},
     [](metric_samples& to, const pipeline_stats& p) { to.add(p.num_items); }},
    {{"weir.run.first_item.time", "s", gauge, "From the start of the run to the first item at the consumer."},
     [](metric_samples& to, const pipeline_stats& p) {
         if (p.first_item) to.add(p.first_item->after);
     }},
    {{"weir.run.first_item.items", "{item}", counter,
      "Items that the consumer has taken after the first one."},
     [](metric_samples& to, const pipeline_stats& p) {
         if (p.first_item) to.add(p.first_item->num_items);
     }},
    {{"weir.run.first_item.elapsed", "s", gauge, "From the first item at the consumer to the snapshot."},
     [](metric_samples& to, const pipeline_stats& p) {
         if (p.first_item) to.add(p.first_item->since);
     }},
};

inline constexpr metric<stage_stats> stage[] = {
    {{"weir.stage.concurrency", "{slot}", gauge, "Slots at work."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.concurrency); }},
    {{"weir.stage.tasks", "{task}", counter, "Invocations finished, failed ones included."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.num_tasks); }},
    {{"weir.stage.failures", "{task}", counter, "Invocations that ended with an exception."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.num_failures); }},
    {{"weir.stage.failure.time", "s", counter, "Time of the failed invocations, summed."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.failure_time); }},
    {{"weir.stage.busy", "s", counter, "Time of all invocations, summed over slots, open ones included."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.busy); }},
    {{"weir.stage.slot.time", "s", counter, "Where the slots spent their time; the states sum to all of it."},
     [](metric_samples& to, const stage_stats& s) {
         const slot_times t = s.times();
         for (const auto& state : states_by_number) to.add("state", state.name, t.*state.time);
     }},
    {{"weir.stage.task.duration", "s", histogram, "Time of each successful invocation."},
     [](metric_samples& to, const stage_stats& s) { to.add(s.task_times); }},
};

inline constexpr metric<added_stats> added[] = {
    {{"weir.stage.added", "{item}", counter, "Items that the function of a traversal added to its stage."},
     [](metric_samples& to, const added_stats& a) { to.add(a.num_added); }},
    {{"weir.stage.pending", "{item}", gauge, "Of those, how many no slot has begun."},
     [](metric_samples& to, const added_stats& a) { to.add(a.num_waiting); }},
};

inline constexpr metric<transfer_stats> transfers[] = {
    {{"weir.device.copies", "{copy}", counter, "Copies to a device that are done."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.num_copies); }},
    {{"weir.device.io", "By", counter, "Bytes of the copies that are done."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.bytes); }},
    {{"weir.device.copy.time", "s", counter, "Time that the device took for the copies."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.copying); }},
    {{"weir.device.handovers", "{copy}", counter, "Copies that a consumer's stream took over."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.num_handed_over); }},
    {{"weir.device.handover.time", "s", counter, "Time that the device took for those."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.handed_over); }},
    {{"weir.device.exposed.time", "s", counter,
      "The part of the handovers' time in which the consumer's stream had nothing to do."},
     [](metric_samples& to, const transfer_stats& t) { to.add(t.exposed); }},
    {{"weir.device.waits", "{wait}", counter,
      "Times that a page-locked block, or the device's memory, ran out."},
     [](metric_samples& to, const transfer_stats& t) {
         to.add("resource", "block", t.num_block_waits);
         to.add("resource", "memory", t.num_memory_waits);
     }},
    {{"weir.device.wait.time", "s", counter, "Time that was waited for those, summed over slots."},
     [](metric_samples& to, const transfer_stats& t) {
         to.add("resource", "block", t.block_wait);
         to.add("resource", "memory", t.memory_wait);
     }},
};

inline constexpr metric<channel_stats> queue[] = {
    {{"weir.queue.depth", "{item}", gauge, "Items in the queue."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.size); }},
    {{"weir.queue.capacity", "{item}", gauge, "Items that the queue has room for."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.capacity); }},
    {{"weir.queue.usage", "By", gauge, "Bytes in the queue, where they are limited."},
     [](metric_samples& to, const channel_stats& c) {
         if (c.max_bytes != 0) to.add(c.bytes);
     }},
    {{"weir.queue.limit", "By", gauge, "Bytes that the queue has room for, where they are limited."},
     [](metric_samples& to, const channel_stats& c) {
         if (c.max_bytes != 0) to.add(c.max_bytes);
     }},
    {{"weir.queue.puts", "{item}", counter, "Items put."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.num_put); }},
    {{"weir.queue.gets", "{item}", counter, "Items taken."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.num_get); }},
    {{"weir.queue.discards", "{item}", counter, "Items destroyed in the queue, when a run was stopped."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.num_discarded); }},
    {{"weir.queue.put.wait", "s", counter,
      "Time that puts waited for room, summed over puts, open ones included."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.put_wait); }},
    {{"weir.queue.get.wait", "s", counter,
      "Time that gets waited for an item, summed over gets, open ones included."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.get_wait); }},
    {{"weir.queue.put.blocked", "s", counter, "Time in which at least one put waited."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.put_blocked); }},
    {{"weir.queue.get.blocked", "s", counter, "Time in which at least one get waited."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.get_blocked); }},
    {{"weir.queue.empty", "s", counter, "Time without an item; data readiness is 1 - its rate."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.empty); }},
    {{"weir.queue.put.wait.duration", "s", histogram, "How long each completed put waited."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.put_waits); }},
    {{"weir.queue.get.wait.duration", "s", histogram, "How long each completed get waited."},
     [](metric_samples& to, const channel_stats& c) { to.add(c.get_waits); }},
};

inline constexpr metric<process_stats> process[] = {
    {{"weir.process.processors", "{cpu}", gauge, "Processors that the process may use."},
     [](metric_samples& to, const process_stats& p) { to.add(p.processors); }},
    {{"weir.process.cpu.time", "s", counter, "Processor time of all threads since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("mode", "user", p.user_time);
         to.add("mode", "system", p.system_time);
     }},
    {{"weir.process.paging.faults", "{fault}", counter,
      "Page faults since the run began; of major ones storage was read."},
     [](metric_samples& to, const process_stats& p) {
         to.add("type", "minor", p.minor_faults);
         to.add("type", "major", p.major_faults);
     }},
    {{"weir.process.context_switches", "{count}", counter,
      "Times that a thread left its processor since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("type", "voluntary", p.voluntary_switches);
         to.add("type", "involuntary", p.involuntary_switches);
     }},
    {{"weir.process.disk.io", "By", counter, "Bytes from and to storage since the run began."},
     [](metric_samples& to, const process_stats& p) {
         to.add("direction", "read", p.bytes_read);
         to.add("direction", "write", p.bytes_written);
     }},
    {{"weir.process.memory.usage", "By", gauge, "Resident memory."},
     [](metric_samples& to, const process_stats& p) { to.add(p.resident); }},
    {{"weir.process.memory.peak", "By", gauge, "The most resident memory since the process began."},
     [](metric_samples& to, const process_stats& p) { to.add(p.peak_resident); }},
};

}  // namespace metrics_of

// Those that a user's label can't be, as a sample may have them already.
inline constexpr std::string_view metric_labels[] = {"stage",     "position", "kind",    "queue",
                                                     "state",     "resource", "mode",    "type",
                                                     "direction", "le",       "quantile"};

}  // namespace weir::detail

#endif
