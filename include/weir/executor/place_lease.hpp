// weir executor, internal: lends a worker's place in a pool to a thread that waits for an item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_PLACE_LEASE_HPP
#define WEIR_EXECUTOR_PLACE_LEASE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint64_t
#include <utility>  // for std::exchange

namespace weir::detail {

// Decides when a consumer (a thread of the program that waits for an item) asks for a worker's place, and
// when it returns the place. Only one thread uses the object at a time; see `basic_place_lease`. Times in
// nanoseconds.
//
// A lease pays if the tasks are short, as sleep and wake-up of the consumer would cost 2 to 10 us. It doesn't
// pay if the consumer works for long on each item: the worker's own thread would do its work meanwhile. And
// the consumer must not run a long task while its next item is ready.
class lease_policy {
  public:
    // `one_processor`: the consumer and the worker's own thread can't run at the same time.
    explicit lease_policy(bool one_processor) noexcept : one_processor_(one_processor) {}

    // The consumer finds no item. `done`: the number of resumptions and channel operations of all workers so
    // far. True: it is to ask for a place.
    bool may_ask(std::int64_t now, std::uint64_t done) noexcept {
        const std::int64_t passed = now - std::exchange(asked_at_, now);
        const auto times = static_cast<std::int64_t>(done - std::exchange(done_then_, done));
        return now >= not_before_ && times >= fewest && passed <= times * longest_step;
    }

    // A visit of the consumer begins: it has got a place, or it comes back to it. `operations`: the number of
    // channel operations of its thread. False: the consumer has used its items for long, and returns the
    // place.
    template <class Platform>
    bool begin_visit(std::uint64_t operations) noexcept {
        if (!measures_) return true;
        const std::int64_t now = Platform::now();
        const auto items = static_cast<std::int64_t>(operations - left_operations_);
        const std::int64_t passed = now - std::exchange(began_, now);
        return one_processor_ || left_operations_ == 0 ||
               passed <= larger<std::int64_t>(items, 1) * longest_use;
    }
    // A visit ends as its item is there. False: it has run for long, and the consumer returns the place.
    template <class Platform>
    bool end_visit(std::uint64_t operations) noexcept {
        if (measures_) {
            measures_ = false;
            if (Platform::now() - began_ > longest_visit) return false;
            pause_ = first_pause;
        }
        if (++visits_ % sample != 0) return true;
        measures_ = true;
        left_operations_ = operations;
        began_ = Platform::now();
        return true;
    }

    // The consumer has got a place.
    void got_place() noexcept {
        measures_ = true;
        left_operations_ = 0;
    }
    // No place was given in time, or the consumer has returned it: it does not ask for a while.
    void pause(std::int64_t now) noexcept {
        not_before_ = now + pause_;
        pause_ = smaller(2 * pause_, longest_pause);
    }

  private:
    static constexpr std::int64_t fewest = 4;            // steps since the last wait
    static constexpr std::int64_t longest_step = 2'000;  // for a resumption or channel operation
    static constexpr std::int64_t longest_use = 1'000;   // of an item by the consumer
    static constexpr std::int64_t longest_visit = 50'000;
    static constexpr std::uint32_t sample = 16;  // visits, of which one is measured
    static constexpr std::int64_t first_pause = 1'000'000;
    static constexpr std::int64_t longest_pause = 256'000'000;

    const bool one_processor_;
    std::int64_t asked_at_ = 0;
    std::uint64_t done_then_ = 0;
    std::int64_t not_before_ = 0;
    std::int64_t pause_ = first_pause;
    // The current visit, or the time since the last one, is measured, from `began_` on.
    bool measures_ = false;
    std::int64_t began_ = 0;
    std::uint64_t left_operations_ = 0;  // at the end of the last visit; 0: there was none
    std::uint32_t visits_ = 0;
};

// One place of a pool that a consumer may take. Its worker's own thread (the owner) stands by meanwhile, so
// that as many threads run coroutines as the pool has workers. The consumer keeps the place while it uses
// the items that it has got; then nobody works there, until the consumer waits again, or the owner finds that
// it has not come back.
//
// | phase    | who works in the place                                                        |
// |----------|-------------------------------------------------------------------------------|
// | home     | the owner                                                                     |
// | away     | nobody: the consumer uses its items                                           |
// | guest    | the consumer, while it waits for an item                                      |
// | returned | nobody: the consumer has returned the place, and the owner is about to go on |
//
// Source: the caller of oneTBB's `parallel_pipeline` works for the pipeline, too; there it never leaves.
template <class Platform = standard_platform>
class basic_place_lease {
    template <class T>
    using atomic = typename Platform::template atomic<T>;

  public:
    explicit basic_place_lease(bool one_processor) noexcept : policy(one_processor) {}

