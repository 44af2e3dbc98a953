// weir report, internal: visits the members of statistics and records by name, for JSON, CSV and SQLite
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FIELDS_HPP
#define WEIR_REPORT_FIELDS_HPP

#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>

#include <concepts>     // for std::same_as
#include <type_traits>  // for std::remove_const_t

namespace weir::detail {

// `T` is `Type` or `const Type`.
template <class T, class Type>
concept like = std::same_as<std::remove_const_t<T>, Type>;

// `each_field(object, visit)` calls `visit(name, member)` for each member. The names are the keys of JSON and
// the columns of CSV and SQLite; their order there is the order here.
void each_field(like<slot_times> auto& s, auto&& visit) {
    for (const auto& state : states_by_number) visit(state.name, s.*state.time);
}

// The members that `channel_stats` and `queue_on_rank` have in common.
void each_queue_field(auto& s, auto& visit) {
    visit("size", s.size);
    visit("capacity", s.capacity);
    visit("bytes", s.bytes);
    visit("max_bytes", s.max_bytes);
    visit("elapsed", s.elapsed);
    visit("num_put", s.num_put);
    visit("num_get", s.num_get);
    visit("num_discarded", s.num_discarded);
    visit("put_wait", s.put_wait);
    visit("get_wait", s.get_wait);
    visit("put_blocked", s.put_blocked);
    visit("get_blocked", s.get_blocked);
    visit("empty", s.empty);
}

void each_field(like<channel_stats> auto& s, auto&& visit) {
    visit("name", s.name);
    each_queue_field(s, visit);
    visit("put_waits", s.put_waits);
    visit("get_waits", s.get_waits);
}

void each_field(like<added_stats> auto& s, auto&& visit) {
    visit("num_added", s.num_added);
    visit("num_waiting", s.num_waiting);
    visit("most_waiting", s.most_waiting);
    visit("num_discarded", s.num_discarded);
}

void each_field(like<transfer_stats> auto& s, auto&& visit) {
    visit("num_copies", s.num_copies);
    visit("bytes", s.bytes);
    visit("copying", s.copying);
    visit("num_handed_over", s.num_handed_over);
    visit("handed_over", s.handed_over);
    visit("exposed", s.exposed);
    visit("num_block_waits", s.num_block_waits);
    visit("block_wait", s.block_wait);
    visit("num_memory_waits", s.num_memory_waits);
    visit("memory_wait", s.memory_wait);
}

void each_field(like<retry_stats> auto& s, auto&& visit) {
    visit("num_retries", s.num_retries);
    visit("time", s.time);
}

void each_field(like<stage_setup> auto& s, auto&& visit) {
    visit("keeps_order", s.keeps_order);
    visit("is_resizable", s.is_resizable);
    visit("executor", s.executor);
    visit("threads", s.threads);
    visit("item_bytes", s.item_bytes);
}

void each_field(like<task_sample> auto& s, auto&& visit) {
    visit("at", s.at);
    visit("run", s.run);
    visit("await", s.await);
    visit("runnable", s.runnable);
    visit("taken", s.taken);
    visit("results", s.results);
    visit("failed", s.failed);
}

void each_field(like<task_samples> auto& s, auto&& visit) {
    visit("one_in", s.one_in);
    visit("tasks", s.tasks);
}

void each_field(like<stage_stats> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("kind", s.kind);
    visit("concurrency", s.concurrency);
    visit("elapsed", s.elapsed);
    visit("num_tasks", s.num_tasks);
    visit("num_failures", s.num_failures);
    visit("task_time", s.task_time);
    visit("failure_time", s.failure_time);
    visit("busy", s.busy);
    visit("slots", s.per_slot);
    visit("inputs", s.inputs);
    visit("outputs", s.outputs);
    visit("task_times", s.task_times);
    visit("transfers", s.transfers);
    visit("added", s.added);
    visit("retries", s.retries);
    visit("setup", s.setup);
    visit("awaits_others", s.awaits_others);
    visit("samples", s.samples);
}

void each_field(like<process_stats> auto& s, auto&& visit) {
    visit("elapsed", s.elapsed);
    visit("processors", s.processors);
    visit("user_time", s.user_time);
    visit("system_time", s.system_time);
    visit("minor_faults", s.minor_faults);
    visit("major_faults", s.major_faults);
    visit("voluntary_switches", s.voluntary_switches);
    visit("involuntary_switches", s.involuntary_switches);
    visit("bytes_read", s.bytes_read);
    visit("bytes_written", s.bytes_written);
    visit("resident", s.resident);
    visit("peak_resident", s.peak_resident);
}

void each_field(like<first_item_stats> auto& s, auto&& visit) {
    visit("after", s.after);
    visit("since", s.since);
    visit("num_items", s.num_items);
}

void each_field(like<pipeline_stats> auto& s, auto&& visit) {
    visit("elapsed", s.elapsed);
    visit("stages", s.stages);
    visit("channels", s.channels);
    visit("process", s.process);
    visit("idle", s.idle);
    visit("num_items", s.num_items);
    visit("first_item", s.first_item);
    visit("consumer", s.consumer);
}

void each_field(like<stage_on_rank> auto& s, auto&& visit) {
    visit("exists", s.exists);
    visit("concurrency", s.concurrency);
    visit("elapsed", s.elapsed);
    visit("num_tasks", s.num_tasks);
    visit("num_failures", s.num_failures);
    visit("task_time", s.task_time);
    visit("failure_time", s.failure_time);
    visit("busy", s.busy);
    visit("slots", s.times);
    visit("longest", s.longest);
    visit("transfers", s.transfers);
    visit("added", s.added);
    visit("retries", s.retries);
}

void each_field(like<queue_on_rank> auto& s, auto&& visit) {
    visit("exists", s.exists);
    each_queue_field(s, visit);
    visit("longest_put", s.longest_put);
    visit("longest_get", s.longest_get);
}

void each_field(like<rank_record> auto& s, auto&& visit) {
    visit("reported", s.reported);
    visit("elapsed", s.elapsed);
    visit("process", s.process);
    visit("idle", s.idle);
    visit("num_items", s.num_items);
    visit("first_item", s.first_item);
    visit("stages", s.stages);
    visit("channels", s.queues);
}

void each_field(like<described_stage> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("kind", s.kind);
    visit("remark", s.remark);
    visit("takes", s.takes);
    visit("gives", s.gives);
    visit("concurrency", s.concurrency);
    visit("capacity", s.capacity);
    visit("max_bytes", s.max_bytes);
    visit("executor", s.executor);
    visit("output_order", s.output_order);
    visit("time_limit", s.time_limit);
    visit("epochs", s.epochs);
    visit("depth", s.depth);
    visit("where", s.where);
}

void each_field(like<described_edge> auto& s, auto&& visit) {
    visit("from", s.from);
    visit("to", s.to);
    visit("branch", s.branch);
}

void each_field(like<described_branch> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("depth", s.depth);
    visit("begin", s.begin);
    visit("end", s.end);
}

void each_field(like<pipeline_description> auto& s, auto&& visit) {
    visit("stages", s.stages);
    visit("edges", s.edges);
    visit("branches", s.branches);
}

void each_field(like<machine_info> auto& s, auto&& visit) {
    visit("host", s.host);
    visit("system", s.system);
    visit("processor", s.processor);
    visit("processors", s.processors);
    visit("memory", s.memory);
}

void each_field(like<build_info> auto& s, auto&& visit) {
    visit("weir", s.weir);
    visit("compiler", s.compiler);
    visit("library", s.library);
    visit("optimised", s.optimised);
    visit("assertions", s.assertions);
}

void each_field(like<run_setting> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("value", s.value);
}

void each_field(like<recorded_failure> auto& s, auto&& visit) {
    visit("stage", s.stage);
    visit("item", s.item);
    visit("message", s.message);
    visit("where", s.where);
    visit("lap", s.lap);
}

void each_field(like<run_record> auto& s, auto&& visit) {
    visit("name", s.name);
    visit("started", s.started);
    visit("ended", s.ended);
    visit("outcome", s.outcome);
    visit("machine", s.machine);
    visit("build", s.build);
    visit("settings", s.settings);
    visit("description", s.description);
    visit("total", s.total);
    visit("num_failures", s.num_failures);
    visit("failures", s.failures);
    visit("laps", s.laps);
    visit("ranks", s.ranks);
}

// A class that has a function `each_field`.
template <class T>
concept has_fields = requires(T& object) { each_field(object, 0); };

}  // namespace weir::detail

#endif
