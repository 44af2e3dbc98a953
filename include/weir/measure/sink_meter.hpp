// weir measure, internal: the accounts of a sink, which passes items on at once, and so needs no coroutine
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SINK_METER_HPP
#define WEIR_MEASURE_SINK_METER_HPP

#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/platform/bounds.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// What a sink did: between the queue before it and its own, which are one.
struct sink_figures {
    std::uint64_t num_taken = 0;   // items, of the queue before
    std::uint64_t num_passed = 0;  // items, into its own
    std::uint64_t num_before = 0;  // what waits there: items, and marks
    std::size_t bytes_before = 0;  // of that, where bytes are limited
    duration wait_get{};
    duration wait_put{};
    duration empty{};  // the queue before
    histogram get_waits;
    histogram put_waits;
    std::int64_t moved = INT64_MAX;  // when an item last came or went, as far as is known
};

// A stage that takes an item and puts it into its own queue, in no time: so all that it would do follows from
// how many items went into the queue before it, and how many came out of its own. The items of both queues,
// and the one in its hand, are in one channel, behind each other:
//
//     got ... passed on ... | taken | ... put
//      its own queue, capacity | its hand | the queue before
//
// Guarded by the channel's lock. Instants are those at which the channel counts its events, so the figures of
// both agree to the nanosecond.
template <class Platform, bool Histogram = true>
class sink_meter {
  public:
    explicit sink_meter(std::size_t capacity) noexcept : capacity_(capacity) {}

    void start(std::int64_t now) noexcept { last_ = since_ = now; }
    void set_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }

    // Nothing will come any more.
    bool is_over() const noexcept { return over_; }
    // Has an item in its hand, as its queue is full.
    bool waits_to_put() const noexcept { return taken_ != passed_; }

    // Until now nothing has happened.
    void settle(std::int64_t now) noexcept {
        if (now <= last_) return;
        if (!over_) {
            std::int64_t& waited = waits_to_put() ? wait_put_ : wait_get_;
            waited = add_way(waited, last_, now);
        }
        if (is_empty_before_) empty_ = add_way(empty_, last_, now);
        last_ = now;
    }

    // Items were put, or got, so that there are so many now, ever. `closed`: none will be put any more.
    // `is_mark(i)`: whether the i-th is no item, but a mark.
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

    // All that is inside is gone, and nothing will come.
    void discard(std::int64_t now) noexcept {
        settle(now);
        over_ = is_empty_before_ = true;
    }

    // When an item last came or went. `got`: how many went, ever; `size`: are inside; `turned`: since when
    // none is. Who takes one of several, while none comes, is seen by nobody: then it is when `got` was first
    // what it is now.
    std::int64_t moved(std::uint64_t got, std::size_t size, std::int64_t turned) noexcept {
        if (got != got_then_) then_ = last_;
        got_then_ = got;
        if (size == 0) return larger(since_, turned);
        return waits_to_put() || size == capacity_ ? since_ : larger(since_, then_);
    }

    // `put`: how many items came, ever.
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

    // A get or a put of the sink is done, and the next one begins. What did not wait is not recorded.
    void note(waits& of, bool mark, std::uint64_t& marks) noexcept {
        if (mark) {
            ++marks;
        } else if (since_ != last_) {
            of.record(time_between(since_, last_));
        }
        since_ = last_;
    }

    std::size_t capacity_;  // of its own queue
    std::uint64_t taken_ = 0;
    std::uint64_t passed_ = 0;
    std::uint64_t taken_marks_ = 0;
    std::uint64_t passed_marks_ = 0;
    bool over_ = false;
    bool is_empty_before_ = true;
    std::int64_t last_ = INT64_MAX;   // until it starts, no time passes
    std::int64_t since_ = INT64_MAX;  // when what it waits for began
    std::int64_t wait_get_ = 0;
    std::int64_t wait_put_ = 0;
    std::int64_t empty_ = 0;
    std::uint64_t got_then_ = 0;     // when last asked
    std::int64_t then_ = INT64_MIN;  // since when it is that
    waits gets_;
    waits puts_;
};

// Stands in where nothing is measured: of a sink nobody is told.
class no_sink {
  public:
    static constexpr bool waits_to_put() noexcept { return false; }
    static constexpr bool is_over() noexcept { return true; }
    void set_capacity(std::size_t) const noexcept {}
    const no_sink* operator->() const noexcept { return this; }
};

}  // namespace weir::detail

#endif
