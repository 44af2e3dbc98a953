// weir floor 0: the time integrals of a channel
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_CHANNEL_METER_HPP
#define WEIR_DETAIL_CHANNEL_METER_HPP

#include <weir/detail/recorder.hpp>

#include <algorithm>  // for std::max
#include <cstdint>    // for std::int64_t

namespace weir::detail {

// Guarded by the channel's lock. Every event first settles all integrals up to its instant, so a
// reader that settles at its own instant splits each open interval there and gets exact figures.
// Instants may be read before the lock was taken; one that lies before the last event counts as it.
template <class Platform, bool Histogram = true>
class channel_meter {
  public:
    struct side {
        std::uint64_t waiting = 0;                  // operations that wait now
        std::int64_t wait = 0;                      // ns, summed over operations
        std::int64_t blocked = 0;                   // ns in which at least one waited
        basic_recorder<Platform, Histogram> waits;  // of the operations that waited and are answered
    };

    bool started() const noexcept { return started_; }

    void start(std::int64_t now) noexcept {
        started_ = true;
        begin_ = last_ = now;
    }

    // The instant at which an event counts.
    std::int64_t settle(std::int64_t now) noexcept {
        const std::int64_t at = std::max(now, last_);
        const std::int64_t passed = at - last_;
        last_ = at;
        integrate(puts, passed);
        integrate(gets, passed);
        if (is_empty_) empty_ += passed;
        return at;
    }

    void set_empty(bool is_empty) noexcept { is_empty_ = is_empty; }

    std::int64_t begin() const noexcept { return begin_; }
    std::int64_t elapsed() const noexcept { return last_ - begin_; }
    std::int64_t empty() const noexcept { return empty_; }

    side puts;
    side gets;

  private:
    static constexpr std::int64_t no_jump = std::int64_t{1} << 44;  // ns, five hours

    static void integrate(side& s, std::int64_t passed) noexcept {
        if (passed < no_jump) {
            s.wait += static_cast<std::int64_t>(s.waiting) * passed;
        } else if (s.waiting != 0) {
            // The clock was set: the sum of several waits may be more than there are nanoseconds.
            const std::int64_t most = (INT64_MAX - s.wait) / static_cast<std::int64_t>(s.waiting);
            s.wait = passed > most ? INT64_MAX : s.wait + static_cast<std::int64_t>(s.waiting) * passed;
        }
        if (s.waiting != 0) s.blocked += passed;
    }

    bool started_ = false;
    bool is_empty_ = true;
    std::int64_t begin_ = 0;
    std::int64_t last_ = 0;
    std::int64_t empty_ = 0;
};

// Stands in where nothing is measured.
class no_meter {};

}  // namespace weir::detail

#endif
