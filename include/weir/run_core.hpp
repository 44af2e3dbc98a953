// weir floor 8: a started pipeline, whatever its items are: its queues, its stages, its laps, its end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_CORE_HPP
#define WEIR_RUN_CORE_HPP

#include <weir/channel.hpp>
#include <weir/clock.hpp>
#include <weir/deadlock.hpp>
#include <weir/detail/parker.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/spin_lock.hpp>
#include <weir/executor.hpp>
#include <weir/failure.hpp>
#include <weir/root.hpp>
#include <weir/run_context.hpp>
#include <weir/running_stage.hpp>
#include <weir/sleep.hpp>
#include <weir/stage_options.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::unique_ptr, std::shared_ptr
#include <mutex>      // for std::lock_guard
#include <new>        // for std::bad_alloc
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A queue of a run, without its item's type.
class any_queue {
  public:
    virtual ~any_queue() = default;
    virtual void begin(std::int64_t now) noexcept = 0;
    virtual void cancel() noexcept = 0;
    virtual channel_stats stats() = 0;
};

template <class T, class Policy>
class queue_of final : public any_queue {
  public:
    queue_of(std::size_t capacity, executor& clock, std::string name)
        : channel(capacity, clock, std::move(name)) {}
    void begin(std::int64_t now) noexcept override { channel.begin(now); }
    void cancel() noexcept override { channel.cancel(); }
    channel_stats stats() override { return channel.stats(); }
    weir::channel<T, Policy> channel;
};

// Owns everything of a run. Built by a pipeline's `start`; then only its workers change it.
template <class Policy>
class run_core final : public run_context {
  public:
    using run_context::run_context;
    ~run_core() {
        stop();
        for (auto& stage : stages_) stage->destroy_workers();
    }

    template <class T>
    weir::channel<T, Policy>& add_queue(const stage_options& options) {
        check(options.capacity >= 1, options, "has a queue of capacity 0, which never takes an item; "
                                              "give it .capacity = 1 or more");
        auto queue = std::make_unique<queue_of<T, Policy>>(options.capacity, home(), options.name);
        auto& channel = queue->channel;
        queues_.push_back(std::move(queue));
        return channel;
    }

    void add_stage(std::unique_ptr<running_stage<Policy>> stage) {
        stages_.push_back(std::move(stage));
    }

    // The last queue is also the sink's, which has no stage of its own: see `running_sink`.
    void merge_sink(const stage_options& options) { merged_sink_.emplace(options); }

    void start() {
        std::size_t workers = 0;
        for (auto& stage : stages_) {
            stage->make_workers();
            workers += stage->num_workers();
        }
        if (options_.lap > duration(0) && options_.on_lap) reporter_.emplace(report_laps());
        // Nothing below throws.
        begin_ = home().now();
        expect_workers(workers);
        left_.store(workers + (reporter_ ? 1U : 0U), std::memory_order_relaxed);
        started_ = true;
        const std::int64_t now = begin_.time_since_epoch().count();
        for (auto& queue : queues_) queue->begin(now);
        for (auto& stage : stages_) stage->begin(now);
        for (auto& stage : stages_) stage->start();
        if (reporter_) reporter_->start(home(), nullptr, *this);
        if (options_.stop.stop_possible()) on_stop_.emplace(options_.stop, cancel_run{this});
    }

    // Ends all queues: every worker ends after what it does now. May be called at any time.
    void cancel() noexcept {
        for (auto& queue : queues_) queue->cancel();
    }

    // Ends the stages, but not the queue from which the consumer reads what they have finished.
    void give_up() noexcept {
        for (std::size_t i = 0; i + 1 < queues_.size(); ++i) queues_[i]->cancel();
    }

    // Cancels, and blocks until nothing of the run is left to run.
    void stop() noexcept {
        if (!started_ || joined_) return;
        on_stop_.reset();
        cancel();
        join();
        freeze();
    }

