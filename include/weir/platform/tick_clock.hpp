// weir platform, internal: the steady clock, read from the processor's time-stamp counter in half the time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_TICK_CLOCK_HPP
#define WEIR_PLATFORM_TICK_CLOCK_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/system.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::chrono::steady_clock, without the calendars of <chrono>

namespace weir::detail {

// The counter and the clock of a `basic_tick_clock`; tests supply others.
struct system_ticks {
    static bool reliable() noexcept { return ticks_are_reliable(); }
    static std::uint64_t ticks() noexcept { return read_ticks(); }
    static std::int64_t steady() noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    // Sleeps for 25 us, in a thread that waits while another one calibrates the counter.
    static void rest() noexcept {
        std::atomic<std::uint32_t> word{0};
        futex_wait(word, 0, 25'000);
    }
};

// Computes the time by linear extrapolation. A line consists of an instant at which both the counter and the
// steady clock were read, and a factor: the nanoseconds per tick since the first such instant. The time is
// the time of the instant plus the ticks since then times the factor. A line is valid for a millisecond. Then
// one caller computes the next line (`draw`); meanwhile other callers get the end of the old line. A new line
// never gives a time before that end, even if the old line was ahead of the steady clock. So the time never
// goes back, however long a thread is delayed in `now`. The time stays within 100 ns of the steady clock (2
// us on the first line). The steady clock itself is used from the beginning if the counter is not reliable,
// or slower than 1 GHz. The steady clock is also used for good once the counter has gone back, or once line
// and steady clock differ too much (a virtual machine was moved, or suspended). The limit is a millisecond
// plus 1/1024 of the time since the line's instant.
//
// Two lines are used alternately, as in the latch of Linux's ktime_get_mono_fast_ns(): a thread that is
// delayed while it draws the next line doesn't keep others from reading the current one.
//
// Cost: 10 ns, which is the cost of reading the counter; the steady clock takes 23. Three stages that do
// nothing, with statistics and queues of 2 items, take 252 ns an item; with the steady clock 354
// (bench/results.md).
template <class Source = system_ticks, template <class> class Atomic = std::atomic>
class basic_tick_clock {
  public:
    constexpr basic_tick_clock() noexcept = default;
    basic_tick_clock(const basic_tick_clock&) = delete;
    basic_tick_clock& operator=(const basic_tick_clock&) = delete;

    std::int64_t now() noexcept {
        while (true) {
            // acquire; pairs with the stores in begin() and draw_next(): sees a line or `end_of_ticks_`
            const state s = state_.load(std::memory_order_acquire);
            if (s == state::steady) return larger(end_of_ticks_, Source::steady());
            if (s == state::fresh) {
                begin();
                continue;
            }
            // acquire, in this order; pairs with the releases in draw(): if the version is unchanged below,
            // all values are of one line. relaxed, below: the acquires of read() come before
            const std::uint32_t version = version_.load(std::memory_order_acquire);
            const line l = lines_[version % 2].read();
            const std::uint64_t ticks = Source::ticks() - l.since;
            if (version_.load(std::memory_order_relaxed) != version) continue;
            if (ticks < span_) return l.at_ticks(ticks);
            if (0 - ticks < span_) return l.at_ticks(0);  // the counter was read early, or lags on this core
            if (!try_lock()) return l.at_ticks(span_);
            draw_next();
            unlock();
        }
    }

    // Called after a fork by the child's only thread: releases a lock that another thread of the parent held.
    // That thread can have left only the unpublished line incomplete.
    void mend() noexcept { unlock(); }

    // relaxed: the caller reads nothing that the state publishes
    bool uses_ticks() const noexcept { return state_.load(std::memory_order_relaxed) == state::ticking; }

  private:
    enum class state : unsigned char { fresh, ticking, steady };
    struct line {
        std::uint64_t since;   // the instant, in ticks
        std::int64_t at;       // the same instant, in nanoseconds
        std::uint64_t factor;  // nanoseconds per tick, times 2^32; less than 2^32
        std::int64_t least;    // no result of this line is earlier

        std::int64_t at_ticks(std::uint64_t ticks) const noexcept {
            const std::uint64_t whole = (ticks >> 32) * factor;
            const std::uint64_t part = (ticks & 0xffff'ffffU) * factor >> 32;
            return larger(least, at + static_cast<std::int64_t>(whole + part));
        }
    };
    struct shared_line {
        Atomic<std::uint64_t> since{0};
        Atomic<std::int64_t> at{0};
        Atomic<std::uint64_t> factor{0};
        Atomic<std::int64_t> least{0};

