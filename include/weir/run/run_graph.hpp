// weir run, internal: the queues and stages of a run: adding them, finding them by name, their statistics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_GRAPH_HPP
#define WEIR_RUN_RUN_GRAPH_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/consumer_sampler.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <memory>       // for std::make_unique, std::unique_ptr
#include <mutex>        // for std::lock_guard
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::forward, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// The item type of the queue that stands for the end of a run without a consumer.
class no_item {};

// The identity of a queue of any item type.
struct queue_id {
    template <class T, class Policy>
    explicit(false) queue_id(weir::channel<T, Policy>* queue) noexcept : site(&detail::base_of(*queue)) {}
    const wait_site* site;
};

// A sink only passes items on. So one queue stands for the queue before the sink, the item in the sink's
// slot, and the queue behind it. No coroutine has to be resumed for the sink, which saves a fifth of an
// item's time in a pipeline of three stages that do nothing. This class divides the capacity and the
// statistics of that one queue between the three.
class fused_sink {
  public:
    fused_sink(const stage_options& options, std::size_t capacity_before)
        : options_(options), before_(capacity_before) {}

    const stage_options& options() const noexcept { return options_; }

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
    void split(pipeline_stats& s, std::size_t last, const std::optional<sink_figures>& kept) const;

  private:
    static void measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
                         const sink_figures& kept);

    stage_options options_;
    std::size_t before_;  // the capacity of the queue before the sink
};

// Owns the queues and stages of a run. `pipeline::start` adds them; later only their capacities and
// concurrencies change.
template <class Policy>
class run_graph : public run_context, public watched_run {
    static_assert(policy_like<Policy>,
                  "weir: what measures a channel or a run, or doesn't, is a policy, and this is none: "
                  "weir::measured, weir::summed or weir::unmeasured");

  public:
    run_graph(executor& ex, run_options options) : run_context(ex, std::move(options)) {
        if (Policy::statistics && recording() != 0) consumer_.emplace(recording(), ex);
    }

    // Null: the consumer's times are not recorded.
    consumer_sampler* consumer() noexcept { return consumer_ ? &*consumer_ : nullptr; }

    template <class T>
    weir::channel<T, Policy>& add_queue(const stage_options& options) {
        check_capacity(options);
        auto* const queue = memory_shortage::with_prefix(stage(options), [&] {
            return new weir::channel<T, Policy>(options.capacity, main_executor(), options.name);
        });
        adopt(detail::base_of(*queue), options);
        return *queue;
    }

    // `inputs` and `outputs`: the queues that the stage takes from and puts into.
    void add_stage(std::unique_ptr<running_stage<Policy>> stage, std::vector<queue_id> inputs,
                   std::vector<queue_id> outputs);

    // Constructs a stage from the run, `options` and `args`, and adds it.
    template <class Running, class... Args>
    Running& add(std::vector<queue_id> inputs, std::vector<queue_id> outputs, const stage_options& options,
                 Args&&... args) {
        auto* const added = new Running(*this, options, std::forward<Args>(args)...);
        add_stage(std::unique_ptr<running_stage<Policy>>(added), std::move(inputs), std::move(outputs));
        return *added;
    }
    // Adds a stage behind the queue `in`, and a queue behind the stage. Returns this queue.
    template <class Running, class In, class... Args>
    typename Running::output_queue& append(const stage_options& options, In& in, Args&&... args) {
        auto& out = add_queue<typename Running::output_queue::value_type>(options);
        add_between(std::unique_ptr<running_stage<Policy>>(
                        new Running(*this, options, std::forward<Args>(args)..., in, out)),
                    &in, &out);
        return out;
    }

    // From now on, the queue `last` is also the queue of the sink: see `fused_sink`. `options`: of the sink.
    // `capacity_of_last`: of the queue before the sink.
    void merge_sink(const stage_options& options, queue_id last, std::size_t capacity_of_last);

