// weir executor, internal: decides what idle workers steal from each worker of a thread pool
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_STEAL_POLICY_HPP
#define WEIR_EXECUTOR_STEAL_POLICY_HPP

#include <weir/executor/pool_worker.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// What idle workers (thieves) take from one worker (the victim). Stealing is lazy: moving a coroutine to
// another core costs as much as some hundred hand-overs on one core. Coroutines that hand items to each other
// are better left together on one worker, even if the others are idle: five stages that do nothing take 45 ns
// an item on one worker and 270 ns on two. Stages that compute should be spread. A thief can't tell the two
// cases apart while both run, because on a worker that contends with a second one everything is slow. So
// an idle thief first studies the victim:
// - If the victim takes `worthwhile` or longer from one resumption or channel operation to the next,
//   coroutines are stolen as soon as they are queued, also the one in its next-to-run slot.
// - Otherwise only coroutines that have waited for `long_patience` or longer are stolen.
// - If each resumption takes `long_resumption`, as between large queues, few coroutines move, and cache lines
//   move for several items at once: then `worth_if_long` is enough, instead of `worthwhile`. (Three
//   stages of 100 ns with queues of 64 items, two workers: 298 -> 168 ns an item; of 300 ns 841 -> 452; with
//   50 ns, the break-even, none is stolen: 147.)
//
// The verdict of a study holds for at most `most_credit` thefts; the next study takes the thief 5 to 10 us. A
// worker that has just got its coroutines back fetches their data from the other core, and looks slow. So a
// victim that takes less than `beyond_doubt` counts as slow only after two such studies in a row. The effect
// of thefts is checked as well: after each `trial` thefts, all workers together have to be as fast as the
// victim was alone, unless the victim alone took `surely_worthwhile` or longer. If all together are slower,
// the victim counts as fast for 2 to 16 ms, a rest. Its speed alone is measured in rests: its cache has its
// data then. So there is also a rest of 0.25 ms every 100 ms. (A stage that works on four items at a time,
// with statistics and queues of 2 items, on two workers that exchange a cache line in 200 ns: 257 ns an item;
// 1770 without this check, as each theft made the next theft look worthwhile. With 100 ns of work for each
// item: 540 and 1780.)
//
// Forks are parts of a larger job: if there are several, the first is stolen at once. If this fork turns out
// to be small, stealing pauses before the next fork, unless a study shows that the victim takes
// `worth_moving` for each resumption or channel operation. A victim that has done nothing during the study
// may run a coroutine that makes one fork after another. Such a study says nothing about the size of the
// forks, so stealing pauses there, too. (10^6 tasks that do nothing, two workers, frames from malloc: 62 ns a
// task; 88 without the pause for such a victim, as each theft interrupts it, and 420 without pauses; a tree
// of as many leaves: 17 ns a leaf.)
//
// Alternatives that were tried, with figures: bench/results.md.
//
// Guarded by the lock of basic_thieves. Times in nanoseconds.
template <class Platform>
class basic_steal_policy {
    using queues = basic_worker_queues<Platform>;

  public:
    // Steals a coroutine of the victim, or returns null. `idle_since`: when the thief began to search; a
    // study that began earlier is begun anew. `all_done()`: the sum of `done()` over all workers. `study`:
    // the length of a study.
    template <class AllDone>
    void* steal_from(queues& victim, const queues& thief, std::int64_t now, std::int64_t idle_since,
                     AllDone all_done, std::int64_t study = usual_study) noexcept {
        if (now - seen_at_ >= glance) look_at(victim, now, idle_since, study);
        void* stolen = nullptr;
        if (credit_ != 0) stolen = victim.queue.steal();
        if (stolen == nullptr) stolen = steal_fork(victim, thief, now);
        if (stolen == nullptr && credit_ != 0) stolen = victim.take_next(thief.thread());
        if (stolen == nullptr) return victim.queue.steal_before(queued_long_before_);
        if (credit_ == 0) return stolen;
        --credit_;
        if (credit_ % trial == 0) evaluate_trial(now, all_done());
        return stolen;
    }

    static constexpr std::int64_t usual_study = 5'000;
    // On one processor the victim runs only while the thief naps: the study has to span several naps.
    static constexpr std::int64_t study_on_one_processor = 1'000'000;

