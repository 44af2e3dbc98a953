// weir channel, internal: the order of puts that have numbers, and the places that are filled early
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_PUT_ORDER_HPP
#define WEIR_CHANNEL_PUT_ORDER_HPP

#include <weir/platform/bounds.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

// The state of a channel with numbered puts: item `n` goes in after item `n - 1`, in whatever order the puts
// come. A stage that preserves the order of its input uses numbered puts. An item is early if the puts of
// earlier numbers are missing. An early item is stored in the ring of the channel, where no get sees the item
// yet; its index in the ring is the next free index plus `number - next()`. When its turn has come, the item
// is visible to gets, and is not moved. A stage may drop an item: then the place of its number holds nothing,
// and the channel closes the gap. (Rings whose places are claimed by number and published in order:
// M. Thompson et al., "Disruptor", LMAX 2011; the buffer of a serial filter in oneTBB's parallel_pipeline.)
//
// This class holds the numbers and the state of each place; the channel holds the items. Guarded by the put
// lock; `block`, `set_window` and `resize` by the put lock and the get lock.
class put_order {
  public:
    enum class place : std::uint8_t { empty, item, nothing };

    // `window`: how many places, from the next one on, may be filled. `places`: the number of places in the
    // ring, a power of two; 0 until the first call of `resize`.
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
    // Advances to the next number, past a place that is empty.
    void pass() noexcept { ++next_; }
    // Advances past a filled place, and empties it. Returns true if the place held an item.
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
    // Marks all places as empty. Destroys no item.
    void clear() noexcept {
        places_.assign(places_.size(), place::empty);
        filled_ = 0;
    }

    void set_window(std::size_t window) noexcept { window_ = window; }
    // For a ring with more places. Moves the states to `more`, whose places are all empty. Afterwards `more`
    // has the old memory.
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

    std::uint64_t next_ = 0;              // the number of the put whose turn it is
    std::uint64_t blocked_ = UINT64_MAX;  // numbers above this one are refused
    std::size_t window_;
    std::size_t filled_ = 0;  // the number of places that are not `empty`
    std::vector<place> places_;
};

}  // namespace weir::detail

#endif
