// weir run, internal: a started pipeline, whatever its items are: its queues, its stages, its laps, its end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_CORE_HPP
#define WEIR_RUN_RUN_CORE_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/deadlock.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/fused_sink.hpp>
#include <weir/run/progress_keeper.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_queue.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/run/watched_run.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <algorithm>    // for std::max
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::unique_ptr
#include <mutex>        // for std::lock_guard
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument, std::logic_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::forward, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// Owns everything of a run. Built by a pipeline's `start`; then only its workers change it.
template <class Policy>
class run_core final : public run_context, public watched_run {
    static_assert(policy_like<Policy>,
                  "weir: what measures a channel or a run, or doesn't, is a policy, and this is none: "
                  "weir::measured, weir::summed or weir::unmeasured");

  public:
    using run_context::run_context;
    // Within a stage of its own: the exception that says so ends the program.
    ~run_core() {  // NOLINT(bugprone-exception-escape)
        stop();
        tell_unheard([this] { return whole_name(); });
        leave_registry();
        for (auto& stage : stages_) stage->destroy_workers();
    }

    template <class T>
    weir::channel<T, Policy>& add_queue(const stage_options& options) {
        check_capacity(options);
        auto queue = std::make_unique<queue_of<T, Policy>>(options.capacity, home(), options.name);
        auto& channel = queue->channel;
        if (options.max_bytes != 0) channel.set_max_bytes(options.max_bytes);
        queues_.push_back(std::move(queue));
        return channel;
    }

    // `inputs` and `outputs`: the channels that it takes from, and those that it gives to.
    void add_stage(std::unique_ptr<running_stage<Policy>> stage, std::vector<const void*> inputs,
                   std::vector<const void*> outputs) {
        std::vector<std::size_t> from = places_of(inputs);
        std::vector<std::size_t> to = places_of(outputs);
        if (budget() != nullptr) {
            std::uint64_t sources = from.empty() ? budget()->add_source() : 0;
            for (const std::size_t each : from) sources |= queues_[each]->sources();
            for (const std::size_t each : to) queues_[each]->set_budget(budget(), sources);
        }
        stage->connect(std::move(from), std::move(to));
        stages_.push_back(std::move(stage));
    }

    // The same, made of the run, its options and `args`.
    template <class Running, class... Args>
    Running& add(std::vector<const void*> inputs, std::vector<const void*> outputs,
                 const stage_options& options, Args&&... args) {
        auto stage = std::make_unique<Running>(*this, options, std::forward<Args>(args)...);
        Running& added = *stage;
        add_stage(std::move(stage), std::move(inputs), std::move(outputs));
        return added;
    }
    // The same behind the queue `in`, with one behind it, which is returned.
    template <class Running, class In, class... Args>
    typename Running::output& append(const stage_options& options, In& in, Args&&... args) {
        auto& out = add_queue<typename Running::output::value_type>(options);
        add<Running>({&in}, {&out}, options, std::forward<Args>(args)..., in, out);
        return out;
    }

    // From which the consumer takes.
    void set_last(const void* channel) { last_ = places_of({channel}).front(); }

    // The last queue is also the sink's, which has no stage of its own: see `running_sink`.
    void merge_sink(const stage_options& options, std::size_t capacity_before) {
        check_capacity(options);
        sink_.emplace(options, capacity_before);
    }

    void start() {
        std::size_t workers = 0;
        for (auto& stage : stages_) {
            stage->make_workers();
            workers += stage->num_workers();
        }
        if (options_.lap > duration(0) && options_.on_lap)
            static_cast<void>(reporter_.emplace(report_laps()));
        // Nothing below throws.
        begin_ = home().now();
        expect_workers(workers);
        left_.store(workers + (reporter_ ? 1U : 0U), std::memory_order_relaxed);
        started_ = true;
        bool announced = true;
        for (auto& stage : stages_) announced = announced && stage->announce();
        const std::int64_t now = begin_.time_since_epoch().count();
        for (auto& queue : queues_) queue->begin(now);
        for (auto& stage : stages_) stage->begin(now);
        if (!home().traits().exclusive) the_registry->add(*this);  // whoever looks finds what has begun
        for (auto& stage : stages_) stage->start();
        if (reporter_) reporter_->start(home(), nullptr, *this);
        if (!announced) cancel();
        if (options_.stop.stop_possible()) on_stop_.emplace(options_.stop, cancel_run{this});
    }

    // Ends all queues: every worker ends after what it does now. May be called at any time.
    void cancel() noexcept {
        keep_nobody();
        for (auto& queue : queues_) queue->cancel();
    }

