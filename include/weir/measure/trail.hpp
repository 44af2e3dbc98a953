// weir measure, internal: what is told of the items of a run that are followed through its stages
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TRAIL_HPP
#define WEIR_MEASURE_TRAIL_HPP

#include <weir/measure/slot.hpp>
#include <weir/measure/state_journal.hpp>
#include <weir/measure/trail_marks.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string

namespace weir::detail {

// What one slot does with items that are followed: a visit of each. Each such item has a tag, which isn't 0.
// Told by the slot's chain; or, of what is put for it while it waits, by who does that. In this order:
class slot_trail {
  public:
    slot_trail() = default;
    slot_trail(const slot_trail&) = delete;
    slot_trail& operator=(const slot_trail&) = delete;
    virtual ~slot_trail() = default;

    // Of which the waits of a visit are read.
    state_journal journal;

    // Whether an item that begins here is followed: its tag, or 0. `n`: how many came before it; never less.
    bool may_choose(std::uint64_t n) const noexcept { return n >= next_; }
    virtual std::uint64_t chosen(std::uint64_t n, std::int64_t now) noexcept = 0;

    // One is got, the `number`-th of that queue, or begins here; `begin` follows, or `begin_new`.
    virtual void came(std::uint32_t queue, std::uint64_t number, std::uint64_t tag) noexcept = 0;
    virtual void begin(std::uint64_t item, std::uint64_t epoch, std::int64_t now) noexcept = 0;
    virtual void begin_new(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch,
                           std::int64_t now) noexcept = 0;
    // Of the item that came; 0: it isn't followed.
    std::uint64_t current() const noexcept { return current_; }
    bool is_open() const noexcept { return is_open_; }

    // The work is done, or what comes of it next is, or that is in a queue; this may be its end.
    virtual void goes_on(std::int64_t now) noexcept = 0;
    virtual void failed() noexcept = 0;
    // It is in a queue. Under its lock, before it can be got.
    virtual void left(std::uint32_t queue, std::uint64_t number) noexcept = 0;
    virtual void depth(std::uint32_t queue, std::uint64_t puts, std::uint64_t gets,
                       std::int64_t now) noexcept = 0;

    // Of a stage that makes one of several: one is given, of all that were kept and, `with_current`, the item
    // in hand. Returns its tag; 0: it isn't followed.
    virtual std::uint64_t gives(bool with_current, std::uint64_t item, std::uint64_t epoch,
                                std::int64_t now) noexcept = 0;
    bool has_kept() const noexcept { return num_kept_ != 0; }
    // The item in hand stays, if it was not in what was given.
    virtual void keep(std::int64_t now) noexcept = 0;
    void forget_kept() noexcept { num_kept_ = 0; }

    // There was no item to begin with: it was the end.
    virtual void did_not_begin() noexcept = 0;
    virtual void end() noexcept = 0;

  protected:
    std::uint64_t next_ = 0;     // that is chosen
    std::uint64_t current_ = 0;  // a tag
    std::uint64_t num_kept_ = 0;
    bool is_open_ = false;
};

// Of one run. Lives as long as it.
class run_trail {
  public:
    run_trail() = default;
    run_trail(const run_trail&) = delete;
    run_trail& operator=(const run_trail&) = delete;
    virtual ~run_trail() = default;

    // Before the run begins, in the order in which items pass. Errors of these three: `std::bad_alloc`.
    virtual std::size_t add_stage(const std::string& name) = 0;  // returns its place
    // `is_read`: a stage takes from it, and not the consumer.
    virtual trail_marks& add_queue(const std::string& name, std::size_t capacity, bool is_read) = 0;
    // Also while it goes on.
    virtual slot_trail& add_slot(std::size_t stage) = 0;

    virtual void begin(std::int64_t now) noexcept = 0;
};

// Before the slot is used. Null: no item is followed.
inline void follow(slot& one, run_trail* all, std::size_t stage) {
    if (all == nullptr) return;
    slot_trail& trail = all->add_slot(stage);
    one.is_followed(trail, trail.journal);
}

}  // namespace weir::detail

#endif
