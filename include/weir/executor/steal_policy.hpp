// weir executor, internal: what thieves know of a worker, and therefore take from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_STEAL_POLICY_HPP
#define WEIR_EXECUTOR_STEAL_POLICY_HPP

#include <weir/executor/pool_worker.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <memory>   // for std::unique_ptr
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// Stealing is lazy. To move a coroutine to another core costs as much as some hundred hand-overs on the
// same one, so neighbours that chat are better left together on one worker, however idle the others
// are: five stages that do nothing take 45 ns an item on one worker and 270 ns on two. Stages
// that work are to be spread. From outside, one looks like the other: on a worker that contends with
// a second one everything takes long. So a thief studies its victim while it is idle itself, when the
// victim is alone: of a worker that takes `worthwhile` or longer from one resumption or operation on a
// channel to the next, coroutines are taken as soon as they are there, also the one that it would resume
// next; else only what has waited for `long_patience`. Where each resumption lasts for `long_turn`, as
// between large queues, few coroutines move, and the lines of a queue move for several items at once:
// `worth_in_long_turns` is enough. (Three stages of 100 ns at capacity 64, two workers: 298 -> 168 ns an
// item, of 300 ns 841 -> 452; with 50 ns, where it breaks even, they stay together: 147.)
//
// The verdict is for `most_credit` thefts, then it is looked into again, which takes the thief 5 to 10 us. A
// worker that has just got its coroutines back fetches all that they touch from the other core, and looks
// slow for a while: up to `beyond_doubt`, two studies in a row have to agree. And what came of the thefts is
// compared: after each `trial` of them all workers together have to be as fast as the victim alone; else it
// is left alone for a while. How fast that is shows when it rests, now and then for a moment, as all that it
// needs has come back to it then. (Four slots at capacity 2, measured, two workers that exchange a line in
// 200 ns: 257 ns an item, and 1770 without this, as each theft made the next one look worthwhile; with
// 100 ns of work 540 and 1780.)
//
// Forks are parts of something large: the first of several is taken at once. If it was not large itself,
// they were parts of something wide, and the next is left alone for a while; unless a study shows that
// the worker takes `worth_moving` for each. (10^6 tasks that do nothing, two workers: 110 ns a task, and
// 420 without this; a tree of as many leaves: 17 ns a leaf.)
//
// What else was tried, and its figures: bench/results.md.
//
// Guarded by the lock of the thieves. Times in nanoseconds.
template <class Platform>
class basic_steal_policy {
    using queues = basic_worker_queues<Platform>;

  public:
    // Something of the victim's that may be taken, or null. `idle_since`: since when the thief has had
    // nothing to do. `all_done()`: how many things all workers have done.
    template <class AllDone>
    void* steal_from(queues& victim, const queues& thief, std::int64_t now, std::int64_t idle_since,
                     AllDone all_done) noexcept {
        if (now - seen_at_ >= glance) look_at(victim, now, idle_since);
        void* caught = nullptr;
        if (credit_ != 0) caught = victim.queue.steal();
        if (caught == nullptr) caught = steal_fork(victim, thief, now);
        if (caught == nullptr && credit_ != 0) caught = victim.take_next(thief.thread());
        if (caught == nullptr) return victim.queue.steal_before(queued_long_before_);
        if (credit_ == 0) return caught;
        --credit_;
        if (credit_ % trial == 0) judge(now, all_done());
        return caught;
    }

  private:
    static constexpr std::int64_t never = std::int64_t{1} << 40;
    static constexpr std::int64_t glance = 1'000;
    static constexpr std::int64_t study = 5'000;
    static constexpr std::int64_t long_patience = 40'000;
    static constexpr std::int64_t worthwhile = 120;
    static constexpr std::int64_t beyond_doubt = 200;
    static constexpr std::int64_t surely_worthwhile = 300;
    static constexpr std::int64_t long_turn = 3'000;
    static constexpr std::int64_t worth_in_long_turns = 30;
    static constexpr std::int64_t worth_moving = 500;
    static constexpr std::int64_t longest_pause = 64'000;
    static constexpr std::uint64_t large_part = 8;  // resumptions of the thief
    static constexpr std::uint32_t trial = 64;
    static constexpr std::uint32_t most_credit = 16 * trial + 1;  // the first one begins the first trial
    static constexpr std::int64_t longest_trial = 1'000'000;
    static constexpr std::int64_t between_rests = 100'000'000;
    static constexpr std::int64_t short_rest = 250'000;
    static constexpr std::int64_t first_rest = 2'000'000;
    static constexpr std::int64_t longest_rest = 16'000'000;
    static constexpr unsigned most_fork_credit = 256;

    void* steal_fork(queues& victim, const queues& thief, std::int64_t now) noexcept {
        if (&thief == fork_thief_) {  // done with the last one
            fork_thief_ = nullptr;
            const bool large = thief.resumed() - fork_thief_resumed_ >= large_part;
            fork_pause_ = large ? 0 : smaller(2 * fork_pause_ + glance, longest_pause);
        }
        if (fork_credit_ != 0) {
            --fork_credit_;
        } else if (victim.forks.size() < 2 || now - fork_taken_at_ < fork_pause_) {
            return nullptr;
        }
        void* const caught = victim.forks.rob();
        if (caught != nullptr) {
            fork_thief_ = &thief;
            fork_thief_resumed_ = thief.resumed();
            fork_taken_at_ = now;
        }
        return caught;
    }

