// weir: the function bodies that WEIR_SEPARATE_COMPILATION compiles once: one source file includes this
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SRC_HPP
#define WEIR_SRC_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_accounts.hpp>
#include <weir/channel/channel_awaiter.hpp>
#include <weir/channel/channel_core.hpp>
#include <weir/channel/channel_items.hpp>
#include <weir/channel/channel_puts.hpp>
#include <weir/channel/choice.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/deque.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/pool_worker.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/run_loop.ipp>
#include <weir/executor/steal_policy.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/executor/wait_site.ipp>
#include <weir/executor/work_finder.hpp>
#include <weir/graph/fan_in.ipp>
#include <weir/insight/brief_verdict.ipp>
#include <weir/insight/compared_run.ipp>
#include <weir/insight/diff.ipp>
#include <weir/insight/headspace.ipp>
#include <weir/insight/limits.ipp>
#include <weir/insight/limits_by_states.ipp>
#include <weir/insight/predict.ipp>
#include <weir/insight/recording.ipp>
#include <weir/insight/settings.ipp>
#include <weir/insight/simulated_pipeline.ipp>
#include <weir/insight/simulator.ipp>
#include <weir/insight/time_comparison.ipp>
#include <weir/insight/tune.ipp>
#include <weir/insight/tuning_changes.ipp>
#include <weir/insight/tuning_plan.ipp>
#include <weir/insight/verdict.ipp>
#include <weir/insight/what_if.ipp>
#include <weir/measure/histogram.ipp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.ipp>
#include <weir/measure/task_sample.ipp>
#include <weir/measure/task_sampler.ipp>
#include <weir/measure/unit_text.ipp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.ipp>
#include <weir/platform/output_file.ipp>
#include <weir/platform/system_info.ipp>
#include <weir/report/csv.ipp>
#include <weir/report/describe.ipp>
#include <weir/report/escape.ipp>
#include <weir/report/explain_all_runs.ipp>
#include <weir/report/html.ipp>
#include <weir/report/html_markup.ipp>
#include <weir/report/json.ipp>
#include <weir/report/live_view.ipp>
#include <weir/report/log.ipp>
#include <weir/report/metrics.ipp>
#include <weir/report/profile.ipp>
#include <weir/report/rank_stats.ipp>
#include <weir/report/rank_table.ipp>
#include <weir/report/run_record.ipp>
#include <weir/report/run_recorder.ipp>
#include <weir/report/run_view.ipp>
#include <weir/report/structure.ipp>
#include <weir/report/svg_graph.ipp>
#include <weir/report/table.ipp>
#include <weir/report/trace.ipp>
#include <weir/report/trace_run.ipp>
#include <weir/report/wait_graph.ipp>
#include <weir/report/watchdog.ipp>
#include <weir/run/diagnosis.ipp>
#include <weir/run/failure.ipp>
#include <weir/run/invocation.ipp>
#include <weir/run/priority_lanes.ipp>
#include <weir/run/profile_trial.ipp>
#include <weir/run/profiled_graph.hpp>
#include <weir/run/run_context.ipp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/run_report.ipp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.ipp>
#include <weir/run/worker_set.hpp>
#include <weir/sampling/checkpoint.ipp>
#include <weir/simulation/explore.ipp>
#include <weir/simulation/world.ipp>
#include <weir/stages/epochs.ipp>
#include <weir/stages/iteration.ipp>
#include <weir/stages/slot_loop.ipp>
#include <weir/stages/stage.ipp>
#include <weir/stages/stage_task.hpp>
#include <weir/task/frame_pool.ipp>
#include <weir/task/sleep.ipp>
#include <weir/task/stop_state.hpp>
#include <weir/task/task_group.ipp>

static_assert(
    weir::detail::compiled_separately,
    "weir: weir/src.hpp is for a program whose files are all compiled with -DWEIR_SEPARATE_COMPILATION; "
    "define it, or leave weir/src.hpp out");

