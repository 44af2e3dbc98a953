// weir run, internal: bodies of the functions of run/worker_set.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_WORKER_SET_IPP
#define WEIR_RUN_WORKER_SET_IPP

#include <weir/run/worker_set.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <new>  // for std::bad_alloc

namespace weir::detail {

inline bool item_quota::try_admit(const executor& clock, bool counted) noexcept {
    // relaxed: an open quota stays open; a slot that does not see the store yet takes the lock
    if (is_open_.load(std::memory_order_relaxed)) return true;
    bool admitted = false;
    slots_.update([this, &clock, counted, &admitted](pause_rule& rule) {
        admitted = left_ != 0;
        if (!admitted || !counted) return;
        meter_.count_item([&clock] { return clock.now().time_since_epoch().count(); });
        if (--left_ == 0) rule.paused = true;
    });
    return admitted;
}

inline void item_quota::admit(std::size_t items, std::size_t num_slots) noexcept {
    slots_.update([this, items, num_slots](pause_rule& rule) {
        left_ = items;
        if (items != 0) meter_.restart(num_slots);
        rule.paused = items == 0;
    });
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::inspect(stage_seen& seen, [[maybe_unused]] bool states) const {
    const std::lock_guard guard(lock_);
    for (const auto& each : slots_) {
        // acquire; pairs with running_stage::leave(), in which the last slot closes the outputs before the
        // store to `gone`. So a caller that sees all slots gone also sees the outputs closed.
        slot_seen s{each.get(), each->gone.load(std::memory_order_acquire)};
        if constexpr (Policy::statistics) {
            if (states) {
                const std::lock_guard of_slot(*each);
                const auto now = each->entered();
                s.state = now.first;
                s.since = now.second;
            }
        }
        seen.per_slot.push_back(s);
    }
}

template <class Policy>
WEIR_INLINE bool worker_set<Policy>::is_below() const {
    if (trampoline::is_below(&name_)) return true;
    if constexpr (Policy::statistics) {
        const std::lock_guard guard(lock_);
        for (const auto& each : slots_) {
            if (each->is_below()) return true;
        }
    }
    return false;
}

template <class Policy>
WEIR_INLINE bool worker_set<Policy>::abandon_one() noexcept {
    for (worker& each : workers_) {
        if (each.done()) continue;
        each.abandon();
        return true;
    }
    return false;
}

template <class Policy>
WEIR_INLINE bool worker_set<Policy>::leave(slot& me) noexcept {
    out_of_service_.update([](service_rule& rule) { rule.over = true; });
    if constexpr (Policy::statistics) me.catch_up(now());
    // acq_rel; pairs with itself: the last worker sees the effects of the others
    return present_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::go_off(slot& me, [[maybe_unused]] bool late) noexcept {
    if constexpr (Policy::statistics) me.enter(slot_state::off, late ? now() : me.last_reading);
}

template <class Policy>
WEIR_INLINE auto worker_set<Policy>::make_slot(std::size_t index) -> owned<slot> {
    owned<slot> s;
    if constexpr (Policy::statistics) {
        const bool alone = run_.main_executor().traits().exclusive;  // virtual time: one thread runs all
        s = owned<slot>(new slot(name_, index, run_.main_executor(), alone));
        if (alone) s->reserve();
        if (run_.recording() != 0) {
            const std::size_t most = 1 + (run_.recording() - 1) / concurrency_;
            samplers_.push_back(
                owned<slot_sampler>(new slot_sampler(most, subseed(index, 0), run_.recording())));
            s->sampler = samplers_.back().get();
            s->meter.sample_after(0);  // the first task is in the sample
        }
        detail::follow(*s, run_.trail(), index_in_trail_);
    } else {
        s = owned<slot>(new slot(name_, index, run_.main_executor()));
    }
    s->set_where(where_);
    return s;
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::start(std::size_t i) noexcept {
    workers_[i].start(executor_, Policy::statistics ? slots_[i].get() : nullptr, run_, &end_token_);
}

template <class Policy>
WEIR_INLINE bool worker_set<Policy>::join() noexcept {
    std::size_t present = present_.load(std::memory_order_relaxed);  // the exchange below checks the value
    while (present != 0) {
        // acq_rel; pairs with leave(): the last worker to leave sees the writes before this call
        if (present_.compare_exchange_weak(present, present + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
}

template <class Policy>
WEIR_INLINE worker_set<Policy>::worker_set(run_context& run, const stage_options& options)
    : stage_gate(run, run.executor_of(options)), name_(options.name), where_(options.where),
      concurrency_(options.concurrency), present_(options.concurrency) {
    run_context::refuse_unless(options.concurrency >= 1, options,
                               "has no slot to work in; give it .concurrency = 1 or more");
    run_context::refuse_unless(!was_negative(options.concurrency), options,
                               "was given a negative concurrency; give it .concurrency = 1 or more");
    run_context::check_time_limit(options);
    run_context::refuse_unless(run.main_executor().traits().exclusive || !executor_.traits().exclusive,
                               options,
                               "names an executor that runs everything by itself (virtual time), and the run "
                               "is elsewhere; start the whole run there");
    reserve(options.concurrency);
    try {
        for (std::size_t i = 0; i < options.concurrency; ++i) slots_.push_back(make_slot(i));
    } catch (const std::bad_alloc&) {
        if (options.concurrency < memory_shortage::many) throw;
        throw memory_shortage("stage '" + name_ + "': ", options.concurrency, "slots", slots_.size());
    }
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::reserve(std::size_t num_slots) {
    if (num_slots < memory_shortage::many) return;
    try {
        if (num_slots > slots_.max_size()) throw std::bad_alloc();
        slots_.reserve(num_slots);
    } catch (const std::bad_alloc&) {
        throw memory_shortage("stage '" + name_ + "': no memory for a list of " + std::to_string(num_slots) +
                              " slots");
    }
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::set_concurrency(std::size_t concurrency) {
    stage_options named;
    named.name = name_;
    run_context::refuse_unless(concurrency >= 1, named, "has no slot to work in then; give it 1 or more");
    run_context::refuse_unless(!was_negative(concurrency), named,
                               "can't have a negative concurrency; give it 1 or more");
    if (!is_resizable()) {  // so the number of slots never changes, and is read without the lock
        const bool has_one = slots_.size() == 1;
        run_context::refuse_unless(concurrency == slots_.size(), named,
                                   has_one ? "works on one item after the other; its concurrency is 1"
                                           : "always has a slot for each of its inputs");
        return;
    }
    const std::lock_guard guard(lock_);
    // relaxed: a stage with 0 workers never gets one again; if the stage ends later, join() refuses the slots
    if (present_.load(std::memory_order_relaxed) == 0) return;
    const std::size_t before = slots_.size();
    reserve(concurrency);
    try {
        while (slots_.size() < concurrency) add_slot();
    } catch (const std::bad_alloc&) {
        const std::size_t had = workers_.size();
        while (workers_.size() > before) workers_.pop_back();  // adds all slots or none
        while (slots_.size() > before) slots_.pop_back();
        while (samplers_.size() > before) samplers_.pop_back();
        if (concurrency < memory_shortage::many) throw;
        throw memory_shortage("stage '" + name_ + "': ", concurrency, "slots", had);
    }
    // Only the slots between the old and the new concurrency change.
    const std::size_t end = detail::smaller(before, detail::larger(concurrency_, concurrency));
    for (std::size_t i = detail::smaller(concurrency_, concurrency); i < end; ++i) {
        const bool recalled = i >= concurrency;
        // relaxed: the lock of out_of_service_, and the locks that recall() takes, order the flag
        if (slots_[i]->recalled.exchange(recalled, std::memory_order_relaxed) == recalled) continue;
        if (recalled) recall(*slots_[i]);
    }
    if (concurrency < concurrency_) recall_other_waits();
    out_of_service_.update([](service_rule&) {});
    concurrency_ = concurrency;
    for (std::size_t i = before; i < slots_.size(); ++i) {
        const bool counts = run_.try_add_worker();
        if (!counts || !join()) {
            workers_[i].abandon();  // the worker will never start
            // release; pairs with inspect(), as in running_stage::leave()
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
WEIR_INLINE void worker_set<Policy>::add_slot() {
    slots_.push_back(make_slot(slots_.size()));
    slots_.back()->begin(begin_, slot_state::off);
    if (run_.recording() != 0 && Policy::statistics) samplers_.back()->begin(begin_);
    workers_.push_back(make_worker(*slots_.back()));
}

template <class Policy>
WEIR_INLINE void worker_set<Policy>::add_times(stage_stats& s, [[maybe_unused]] std::int64_t until,
                                               [[maybe_unused]] stillness& still) const {
    const std::lock_guard guard(lock_);
    s.name = name_;
    s.concurrency = concurrency_;
    s.per_slot.resize(slots_.size());
    if constexpr (Policy::statistics) {
        for (const auto& each : slots_) each->lock();
        std::int64_t at = until;
        for (const auto& each : slots_) at = detail::larger(at, each->counted_until());
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            still.add(slots_[i]->entered().first, slots_[i]->entered().second);
            const auto& spent = slots_[i]->spent_until(at);
            for (const auto& state : states_by_number) {
                s.per_slot[i].*state.time = duration(spent[static_cast<std::size_t>(state.state)]);
            }
        }
        for (const auto& each : slots_) each->unlock();
        s.elapsed = duration(time_between(begin_, at));
        for (const auto& each : slots_) {
            s.task_times.add(each->tasks);
            s.num_failures += each->failures();
            s.failure_time = detail::sum(s.failure_time, duration(each->failure_time()));
            if (const std::uint64_t n = each->retries(); n != 0) {
                if (!s.retries) s.retries.emplace();
                s.retries->num_retries += n;
                s.retries->time = detail::sum(s.retries->time, duration(each->retry_time()));
            }
        }
        if (run_.recording() != 0) {
            task_samples& all = s.samples.emplace();
            for (const auto& each : samplers_) add_samples(all, each->samples());
            sort_and_limit(all, run_.recording());
        }
        s.num_tasks = s.task_times.count() + s.num_failures;
        s.task_time = s.task_times.sum();
        s.busy = s.times().busy();
    }
}

}  // namespace weir::detail

#endif