    // Adds the last stage of a run without a consumer, behind the queue `in`. Returns a queue that never
    // holds an item and is closed when the stage has ended. It is part of no statistics.
    template <class Running, class In, class... Args>
    weir::channel<no_item, Policy>& append_last(const stage_options& options, In& in, Args&&... args) {
        refuse_unless(options.capacity == stage_options().capacity && options.max_bytes == 0, options,
                      "gives nothing on, and has no queue behind it: leave .capacity and .max_bytes out");
        auto* const end =
            new weir::channel<no_item, Policy>(1, main_executor(), "the end of " + options.name);
        end_.reset(&detail::base_of(*end));
        last_ = indexes_of({queue_id(&in)}).front();
        add<Running>({&in}, {}, options, std::forward<Args>(args)..., in, *end);
        return *end;
    }

    running_stage<Policy>& stage_named(std::string_view name) { return *stages_[index_named(name, stages_)]; }
    void set_concurrency(std::string_view name, std::size_t concurrency);
    // Changes the capacity of the queue behind the stage of this name.
    void set_capacity(std::string_view name, std::size_t capacity);
    std::vector<std::string> stage_names() const;

    void inspect(run_seen& seen, bool states) const override;

    pipeline_stats stats() const override {
        const std::int64_t end = frozen_at_.load(std::memory_order_acquire);  // pairs with freeze()
        return stats_until([this, end] { return end != running ? end : now(); });
    }

  protected:
    ~run_graph();

    // The statistics up to the time that `until()` returns, which is called for each stage and queue. If that
    // time is before the start of the run, all times in the statistics are 0.
    template <class Until>
    pipeline_stats stats_until(Until until) const {
        pipeline_stats s;
        stillness still;
        for (const auto& stage : stages_) s.stages.push_back(stage->stats(until(), still));
        complete_setups(s);
        std::optional<sink_figures> of_sink;
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

    std::string description() const;

    std::int64_t now() const noexcept { return main_executor().now().time_since_epoch().count(); }

    void mark_queues(run_trail& trail);

    static constexpr std::int64_t running = INT64_MIN;
    standard_platform::atomic<std::int64_t> frozen_at_{running};  // when the statistics ended, if they have
    time_point begin_{};
    mutable process_meter process_;  // measures since the start, unless time is virtual
    std::optional<consumer_sampler> consumer_;
    std::size_t last_ = 0;  // index of the queue from which the consumer, or else the last stage, takes
    // Destroyed in reverse order: the stages' coroutines before the queues that they use.
    std::unique_ptr<any_channel<Policy>> end_;  // of a run without a consumer; see append_last()
    std::vector<std::unique_ptr<any_channel<Policy>>> queues_;
    std::vector<std::unique_ptr<running_stage<Policy>>> stages_;

  private:
    void add_first_item(pipeline_stats& s) const;
    // Adds the figures that a stage cannot give itself: the executors that it shares, the size of its
    // results.
    void complete_setups(pipeline_stats& s) const;

    // The beginning of a message about a stage.
    static std::string stage(const stage_options& options);
    void adopt(any_channel<Policy>& queue, const stage_options& options);

    std::vector<std::size_t> indexes_of(const std::vector<queue_id>& channels) const;

    static void check_capacity(const stage_options& options);
    void add_between(std::unique_ptr<running_stage<Policy>> stage, queue_id in, queue_id out);

    template <class Things>
    static std::size_t index_named(std::string_view name, const Things& things) {
        std::size_t found = things.size();
        std::size_t matches = 0;
        for (std::size_t i = 0; i < things.size(); ++i) {
            if (things[i]->name() != name) continue;
            found = i;
            ++matches;
        }
        if (matches == 1) return found;
        throw std::invalid_argument(
            "weir: " + std::string(matches == 0 ? "no stage" : "more than one stage") +
            " of this run is named '" + std::string(name) + "'; run.stages() lists them");
    }

    mutable standard_platform::mutex capacities_;  // guards the capacities of the sink during the run
    std::optional<fused_sink> sink_;
};

WEIR_COMPILED(class run_graph<measured>);
WEIR_COMPILED(class run_graph<summed>);
WEIR_COMPILED(class run_graph<unmeasured>);

}  // namespace weir::detail

#include <weir/run/run_graph.ipp>

#endif
