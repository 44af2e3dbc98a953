// weir run, internal: the queues, stages and consumer of a run: adding them, finding them by name, statistics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_GRAPH_HPP
#define WEIR_RUN_RUN_GRAPH_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <mutex>        // for std::lock_guard
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::forward, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// The item type of the queue that stands for the end of a run without a consumer (code that takes results).
class no_item {};

// The identity of a queue of any item type.
struct queue_id {
    template <class T, class Policy>
    explicit(false) queue_id(weir::channel<T, Policy>* queue) noexcept : site(&detail::base_of(*queue)) {}
    const wait_site* site;
};

// Times the consumer from the return of a call that takes an item to the next call. If two consumers call at
// the same time, no times are given: a time could belong to either of them.
//
// All atomic operations are relaxed. One consumer, or several that take turns, order their calls themselves.
// With several at once each value may be wrong, and no sample is given.
class consumer_sampler {
  public:
    // `most`: how many of the consumer's times the sample keeps at most. Lifetime: `clock` outlives this.
    consumer_sampler(std::size_t most, const executor& clock) : clock_(clock), most_(most), kept_(most, 0) {}

    // The run begins. `now`: ns of the clock.
    void begin(std::int64_t now) noexcept { kept_.begin(now); }

    // A consumer calls a function that takes an item, such as `run::get`.
    void called() noexcept {
        if (is_calling_.load(std::memory_order_relaxed)) has_several_.store(true, std::memory_order_relaxed);
        is_calling_.store(true, std::memory_order_relaxed);
        if (!is_sampled_.load(std::memory_order_relaxed)) return;
        const std::int64_t now = reading();
        const std::int64_t since = since_.load(std::memory_order_relaxed);
        spent_.store(add_interval(spent_.load(std::memory_order_relaxed), since, now),
                     std::memory_order_relaxed);
        since_.store(now, std::memory_order_relaxed);
    }
    // The call that `called` announced has returned. `got_item`: false after a time-out, or at the end of an
    // epoch; the time until the next call then belongs to the previous item.
    void returned(bool got_item) noexcept {
        is_calling_.store(false, std::memory_order_relaxed);
        if (is_sampled_.load(std::memory_order_relaxed)) {
            got_item ? end_item() : since_.store(reading(), std::memory_order_relaxed);
        }
        if (!got_item) return;
        const std::uint64_t left = left_.load(std::memory_order_relaxed);
        if (left != 0) return left_.store(left - 1, std::memory_order_relaxed);
        spent_.store(0, std::memory_order_relaxed);
        since_.store(reading(), std::memory_order_relaxed);
        is_sampled_.store(true, std::memory_order_relaxed);
    }
    // A call has seen the end of the stream.
    void ended() noexcept {
        is_calling_.store(false, std::memory_order_relaxed);
        if (is_sampled_.load(std::memory_order_relaxed)) end_item();
    }

    // The sample of the consumer's times; none: several consumers have called at once. Threads: any, at any
    // time. Errors: `std::bad_alloc`.
    std::optional<task_samples> samples() const {
        if (has_several_.load(std::memory_order_relaxed)) return std::nullopt;
        task_samples all = kept_.samples();
        if (all.tasks.size() > most_) thin(all, 2 * all.one_in);  // `kept_` may have one too many
        return all;
    }

  private:
    std::int64_t reading() const noexcept { return clock_.now().time_since_epoch().count(); }

