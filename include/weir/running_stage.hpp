// weir floor 7: a stage of a run: its slots, and what each of them does besides its work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUNNING_STAGE_HPP
#define WEIR_RUNNING_STAGE_HPP

#include <weir/channel_core.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/slot.hpp>
#include <weir/executor.hpp>
#include <weir/failure.hpp>
#include <weir/root.hpp>
#include <weir/run_context.hpp>
#include <weir/stage_options.hpp>
#include <weir/stats.hpp>

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::unique_ptr
#include <new>        // for std::bad_alloc
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A stage of a run: its slots, each a coroutine that `make_worker` of the stage's kind gives.
template <class Policy>
class running_stage {
  public:
    using slot = slot_of<Policy>;

    running_stage(run_context& run, const char* kind, const stage_options& options);
    running_stage(const running_stage&) = delete;
    running_stage& operator=(const running_stage&) = delete;
    virtual ~running_stage() = default;

    // Before the start; may throw. After it the workers exist and wait for `start`.
    void make_workers() {
        for (std::unique_ptr<slot>& s : slots_) workers_.push_back(make_worker(*s));
    }
    std::size_t num_workers() const noexcept { return slots_.size(); }
    void begin(std::int64_t now) noexcept {
        begin_ = now;
        for (std::unique_ptr<slot>& s : slots_) s->begin(now);
    }
    void start() noexcept;

    stage_stats stats() const;

    // Destroys a worker that can never go on, with what it waits for. False if there is none.
    bool abandon_one() noexcept {
        for (worker& each : workers_) {
            if (each.done()) continue;
            each.abandon();
            return true;
        }
        return false;
    }

    // While the stage is whole: frames may refer to it.
    void destroy_workers() noexcept { workers_.clear(); }

  protected:
    using worker = root<void>;
    virtual worker make_worker(slot& me) = 0;

    // The functions below are what a worker's coroutine calls, in this order.

    // It runs for the first time.
    void arrive(slot& me) const noexcept {
        if constexpr (Policy::statistics) me.resumed(now());
    }

    // What follows begins now. One reading of the clock.
    void tick(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            me.catch_up(now());
        } else {
            static_cast<void>(me);
        }
    }

    // Something was done that is no invocation and can't wait: its end is the end of what comes next.
    void went_on(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            me.watch.went_on();
        } else {
            static_cast<void>(me);
        }
    }

    // A piece of work is done that began at `began`, which was the mark then: a function that waits
    // moves the mark on. Returns the time it took.
    std::int64_t work_done(slot& me, std::int64_t began) const noexcept {
        tick(me);
        return me.mark - began;
    }

    // An invocation that is no part of a rate of failures: none of its kind is ever tolerated. `spent`
    // is what `work_done` gave.
    void gave(slot& me, std::int64_t spent) const noexcept {
        if constexpr (Policy::statistics) {
            me.tasks.record(spent);
        } else {
            static_cast<void>(spent);
            static_cast<void>(me);
        }
    }

    // The same for one that can't wait: at most one reading of the clock, now and for it alone, or
    // later and for others, too.
    void gave(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            if (me.watch.finished_one()) tick(me);
        } else {
            static_cast<void>(me);
        }
    }

    template <class... Spent>
    void succeeded(slot& me, Spent... spent) noexcept {
        gave(me, spent...);
        if (counts_) invocations_.fetch_add(1, std::memory_order_relaxed);
        if (run_counts_) run_.count_success();
    }

    // An invocation that can't wait threw. One reading of the clock.
    void failed(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            me.catch_up_failed(now());
        } else {
            static_cast<void>(me);
        }
    }

    // An invocation threw. False: that is more than is tolerated, and the run stops.
    bool tolerates(slot& me, std::uint64_t item, std::exception_ptr error) noexcept;

    // What can't be tolerated, because the stage can't go on.
    void gave_up(slot& me, std::uint64_t item, std::exception_ptr error) noexcept;

    // It takes nothing any more. The last of the stage's workers closes what they put into.
    template <class Channel>
    void leave(slot& me, Channel& output) noexcept {
        if constexpr (Policy::statistics) {
            tick(me);
            me.enter(slot_state::off, me.mark);
        }
        run_.worker_left();  // before the end is to be seen behind it
        if (present_.fetch_sub(1, std::memory_order_acq_rel) == 1) output.close();
    }

    std::int64_t now() const noexcept;

    run_context& run_;

  private:
    bool count_and_tell(slot& me, std::uint64_t item, std::exception_ptr error) noexcept;
    void stop_run(std::uint64_t item, std::exception_ptr error) noexcept;

    const std::string name_;
    const char* kind_;
    executor& home_;
    const std::optional<failure_limit> limit_;
    std::vector<std::unique_ptr<slot>> slots_;
    std::vector<worker> workers_;
    std::int64_t begin_ = 0;
    standard_platform::atomic<std::size_t> present_;
    // Shared by the slots, so counted only where a rate needs them.
    const bool counts_;
    const bool run_counts_;
    standard_platform::atomic<std::uint64_t> invocations_{0};
    standard_platform::atomic<std::uint64_t> failures_{0};
};