    // Ends the stages, but not the queue from which the consumer reads what they have finished.
    void give_up() noexcept {
        for (std::size_t i = 0; i < queues_.size(); ++i) {
            if (i != last_) queues_[i]->cancel();
        }
    }

    // Ends it from outside, or from anywhere within, without waiting.
    void request_stop(run_outcome how = run_outcome::stopped) noexcept {
        ends_as(how);
        cancel();
    }

    // The same, and blocks until nothing of the run is left to run. Any number of threads may.
    void stop() {
        if (!started_) return;
        check_outside();
        request_stop();
        join();
        freeze();
    }

    // The stage of that name, for a change while it runs.
    running_stage<Policy>& stage_named(std::string_view name) { return *stages_[place_named(name, stages_)]; }
    void set_concurrency(std::string_view name, std::size_t concurrency) {
        if (sink_ && name == sink_->name()) {
            check(concurrency == 1, sink_->options(),
                  "works on one item after the other; its concurrency is 1");
            return;
        }
        stage_named(name).set_concurrency(concurrency);
    }
    // Of the queue behind the stage of that name.
    void set_capacity(std::string_view name, std::size_t capacity) {
        stage_options named;
        named.name = name;
        check(capacity >= 1, named,
              "would have a queue of capacity 0, which never takes an item; "
              "give it 1 or more");
        check(!was_negative(capacity), named, "can't have a queue of a negative capacity; give it 1 or more");
        const std::lock_guard guard(capacities_);
        if (sink_ && name == sink_->name()) {
            queues_[last_]->set_capacity(sink_->set_behind(capacity));
            return;
        }
        any_queue& queue = *queues_[place_named(name, queues_)];
        const bool is_merged = sink_ && &queue == queues_[last_];
        queue.set_capacity(is_merged ? sink_->set_before(capacity) : capacity);
    }
    std::vector<std::string> stage_names() const {
        std::vector<std::string> names;
        for (const auto& stage : stages_) names.push_back(stage->name());
        if (sink_) names.push_back(sink_->name());
        return names;
    }

    void worker_joins() noexcept override {
        left_.fetch_add(1, std::memory_order_relaxed);
        worker_joined();
    }

    weir::checkpoint checkpoint() const {
        const progress_listener* const listener = progress().get();
        const progress_keeper* const keeper = listener == nullptr ? nullptr : listener->keeper();
        if (keeper == nullptr) {
            throw std::logic_error(
                "weir: this run has no checkpoint: its one source has to be a sampler, which "
                "knows where to go on, and no stage a cache");
        }
        return keeper->checkpoint();
    }

    // release and acquire: they pair, so that who sees the end sees what the run did before
    void see_end() noexcept {
        ends_as(run_outcome::finished);
        ended_.store(true, std::memory_order_release);
    }
    bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    void look(run_seen& seen, bool states) const override {
        seen.last = &queues_[last_]->place();
        seen.has_failed = has_failed();
        for (const auto& stage : stages_) {
            stage_seen& s = seen.stages.emplace_back();
            for (const std::size_t i : stage->inputs()) s.from.push_back(&queues_[i]->place());
            for (const std::size_t i : stage->outputs()) s.to.push_back(&queues_[i]->place());
            stage->look(s, states);
        }
    }

