// weir executor, internal: lends a worker's place in a pool to a thread that waits for an item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_PLACE_LEASE_HPP
#define WEIR_EXECUTOR_PLACE_LEASE_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint64_t
#include <utility>  // for std::exchange

namespace weir::detail {

// Decides when a consumer (a thread of the program that waits for an item) asks for a worker's place (the
// right to run coroutines as that worker), and when it returns the place; the time between is a lease. Only
// one thread uses the object at a time; see `basic_place_lease`. Times in nanoseconds.
//
// A lease saves the sleep and wake-up of the consumer, 2 to 10 us. So a lease pays only if steps (resumptions
// and channel operations) are short: at most `longest_mean_step_` on average. A lease does not pay if the
// consumer takes more than `longest_mean_use` for each item, because the lent place is vacant meanwhile. The
// consumer must not run a long resumption while its next item is ready. So a visit (one wait of the consumer
// in the place) may take at most `longest_visit_`. One measured time above a limit may be an interruption by
// the system. So the next time is measured, too, and the place is returned only if both exceed a limit. (The
// loop in README.md, with statistics, two workers, each interrupted for 20 us every 2 ms: 300 ns an item; 353
// if one measured time is enough.)
class lease_policy {
  public:
    // `one_processor`: the process has one processor, so a vacant place costs nothing. `one_worker`: the pool
    // was made with one worker. If both are false, the limits for a step and a visit are lower, for two
    // reasons: an idle worker can steal all but very short coroutines; and a coroutine that the consumer
    // posts to the vacant place waits for the next visit, as the post wakes no idle worker. (Stages of 5 us,
    // two workers, a consumer that takes 0.3 us an item: 4.6 us an item without leases; 6.0 with a limit of
    // 2 us a step.)
    explicit lease_policy(bool one_processor, bool one_worker = true) noexcept
        : one_processor_(one_processor), longest_mean_step_(one_processor || one_worker ? 2'000 : 150),
          longest_visit_(one_processor || one_worker ? 50'000 : 25'000) {}

    // Called if the consumer finds no item and no vacant place. Returns whether to ask for a place: the time
    // of the last `back_off` is over; and since the last call of `may_ask` there were at least `min_steps`
    // steps, of `longest_mean_step_` or less on average. `done`: the number of steps of all workers so far.
    bool may_ask(std::int64_t now, std::uint64_t done) noexcept {
        const std::int64_t passed = now - std::exchange(last_check_, now);
        const auto steps = static_cast<std::int64_t>(done - std::exchange(done_at_last_check_, done));
        return now >= not_before_ && steps >= min_steps && passed <= steps * longest_mean_step_;
    }

    // The consumer enters the place: a visit begins. `operations`: the number of channel operations of its
    // thread. Returns false if the consumer has to return the place: the items since the last visit have
    // taken more than `longest_mean_use` on average, and the previous measurement exceeded a limit, too. Only
    // the time after one visit in `sample_period` is measured, and the time after one above a limit. Returns
    // true without a measured time, in the first visit of a lease, and with one processor.
    template <class Platform>
    bool begin_visit(std::uint64_t operations) noexcept {
        if (!measures_) return true;
        const std::int64_t now = Platform::now();
        const auto items = static_cast<std::int64_t>(operations - operations_at_leave_);
        const std::int64_t passed = now - std::exchange(began_, now);
        is_long_ = !one_processor_ && operations_at_leave_ != 0 &&
                   passed > larger<std::int64_t>(items, 1) * longest_mean_use;
        return !(is_long_ && was_long_);
    }
    // The item of the consumer is there, and the visit ends. Returns false if the consumer has to return the
    // place: the visit was measured, and took more than `longest_visit_`, and the previous measurement
    // exceeded a limit, too.
    template <class Platform>
    bool end_visit(std::uint64_t operations) noexcept {
        if (measures_) {
            const bool is_long_visit = Platform::now() - began_ > longest_visit_;
            if (is_long_visit && was_long_) return false;
            measures_ = was_long_ = is_long_visit || is_long_;
            if (!was_long_) back_off_ = first_back_off;
        }
        if (++visits_ % sample_period != 0 && !measures_) return true;
        measures_ = true;
        operations_at_leave_ = operations;
        began_ = Platform::now();
        return true;
    }

    // The consumer has got a place.
    void got_place() noexcept {
        measures_ = true;
        is_long_ = was_long_ = false;
        operations_at_leave_ = 0;
    }
    // The consumer returns the place. `may_ask` returns false for `first_back_off` from now on. The time
    // doubles with each call, up to `longest_back_off`, until a measurement exceeds no limit.
    void back_off(std::int64_t now) noexcept {
        not_before_ = now + back_off_;
        back_off_ = smaller(2 * back_off_, longest_back_off);
    }

  private:
    static constexpr std::int64_t min_steps = 4;                   // between two calls of may_ask()
    static constexpr std::int64_t longest_mean_use = 1'000;        // ns that the consumer takes for an item
    static constexpr std::uint32_t sample_period = 16;             // one visit in 16 is measured
    static constexpr std::int64_t first_back_off = 1'000'000;      // ns
    static constexpr std::int64_t longest_back_off = 256'000'000;  // ns

    const bool one_processor_;
    const std::int64_t longest_mean_step_;  // passed time / steps of all workers; see may_ask()
    const std::int64_t longest_visit_;      // see end_visit()
    std::int64_t last_check_ = 0;
    std::uint64_t done_at_last_check_ = 0;
    std::int64_t not_before_ = 0;             // may_ask() is false before this instant
    std::int64_t back_off_ = first_back_off;  // the next time without requests
    // The current visit, or the time since the last one, is measured, from `began_` on.
    bool measures_ = false;
    bool is_long_ = false;   // the time before the current visit exceeded its limit
    bool was_long_ = false;  // a time of the previous measurement exceeded its limit
    std::int64_t began_ = 0;
    // Used only if `measures_`: the consumer's channel operations until the end of the last visit; 0: the
    // current visit is the first of the lease.
    std::uint64_t operations_at_leave_ = 0;
    std::uint32_t visits_ = 0;  // the number of visits so far
};

// One place of a pool that a consumer may take. The worker's own thread (the owner) stands by meanwhile, so
// at most as many threads run coroutines as the pool has workers. Between two visits, while the consumer uses
// its items, the place is vacant, until a consumer enters, or until the owner takes the place back.
//
// | phase    | who works in the place                                                               |
// |----------|--------------------------------------------------------------------------------------|
// | owner    | the owner                                                                            |
// | vacant   | nobody: the owner has given the place, and no consumer is in the place               |
// | guest    | a consumer, while it waits for an item, or posts a coroutine to the place            |
// | returned | nobody: a consumer has returned the place, and the owner is about to take it back    |
//
// A guest that finds nothing to run, because another worker has the coroutines, asks the workers for these.
// That worker gives its coroutines and then has nothing to do. Without the request, each item would move
// between two processors. (The loop in README.md, with statistics, two workers: 236 ns an item, 395 without.)
//
// Source: in oneTBB the thread that calls `parallel_pipeline` runs tasks of the pipeline until its end.
template <class Platform = standard_platform>
class basic_place_lease {
    template <class T>
    using atomic = typename Platform::template atomic<T>;