    // A coroutine of the run has ended for good.
    void ended() noexcept override {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.set();
    }

    pipeline_stats stats() const {
        if (const auto last = frozen()) return *last;
        pipeline_stats s;
        for (const auto& stage : stages_) s.stages.push_back(stage->stats());
        for (const auto& queue : queues_) s.channels.push_back(queue->stats());
        if (merged_sink_) split_sink(s);
        s.elapsed = home().now() - begin_;
        return s;
    }

    // The end of the stream was seen: what the statistics say stays as it is now; unless it was a stop
    // that ended it, and some are still at work.
    void freeze() noexcept {
        if (!have_all_left()) return;
        try {
            auto now = std::make_shared<const pipeline_stats>(stats());
            const std::lock_guard guard(lock_);
            if (!final_) final_ = std::move(now);
        } catch (const std::bad_alloc&) {
            // Then they go on; the figures stay right, the rates sink with time.
        }
    }

  private:
    struct cancel_run {
        run_core* run;
        void operator()() const noexcept { run->cancel(); }
    };

    // What the two queues and the slot between them would hold: a sink passes on what it can.
    void split_sink(pipeline_stats& s) const {
        stage_stats sink;
        sink.name = merged_sink_->name;
        sink.kind = "sink";
        sink.concurrency = 1;
        sink.slots.resize(1);
        s.stages.push_back(sink);
        channel_stats& before = s.channels.back();
        channel_stats behind = before;
        const std::size_t all = before.size;
        behind.name = merged_sink_->name;
        behind.capacity = merged_sink_->capacity;
        behind.size = std::min(all, behind.capacity);
        behind.num_put = behind.num_get + behind.size;
        before.capacity -= 1 + behind.capacity;
        before.size = all - std::min(all, behind.capacity + 1);
        before.num_get = behind.num_put + (all > behind.capacity ? 1 : 0);
        s.channels.push_back(behind);
    }

    std::shared_ptr<const pipeline_stats> frozen() const noexcept {
        const std::lock_guard guard(lock_);
        return final_;
    }

    void join() noexcept {
        while (!done_.is_set()) {
            try {
                block_until(done_, home());
            } catch (const deadlock_error&) {
                // Virtual time: a stage's function waits for something that will never come. Its frame
                // goes as it is, and its waits take themselves out; then the others may go on.
                abandon_one();
            }
        }
        joined_ = true;
    }

    void abandon_one() noexcept {
        for (auto& stage : stages_) {
            if (!stage->abandon_one()) continue;
            worker_left();
            ended();
            return;
        }
    }

    root<void> report_laps() {
        pipeline_stats before;  // the first lap begins with nothing
        time_point end = begin_;
        while (true) {
            // If the last one was late by a lap or more, those are one lap together.
            do {
                end = saturating_add(end, options_.lap);
            } while (end <= home().now() && end < time_point::max());
            const bool whole = co_await sleep_until(end, all_left(), timer_order::before_all);
            if (!whole) break;
            pipeline_stats after = stats();
            std::exception_ptr error;
            try {
                options_.on_lap(after - before);
            } catch (...) {
                error = std::current_exception();
            }
            if (error) {
                record(failure("on_lap", 0, error));
                give_up();
                break;
            }
            before = std::move(after);
        }
    }

    std::optional<stage_options> merged_sink_;
    time_point begin_{};
    bool started_ = false;
    bool joined_ = false;
    mutable spin_lock lock_;  // guards final_
    std::shared_ptr<const pipeline_stats> final_;
    standard_platform::atomic<std::size_t> left_{0};
    parker done_;
    // Destroyed in reverse: the callback first, then coroutines, then the queues that they use.
    std::vector<std::unique_ptr<any_queue>> queues_;
    std::vector<std::unique_ptr<running_stage<Policy>>> stages_;
    std::optional<root<void>> reporter_;
    std::optional<stop_callback<cancel_run>> on_stop_;
};

}  // namespace weir::detail

#endif