    // A coroutine of the run has ended for good.
    void ended() noexcept override {
        // acq_rel; pairs with itself: the last one sees what the others did. Whoever waits may destroy the
        // run meanwhile: the source's own state stays until this returns.
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) nothing_left_.request_stop();
    }

    pipeline_stats stats() const {
        const std::int64_t end = frozen_at_.load(std::memory_order_acquire);  // pairs with freeze()
        const auto until = [&] { return end != running ? end : now(); };
        pipeline_stats s;
        for (const auto& stage : stages_) s.stages.push_back(stage->stats(until()));
        for (const auto& queue : queues_) s.channels.push_back(queue->stats(until()));
        {
            const std::lock_guard guard(capacities_);
            if (sink_) sink_->split(s, last_);
        }
        s.elapsed = duration(time_between(begin_.time_since_epoch().count(), until()));
        // Less only if the clock was set back; they then stand still.
        for (const stage_stats& each : s.stages) s.elapsed = std::max(s.elapsed, each.elapsed);
        for (const channel_stats& each : s.channels) s.elapsed = std::max(s.elapsed, each.elapsed);
        return s;
    }

    // The end of the stream was seen: what the statistics say stays as it is now; unless it was a stop
    // that ended it, and some are still at work.
    void freeze() noexcept {
        if (!have_all_left()) return;
        std::int64_t expected = running;
        // release; pairs with stats()
        frozen_at_.compare_exchange_strong(expected, now(), std::memory_order_release,
                                           std::memory_order_relaxed);
    }

  private:
    std::vector<std::size_t> places_of(const std::vector<const void*>& channels) const {
        std::vector<std::size_t> places;
        for (const void* channel : channels) {
            for (std::size_t i = 0; i < queues_.size(); ++i) {
                if (queues_[i]->address() == channel) places.push_back(i);
            }
        }
        return places;
    }

    static void check_capacity(const stage_options& options) {
        check(options.capacity >= 1, options,
              "has a queue of capacity 0, which never takes an item; "
              "give it .capacity = 1 or more");
        check(!was_negative(options.capacity), options,
              "has a queue of a negative capacity; give it .capacity = 1 or more");
        check(!was_negative(options.max_bytes), options,
              "has a queue of a negative .max_bytes; 0 means no limit");
    }

    template <class Things>
    static std::size_t place_named(std::string_view name, const Things& things) {
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

    struct cancel_run {
        run_core* run;
        void operator()() const noexcept {
            if (!run->orphaned()) run->request_stop(run_outcome::stopped_by_token);
        }
    };

    std::int64_t now() const noexcept { return home().now().time_since_epoch().count(); }

    // Who waits for the end of what it is called by would wait for ever.
    void check_outside() const {
        std::string who = trampoline::is_below(this) ? "on_lap" : "";
        for (const auto& stage : stages_) {
            if (who.empty() && stage->is_below()) who = "stage '" + stage->name() + "'";
        }
        if (who.empty()) return;
        throw std::logic_error("weir: " + who +
                               " can't wait for the end of its own run, as stop() and the destructor do: "
                               "request_stop() asks for it, and returns at once");
    }

    void join() {
        parker done;
        const stop_callback when_over(nothing_left_.get_token(), [&done]() noexcept { done.set(); });
        while (!done.is_set()) {
            try {
                detail::block_until(done, home());
            } catch (const deadlock_error&) {
                // Virtual time: a stage's function waits for something that will never come. Its frame
                // goes as it is, and its waits take themselves out; then the others may go on.
                abandon_one();
            }
        }
    }

    std::string whole_name() const {
        std::string all;
        for (const std::string& each : stage_names()) all += (all.empty() ? "" : " | ") + each;
        return all;
    }

    void abandon_one() noexcept {
        for (auto& stage : stages_) {
            if (!stage->abandon_one()) continue;
            worker_left();
            ended();
            return;
        }
    }

    detached_task<void> report_laps() {
        pipeline_stats before;  // the first lap begins with nothing
        time_point end = begin_;
        while (true) {
            // If the last one was late by a lap or more, those are one lap together. Not counted one by one:
            // a clock may be set ahead by years.
            const time_point t = home().now();
            if (end <= t) end = weir::saturating_add(t, options_.lap - (t - end) % options_.lap);
            const bool whole = co_await weir::sleep_until(end, all_left(), timer_order::before_all);
            if (!whole || end == time_point::max()) break;
            const std::exception_ptr error = tell_lap(before);
            if (error) {
                record(failure("on_lap", 0, error), false);
                give_up();
                break;
            }
        }
    }
    std::exception_ptr tell_lap(pipeline_stats& before) noexcept {
        try {
            pipeline_stats after = stats();
            const pipeline_stats lap = after - before;
            trampoline::is_work_of(this);  // the lap's teller is resumed by an executor, and by nobody else
            options_.on_lap(lap);
            before = std::move(after);
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    mutable standard_platform::mutex capacities_;  // guards those of the sink once the run has begun
    std::optional<fused_sink> sink_;
    std::size_t last_ = 0;  // the queue from which the consumer takes
    time_point begin_{};
    bool started_ = false;
    standard_platform::atomic<bool> ended_{false};  // a consumer has seen it
    static constexpr std::int64_t running = INT64_MIN;
    standard_platform::atomic<std::int64_t> frozen_at_{running};  // until when the statistics go
    standard_platform::atomic<std::size_t> left_{0};
    stop_source nothing_left_;  // asked when it is so
    // Destroyed in reverse: the callback first, then coroutines, then the queues that they use.
    owning_list<any_queue> queues_;
    owning_list<running_stage<Policy>> stages_;
    std::optional<detached_task<void>> reporter_;
    std::optional<stop_callback<cancel_run>> on_stop_;
};

WEIR_COMPILED(class run_core<measured>);
WEIR_COMPILED(class run_core<summed>);
WEIR_COMPILED(class run_core<unmeasured>);

}  // namespace weir::detail

#endif
