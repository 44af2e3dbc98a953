// weir stages, internal: a batch that the slots of a `batch_slots` fill, without its memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_OPEN_BATCH_HPP
#define WEIR_STAGES_OPEN_BATCH_HPP

#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::unique_ptr
#include <vector>   // for std::vector

namespace weir::detail {

// A batch that the slots (workers) of a stage `batch_slots` fill. A place is the part of the batch for one
// item. This class has the state of each place; the derived class `batch_in_block` has the memory. Changed
// under the lock of the `place_queue`, in which slots wait for places, until `place_rule::take` returns the
// finished batch to the slot that puts the batch into the next queue. Allocates only in the constructor.
class open_batch {
  public:
    static constexpr std::uint64_t no_item = UINT64_MAX;  // stands for a number if there is no item

    explicit open_batch(std::size_t places) : numbers_(places, no_item) { freed_.reserve(places); }
    open_batch(const open_batch&) = delete;
    open_batch& operator=(const open_batch&) = delete;
    virtual ~open_batch() = default;

    std::size_t size() const noexcept { return numbers_.size(); }
    // The number of places that can be given out.
    std::size_t num_places() const noexcept { return size() - given_ + freed_.size(); }
    bool is_full() const noexcept { return filled_ == size(); }
    std::size_t num_filled() const noexcept { return filled_; }
    // The number of the item that has filled the place, or `no_item`.
    std::uint64_t number_at(std::size_t place) const noexcept { return numbers_[place]; }

    // Gives out a place: one that a failed or dropped item has left unfilled, else the next new one.
    std::size_t give() noexcept {
        if (freed_.empty()) return given_++;
        const std::size_t place = freed_.back();
        freed_.pop_back();
        return place;
    }
    // The item of the place has failed or was dropped: the next `give` returns the place.
    void take_back(std::size_t place) noexcept { freed_.push_back(place); }
    // The item of this number has filled the place.
    void fill(std::size_t place, std::uint64_t number) noexcept {
        numbers_[place] = number;
        ++filled_;
    }

    std::unique_ptr<open_batch> next;  // the batch that was begun after this one
    open_batch* previous = nullptr;    // the batch that was begun before this one
    open_batch* next_full = nullptr;   // the batch that was full after this one

  protected:
    // For `batch_in_block`, which moves the items of unfinished batches together.
    void set_filled(std::size_t count) noexcept { filled_ = count; }

  private:
    std::vector<std::uint64_t> numbers_;  // for each place: see `number_at`
    std::vector<std::size_t> freed_;      // places that were given out and taken back
    std::size_t given_ = 0;               // places that were given out for the first time
    std::size_t filled_ = 0;              // places that hold a finished item
};

}  // namespace weir::detail

#endif
