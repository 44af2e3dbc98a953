// weir channel, internal: the order of puts that have numbers, and the places that are filled early
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_PUT_ORDER_HPP
#define WEIR_CHANNEL_PUT_ORDER_HPP

#include <weir/platform/bounds.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

// The state of a channel whose puts have numbers: item `n` goes in after item `n - 1`, in whatever order the
// puts come. The slots of a stage that keeps the order of its input put like that. An early item is stored in
// the ring of the channel at its place, where no get sees it: so many places behind the last item as numbers
// are missing before it. When the turn of the place has come, the item is in without another step. The stage
// may have dropped an item: then its place is filled with nothing, and the places behind it move up. (A ring
// of slots that are claimed by number and published in order: M. Thompson et al., "Disruptor", LMAX 2011; the
// buffer of a serial filter in oneTBB's parallel_pipeline.)
//
// This class knows numbers and which places are filled; the items are the channel's. Guarded by the lock for
// putting; `block`, `set_window` and `resize` by both locks.
class put_order {
  public:
    enum class place : std::uint8_t { empty, item, nothing };

    // `window`: how many places, from the next one on, may be filled. `places`: those of the ring, a power
    // of two, or 0.
    put_order(std::size_t window, std::size_t places) : window_(window), places_(places) {}

    std::uint64_t next() const noexcept { return next_; }
    bool is_within_window(std::uint64_t number) const noexcept { return number - next_ < window_; }
    std::size_t window() const noexcept { return window_; }
    bool refuses(std::uint64_t number) const noexcept { return number > blocked_; }
    bool has_early() const noexcept { return filled_ != 0; }
    std::size_t num_early() const noexcept { return filled_; }
    place at(std::uint64_t number) const noexcept { return places_[position(number)]; }
    bool is_next_filled() const noexcept {
        return filled_ != 0 && next_ <= blocked_ && at(next_) != place::empty;
    }

    void fill(std::uint64_t number, bool with_item) noexcept {
        places_[position(number)] = with_item ? place::item : place::nothing;
        ++filled_;
    }
    // The turn of the next number is over; it was not early.
    void pass() noexcept { ++next_; }
    // The same for an early one, whose place is emptied. Returns whether it is an item.
    bool pass_early() noexcept {
        place& mine = places_[position(next_++)];
        const bool is_item = mine == place::item;
        mine = place::empty;
        --filled_;
        return is_item;
    }
    // No number above `last` goes in any more.
    void block(std::uint64_t last) noexcept { blocked_ = smaller(blocked_, last); }

    // Calls `function(number)` for each early item, in their order.
    template <class Function>
    void each_item(Function function) const {
        std::uint64_t number = next_;
        for (std::size_t left = filled_; left != 0; ++number) {
            const place seen = at(number);
            if (seen == place::empty) continue;
            --left;
            if (seen == place::item) function(number);
        }
    }
    // Forgets all early items.
    void clear() noexcept {
        places_.assign(places_.size(), place::empty);
        filled_ = 0;
    }

    void set_window(std::size_t window) noexcept { window_ = window; }
    // For a ring with more places. `more`: all empty; receives the old memory.
    void resize(std::vector<place>& more) noexcept {
        std::uint64_t number = next_;
        for (std::size_t left = filled_; left != 0; ++number) {
            const place seen = at(number);
            if (seen == place::empty) continue;
            --left;
            more[number_as<std::size_t>(number) & (more.size() - 1)] = seen;
        }
        places_.swap(more);
    }

  private:
    std::size_t position(std::uint64_t number) const noexcept {
        return number_as<std::size_t>(number) & (places_.size() - 1);
    }

    std::uint64_t next_ = 0;  // the number of the put whose turn it is
    std::uint64_t blocked_ = UINT64_MAX;
    std::size_t window_;
    std::size_t filled_ = 0;
    std::vector<place> places_;
};

}  // namespace weir::detail

#endif
