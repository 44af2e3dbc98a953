// weir measure, internal: the time integrals of a channel
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_CHANNEL_METER_HPP
#define WEIR_MEASURE_CHANNEL_METER_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

// The waits of so many operations. Those that didn't wait are not recorded one by one: they waited 0.
template <class Platform, bool Histogram>
histogram waits_of(const basic_recorder<Platform, Histogram>& waits, std::uint64_t operations) noexcept {
    histogram h(waits);
    if (operations <= h.count()) return h;
    const std::uint64_t rest = operations - h.count();
    if constexpr (Histogram) {
        h.record(duration(0), rest);
    } else {
        h += histogram::without_quantiles(rest, duration(0), duration(0));
    }
    return h;
}

// Guarded by the channel's lock. Every event first settles all integrals up to its instant, so a
// reader that settles at its own instant splits each open interval there and gets exact figures.
// Instants may be read before the lock was taken; one that lies before the last event counts as it.
template <class Platform, bool Histogram = true>
class channel_meter {
  public:
    struct side {
        std::uint64_t waiting = 0;                  // operations that wait now
        std::int64_t wait = 0;                      // ns, summed over operations
        basic_recorder<Platform, Histogram> waits;  // of the operations that waited and are answered

        // ns in which at least one waited
        std::int64_t blocked() const noexcept { return read_sum(blocked_); }

      private:
        friend channel_meter;
        std::int64_t blocked_ = 0;
    };

    bool started() const noexcept { return started_; }

    void start(std::int64_t now) noexcept {
        started_ = true;
        begin_ = last_ = turned_ = now;
    }

    // The instant at which an event counts.
    std::int64_t settle(std::int64_t now) noexcept {
        if (now <= last_) return last_;  // several events have one reading
        if (puts.waiting != 0) integrate(puts, last_, now);
        if (gets.waiting != 0) integrate(gets, last_, now);
        if (is_empty_) empty_ = add_way(empty_, last_, now);
        return last_ = now;
    }

    void set_empty(bool is_empty) noexcept {
        is_empty_ = is_empty;
        turned_ = last_;
    }
    // When the first item of those inside came, or the last one went.
    std::int64_t turned() const noexcept { return turned_; }

    void note_first(std::int64_t now) noexcept { first_ = settle(now); }
    std::int64_t first() const noexcept { return first_; }
    std::int64_t begin() const noexcept { return begin_; }
    std::int64_t elapsed() const noexcept { return time_between(begin_, last_); }
    std::int64_t empty() const noexcept { return read_sum(empty_); }

    // What it knows, at an instant of which the counts in `s` are.
    void fill(channel_stats& s, std::int64_t now) noexcept {
        s.put_waits = detail::waits_of(puts.waits, s.num_put);
        s.get_waits = detail::waits_of(gets.waits, s.num_get);
        if (!started_) return;
        settle(now);
        s.elapsed = duration(elapsed());
        s.empty = duration(empty());
        s.put_wait = duration(puts.wait);
        s.get_wait = duration(gets.wait);
        s.put_blocked = duration(puts.blocked());
        s.get_blocked = duration(gets.blocked());
    }

    side puts;
    side gets;

  private:
    static void integrate(side& s, std::int64_t from, std::int64_t to) noexcept {
        s.blocked_ = add_way(s.blocked_, from, to);
        // The sum of several waits is more than the way: it stops at the longest time there is.
        const std::int64_t passed = time_between(from, to);
        const auto count = static_cast<std::int64_t>(s.waiting);
        const bool fits = passed < few_hours && count < many && s.wait <= INT64_MAX / 2;
        s.wait = fits || passed <= (INT64_MAX - s.wait) / count ? s.wait + count * passed : INT64_MAX;
    }
    static constexpr std::int64_t few_hours = std::int64_t{1} << 43;  // ns; which go without a division
    static constexpr std::int64_t many = std::int64_t{1} << 19;

    bool started_ = false;
    bool is_empty_ = true;
    std::int64_t begin_ = 0;
    std::int64_t last_ = 0;
    std::int64_t turned_ = 0;
    std::int64_t first_ = INT64_MIN;  // when the first item was got
    std::int64_t empty_ = 0;
};

class no_meter {};  // stands in where nothing is measured

}  // namespace weir::detail

#endif
