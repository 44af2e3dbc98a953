// weir report, internal: the members of what is reported, by name, for every format that writes or reads them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FIELDS_HPP
#define WEIR_REPORT_FIELDS_HPP

#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>

#include <type_traits>  // for std::remove_const_t

namespace weir::detail {

// `fields<T>::each(object, visit)` calls `visit(name, member)` for each, in this order. The names are those
// of JSON's keys and of the columns of tables.
template <class T>
struct fields;

// A class of which the members are listed here.
template <class T>
concept has_fields = requires { sizeof(fields<std::remove_const_t<T>>); };

template <>
struct fields<slot_times> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        for (const auto& state : states_by_number) visit(state.name, s.*state.time);
    }
};

template <>
struct fields<channel_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("name", s.name);
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
        visit("put_waits", s.put_waits);
        visit("get_waits", s.get_waits);
    }
};

template <>
struct fields<added_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("num_added", s.num_added);
        visit("num_waiting", s.num_waiting);
        visit("most_waiting", s.most_waiting);
        visit("num_discarded", s.num_discarded);
    }
};

template <>
struct fields<transfer_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
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
};

template <>
struct fields<stage_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
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
    }
};

template <>
struct fields<process_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
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
};

template <>
struct fields<first_item_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("after", s.after);
        visit("since", s.since);
        visit("num_items", s.num_items);
    }
};

template <>
struct fields<pipeline_stats> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("elapsed", s.elapsed);
        visit("stages", s.stages);
        visit("channels", s.channels);
        visit("process", s.process);
        visit("idle", s.idle);
        visit("num_items", s.num_items);
        visit("first_item", s.first_item);
    }
};

template <>
struct fields<described_stage> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
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
};

template <>
struct fields<described_edge> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("from", s.from);
        visit("to", s.to);
        visit("branch", s.branch);
    }
};

template <>
struct fields<described_branch> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("name", s.name);
        visit("depth", s.depth);
        visit("begin", s.begin);
        visit("end", s.end);
    }
};

template <>
struct fields<pipeline_description> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("stages", s.stages);
        visit("edges", s.edges);
        visit("branches", s.branches);
    }
};

template <>
struct fields<machine_info> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("host", s.host);
        visit("system", s.system);
        visit("processor", s.processor);
        visit("processors", s.processors);
        visit("memory", s.memory);
    }
};

template <>
struct fields<build_info> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("weir", s.weir);
        visit("compiler", s.compiler);
        visit("library", s.library);
        visit("optimised", s.optimised);
        visit("assertions", s.assertions);
    }
};

template <>
struct fields<run_setting> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("name", s.name);
        visit("value", s.value);
    }
};

template <>
struct fields<recorded_failure> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("stage", s.stage);
        visit("item", s.item);
        visit("message", s.message);
        visit("where", s.where);
        visit("lap", s.lap);
    }
};

template <>
struct fields<run_record> {
    template <class S, class V>
    static void each(S& s, V&& visit) {
        visit("name", s.name);
        visit("started", s.started);
        visit("ended", s.ended);
        visit("machine", s.machine);
        visit("build", s.build);
        visit("settings", s.settings);
        visit("description", s.description);
        visit("total", s.total);
        visit("num_failures", s.num_failures);
        visit("failures", s.failures);
        visit("laps", s.laps);
    }
};

}  // namespace weir::detail

#endif