  public:
    explicit basic_place_lease(bool one_processor, bool one_worker = true) noexcept
        : policy(one_processor, one_worker) {}

    // ---- called by consumers ------------------------------------------------------------------------

    // Enters the place if it is vacant. Returns whether it was. acq_rel; pairs with leave(), give() and
    // stand_by(): the guest sees what the former guest or the owner wrote.
    bool enter() noexcept {
        std::uint64_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange confirms it
        return now % phases == vacant &&
               state_.compare_exchange_strong(now, now - vacant + guest, std::memory_order_acq_rel);
    }

    // Asks the workers for a place, and enters the place that a worker gives. Looks for the place `rounds`
    // times, or until `stop()` returns true, and then withdraws the request. If a worker has accepted the
    // request by then, looks `rounds` times more, whatever `stop()` returns. Returns false without a place.
    // Returns false, without asking, if another consumer asks, if the phase is not `owner`, or if
    // `may_ask(policy)` returns false.
    template <class MayAsk, class Stop>
    bool ask(MayAsk may_ask, Stop stop) noexcept {
        if (!asker_.try_lock()) return false;
        // acquire; pairs with stand_by(): the last guest's changes of the policy
        const bool asks = state_.load(std::memory_order_acquire) % phases == owner && may_ask(policy);
        bool has_place = false;
        if (asks) {
            // release; pairs with give(): the guest, maybe another consumer, sees the changes of the policy
            asked_.store(a_place, std::memory_order_release);
            has_place = spin_for_place(stop);
            // acq_rel; pairs with give(): if the request is gone, a worker is about to give its place. If
            // this thread misses the place, the owner takes it back in stand_by().
            if (!has_place && asked_.exchange(nothing, std::memory_order_acq_rel) != a_place) {
                has_place = spin_for_place([] { return false; });
            }
            if (has_place) policy.got_place();
        }
        asker_.unlock();
        return has_place;
    }