  private:
    // In `alone_` and `trial_began_`: no value yet.
    static constexpr std::int64_t never = std::int64_t{1} << 40;
    static constexpr std::int64_t glance = 1'000;  // the shortest time between two looks at the victim
    static constexpr std::int64_t long_patience = 40'000;
    static constexpr std::int64_t worthwhile = 120;
    static constexpr std::int64_t beyond_doubt = 200;
    static constexpr std::int64_t surely_worthwhile = 300;  // a victim this slow passes each trial
    static constexpr std::int64_t long_resumption = 3'000;
    static constexpr std::int64_t worth_if_long = 30;
    static constexpr std::int64_t worth_moving = 500;
    static constexpr std::int64_t longest_pause = 512'000;
    // A fork is large if the thief makes at least `large_part` resumptions for it, or takes at least
    // `long_part`.
    static constexpr std::uint64_t large_part = 8;
    static constexpr std::int64_t long_part = 3'000;
    static constexpr std::uint32_t trial = 64;                    // thefts
    static constexpr std::uint32_t most_credit = 16 * trial + 1;  // the first theft begins the first trial
    static constexpr std::int64_t longest_trial = 1'000'000;      // a longer trial is not evaluated
    static constexpr std::int64_t between_rests = 100'000'000;
    static constexpr std::int64_t short_rest = 250'000;
    static constexpr std::int64_t first_rest = 2'000'000;
    static constexpr std::int64_t longest_rest = 16'000'000;
    static constexpr unsigned most_fork_credit = 256;  // forks that may be stolen after a study

    void* steal_fork(queues& victim, const queues& thief, std::int64_t now) noexcept {  // null: none
        if (&thief == fork_thief_) {  // the thief has finished the fork that was stolen last
            fork_thief_ = nullptr;
            const bool large =
                thief.resumed() - fork_thief_resumed_ >= large_part || now - fork_taken_at_ >= long_part;
            fork_pause_ = large ? 0 : smaller(2 * fork_pause_ + glance, longest_pause);
        }
        const bool pauses = now - fork_taken_at_ < fork_pause_;  // as the fork stolen last was small
        if (fork_credit_ != 0 && !(did_nothing_ && pauses)) {
            --fork_credit_;
        } else if (victim.forks.size() < 2 || pauses) {
            return nullptr;
        }
        void* const stolen = victim.forks.steal_with_fence();
        if (stolen != nullptr) {
            fork_thief_ = &thief;
            fork_thief_resumed_ = thief.resumed();
            fork_taken_at_ = Platform::now();  // not `now`: the fence takes microseconds
        }
        return stolen;
    }

    void look_at(const queues& victim, std::int64_t now, std::int64_t idle_since,
                 std::int64_t study) noexcept {
        seen_at_ = now;
        if (now - long_seen_at_ >= long_patience) {
            long_seen_at_ = now;
            queued_long_before_ = std::exchange(long_queued_, victim.queue.bottom());
        }
        if (studied_from_ < idle_since) {
            begin_study(victim, now);
            suspected_ = false;
        } else if (const std::int64_t passed = now - studied_from_; passed >= study) {
            const auto times = static_cast<std::int64_t>(victim.done() - studied_done_);  // in the study
            const auto resumed = static_cast<std::int64_t>(victim.resumed() - studied_resumed_);
            // A worker that has done nothing runs something long, or is idle.
            const bool sure =
                times == 0 ? !victim.empty()
                           : passed >= times * beyond_doubt ||
                                 (passed >= times * worth_if_long && passed >= resumed * long_resumption);
            const bool slow = sure || (times != 0 && passed >= times * worthwhile);
            const bool suspected = std::exchange(suspected_, slow);
            const bool may_try = times == 0 || now >= rest_end_;  // no rest now
            credit_ = slow && (sure || suspected) && may_try ? most_credit : 0;
            trial_began_ = never;
            if (times != 0) alone_ = may_try ? smaller(alone_, passed / times) : passed / times;
            fork_credit_ = slow && passed >= times * worth_moving ? most_fork_credit : 0;
            did_nothing_ = times == 0;
            begin_study(victim, now);
        }
    }

    // A trial that took longer than `longest_trial` says nothing, as there may have been less to do.
    void evaluate_trial(std::int64_t now, std::uint64_t done) noexcept {
        const std::int64_t passed = now - std::exchange(trial_began_, now);
        const auto times = static_cast<std::int64_t>(done - std::exchange(done_before_trial_, done));
        if (passed < 0 || passed > longest_trial) return;  // also when the first trial begins
        const bool pays = alone_ >= surely_worthwhile || passed <= alone_ * times;
        rest_ = pays ? 0 : smaller(2 * rest_ + first_rest, longest_rest);
        if (pays && now - rest_end_ < between_rests) return;
        rest_end_ = now + (pays ? short_rest : rest_);
        credit_ = 0;
    }

