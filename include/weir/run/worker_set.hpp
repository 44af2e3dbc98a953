// weir run, internal: the slots of a stage, their worker coroutines, and changes of the concurrency
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_WORKER_SET_HPP
#define WEIR_RUN_WORKER_SET_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_state.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_interfaces.hpp>
#include <weir/run/stage_gate.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/detached_task.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::int64_t, std::uint64_t
#include <memory>           // for std::unique_ptr
#include <mutex>            // for std::lock_guard
#include <new>              // for std::bad_alloc
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir::detail {

// The slots of a stage. Each has a worker: a coroutine that `make_worker` of the derived class makes.
template <class Policy>
class worker_set : public stage_gate {
  public:
    using slot = slot_of<Policy>;

    worker_set(run_context& run, const stage_options& options);
    worker_set(const worker_set&) = delete;
    worker_set& operator=(const worker_set&) = delete;
    virtual ~worker_set() = default;

    const std::string& name() const noexcept { return name_; }
    const std::source_location& where() const noexcept { return where_; }

    // Called before the start; may throw. The workers then wait for `start`.
    void make_workers() {
        for (slot* const s : slots_) workers_.push_back(make_worker(*s));
    }
    std::size_t num_workers() const noexcept { return slots_.size(); }
    std::size_t concurrency() const {
        const std::lock_guard guard(lock_);
        return concurrency_;
    }
    void begin(std::int64_t now) noexcept {
        begin_ = now;
        for (slot* const s : slots_) s->begin(now);
    }
    void start() noexcept {
        for (std::size_t i = 0; i < workers_.size(); ++i) start(i);
    }

    // See `run_control::set_concurrency`.
    void set_concurrency(std::size_t concurrency);

    // Whether this kind of stage can have several slots.
    virtual bool is_resizable() const noexcept { return false; }
    // Whether the stage's function keeps its thread until it returns, because it never suspends.
    virtual bool blocks_threads() const noexcept { return false; }

    template <class Function>
    void for_each_slot(Function function) const {
        const std::lock_guard guard(lock_);
        for (slot* const each : slots_) function(*each);
    }

    // See `watched_run::inspect`.
    void inspect(stage_seen& seen, [[maybe_unused]] bool states) const {
        const std::lock_guard guard(lock_);
        for (slot* const each : slots_) {
            // acquire; pairs with running_stage::leave(): the last slot has closed the outputs before
            slot_seen s{each, each->gone.load(std::memory_order_acquire)};
            if constexpr (Policy::statistics) {
                if (states) s.runs = has_thread(each->state());
            }
            seen.per_slot.push_back(s);
        }
    }

    // Whether the caller is called from work of this stage, on the same stack. A thread of the library knows
    // its stage; for a thread of another library, the slots of a stage that measures know their threads.
    bool is_below() const {
        if (trampoline::is_below(&name_)) return true;
        if constexpr (Policy::statistics) {
            const std::lock_guard guard(lock_);
            for (slot* const each : slots_) {
                if (each->is_below()) return true;
            }
        }
        return false;
    }

    // Adds the times of all slots until one instant, so that their states sum to slots x elapsed: `until`, or
    // the last change of a state if that is later. `still` gets the time since which each is in its state.
    void add_times(stage_stats& s, std::int64_t until, stillness& still) const;

    // Destroys a worker that can never be resumed, with its wait. False: there is none.
    bool abandon_one() noexcept {
        for (worker& each : workers_) {
            if (each.done()) continue;
            each.abandon();
            return true;
        }
        return false;
    }

    // Called while the derived class still exists: frames refer to it.
    void destroy_workers() noexcept { workers_.clear(); }

  public:
    using worker = detached_task<void>;
    virtual worker make_worker(slot& me) = 0;

    // For a resizable stage: ends the wait of a slot for an item.
    virtual void recall(slot& who) noexcept { static_cast<void>(who); }

    // Awaitable of bool: waits until the slot is in service again. False: the stage has ended.
    auto wait_for_service(slot& me) noexcept { return out_of_service_.wait(&me, me, slot_state::off); }

    // Called by a worker that takes no more items. True: it was the last one.
    bool leave(slot& me) noexcept {
        out_of_service_.update([](service_rule& rule) { rule.over = true; });
        if constexpr (Policy::statistics) me.catch_up(now());
        // acq_rel; pairs with itself: the last one sees what the others did
        return present_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    // `late`: the last clock reading is too old, as the worker did other work since.
    void go_off(slot& me, [[maybe_unused]] bool late) noexcept {
        if constexpr (Policy::statistics) me.enter(slot_state::off, late ? now() : me.last_reading);
    }

    std::int64_t now() const noexcept { return run_.main_executor().now().time_since_epoch().count(); }

  private:
    std::unique_ptr<slot> make_slot(std::size_t index) const {
        std::unique_ptr<slot> s;
        if constexpr (Policy::statistics) {
            const bool alone = run_.main_executor().traits().exclusive;
            s = std::make_unique<slot>(name_, index, run_.main_executor(), alone);
            if (alone) s->reserve();
            detail::follow(*s, run_.trail(), trail_);
        } else {
            s = std::make_unique<slot>(name_, index, run_.main_executor());
        }
        s->composed_at(where_);
        return s;
    }
    void start(std::size_t i) noexcept {
        workers_[i].start(executor_, Policy::statistics ? slots_[i] : nullptr, run_, &ends_);
    }
    // Counts one more worker, unless the last one has left. acq_rel; pairs with leave()
    bool join() noexcept {
        std::size_t present = present_.load(std::memory_order_relaxed);
        while (present != 0) {
            if (present_.compare_exchange_weak(present, present + 1, std::memory_order_acq_rel)) return true;
        }
        return false;
    }
    void add_slot();
    const std::string name_;
    const std::size_t trail_{run_.trail() != nullptr ? run_.trail()->add_stage(name_) : 0};
    const std::source_location where_;
    const end_token ends_{&run_.ends(), &name_};  // the address of the name identifies the stage
    // Guards the members below, up to concurrency_, against a change of the concurrency.
    mutable standard_platform::mutex lock_;
    owning_list<slot> slots_;
    std::vector<worker> workers_;
    std::size_t concurrency_;
    std::int64_t begin_ = 0;
    standard_platform::atomic<std::size_t> present_;
    wait_queue<service_rule> out_of_service_{service_rule{}, "out of service", wait_kind::bench};
};

template <class Policy>
worker_set<Policy>::worker_set(run_context& run, const stage_options& options)
    : stage_gate(run, run.executor_of(options)), name_(options.name), where_(options.where),
      concurrency_(options.concurrency), present_(options.concurrency) {
    run_context::refuse_unless(options.concurrency >= 1, options,
                               "has no slot to work in; give it .concurrency = 1 or more");
    run_context::refuse_unless(!was_negative(options.concurrency), options,
                               "was given a negative concurrency; give it .concurrency = 1 or more");
    run_context::refuse_unless(run.main_executor().traits().exclusive || !executor_.traits().exclusive,
                               options,
                               "names an executor that runs everything by itself (virtual time), and the run "
                               "is elsewhere; start the whole run there");
    try {
        for (std::size_t i = 0; i < options.concurrency; ++i) slots_.push_back(make_slot(i));
    } catch (const std::bad_alloc&) {
        if (options.concurrency < memory_shortage::many) throw;
        throw memory_shortage("stage '" + name_ + "': ", options.concurrency, "slots", slots_.size());
    }
}

template <class Policy>
void worker_set<Policy>::set_concurrency(std::size_t concurrency) {
    stage_options named;
    named.name = name_;
    run_context::refuse_unless(concurrency >= 1, named, "has no slot to work in then; give it 1 or more");
    run_context::refuse_unless(!was_negative(concurrency), named,
                               "can't have a negative concurrency; give it 1 or more");
    run_context::refuse_unless(concurrency == 1 || is_resizable(), named,
                               "works on one item after the other; its concurrency is 1");
    if (!is_resizable()) return;
    const std::lock_guard guard(lock_);
    const std::size_t before = slots_.size();
    try {
        while (slots_.size() < concurrency) add_slot();
    } catch (const std::bad_alloc&) {
        const std::size_t had = slots_.size();
        for (; slots_.size() > before; slots_.pop_back()) workers_.pop_back();  // all or none
        if (concurrency < memory_shortage::many) throw;
        throw memory_shortage("stage '" + name_ + "': ", concurrency, "slots", had);
    }
    for (std::size_t i = 0; i < before; ++i) {
        const bool recalled = i >= concurrency;
        if (slots_[i]->recalled.exchange(recalled, std::memory_order_relaxed) == recalled) continue;
        if (recalled) recall(*slots_[i]);
    }
    out_of_service_.update([](service_rule&) {});
    concurrency_ = concurrency;
    for (std::size_t i = before; i < slots_.size(); ++i) {
        const bool counts = run_.try_add_worker();
        if (!counts || !join()) {
            workers_[i].abandon();  // the worker will never start
            // release; pairs with inspect()
            slots_[i]->gone.store(true, std::memory_order_release);
            if (!counts) continue;
            run_.worker_left();
            run_.ended();
            continue;
        }
        if constexpr (Policy::statistics) slots_[i]->enter(slot_state::runnable, now());
        start(i);
    }
}

template <class Policy>
void worker_set<Policy>::add_slot() {
    slots_.reserve(slots_.size() + 1);
    workers_.reserve(workers_.size() + 1);
    std::unique_ptr<slot> more = make_slot(slots_.size());
    more->begin(begin_, slot_state::off);
    workers_.push_back(make_worker(*more));
    slots_.push_back(std::move(more));
}

template <class Policy>
void worker_set<Policy>::add_times(stage_stats& s, [[maybe_unused]] std::int64_t until,
                                   [[maybe_unused]] stillness& still) const {
    const std::lock_guard guard(lock_);
    s.name = name_;
    s.concurrency = concurrency_;
    s.per_slot.resize(slots_.size());
    if constexpr (Policy::statistics) {
        for (slot* const each : slots_) each->lock();
        std::int64_t at = until;
        for (slot* const each : slots_) at = detail::larger(at, each->last_transition());
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            still.add(slots_[i]->entered().first, slots_[i]->entered().second);
            const auto& spent = slots_[i]->spent_until(at);
            for (const auto& state : states_by_number) {
                s.per_slot[i].*state.time = duration(spent[static_cast<std::size_t>(state.state)]);
            }
        }
        for (slot* const each : slots_) each->unlock();
        s.elapsed = duration(time_between(begin_, at));
        for (slot* const each : slots_) {
            s.task_times.add(each->tasks);
            s.num_failures += each->failures();
            s.failure_time = detail::sum(s.failure_time, duration(each->failure_time()));
        }
        s.num_tasks = s.task_times.count() + s.num_failures;
        s.task_time = s.task_times.sum();
        s.busy = s.times().busy();
    }
}

WEIR_COMPILED(class worker_set<measured>);
WEIR_COMPILED(class worker_set<summed>);
WEIR_COMPILED(class worker_set<unmeasured>);

}  // namespace weir::detail

#endif