        // acquire; pairs with the releases in write(): a reader of a new value also sees the changed version
        line read() const noexcept {
            line l;
            l.since = since.load(std::memory_order_acquire);
            l.at = at.load(std::memory_order_acquire);
            l.factor = factor.load(std::memory_order_acquire);
            l.least = least.load(std::memory_order_acquire);
            return l;
        }
        void write(const line& l) noexcept {
            // release; pairs with the acquires in read()
            since.store(l.since, std::memory_order_release);
            at.store(l.at, std::memory_order_release);
            factor.store(l.factor, std::memory_order_release);
            least.store(l.least, std::memory_order_release);
        }
    };
    struct instant {
        std::uint64_t ticks = 0;
        std::int64_t steady = 0;
    };
    static constexpr double one = 4294967296.0;             // 2^32
    static constexpr std::int64_t first_look = 25'000;      // ns between the two readings for the first line
    static constexpr std::int64_t millisecond = 1'000'000;  // ns

    // Reads both clocks at nearly the same instant: the fastest of four attempts.
    static instant read_both() noexcept {
        instant best;
        std::uint64_t least = ~std::uint64_t{0};
        for (int i = 0; i < 4; ++i) {
            const std::uint64_t before = Source::ticks();
            const std::int64_t steady = Source::steady();
            const std::uint64_t took = Source::ticks() - before;
            if (took < least) {
                least = took;
                best = {before + took / 2, steady};
            }
        }
        return best;
    }

    // acquire and release: they pair with each other: the holder of the lock sees what earlier holders wrote.
    // Under the lock, `state_` and `version_` are loaded with relaxed: only its holder changes them
    bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

    // Draws the first line, or changes to the steady clock for good. Takes 25 us, once.
    WEIR_NOINLINE void begin() noexcept {
        if (!try_lock()) return Source::rest();
        if (state_.load(std::memory_order_relaxed) == state::fresh) {
            // release; pairs with now(): publishes the first line and `span_`
            state_.store(draw_first() ? state::ticking : state::steady, std::memory_order_release);
        }
        unlock();
    }
    bool draw_first() noexcept {
        if (!Source::reliable()) return false;
        first_ = read_both();
        instant second = first_;
        while (second.steady - first_.steady < first_look) second = read_both();
        // A line can't represent the factor of a counter slower than one gigahertz.
        if (ns_per_tick(second) >= 0.999) return false;
        span_ = static_cast<std::uint64_t>(static_cast<double>(millisecond) / ns_per_tick(second));
        draw(second, second.steady);
        return true;
    }

    WEIR_NOINLINE void draw_next() noexcept {
        const line old = lines_[version_.load(std::memory_order_relaxed) % 2].read();
        const instant i = read_both();
        const std::uint64_t passed = i.ticks - old.since;
        if (passed < span_) return;  // another thread was faster
        const bool backwards = static_cast<std::int64_t>(passed) < 0;
        const std::int64_t error = backwards ? 0 : old.at_ticks(passed) - i.steady;
        const std::int64_t most = millisecond + (i.steady - old.at) / 1024;
        if (backwards || error > most || error < -most) {
            end_of_ticks_ = old.at_ticks(span_);
            state_.store(state::steady, std::memory_order_release);  // pairs with now(), for `end_of_ticks_`
        } else {
            draw(i, old.at_ticks(span_));
        }
    }

    double ns_per_tick(const instant& i) const noexcept {
        return static_cast<double>(i.steady - first_.steady) / static_cast<double>(i.ticks - first_.ticks);
    }

    // Publishes a line that begins at the instant `i`, and gives no time before `least`.
    void draw(const instant& i, std::int64_t least) noexcept {
        const std::uint32_t next = version_.load(std::memory_order_relaxed) + 1;
        lines_[next % 2].write({i.ticks, i.steady, static_cast<std::uint64_t>(ns_per_tick(i) * one), least});
        version_.store(next, std::memory_order_release);  // pairs with now(): publishes the line
    }

    // The members below are written at most once a millisecond, apart from attempts to lock.
    alignas(64) Atomic<state> state_{state::fresh};
    Atomic<bool> locked_{false};
    Atomic<std::uint32_t> version_{0};
    std::uint64_t span_ = 0;         // the length of a line, in ticks; set before the first line
    std::int64_t end_of_ticks_ = 0;  // the end of the last line; set when the counter is given up
    instant first_;                  // all factors are of the time since this instant; used under the lock
    alignas(64) shared_line lines_[2];
};

WEIR_COMPILED(class basic_tick_clock<>);

}  // namespace weir::detail

#endif