    void begin_study(const queues& victim, std::int64_t now) noexcept {
        studied_from_ = now;
        studied_done_ = victim.done();
        studied_resumed_ = victim.resumed();
    }

    // `seen_at_`: the last look at the victim. `long_queued_`, `queued_long_before_`: the bottom of the
    // victim's queue at the last two looks that were at least `long_patience` apart. `long_seen_at_`: the
    // later of these.
    std::int64_t seen_at_ = 0;
    std::int64_t long_seen_at_ = 0;
    std::uint64_t long_queued_ = 0;
    std::uint64_t queued_long_before_ = 0;
    // The current study: its beginning, and the victim's counts at the beginning. `credit_`: for how many
    // thefts the verdict of the last study still holds.
    std::int64_t studied_from_ = 0;
    std::uint64_t studied_done_ = 0;
    std::uint64_t studied_resumed_ = 0;
    bool suspected_ = false;  // the last study found the victim slow
    std::uint32_t credit_ = 0;
    // The victim's time for each resumption or channel operation when alone: as measured in the last rest, or
    // less if a later study measured less.
    std::int64_t alone_ = never;
    // When the current trial began, and `all_done()` at that time; `never`: no trial since the last study.
    std::int64_t trial_began_ = never;
    std::uint64_t done_before_trial_ = 0;
    std::int64_t rest_ = 0;                   // the length of a rest after a trial that did not pay
    std::int64_t rest_end_ = -between_rests;  // when the last rest ends, or has ended
    unsigned fork_credit_ = 0;                // how many more forks may be stolen without a pause
    bool did_nothing_ = false;                // in the last study, the victim did nothing
    // The last stolen fork: its thief (null after this thief has come back to steal); the thief's number of
    // resumptions at the theft; the time of the theft; how long after the theft no other fork is stolen,
    // unless `fork_credit_` allows that.
    const queues* fork_thief_ = nullptr;
    std::uint64_t fork_thief_resumed_ = 0;
    std::int64_t fork_taken_at_ = 0;
    std::int64_t fork_pause_ = 0;
};

struct steal_result {  // of one search of a thief
    void* found = nullptr;
    bool too_young = false;  // coroutines were queued, but are not to be stolen yet
};

// The steal policies of all workers of a pool. One thief searches at a time; other thieves wait for the lock.
template <class Platform>
class basic_thieves {
    using policy = basic_steal_policy<Platform>;

  public:
    // `most`: the largest number of workers.
    explicit basic_thieves(unsigned most, bool one_processor = false)
        : policies_(new policy[most]),
          study_(one_processor ? policy::study_on_one_processor : policy::usual_study) {}

    // Tries to steal from each worker once, beginning with a random one, until a coroutine is found.
    // `idle_since`: see `steal_from`.
    template <class Workers>
    steal_result steal(const Workers& workers, const basic_worker_queues<Platform>& thief, std::int64_t now,
                       std::int64_t idle_since) noexcept {
        steal_result result;
        const std::lock_guard guard(lock_);
        const unsigned count = workers.size();
        const auto all_done = [&]() noexcept {
            std::uint64_t done = 0;
            for (unsigned i = 0; i < count; ++i) done += workers[i].done();
            return done;
        };
        for (unsigned i = 0, k = random_index(count); i < count; ++i) {
            result.found = policies_[k].steal_from(workers[k], thief, now, idle_since, all_done, study_);
            if (result.found != nullptr) return result;
            result.too_young = result.too_young || !workers[k].empty();
            k = k + 1 == count ? 0 : k + 1;
        }
        return result;
    }

  private:
    unsigned random_index(unsigned count) noexcept {  // xorshift64
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return static_cast<unsigned>(random_ % count);
    }

    const owned<policy[]> policies_;
    const std::int64_t study_;  // the length of a study
    alignas(64) basic_spin_lock<Platform> lock_;
    std::uint64_t random_ = Platform::seed() | 1;
};

WEIR_COMPILED(class basic_steal_policy<standard_platform>);
WEIR_COMPILED(class basic_thieves<standard_platform>);

}  // namespace weir::detail

#endif