    void look_at(const queues& victim, std::int64_t now, std::int64_t idle_since) noexcept {
        seen_at_ = now;
        if (now - long_seen_at_ >= long_patience) {
            long_seen_at_ = now;
            queued_long_before_ = std::exchange(long_queued_, victim.queue.bottom());
        }
        if (studied_from_ < idle_since) {
            begin_study(victim, now);
            suspected_ = false;
        } else if (const std::int64_t passed = now - studied_from_; passed >= study) {
            const auto times = static_cast<std::int64_t>(victim.done() - studied_done_);
            const auto turns = static_cast<std::int64_t>(victim.resumed() - studied_resumed_);
            // Who has done nothing is in something long, or idle.
            const bool sure =
                times == 0 ? !victim.empty()
                           : passed >= times * beyond_doubt ||
                                 (passed >= times * worth_in_long_turns && passed >= turns * long_turn);
            const bool slow = sure || (times != 0 && passed >= times * worthwhile);
            const bool suspected = std::exchange(suspected_, slow);
            const bool may_try = times == 0 || now >= rested_at_;
            credit_ = slow && (sure || suspected) && may_try ? most_credit : 0;
            judged_at_ = never;
            if (times != 0) alone_ = may_try ? smaller(alone_, passed / times) : passed / times;
            fork_credit_ = slow && passed >= times * worth_moving ? most_fork_credit : 0;
            begin_study(victim, now);
        }
    }

    // Of a trial that took long nobody knows: there may have been less to do.
    void judge(std::int64_t now, std::uint64_t done) noexcept {
        const std::int64_t passed = now - std::exchange(judged_at_, now);
        const auto times = static_cast<std::int64_t>(done - std::exchange(judged_done_, done));
        if (passed < 0 || passed > longest_trial) return;  // or was the first
        const bool pays = alone_ >= surely_worthwhile || passed <= alone_ * times;
        rest_ = pays ? 0 : smaller(2 * rest_ + first_rest, longest_rest);
        if (pays && now - rested_at_ < between_rests) return;
        rested_at_ = now + (pays ? short_rest : rest_);
        credit_ = 0;
    }

    void begin_study(const queues& victim, std::int64_t now) noexcept {
        studied_from_ = now;
        studied_done_ = victim.done();
        studied_resumed_ = victim.resumed();
    }

    // The last look, and how far the queue went at those that were `long_patience` apart.
    std::int64_t seen_at_ = 0;
    std::int64_t long_seen_at_ = 0;
    std::uint64_t long_queued_ = 0;
    std::uint64_t queued_long_before_ = 0;
    // The beginning of the study, and for how many thefts its verdict still holds.
    std::int64_t studied_from_ = 0;
    std::uint64_t studied_done_ = 0;
    std::uint64_t studied_resumed_ = 0;
    bool suspected_ = false;  // by the study before
    std::uint32_t credit_ = 0;
    // How long it takes for each thing, alone: when it rested, or less.
    std::int64_t alone_ = never;
    std::int64_t judged_at_ = never;
    std::uint64_t judged_done_ = 0;
    std::int64_t rest_ = 0;                    // after a trial that did not pay
    std::int64_t rested_at_ = -between_rests;  // the end of the last rest
    unsigned fork_credit_ = 0;                 // the same for forks, of which each one is worth it
    // The last fork that was taken, by whom, and for how long none is taken after it.
    const queues* fork_thief_ = nullptr;
    std::uint64_t fork_thief_resumed_ = 0;
    std::int64_t fork_taken_at_ = 0;
    std::int64_t fork_pause_ = 0;
};

struct steal_result {
    void* caught = nullptr;
    bool young = false;  // there was something, but not old enough
};

// What is known of each worker of a pool; one thief at a time looks.
template <class Platform>
class basic_thieves {
  public:
    // `most`: as many workers as there can be.
    explicit basic_thieves(unsigned most) : policies_(new basic_steal_policy<Platform>[most]) {}

    // What may be stolen: from all workers in turn, beginning with any. `idle_since`: since when the thief
    // has done nothing.
    template <class Workers>
    steal_result hunt(const Workers& workers, const basic_worker_queues<Platform>& thief, std::int64_t now,
                      std::int64_t idle_since) noexcept {
        steal_result result;
        const std::lock_guard guard(lock_);
        const unsigned count = workers.size();
        const auto all_done = [&]() noexcept {
            std::uint64_t done = 0;
            for (unsigned i = 0; i < count; ++i) done += workers[i].done();
            return done;
        };
        for (unsigned i = 0, k = any(count); i < count; ++i) {
            result.caught = policies_[k].steal_from(workers[k], thief, now, idle_since, all_done);
            if (result.caught != nullptr) return result;
            result.young = result.young || !workers[k].empty();
            k = k + 1 == count ? 0 : k + 1;
        }
        return result;
    }

  private:
    unsigned any(unsigned count) noexcept {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return static_cast<unsigned>(random_ % count);
    }

    const std::unique_ptr<basic_steal_policy<Platform>[]> policies_;
    alignas(64) basic_spin_lock<Platform> lock_;
    std::uint64_t random_ = Platform::seed() | 1;
};

WEIR_COMPILED(class basic_steal_policy<standard_platform>);
WEIR_COMPILED(class basic_thieves<standard_platform>);

}  // namespace weir::detail

#endif