    void end_item() noexcept {  // the consumer is done with an item: keeps its time
        is_sampled_.store(false, std::memory_order_relaxed);
        task_sample one;
        one.run = duration(spent_.load(std::memory_order_relaxed));
        left_.store(kept_.keep(one, since_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    }

    template <class T>
    using atomic = standard_platform::atomic<T>;

    const executor& clock_;
    const std::size_t most_;
    task_sampler kept_;
    atomic<bool> is_calling_{false};   // a consumer's call has begun, and has not returned
    atomic<bool> has_several_{false};  // two consumers have called at the same time
    atomic<bool> is_sampled_{false};   // an item was returned whose time the sample may keep; until the next
    atomic<std::int64_t> since_{0};    // when the last call began or returned, for such an item
    atomic<std::int64_t> spent_{0};    // ns that the consumer has spent on this item until `since_`
    atomic<std::uint64_t> left_{0};    // items before the next one whose time is measured
};

// Owns the queues and stages of a run. `pipeline::start` adds them; later only their capacities and
// concurrencies change.
template <class Policy>
class run_graph : public run_context, public watched_run {
  public:
    run_graph(executor& ex, run_options options) : run_context(ex, std::move(options)) {
        if (Policy::statistics && recording() != 0) consumer_.emplace(recording(), ex);
    }

    // Null: the consumer's times are not recorded.
    consumer_sampler* consumer() noexcept { return consumer_ ? &*consumer_ : nullptr; }

    // Adds the queue behind the stage that has these options.
    template <class T>
    weir::channel<T, Policy>& add_queue(const stage_options& options) {
        check_capacity(options);
        auto* const queue = memory_shortage::with_prefix(text_before_shortage(options), [&] {
            return new weir::channel<T, Policy>(options.capacity, main_executor(), options.name);
        });
        adopt(detail::base_of(*queue), options);
        return *queue;
    }

    // `inputs` and `outputs`: the queues that the stage takes from and puts into.
    void add_stage(owned<running_stage<Policy>> stage, std::vector<queue_id> inputs,
                   std::vector<queue_id> outputs);

    // Constructs a stage from the run, `options` and `args`, and adds it.
    template <class Running, class... Args>
    Running& add(std::vector<queue_id> inputs, std::vector<queue_id> outputs, const stage_options& options,
                 Args&&... args) {
        auto* const added = new Running(*this, options, std::forward<Args>(args)...);
        add_stage(owned<running_stage<Policy>>(added), std::move(inputs), std::move(outputs));
        return *added;
    }
    // Adds a stage behind the queue `in`, and a queue behind the stage. Returns the new queue.
    template <class Running, class In, class... Args>
    typename Running::output_queue& append(const stage_options& options, In& in, Args&&... args) {
        auto& out = add_queue<typename Running::output_queue::value_type>(options);
        add_between(owned<running_stage<Policy>>(
                        new Running(*this, options, std::forward<Args>(args)..., in, out)),
                    &in, &out);
        return out;
    }

    // From now on, `last` is both the queue before the sink and that behind it, so the sink needs no
    // coroutine (`fused_sink`). `options`: the sink's. `capacity_of_last`: that of `last` until now, before
    // the sink.
    void merge_sink(const stage_options& options, queue_id last, std::size_t capacity_of_last);

    // Adds the last stage of a run without a consumer, behind the queue `in`. Returns a queue that never
    // holds an item and is closed when the stage has ended. This queue is part of no statistics.
    template <class Running, class In, class... Args>
    weir::channel<no_item, Policy>& append_last(const stage_options& options, In& in, Args&&... args) {
        refuse_unless(options.capacity == stage_options().capacity && options.max_bytes == 0, options,
                      "gives nothing on, and has no queue behind it: leave .capacity and .max_bytes out");
        auto* const end =
            new weir::channel<no_item, Policy>(1, main_executor(), "the end of " + options.name);
        end_ = owned<any_channel<Policy>>(&detail::base_of(*end));
        last_ = indexes_of({queue_id(&in)}).front();
        add<Running>({&in}, {}, options, std::forward<Args>(args)..., in, *end);
        return *end;
    }

    running_stage<Policy>& stage_named(std::string_view name) {
        return *stages_[index_named(name, stages_, "stage", "run.stages() lists them")];
    }
    void set_concurrency(std::string_view name, std::size_t concurrency);
    // Changes the capacity of the queue with this name: that of the stage before it, or of the branch that
    // begins with it. Throws if no queue, or more than one, has the name, and for 0 or a negative number.
    void set_capacity(std::string_view name, std::size_t capacity);
    std::vector<std::string> stage_names() const;

    void inspect(run_seen& seen, bool states) const override;  // see `watched_run`

    pipeline_stats stats() const override {
        // acquire: a caller that sees the instant also sees what process_.end() has stored
        const std::int64_t end = frozen_at_.load(std::memory_order_acquire);  // pairs with freeze()
        return stats_until([this, end] { return end != not_frozen ? end : now(); });
    }

  protected:
    ~run_graph();

    // The statistics up to the time that `until()` returns; `until` is called for each stage, each queue,
    // `elapsed` and `idle`. If that time is before the start of the run, all times in the statistics are 0.
    template <class Until>
    pipeline_stats stats_until(Until until) const {
        pipeline_stats s;
        stillness still;
        for (const auto& stage : stages_) s.stages.push_back(stage->stats(until(), still));
        complete_setups(s);
        later<sink_figures> of_sink;
        for (const auto& queue : queues_) s.channels.push_back(queue->stats(until(), &of_sink));
        s.num_items = s.channels[last_].num_get;
        {
            const std::lock_guard guard(capacities_);
            if (sink_) sink_->split(s, last_, of_sink);
        }
        s.elapsed = duration(time_between(begin_.time_since_epoch().count(), until()));
        // The time of a stage or queue may be longer, if the clock was set back.
        for (const stage_stats& each : s.stages) s.elapsed = detail::larger(s.elapsed, each.elapsed);
        for (const channel_stats& each : s.channels) s.elapsed = detail::larger(s.elapsed, each.elapsed);
        if (s.num_items != 0) add_first_item(s);
        if (of_sink) still.moved(of_sink->moved);
        if (!is_paused()) s.idle = still.until(until());
        s.process = process_.stats();
        if (consumer_ && !end_) s.consumer = consumer_->samples();
        return s;
    }

    std::string description() const;  // the names of the stages: `src | decode | sink`

    std::int64_t now() const noexcept { return main_executor().now().time_since_epoch().count(); }

    void mark_queues(run_trail& trail);  // adds the queues to the record of traced items

    static constexpr std::int64_t not_frozen = INT64_MIN;            // stands for: statistics go on
    standard_platform::atomic<std::int64_t> frozen_at_{not_frozen};  // when the statistics ended
    time_point begin_{};
    mutable process_meter process_;  // measures since the start; not on virtual time (a simulated clock) or
                                     // without statistics
    later<consumer_sampler> consumer_;
    std::size_t last_ = 0;  // index of the queue from which the consumer, or else the last stage, takes
    // Destroyed in reverse order: the stages' coroutines before the queues that they use.
    owned<any_channel<Policy>> end_;  // of a run without a consumer; see append_last()
    std::vector<owned<any_channel<Policy>>> queues_;
    std::vector<owned<running_stage<Policy>>> stages_;

  private:
    void add_first_item(pipeline_stats& s) const;  // sets `pipeline_stats::first_item`
    // Sets in the `setup` of each stage what the stage can't know: the first stage with the same executor,
    // and the bytes of a result.
    void complete_setups(pipeline_stats& s) const;

    // The beginning of the message of a `memory_shortage`.
    static std::string text_before_shortage(const stage_options& options);
    void adopt(any_channel<Policy>& queue, const stage_options& options);  // owns the queue

    std::vector<std::size_t> indexes_of(const std::vector<queue_id>& channels) const;  // in queues_

    static void check_capacity(const stage_options& options);
    void add_between(owned<running_stage<Policy>> stage, queue_id in, queue_id out);

    // Throws unless exactly one thing has the name. `what`: the noun for a thing; `names`: where names are.
    template <class Things>
    static std::size_t index_named(std::string_view name, const Things& things, const char* what,
                                   const char* names) {
        std::size_t found = things.size();
        std::size_t matches = 0;
        for (std::size_t i = 0; i < things.size(); ++i) {
            if (things[i]->name() != name) continue;
            found = i;
            ++matches;
        }
        if (matches == 1) return found;
        throw std::invalid_argument("weir: " + std::string(matches == 0 ? "no " : "more than one ") + what +
                                    " of this run is named '" + std::string(name) + "'; " + names);
    }

    mutable standard_platform::mutex capacities_;  // guards the capacities of the sink during the run
    later<fused_sink> sink_;                       // none: the run has no sink
};

WEIR_COMPILED(class run_graph<measured>);
WEIR_COMPILED(class run_graph<summed>);
WEIR_COMPILED(class run_graph<unmeasured>);

}  // namespace weir::detail

#include <weir/run/run_graph.ipp>

#endif
