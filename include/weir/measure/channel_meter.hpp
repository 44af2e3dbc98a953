// weir measure, internal: measures the waits at a channel, its empty time, and a sink merged with the channel
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_CHANNEL_METER_HPP
#define WEIR_MEASURE_CHANNEL_METER_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// The histogram of the waits of all operations, of which there are `operations`. Operations without a wait
// are not in `waits`, but added here as waits of 0.
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

// Measures a channel: how long puts and gets wait, and how long the channel is empty. Guarded by the locks of
// the channel. `settle` adds the time since the last event to all sums. The caller calls `settle` before each
// event: a wait begins or ends, or the channel becomes empty or non-empty. A snapshot (`fill`) calls
// `settle`, too, so that waits that have not ended count up to its instant. If an instant was read before the
// lock was taken, and is before the last event, the instant of the last event counts instead.
template <class Platform, bool Histogram = true>
class channel_meter {
  public:
    struct side {
        std::uint64_t waiting = 0;  // operations that wait now
        std::int64_t wait = 0;      // time waited in ns, summed over operations

        // The time in ns in which at least one operation waited.
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

    // Adds the time since the last event. Returns `now`, or the instant of the last event if that is later.
    std::int64_t settle(std::int64_t now) noexcept {
        if (now <= last_) return last_;  // several events share one clock reading
        if (puts.waiting != 0) integrate(puts, last_, now);
        if (gets.waiting != 0) integrate(gets, last_, now);
        if (is_empty_) empty_ = add_interval(empty_, last_, now);
        return last_ = now;
    }

    void set_empty(bool is_empty) noexcept {
        is_empty_ = is_empty;
        turned_ = last_;
    }
    // When the channel last became empty or non-empty.
    std::int64_t turned() const noexcept { return turned_; }

    // Records the wait of a completed operation, `ns` long. `of`: `puts` if the operation is a put; else
    // `gets`.
    void record_wait(const side& of, std::int64_t ns) noexcept {
        (&of == &puts ? put_waits_ : get_waits_).record(ns);
    }

    // Records when the first item was got: the result of `first`, which is INT64_MIN before.
    void note_first(std::int64_t now) noexcept { first_ = settle(now); }
    std::int64_t first() const noexcept { return first_; }
    std::int64_t begin() const noexcept { return begin_; }
    std::int64_t elapsed() const noexcept { return time_between(begin_, last_); }
    std::int64_t empty() const noexcept { return read_sum(empty_); }

    // Sets the histograms of waits and, if `start` was called, the times up to the instant `now`. The caller
    // has set `s.num_put` and `s.num_get`.
    void fill(channel_stats& s, std::int64_t now) noexcept {
        s.put_waits = detail::waits_of(put_waits_, s.num_put);
        s.get_waits = detail::waits_of(get_waits_, s.num_get);
        if (!started_) return;
        settle(now);
        s.elapsed = duration(elapsed());
        s.empty = duration(empty());
        s.put_wait = duration(puts.wait);
        s.get_wait = duration(gets.wait);
        s.put_blocked = duration(puts.blocked());
        s.get_blocked = duration(gets.blocked());
    }

  private:
    // The members used when the channel becomes empty or non-empty are together, in two cache lines.
    bool started_ = false;
    bool is_empty_ = true;
    std::int64_t last_ = 0;  // the instant of the last event
    std::int64_t turned_ = 0;
    std::int64_t empty_ = 0;  // the time without an item, in ns

  public:
    side puts;
    side gets;

  private:
    static void integrate(side& s, std::int64_t from, std::int64_t to) noexcept {
        s.blocked_ = add_interval(s.blocked_, from, to);
        // A sum over several operations can overflow: it stops at INT64_MAX.
        const std::int64_t passed = time_between(from, to);
        const auto count = static_cast<std::int64_t>(s.waiting);
        const bool fits = passed < few_hours && count < many && s.wait <= INT64_MAX / 2;
        s.wait = fits || passed <= (INT64_MAX - s.wait) / count ? s.wait + count * passed : INT64_MAX;
    }
    // Below both limits, `count * passed` can't overflow: so most events need no division.
    static constexpr std::int64_t few_hours = std::int64_t{1} << 43;  // ns
    static constexpr std::int64_t many = std::int64_t{1} << 19;       // operations

    std::int64_t begin_ = 0;
    std::int64_t first_ = INT64_MIN;                 // when the first item was got
    basic_recorder<Platform, Histogram> put_waits_;  // of the operations whose wait is over
    basic_recorder<Platform, Histogram> get_waits_;
};

class no_meter {};  // for channels that are not measured

// The statistics of a sink that is merged with a channel. A sink is the last stage of a pipeline; it takes
// items from the queue before the sink, and puts them into its own queue. From that queue, the consumer (the
// program's thread or coroutine) gets them. A mark ends an epoch, which is one pass over the data.
struct sink_figures {
    std::uint64_t num_taken = 0;   // items taken from the queue before the sink
    std::uint64_t num_passed = 0;  // items put into the sink's own queue
    std::uint64_t num_before = 0;  // items and end-of-epoch marks in the queue before the sink
    std::size_t bytes_before = 0;  // bytes of these items, if bytes are limited; else 0
    duration wait_get{};
    duration wait_put{};
    duration empty{};                // the time in which the queue before the sink was empty
    histogram get_waits;             // of the sink's gets from the queue before the sink
    histogram put_waits;             // of the sink's puts into its own queue
    std::int64_t moved = INT64_MAX;  // the last movement in ns: see `sink_meter::moved`
};

// A sink takes an item and puts it into its own queue, which takes no time. So the actions of a sink follow
// from the number of items put into the queue before the sink, and the number got from its own queue: a sink
// needs no coroutine. One channel holds the items of the sink's own queue, the item that the sink holds, and
// the items of the queue before the sink, in this order. `got`, `passed`, `taken` and `put` count items and
// end-of-epoch marks so far:
//
//     numbers of the items    where the items are
//     got    ... passed - 1   the sink's own queue, of capacity `capacity_`
//     passed ... taken - 1    the item that the sink holds: one, or none
//     taken  ... put - 1      the queue before the sink
//
// Guarded by the locks of the channel. Each argument `now` is a result of `channel_meter::settle`, so that
// the figures of sink and channel agree to the nanosecond.
template <class Platform, bool Histogram = true>
class sink_meter {
  public:
    explicit sink_meter(std::size_t capacity) noexcept : capacity_(capacity) {}