template <class Policy>
running_stage<Policy>::running_stage(run_context& run, const char* kind,
                                     const stage_options& options)
    : run_(run), name_(options.name), kind_(kind), home_(run.home_of(options)),
      limit_(options.max_failures), present_(options.concurrency),
      counts_(limit_ && limit_->is_rate()), run_counts_(!limit_ && run.limits_by_rate()) {
    run_context::check(options.concurrency >= 1, options,
                            "has no slot to work in; give it .concurrency = 1 or more");
    run_context::check(run.home().exclusive() || !home_.exclusive(), options,
                       "names an executor that runs everything by itself (virtual time), and the run "
                       "is elsewhere; start the whole run there");
    for (std::size_t i = 0; i < options.concurrency; ++i) {
        if constexpr (Policy::statistics) {
            slots_.push_back(std::make_unique<slot>(name_, i, run.home(), run.home().exclusive()));
        } else {
            slots_.push_back(std::make_unique<slot>(name_, i, run.home()));
        }
    }
    workers_.reserve(options.concurrency);
}

template <class Policy>
void running_stage<Policy>::start() noexcept {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i].start(home_, Policy::statistics ? slots_[i].get() : nullptr, run_);
    }
}

template <class Policy>
std::int64_t running_stage<Policy>::now() const noexcept {
    return run_.home().now().time_since_epoch().count();
}

template <class Policy>
bool running_stage<Policy>::tolerates(slot& me, std::uint64_t item,
                                      std::exception_ptr error) noexcept {
    if (!count_and_tell(me, item, error)) return false;
    bool too_many;
    if (limit_) {
        const std::uint64_t failures = failures_.fetch_add(1, std::memory_order_relaxed) + 1;
        too_many = limit_->exceeded(failures, invocations_.load(std::memory_order_relaxed) + failures);
    } else {
        too_many = run_.exceeds_limit();
    }
    if (too_many) stop_run(item, std::move(error));
    return !too_many;
}

template <class Policy>
void running_stage<Policy>::gave_up(slot& me, std::uint64_t item, std::exception_ptr error) noexcept {
    if (count_and_tell(me, item, error)) stop_run(item, std::move(error));
}

// False if `on_failure` threw, which stops the run: for the item's own error, and for that.
template <class Policy>
bool running_stage<Policy>::count_and_tell(slot& me, std::uint64_t item,
                                           std::exception_ptr error) noexcept {
    me.failures.store(me.failures.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    try {
        run_.tell(failure(name_, item, error));
    } catch (...) {
        stop_run(item, std::move(error));
        stop_run(item, std::current_exception());
        return false;
    }
    tick(me);  // the callback's time is the stage's, not a wait
    return true;
}

template <class Policy>
void running_stage<Policy>::stop_run(std::uint64_t item, std::exception_ptr error) noexcept {
    try {
        run_.record(failure(name_, item, error));
    } catch (const std::bad_alloc&) {
        run_.record(failure({}, item, std::move(error)));  // without the name, which allocates
    }
}

template <class Policy>
stage_stats running_stage<Policy>::stats() const {
    stage_stats s;
    s.name = name_;
    s.kind = kind_;
    s.concurrency = slots_.size();
    s.slots.resize(slots_.size());
    if constexpr (Policy::statistics) {
        // All slots at one instant, so that their states sum to concurrency x elapsed.
        for (const auto& each : slots_) each->lock();
        std::int64_t at = now();
        for (const auto& each : slots_) at = std::max(at, each->last_transition());
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const auto& spent = slots_[i]->spent_until(at);
            const auto in = [&spent](slot_state state) {
                return duration(spent[static_cast<std::size_t>(state)]);
            };
            slot_times& times = s.slots[i];
            times.off = in(slot_state::off);
            times.wait_get = in(slot_state::wait_get);
            times.runnable = in(slot_state::runnable);
            times.run = in(slot_state::run);
            times.await = in(slot_state::await);
            times.wait_put = in(slot_state::wait_put);
        }
        for (const auto& each : slots_) each->unlock();
        s.elapsed = duration(at - begin_);
        for (const auto& each : slots_) {
            s.task_times.add(each->tasks);
            s.num_failures += each->failures.load(std::memory_order_relaxed);
        }
        s.num_tasks = s.task_times.count() + s.num_failures;
        s.task_time = s.task_times.sum();
        s.busy = s.times().busy();
    }
    return s;
}

}  // namespace weir::detail

#endif
