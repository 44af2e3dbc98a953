// weir floor 0: the steady clock, read from the processor's counter in half the time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_TICK_CLOCK_HPP
#define WEIR_DETAIL_TICK_CLOCK_HPP

#include <weir/detail/bounds.hpp>
#include <weir/detail/config.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <mutex>    // for std::chrono::steady_clock, without the calendars of <chrono>

namespace weir::detail {

// Where a `basic_tick_clock` gets its time from.
struct system_ticks {
    static bool reliable() noexcept { return ticks_are_reliable(); }
    static std::uint64_t ticks() noexcept { return read_ticks(); }
    static std::int64_t steady() noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

// The time is that of an anchor, an instant that was read on both clocks, and the ticks since then times
// a factor. Whoever notices that the anchor is older than its span renews it: the span is 0.1 ms at
// first and doubles up to a second, and each time the factor is known better. By what it is then
// behind the steady clock, it jumps; what it is ahead, it loses within the next span: so it never
// goes back, and stays within some 100 ns of the steady clock. If the two disagree by more than a
// millisecond (a virtual machine that was moved, or slept), the counter is not used any more.
//
// Cost: 13 ns, of which the counter takes 12; the steady clock 21.
template <class Source = system_ticks, template <class> class Atomic = std::atomic>
class basic_tick_clock {
  public:
    constexpr basic_tick_clock() noexcept = default;
    basic_tick_clock(const basic_tick_clock&) = delete;
    basic_tick_clock& operator=(const basic_tick_clock&) = delete;

    std::int64_t now() noexcept {
        // acquire; pairs with the releases that set it
        if (state_.load(std::memory_order_acquire) != state::ticking) return without_ticks();
        while (true) {
            // acquire, in this order; pairs with the releases in publish(): all are of one anchor
            const std::uint32_t version = version_.load(std::memory_order_acquire);
            anchor a;
            a.since = since_.load(std::memory_order_acquire);
            a.at = at_.load(std::memory_order_acquire);
            a.factor = factor_.load(std::memory_order_acquire);
            a.span = span_.load(std::memory_order_acquire);
            const std::uint64_t ticks = Source::ticks() - a.since;
            if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) continue;
            return ticks < a.span ? a.at + scaled(ticks, a.factor) : renew(a, ticks);
        }
    }

    // In a process that was forked while another thread was in here, by the one thread that is there: an
    // anchor that was half written is not used any more, and nobody holds the lock.
    void mend() noexcept {
        if (version_.load(std::memory_order_relaxed) % 2 != 0) {
            version_.fetch_add(1, std::memory_order_relaxed);
            state_.store(state::steady, std::memory_order_relaxed);
        }
        unlock();
    }

    bool uses_ticks() const noexcept { return state_.load(std::memory_order_relaxed) == state::ticking; }

  private:
    enum class state : unsigned char { fresh, ticking, steady };
    struct anchor {
        std::uint64_t since;   // in ticks
        std::int64_t at;       // in nanoseconds
        std::uint64_t factor;  // nanoseconds a tick, times 2^32; less than one
        std::uint64_t span;    // in ticks
    };
    struct instant {
        std::uint64_t ticks = 0;
        std::int64_t steady = 0;
    };
    static constexpr double one = 4294967296.0;  // 2^32
    static constexpr double first_span = 1e5;    // ns
    static constexpr double longest_span = 1e9;  // ns
    static constexpr double most_error = 1e6;    // ns
    static constexpr double most_slowing = 1e-3;

    static std::int64_t scaled(std::uint64_t ticks, std::uint64_t factor) noexcept {
        const std::uint64_t whole = (ticks >> 32) * factor;
        return static_cast<std::int64_t>(whole + ((ticks & 0xffff'ffffU) * factor >> 32));
    }

    // Both clocks at one instant: of some tries the one that took the least time.
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

    // acquire and release: they pair with each other
    bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

    WEIR_NOINLINE std::int64_t without_ticks() noexcept {
        // acquire; pairs with the release of whatever changes the state: sees the offset
        if (state_.load(std::memory_order_acquire) == state::fresh && try_lock()) {
            if (state_.load(std::memory_order_relaxed) == state::fresh) begin();
            unlock();
        }
        return Source::steady() + offset_.load(std::memory_order_relaxed);
    }

    // Takes 25 us, once.
    void begin() noexcept {
        state begun = state::steady;
        if (Source::reliable()) {
            first_ = read_both();
            instant second = first_;
            while (static_cast<double>(second.steady - first_.steady) < first_span / 4) {
                second = read_both();
            }
            // A counter slower than a gigahertz has a factor that `scaled` can't take.
            if (ns_per_tick(second) < 0.999) {
                publish(second.ticks, second.steady, ns_per_tick(second), first_span);
                begun = state::ticking;
            }
        }
        state_.store(begun, std::memory_order_release);  // pairs with now(): the first anchor is there
    }

    // The anchor is too old, or from the future. One thread renews it, the others make do with it.
    WEIR_NOINLINE std::int64_t renew(const anchor& old, std::uint64_t ticks) noexcept {
        if (!try_lock()) {
            return static_cast<std::int64_t>(ticks) < 0 ? old.at : old.at + scaled(ticks, old.factor);
        }
        const instant i = read_both();
        const auto passed = static_cast<std::int64_t>(i.ticks - since_.load(std::memory_order_relaxed));
        const std::int64_t at = at_.load(std::memory_order_relaxed);
        const std::int64_t mine = passed < 0 ? at
                                             : at + scaled(static_cast<std::uint64_t>(passed),
                                                           factor_.load(std::memory_order_relaxed));
        const double ahead = static_cast<double>(mine - i.steady);
        const std::int64_t now = larger(mine, i.steady);
        if (passed < 0 || ahead > most_error || ahead < -most_error) {
            // release of the state, and so of the offset; pairs with the acquire in now()
            offset_.store(now - i.steady, std::memory_order_relaxed);
            state_.store(state::steady, std::memory_order_release);
        } else {
            const double span = smaller(2 * span_ns_, longest_span);
            const double slower = ahead > 0 ? smaller(ahead / span, most_slowing) : 0;
            publish(i.ticks, now, ns_per_tick(i) * (1 - slower), span);
        }
        unlock();
        return now;
    }

    double ns_per_tick(const instant& i) const noexcept {
        return static_cast<double>(i.steady - first_.steady) / static_cast<double>(i.ticks - first_.ticks);
    }

    // release, in this order; pairs with now(): who sees any of it sees that the version is odd
    void publish(std::uint64_t since, std::int64_t at, double ns_per_tick, double span) noexcept {
        span_ns_ = span;
        const std::uint32_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);
        since_.store(since, std::memory_order_release);
        at_.store(at, std::memory_order_release);
        factor_.store(static_cast<std::uint64_t>(ns_per_tick * one), std::memory_order_release);
        span_.store(static_cast<std::uint64_t>(span / ns_per_tick), std::memory_order_release);
        version_.store(version + 2, std::memory_order_release);
    }

    // On one line, and read only but for once a span.
    alignas(64) Atomic<state> state_{state::fresh};
    Atomic<bool> locked_{false};
    Atomic<std::uint32_t> version_{0};
    Atomic<std::uint64_t> since_{0};
    Atomic<std::int64_t> at_{0};
    Atomic<std::uint64_t> factor_{0};
    Atomic<std::uint64_t> span_{0};
    Atomic<std::int64_t> offset_{0};
    // Under the lock.
    instant first_;
    double span_ns_ = 0;
};

}  // namespace weir::detail

#endif
