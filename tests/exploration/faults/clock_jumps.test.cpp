// A clock that jumps: ahead by an hour or by ten years, back by an hour, to the last instant that there is.
// Whatever it says, the run ends, nothing is lost, and no figure is negative or out of balance.
#include "support.hpp"

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using weir::duration;
using weir::time_point;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
constexpr duration year = std::chrono::hours(24 * 365);

// Sleeps until its next timer by setting the clock, and before one step sets it to something else. What a
// thread does while it waits is a step, too.
class jumping_clock final : public weir::executor {
  public:
    jumping_clock(time_point begin, std::size_t step, bool goes_to_the_end, duration by)
        : executor({.exclusive = true}), now_(begin), jump_at_(step), goes_to_the_end_(goes_to_the_end),
          by_(by) {}

    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    [[nodiscard]] time_point now() const noexcept override { return now_; }

    bool drive(flag&, time_point limit) override {
        if (steps_++ == jump_at_)
            now_ = goes_to_the_end_ ? time_point::max() : weir::saturating_add(now_, by_);
        if (steps_ > 100'000) throw std::runtime_error("it doesn't end");
        if (ready_.empty()) {
            const weir::timer* const next = timers_.next();
            // The last instant is never, unless it is now.
            const bool has_next =
                next != nullptr && (next->deadline() != time_point::max() || now_ == time_point::max());
            if (!has_next || next->deadline() > limit) {
                if (limit == time_point::max() && now_ != limit)
                    throw weir::deadlock_error("nobody can go on");
                now_ = std::max(now_, limit);
                return true;
            }
            now_ = std::max(now_, next->deadline());
            while (weir::timer* const due = timers_.pop_due(now_)) post(due->waiter());
        }
        const std::coroutine_handle<> h = ready_.front();
        ready_.pop_front();
        resume(h);
        return true;
    }

    bool has_jumped() const noexcept { return steps_ > jump_at_; }

  private:
    time_point now_;
    std::size_t steps_ = 0;
    const std::size_t jump_at_;
    const bool goes_to_the_end_;
    const duration by_;
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
};

// What is wrong with the figures, if anything.
std::string complaint_about(const weir::pipeline_stats& s) {
    if (s.elapsed < 0ns) return "elapsed is negative";
    for (const weir::stage_stats& stage : s.stages) {
        for (const weir::slot_times& t : stage.per_slot) {
            for (const duration d :
                 {t.off, t.wait_get, t.runnable, t.run, t.await, t.wait_put, t.wait_turn, t.overhead}) {
                if (d < 0ns || d > stage.elapsed)
                    return stage.name + ": a state is negative, or longer than all";
            }
            if (t.total() != stage.elapsed) return stage.name + ": a slot's states don't sum to elapsed";
        }
        if (stage.task_time < 0ns || stage.busy < 0ns) return stage.name + ": a time of work is negative";
        if (stage.ave_time() < 0ns) return stage.name + ": an average is negative";
    }
    for (const weir::channel_stats& q : s.channels) {
        if (q.empty < 0ns || q.empty > q.elapsed) return q.name + ": empty is out of bounds";
        if (q.put_wait < 0ns || q.get_wait < 0ns) return q.name + ": a wait is negative";
        if (q.put_blocked < 0ns || q.put_blocked > q.elapsed)
            return q.name + ": put_blocked is out of bounds";
        if (q.get_blocked < 0ns || q.get_blocked > q.elapsed)
            return q.name + ": get_blocked is out of bounds";
        // A sum of several waits that is too long for the clock's scale stops at its end.
        const bool fits = q.elapsed < duration::max() / 16;
        if (fits && (q.put_blocked > q.put_wait || q.get_blocked > q.get_wait))
            return q.name + ": blocked is more than waited";
        if (q.readiness() < 0 || q.readiness() > 1) return q.name + ": readiness is out of bounds";
        for (const weir::histogram* h : {&q.put_waits, &q.get_waits}) {
            if (h->sum() < 0ns || h->max() < 0ns) return q.name + ": a histogram is negative";
        }
    }
    return {};
}

// Of a whole run: nothing was at work for longer.
std::string complaint_about_all(const weir::pipeline_stats& s) {
    for (const weir::stage_stats& stage : s.stages) {
        if (stage.elapsed > s.elapsed) return stage.name + ": took longer than the run";
    }
    for (const weir::channel_stats& q : s.channels) {
        if (q.elapsed > s.elapsed) return q.name + ": was there for longer than the run";
    }
    return complaint_about(s);
}

struct jump {
    const char* name;
    time_point begin;
    bool goes_to_the_end;
    duration by;
};

const jump jumps[] = {
    {"an hour ahead", time_point(0ns), false, 1h},
    {"ten years ahead", time_point(0ns), false, 10 * year},
    {"an hour back, to before the beginning", time_point(0ns), false, -1h},
    {"an hour back", time_point(2h), false, -1h},
    {"to the last instant", time_point(0ns), true, 0ns},
    {"over the last instant", time_point(duration(last - 100'000)), false, 10 * year},
    {"ten years back", time_point(duration(last - 100'000)), false, -10 * year},
    {"nowhere, near the last instant", time_point(duration(last - 100'000)), false, 0ns},
};

}  // namespace

TEST_CASE("whatever the clock does, a run ends, with all items, and no figure is negative") {
    std::size_t points = 0;
    for (const jump& each : jumps) {
        bool has_jumped = true;
        for (std::size_t step = 0; has_jumped; ++step) {
            CAPTURE(each.name, step);
            faults::describe_trial(std::string("a jump ") + each.name + " at step " + std::to_string(step));
            jumping_clock clock(each.begin, step, each.goes_to_the_end, each.by);
            std::string wrong;
            std::size_t laps = 0;
            std::vector<int> got;
            {
                const auto work = [](int i) -> weir::task<int> {
                    co_await weir::sleep_for(duration(3 + i % 4));
                    co_return i;
                };
                const auto fails_once = [tried = std::vector<bool>(20)](const int& i) mutable {
                    if (!tried.at(static_cast<std::size_t>(i))) {
                        tried[static_cast<std::size_t>(i)] = true;
                        throw std::runtime_error("not yet");
                    }
                    return i;
                };
                weir::run_options options;
                options.lap = 2ns;
                options.on_lap = [&](const weir::pipeline_stats& lap) {
                    ++laps;
                    if (wrong.empty()) wrong = complaint_about(lap);
                };
                auto run = (weir::source(std::views::iota(0, 12)) |
                            weir::pipe(work, {.name = "work", .concurrency = 3}) | weir::aggregate_for(5ns) |
                            weir::disaggregate() |
                            weir::pipe(weir::retry(fails_once, {.delay = 4ns}), {.name = "again"}) |
                            weir::pipe(work, {.name = "in order",
                                              .concurrency = 2,
                                              .output_order = weir::output_order::input}) |
                            weir::sink())
                               .start(clock, std::move(options));
                // Not for ever: what sleeps when the clock is set back by years sleeps for years.
                bool ended = false;
                for (int i = 0; !ended; ++i) {
                    auto some = run.get(i < 30 ? 7ns : 100 * year);
                    ended = some.status() == weir::channel_status::closed;
                    if (some) got.push_back(*some);
                    if (wrong.empty()) wrong = complaint_about_all(run.stats());
                }
                if (wrong.empty()) wrong = complaint_about_all(run.stats());
            }
            has_jumped = clock.has_jumped();
            std::sort(got.begin(), got.end());
            REQUIRE(wrong == "");
            REQUIRE(std::ranges::equal(got, std::views::iota(0, 12)));
            if (has_jumped) ++points;
        }
    }
    CHECK(points > 8 * 60);
}

TEST_CASE("a time limit under a clock that jumps fails at most what was at work") {
    for (const jump& each : jumps) {
        // Where no instant comes any more, nothing is in time.
        const bool is_last =
            each.goes_to_the_end || weir::saturating_add(each.begin, each.by) == time_point::max();
        bool has_jumped = true;
        for (std::size_t step = 0; has_jumped; ++step) {
            CAPTURE(each.name, step);
            faults::describe_trial(std::string("a jump ") + each.name + " at step " + std::to_string(step));
            jumping_clock clock(each.begin, step, each.goes_to_the_end, each.by);
            int failed = 0;
            int got = 0;
            {
                const auto work = [](int i) -> weir::task<int> {
                    co_await weir::sleep_for(3ns);
                    co_return i;
                };
                weir::run_options options;
                options.max_failures = weir::unlimited;
                options.on_failure = [&](const weir::failure&) { ++failed; };
                auto run =
                    (weir::source(std::views::iota(0, 8)) |
                     weir::pipe(work, {.name = "work", .concurrency = 3, .time_limit = 10ns}) | weir::sink())
                        .start(clock, std::move(options));
                while (run.get()) ++got;
                const std::string wrong = complaint_about(run.stats());
                REQUIRE(wrong == "");
            }
            has_jumped = clock.has_jumped();
            REQUIRE(got + failed == 8);
            if (!is_last) REQUIRE(failed <= 3);
        }
    }
}