    // Called by the guest: the number of the worker whose place the guest has.
    unsigned number() const noexcept { return number_; }
    // Called by the guest: ends the visit. The place is vacant. release; pairs with enter() and stand_by()
    void leave() noexcept {
        // Each visit changes the state, so that the owner sees that there was one.
        const std::uint64_t now = state_.load(std::memory_order_relaxed);  // only the guest changes it
        state_.store(now - guest + vacant + phases, std::memory_order_release);
    }
    // Called by the guest: gives the place back to the owner. release; pairs with stand_by()
    void return_place() noexcept {
        state_.store(returned, std::memory_order_release);
        owner_.poke();
    }
    // Called by the guest: asks the workers for coroutines, until one accepts, or the guest withdraws the
    // request. relaxed, both: the coroutines pass through a queue of the pool, under its lock
    void ask_for_coroutines() noexcept { asked_.store(coroutines, std::memory_order_relaxed); }
    void withdraw() noexcept {
        if (asked_.load(std::memory_order_relaxed) == coroutines) end_request();
    }
    // Only for the guest, and for `may_ask`, which `ask` calls under a lock while there is no guest.
    lease_policy policy;

    // ---- called by workers between two resumptions --------------------------------------------------

    // Whether a consumer asks for a place, or for coroutines. A hint.
    bool is_asked() const noexcept { return asked_.load(std::memory_order_relaxed) != nothing; }

    // Gives the place of the calling thread, worker `number`; the caller then calls `stand_by`. Returns
    // false, with no effect, if no consumer asks for a place any more.
    bool give(unsigned number) noexcept {
        std::uint32_t request = a_place;
        // acq_rel; pairs with ask()
        if (!asked_.compare_exchange_strong(request, nothing, std::memory_order_acq_rel)) return false;
        number_ = number;
        state_.store(vacant, std::memory_order_release);  // pairs with enter(): the guest sees `number_`
        return true;
    }

    // Accepts the guest's request for coroutines; the caller then posts its coroutines to the pool. Returns
    // false if the guest does not ask any more.
    bool accept_to_give_coroutines() noexcept { return end_request(); }

    // Naps, for `first_nap` to `last_nap` ns, and looks at the place after each nap. Takes the place back if
    // the guest has returned the place. Takes a vacant place back if `is_needed()` returns true; from the
    // second nap on, also if there was no visit during the nap. `nap_of(longest)`: the length of the next
    // nap, at most `longest`; not less than `first_nap` while a guest works: when a timer is due, the guest
    // fires it after its current resumption, which may be long.
    template <class IsNeeded, class NapOf>
    void stand_by(IsNeeded is_needed, NapOf nap_of) noexcept {
        std::uint64_t seen = 0;
        for (std::int64_t nap = first_nap;; nap = smaller(2 * nap, last_nap)) {
            owner_.wait(larger(nap_of(nap), seen % phases == guest ? first_nap : 0));
            // acquire; pairs with leave() and return_place(): the owner sees what the guest has done
            std::uint64_t now = state_.load(std::memory_order_acquire);
            if (now == returned) break;
            if (now % phases == vacant && (now == seen || is_needed()) &&
                state_.compare_exchange_strong(now, owner, std::memory_order_acq_rel)) {
                return;
            }
            seen = now;
        }
        state_.store(owner, std::memory_order_release);  // pairs with ask()
    }
    // Ends the nap of the owner.
    void wake_owner() noexcept { owner_.poke(); }

  private:
    static constexpr std::uint64_t owner = 0, vacant = 1, guest = 2, returned = 3, phases = 4;
    static constexpr int pauses = Platform::looks_before_yield;
    static constexpr int rounds = pauses + Platform::yields_before_sleep;
    // Ends the guest's request for coroutines. Returns false if it has ended. relaxed: see
    // ask_for_coroutines()
    bool end_request() noexcept {
        std::uint32_t request = coroutines;
        return asked_.compare_exchange_strong(request, nothing, std::memory_order_relaxed);
    }
    template <class Stop>
    bool spin_for_place(Stop stop) noexcept {  // true: this thread is in the place
        for (int round = 0; round < rounds && !stop(); ++round) {
            if (enter()) return true;
            round < pauses ? Platform::pause() : Platform::yield();
        }
        return enter();
    }

    static constexpr std::int64_t first_nap = 50'000;    // ns
    static constexpr std::int64_t last_nap = 1'000'000;  // ns

    // What a consumer asks the workers for.
    static constexpr std::uint32_t nothing = 0, a_place = 1, coroutines = 2;
    atomic<std::uint32_t> asked_{nothing};            // the request that no worker has accepted
    alignas(64) atomic<std::uint64_t> state_{owner};  // the phase; the bits above count visits
    unsigned number_ = 0;                             // of the worker whose place was given last
    basic_spin_lock<Platform> asker_;                 // held by the consumer that asks
    basic_parker<Platform> owner_;                    // the owner naps in it
};

}  // namespace weir::detail

#endif