    void start(std::int64_t now) noexcept { last_ = since_ = now; }
    void set_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }

    // Whether the sink has ended: it holds no item and the queue before it is closed and empty; or all items
    // were discarded.
    bool is_over() const noexcept { return over_; }
    // Whether the sink holds an item, because its own queue is full.
    bool waits_to_put() const noexcept { return taken_ != passed_; }

    // Adds the time since the last event.
    void settle(std::int64_t now) noexcept {
        if (now <= last_) return;
        if (!over_) {
            std::int64_t& waited = waits_to_put() ? wait_put_ : wait_get_;
            waited = add_interval(waited, last_, now);
        }
        if (is_empty_before_) empty_ = add_interval(empty_, last_, now);
        last_ = now;
    }

    // Lets the sink act after a put or a get. `put`, `got`: the numbers of all puts and gets so far.
    // `closed`: no put will follow. `is_mark(i)`: whether put number i, from 0, put an end-of-epoch mark.
    template <class IsMark>
    void advance(std::int64_t now, std::uint64_t put, std::uint64_t got, bool closed,
                 IsMark is_mark) noexcept {
        settle(now);
        while (!over_) {
            if (waits_to_put()) {
                if (passed_ - got >= capacity_ && passed_ >= got) break;
                note(puts_, is_mark(passed_), passed_marks_);
                ++passed_;
            } else {
                if (taken_ == put) {
                    over_ = closed;
                    break;
                }
                note(gets_, is_mark(taken_), taken_marks_);
                ++taken_;
            }
        }
        is_empty_before_ = taken_ == put;
    }

    // Ends the sink. Called when all items were discarded, and no put will follow.
    void discard(std::int64_t now) noexcept {
        settle(now);
        over_ = is_empty_before_ = true;
    }

    // The instant at which the sink last moved an item, or the consumer got one if that was later. `got`: the
    // number of all gets; `size`: the items in the whole channel; `turned`: when the channel became empty. A
    // get that leaves items in the channel is not timed: the first call with its `got` counts as its instant.
    std::int64_t moved(std::uint64_t got, std::size_t size, std::int64_t turned) noexcept {
        if (got != got_then_) then_ = last_;
        got_then_ = got;
        if (size == 0) return larger(since_, turned);
        return waits_to_put() || size == capacity_ ? since_ : larger(since_, then_);
    }

    // `put`: the number of all puts so far.
    sink_figures figures(std::uint64_t put) const noexcept {
        const std::uint64_t taken = taken_ - taken_marks_;
        const std::uint64_t passed = passed_ - passed_marks_;
        return {taken,
                passed,
                put - taken_,
                0,
                duration(read_sum(wait_get_)),
                duration(read_sum(wait_put_)),
                duration(read_sum(empty_)),
                detail::waits_of(gets_, taken),
                detail::waits_of(puts_, passed)};
    }

  private:
    using waits = basic_recorder<Platform, Histogram>;

    // A get or put of the sink is complete, and the next one begins. Counts a mark. For an item, records the
    // wait of the operation, unless the wait was 0.
    void note(waits& of, bool mark, std::uint64_t& marks) noexcept {
        if (mark) {
            ++marks;
        } else if (since_ != last_) {
            of.record(time_between(since_, last_));
        }
        since_ = last_;
    }

    std::size_t capacity_;      // of the sink's own queue
    std::uint64_t taken_ = 0;   // items and marks taken from the queue before the sink
    std::uint64_t passed_ = 0;  // items and marks put into the sink's own queue
    std::uint64_t taken_marks_ = 0;
    std::uint64_t passed_marks_ = 0;
    bool over_ = false;
    bool is_empty_before_ = true;
    std::int64_t last_ = INT64_MAX;   // before `start`, no time passes
    std::int64_t since_ = INT64_MAX;  // when the current get or put began
    std::int64_t wait_get_ = 0;
    std::int64_t wait_put_ = 0;
    std::int64_t empty_ = 0;
    std::uint64_t got_then_ = 0;     // `got` at the last call of `moved`
    std::int64_t then_ = INT64_MIN;  // when `got` was first seen to have this value
    waits gets_;
    waits puts_;
};

// For channels that are not measured: no sink.
class no_sink {
  public:
    static constexpr bool waits_to_put() noexcept { return false; }
    static constexpr bool is_over() noexcept { return true; }
    void set_capacity(std::size_t) const noexcept {}
    const no_sink* operator->() const noexcept { return this; }
};

}  // namespace weir::detail

#endif