namespace weir {

template class basic_thread_pool<detail::standard_platform>;
template class basic_blocking_pool<detail::standard_platform>;
template class basic_locked_timers<detail::standard_platform>;

namespace detail {

void one_source_file_has_to_include_weir_src_hpp_or_link_weir_compiled() {}

// The clock; the queues in which slots (workers of stages) wait: for their turn, for the end of a pause, for
// fewer bytes in the queues of the run, or to be in service again.
template class basic_tick_clock<>;
template class wait_queue<turn_rule>;
template class wait_queue<turn_rule>::awaiter<timed_slot<true>>;
template void wait_queue<turn_rule>::update(leave_turn, timed_slot<true>&);
template void wait_queue<turn_rule>::update(block_turn);
template class wait_queue<pause_rule>;
template class wait_queue<pause_rule>::awaiter<timed_slot<true>>;
template class wait_queue<budget_rule>;
template class wait_queue<budget_rule>::awaiter<timed_slot<true>>;
template class wait_queue<service_rule>;
template class wait_queue<service_rule>::awaiter<timed_slot<true>>;

// The resources of the process; the parts of the executors; stop tokens.
template class basic_process_meter<standard_platform>;
template class basic_idle_workers<standard_platform>;
template class basic_worker_queues<standard_platform>;
template class threaded_executor<standard_platform>;
template class basic_work_finder<standard_platform>;
template class basic_pool_threads<standard_platform>;
template class basic_inbox<standard_platform>;
template class basic_work_stealing_deque<standard_platform>;
template class basic_steal_policy<standard_platform>;
template class basic_thieves<standard_platform>;
template class basic_stop_state<standard_platform>;

// The histograms of a stage or channel; the wait of a worker until the run admits it.
template class bucket_counts<standard_platform>;
template class basic_recorder<standard_platform, true>;
template class admission_wait<timed_slot<true>>;

// A channel, from its statistics to its operations.
template class channel_accounts<measured>;
template class channel_accounts<summed>;
template class channel_ends<measured>;
template class channel_ends<summed>;
template class channel_ends<unmeasured>;
template class channel_items<measured>;
template class channel_items<summed>;
template class channel_items<unmeasured>;
template class channel_core<measured>;
template class channel_core<summed>;
template class channel_puts<measured>;
template class channel_puts<summed>;
template class channel_puts<unmeasured>;
template class any_channel<measured>;
template class any_channel<summed>;
template class any_channel<unmeasured>;
template class choice_operation<standard_platform>;
template class channel_awaiter<measured, no_stop, true>;
template class channel_awaiter<measured, no_stop, false>;
template class channel_awaiter<summed, no_stop, true>;
template class channel_awaiter<summed, no_stop, false>;
template class channel_awaiter<unmeasured, no_stop, true>;
template class channel_awaiter<unmeasured, no_stop, false>;

// A run: its stages and queues; the trials of its stages for a profile; its start, stop and end.
template class run_graph<measured>;
template class run_graph<summed>;
template class run_graph<unmeasured>;
template class profiled_graph<measured>;
template class profiled_graph<summed>;
template class profiled_graph<unmeasured>;
template class run_core<measured>;
template class run_core<summed>;
template class run_core<unmeasured>;

// Sets the function that writes the verdict of WEIR_DIAGNOSE=1, in each program that has this file.
template struct verdict_of_diagnosis<pipeline_stats>;

// A stage in a run, and the workers of the stage.
template class running_stage<measured>;
template class running_stage<summed>;
template class running_stage<unmeasured>;
template class worker_set<measured>;
template class worker_set<summed>;
template class worker_set<unmeasured>;
template class common_waits<measured>;
template class common_waits<summed>;
template class common_waits<unmeasured>;
template class task_context<measured>;
template class task_context<summed>;
template class task_context<unmeasured>;

}  // namespace detail
}  // namespace weir

#endif
