// weir executor, internal: what the workers of a pool have to do, and where each looks for it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WORK_FINDER_HPP
#define WEIR_EXECUTOR_WORK_FINDER_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_view.hpp>
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/pool_worker.hpp>
#include <weir/executor/steal_policy.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/executor/worker_places.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::int64_t, std::uint64_t
#include <functional>  // for std::function
#include <memory>      // for std::make_unique
#include <new>         // for std::bad_alloc
#include <utility>     // for std::exchange, std::move

namespace weir::detail {

// The order in which things are found, and how long each waits at most: see basic_thread_pool.
template <class Platform>
class basic_work_finder : public threaded_executor<Platform> {
    using base = threaded_executor<Platform>;

  public:
    using worker = pool_worker<basic_work_finder, Platform>;

    void inspect(executor_view& view) const override {
        inspect_pool(view, workers_, idle_, inbox_, timers_);
        view.busy += static_cast<std::size_t>(blocked_.load(std::memory_order_seq_cst) % change);
    }

    // ---- for the workers ------------------------------------------------------------------------

    // There is work for two now: ends the watcher's nap.
    WEIR_ALWAYS_INLINE void is_for_two() noexcept {
        if (idle_.listening() || idle_.unwatched()) [[unlikely]]
            call();
    }
    // Whether anything may come from outside, and if so, whether it has its turn now, before what the worker
    // has at hand.
    bool waits_outside() const noexcept { return timers_.next() != timers_.never || !inbox_.empty(); }
    WEIR_NOINLINE static bool has_to_look(const worker& me) noexcept {
        const std::uint64_t tick = me.resumed();
        return tick % inbox_period == 0 || tick % timer_period == 0 || me.looked != Platform::coarse_now();
    }

  protected:
    using base::inbox_;
    using base::timers_;
    using watch = basic_idle_workers<Platform>;
    using typename base::wake_up;

    // Of as many workers at most; the rest as of the base.
    basic_work_finder(unsigned workers, unsigned most, const char* refusal, const char* name,
                      std::function<void(unsigned)> on_start)
        : base(workers, refusal, true, name, std::move(on_start)), workers_(most + most_extra),
          thieves_(most + most_extra) {}
    ~basic_work_finder() override = default;

    // How many workers it can be asked to have.
    unsigned most() const noexcept { return workers_.most() - most_extra; }

    // To the end of the worker's own queue.
    void push(worker& me, void* address) noexcept {
        me.queue.push_bottom(address);
        is_for_two();
    }
    WEIR_NOINLINE void call() noexcept { idle_.call(); }

    // The next coroutine for an active worker, or null if there is none to be had.
    void* find(worker& me) noexcept {
        const std::uint64_t tick = me.resumed();
        // What comes from outside, and timers, have their turn every so many resumptions; and whenever
        // the coarse clock has moved on, since a resumption may take long.
        const std::int64_t due = timers_.next();
        if (due != timers_.never || !inbox_.empty()) {
            if (void* const p = look_outside(me, tick, due)) return p;
        }
        if (me.streak < slot_streak) {
            if (void* const p = me.take_next(me.thread())) {
                ++me.streak;
                return p;
            }
        }
        return find_queued(me);
    }

    WEIR_NOINLINE void* look_outside(worker& me, std::uint64_t tick, std::int64_t due) noexcept {
        const std::int64_t before = std::exchange(me.looked, Platform::coarse_now());
        if (tick % inbox_period == 0 || me.looked != before) {
            if (void* const p = receive(me)) return p;
        }
        if (due != timers_.never && (tick % timer_period == 0 || me.looked >= due)) {
            fire(me, Platform::now());
        }
        return nullptr;
    }

    WEIR_NOINLINE void* find_queued(worker& me) noexcept {
        me.streak = 0;
        if (!me.queue.empty()) {
            if (++me.passed_over % fork_period == 0) {
                if (void* const p = me.forks.steal()) return p;  // the eldest
            }
            if (void* const p = me.take_next(me.thread())) push(me, p);
            if (void* const p = me.queue.steal()) return p;
        }
        if (!me.forks.empty()) {
            if (void* const p = me.forks.pop_bottom()) return p;
        }
        if (void* const p = receive(me)) return p;
        if (void* const p = me.take_next(me.thread())) return p;
        if (workers_.size() == 1) return nullptr;
        const std::int64_t now = Platform::now();
        return thieves_.hunt(workers_, me, now, now).caught;
    }

    // From outside: one to run, and more into the own queue.
    void* receive(worker& me) noexcept {
        void* batch[inbox_batch];
        const std::size_t n = inbox_.pop(batch, inbox_batch);
        if (n == 0) return nullptr;
        for (std::size_t i = 1; i < n; ++i) push(me, batch[i]);
        return batch[0];
    }

    void fire(worker& me, std::int64_t now) noexcept {
        if (timers_.next() > now) return;
        timers_.fire(time_point(duration(now)), [&](std::coroutine_handle<> h) { push(me, h.address()); });
    }

    // Everything that an idle worker can find.
    steal_result search(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        fire(me, now);
        steal_result result{me.queue.steal()};
        if (result.caught == nullptr) result.caught = receive(me);
        return result.caught != nullptr ? result : thieves_.hunt(workers_, me, now, idle_since);
    }

    basic_worker_places<worker, Platform> workers_;
    basic_thieves<Platform> thieves_;
    watch idle_;
    // How many threads sleep in a wait, and, above that, how often one has begun or ended to.
    static constexpr std::uint64_t change = std::uint64_t{1} << 32;
    typename Platform::template atomic<std::uint64_t> blocked_{0};

  private:
    static constexpr unsigned slot_streak = 3;         // see class comment; tokio's figure, too
    static constexpr std::uint64_t inbox_period = 61;  // resumptions; prime, as in Go's scheduler
    static constexpr std::uint64_t timer_period = 8;   // resumptions, for a clock read of 25 ns
    static constexpr std::size_t inbox_batch = 32;
    static constexpr unsigned fork_period = 16;  // visits to the queue
    static constexpr unsigned most_extra = 64;   // workers, while some block

    void make_workers(unsigned n) override {
        if (n > workers_.most()) throw std::bad_alloc();  // of those that were not asked for
        while (workers_.size() < n) workers_.add(std::make_unique<worker>(*this, workers_.size()));
    }
    void expect(int workers) noexcept override { idle_.expect(workers); }
    std::uint64_t num_resumed() const noexcept override {
        std::uint64_t sum = 0;
        for (unsigned i = 0, n = workers_.size(); i < n; ++i) sum += workers_[i].resumed();
        return sum;
    }
    bool is_crowded() const noexcept override {
        if (!idle_.none_idle()) return false;
        bool any = !inbox_.empty() || timers_.next() <= Platform::now();
        for (unsigned i = 0, n = workers_.size(); i < n; ++i) any = any || !workers_[i].empty();
        return any;
    }

    wake_up who_takes() noexcept override { return idle_.alert(); }
    wake_up who_sees(std::int64_t deadline) noexcept override { return idle_.alert(deadline); }
    void wake_all() noexcept override { idle_.rouse(); }
};

WEIR_COMPILED(class basic_work_finder<standard_platform>);

}  // namespace weir::detail

#endif
