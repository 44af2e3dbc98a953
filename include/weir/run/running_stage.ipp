// weir run, internal: bodies of the functions of run/running_stage.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUNNING_STAGE_IPP
#define WEIR_RUN_RUNNING_STAGE_IPP

#include <weir/run/running_stage.hpp>

#include <weir/platform/config.hpp>

#include <new>  // for std::bad_alloc

namespace weir::detail {

template <class Policy>
WEIR_INLINE running_stage<Policy>::running_stage(run_context& run, const char* kind,
                                                 const stage_options& options)
    : worker_set<Policy>(run, options), kind_(kind), hooks_(run.hooks()),
      own_counts_(options.max_failures.value_or(failure_limit())),
      failure_counts_(options.max_failures ? own_counts_ : run.failure_counts()),
      keeps_order_(options.output_order == output_order::input), by_rate_(failure_counts_.is_rate()) {
    hooks_.insert(hooks_.end(), options.hooks.begin(), options.hooks.end());
}

template <class Policy>
WEIR_INLINE running_stage<Policy>::~running_stage() = default;

template <class Policy>
WEIR_INLINE auto running_stage<Policy>::stats(std::int64_t until, stillness& still) const -> stage_stats {
    stage_stats s;
    s.kind = kind_;
    s.inputs = inputs_;
    s.outputs = outputs_;
    this->add_times(s, until, still);
    s.transfers = transfers();
    s.added = added();
    s.awaits_others = awaits_others();
    const executor& where = this->own_executor();
    s.setup = stage_setup{.keeps_order = keeps_order_,
                          .threads = where.traits().exclusive ? 0 : where.parallelism(),
                          .is_resizable = this->is_resizable()};
    return s;
}

template <class Policy>
WEIR_INLINE void running_stage<Policy>::stop_run(std::uint64_t item, std::exception_ptr error,
                                                 bool reported) noexcept {
    stop_run({&this->name(), item, std::move(error), this->where()}, reported);
}

template <class Policy>
WEIR_INLINE bool running_stage<Policy>::call_begin_hooks() noexcept {
    try {
        for (const auto& hook : hooks_) {
            hook->stage_begins(this->name());
            ++num_begun_hooks_;
        }
        return true;
    } catch (...) {
        stop_run(0, std::current_exception());
        return false;
    }
}

template <class Policy>
WEIR_INLINE void running_stage<Policy>::call_end_hooks() noexcept {
    while (num_begun_hooks_ > 0) {
        try {
            hooks_[--num_begun_hooks_]->stage_ends(this->name());
        } catch (...) {
            stop_run(0, std::current_exception());
        }
    }
}

template <class Policy>
WEIR_INLINE bool running_stage<Policy>::record_failure(slot& me, std::uint64_t item, std::exception_ptr error,
                                                       std::int64_t spent) noexcept {
    if (!report_failure(me, item, error, spent)) return false;
    const bool too_many =
        failure_counts_.count_failure(failure_counter::entry{&this->name(), item, error, this->where()});
    if (too_many) stop_run(item, std::move(error), run_.has_on_failure());
    return !too_many;
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE bool running_stage<Policy>::check_failure_rate() noexcept {
    if (!failure_counts_.count_success()) return true;
    const failure_counter::entry last = failure_counts_.last_failure();
    stop_run(last, run_.has_on_failure());
    return false;
}

template <class Policy>
WEIR_INLINE void running_stage<Policy>::fail_stage(slot& me, std::uint64_t item, std::exception_ptr error,
                                                   std::int64_t spent) noexcept {
    if (report_failure(me, item, error, spent)) stop_run(item, std::move(error), run_.has_on_failure());
}

// False: the error is `stopped` in a run that was stopped, and so is no failure; or `on_failure` threw, and
// the run was stopped, with the item's error and that exception as failures.
template <class Policy>
WEIR_INLINE bool running_stage<Policy>::report_failure(slot& me, std::uint64_t item, std::exception_ptr error,
                                                       std::int64_t spent) noexcept {
    if (run_.is_stopped_by(error)) return false;
    me.count_failure(spent);
    detail::begin_overhead(me);
    try {
        run_.report_failure(failure(this->name(), item, error, this->where()));
    } catch (...) {
        stop_run(item, std::move(error), true);
        run_.record(failure("on_failure", 0, std::current_exception()), false);
        return false;
    }
    return true;
}

template <class Policy>
WEIR_INLINE void running_stage<Policy>::stop_run(const failure_counter::entry& failed,
                                                 bool reported) noexcept {
    try {
        run_.record(failure(*failed.stage, failed.item, failed.error, failed.where), reported);
    } catch (const std::bad_alloc&) {
        // Without the name, which would need memory.
        run_.record(failure({}, failed.item, failed.error, failed.where), reported);
    }
}

inline void fused_sink::split(pipeline_stats& s, std::size_t last, const later<sink_figures>& kept) const {
    channel_stats& before = s.channels[last];
    channel_stats behind = before;
    const std::size_t all = before.size;
    behind.name = options_.name;
    behind.capacity = options_.capacity;
    behind.max_bytes = options_.max_bytes;
    before.capacity = before_;
    before.max_bytes -= options_.max_bytes;  // the one queue has the sum of both limits
    stage_stats sink;
    sink.name = options_.name;
    sink.kind = "sink";
    sink.per_slot.resize(1);
    sink.inputs = {last};
    sink.outputs = {s.channels.size()};
    if (kept) {
        measured(before, sink, behind, *kept);
    } else {
        // Not measured: counts as many items as possible behind the sink, and one of the others in its slot.
        behind.num_put = behind.num_get + detail::smaller(all, behind.capacity);
        before.num_get = behind.num_put + (all > behind.capacity ? 1 : 0);
        // The bytes of single items are not known: each counts as the average.
        before.bytes = all == 0 ? 0 : before.bytes / all * (before.num_put - before.num_get);
    }
    for (channel_stats* const each : {&before, &behind}) {
        // A cancelled queue destroys all items: so those that were put and not got are all inside, or all
        // discarded.
        const std::uint64_t rest = each->num_put - each->num_get;
        all != 0 ? void(each->size = static_cast<std::size_t>(rest)) : void(each->num_discarded = rest);
    }
    behind.bytes -= before.bytes;
    s.stages.push_back(sink);
    s.channels.push_back(behind);
}

inline void fused_sink::measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
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