    // ---- called by consumers ------------------------------------------------------------------------

    // Takes the place, if it is `away`. acq_rel; pairs with leave(), give() and stand_by()
    bool enter() noexcept {
        std::uint64_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange confirms it
        return now % phases == away &&
               state_.compare_exchange_strong(now, now - away + guest, std::memory_order_acq_rel);
    }

    // Asks the workers for a place, and takes it. `may_ask(policy)` decides under a lock. False: no worker
    // has come between two resumptions soon, or `stop()`; or another consumer asks.
    template <class MayAsk, class Stop>
    bool ask(MayAsk may_ask, Stop stop) noexcept {
        if (!asker_.try_lock()) return false;
        // acquire; pairs with stand_by(): the last guest's changes of the policy
        const bool asks = state_.load(std::memory_order_acquire) % phases == home && may_ask(policy);
        bool has_place = false;
        if (asks) {
            // release; pairs with give(): the guest, maybe another consumer, sees the changes of the policy
            asked_.store(1, std::memory_order_release);
            has_place = waits_for_place(stop);
            // acq_rel; pairs with give(): a worker that has taken the request gives its place at once. If
            // this thread still comes too late, the owner takes the place back.
            if (!has_place && asked_.exchange(0, std::memory_order_acq_rel) == 0) {
                has_place = waits_for_place([] { return false; });
            }
            if (has_place) policy.got_place();
        }
        asker_.unlock();
        return has_place;
    }

    // The following three are called by the guest. The number of the place.
    unsigned number() const noexcept { return number_; }
    // Keeps the place, and uses its items. release; pairs with enter() and stand_by()
    void leave() noexcept {
        // Each visit changes the state, so that the owner sees that there was one.
        const std::uint64_t now = state_.load(std::memory_order_relaxed);  // only the guest changes it
        state_.store(now - guest + away + phases, std::memory_order_release);
    }
    // Returns the place. release; pairs with stand_by()
    void end() noexcept {
        state_.store(returned, std::memory_order_release);
        owner_.poke();
    }
    // Used by the guest, and by `may_ask`.
    lease_policy policy;

    // ---- called by workers between two resumptions --------------------------------------------------

    bool is_asked_for() const noexcept { return asked_.load(std::memory_order_relaxed) != 0; }  // a hint

    // Gives the place of the calling thread; the caller then stands by. False: another worker was quicker.
    bool give(unsigned number) noexcept {
        if (asked_.exchange(0, std::memory_order_acq_rel) == 0) return false;  // pairs with ask()
        number_ = number;
        state_.store(away, std::memory_order_release);  // pairs with enter()
        return true;
    }

    // Sleeps until the place is free: it was returned; no consumer has come since the last look; or nobody
    // is there and `is_needed()`. `nap_of(longest)`: the length of the next nap, at most `longest`.
    template <class IsNeeded, class NapOf>
    void stand_by(IsNeeded is_needed, NapOf nap_of) noexcept {
        std::uint64_t seen = 0;
        for (std::int64_t nap = first_nap;; nap = smaller(2 * nap, last_nap)) {
            owner_.wait(nap_of(nap));
            // acquire; pairs with leave() and end(): the owner sees what the guest has done
            std::uint64_t now = state_.load(std::memory_order_acquire);
            if (now == returned) break;
            if (now % phases == away && (now == seen || is_needed()) &&
                state_.compare_exchange_strong(now, home, std::memory_order_acq_rel)) {
                return;
            }
            seen = now;
        }
        state_.store(home, std::memory_order_release);  // pairs with ask()
    }
    // Ends the nap of the owner.
    void wake_owner() noexcept { owner_.poke(); }

  private:
    static constexpr std::uint64_t home = 0, away = 1, guest = 2, returned = 3, phases = 4;
    static constexpr int pauses = Platform::looks_before_yield;
    static constexpr int rounds = pauses + Platform::yields_before_sleep;
    template <class Stop>
    bool waits_for_place(Stop stop) noexcept {
        for (int round = 0; round < rounds && !stop(); ++round) {
            if (enter()) return true;
            round < pauses ? Platform::pause() : Platform::yield();
        }
        return enter();
    }

    static constexpr std::int64_t first_nap = 50'000;    // ns
    static constexpr std::int64_t last_nap = 1'000'000;  // ns; how late work may begin that nobody waits for

    atomic<std::uint32_t> asked_{0};                 // 1: a consumer waits for a place
    alignas(64) atomic<std::uint64_t> state_{home};  // the phase; the bits above count visits
    unsigned number_ = 0;
    basic_spin_lock<Platform> asker_;
    basic_parker<Platform> owner_;
};

}  // namespace weir::detail

#endif
