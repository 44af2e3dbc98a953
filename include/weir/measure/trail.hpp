// weir measure, internal: the interface by which slots and queues report each step of traced items to a trace
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TRAIL_HPP
#define WEIR_MEASURE_TRAIL_HPP

#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string

namespace weir::detail {

// The tags of the traced items in one queue. A trace records the steps of chosen items through the stages of
// a pipeline. A tag is a number other than 0 that identifies a traced item. A tag is set under the lock of
// the queue, before the item can be got; the getter takes the tag without a lock. So an item that is not
// traced costs its getter one load, and its putter nothing.
class trail_marks {
  public:
    // `feeds_stage`: a stage gets from the queue; false: the consumer does, which takes the run's results.
    trail_marks(std::uint32_t queue, std::size_t capacity, bool feeds_stage) : queue_(queue) {
        if (!feeds_stage) return;
        std::size_t places = 1024;  // 16 KB; never fewer, as the capacity may grow later
        while (places < 2 * capacity && places < most_places) places *= 2;
        places_ = owned<place[]>(new place[places]());
        mask_ = places - 1;
    }

    std::uint32_t queue() const noexcept { return queue_; }

    // Sets the tag of item `number` of the queue. False: the tag is not set, because the consumer reads the
    // queue, or because the place still has the tag of another item. `lost` counts the second case.
    bool set(std::uint64_t number, std::uint64_t tag) noexcept {
        if (places_ == nullptr) return false;
        place& p = places_[number & mask_];
        // acquire; pairs with take(): the previous tag was read before this one is written
        if (p.number.load(std::memory_order_acquire) != 0) {
            // relaxed: only a count, as in lost()
            lost_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        p.tag = tag;
        p.number.store(number + 1, std::memory_order_release);  // publishes the tag; pairs with take()
        return true;
    }

    // Removes the tag of the item, and returns it; 0: not traced.
    std::uint64_t take(std::uint64_t number) noexcept {
        if (places_ == nullptr) return 0;
        place& p = places_[number & mask_];
        // acquire; pairs with set(), which has written the tag before
        if (p.number.load(std::memory_order_acquire) != number + 1) return 0;
        const std::uint64_t tag = p.tag;
        p.number.store(0, std::memory_order_release);  // the tag was read; pairs with set()
        return tag;
    }

    // relaxed: only counts
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    struct place {
        standard_platform::atomic<std::uint64_t> number{0};  // the item's number + 1; 0: free
        std::uint64_t tag = 0;
    };
    static constexpr std::size_t most_places = std::size_t{1} << 16U;

    const std::uint32_t queue_;
    std::size_t mask_ = 0;
    owned<place[]> places_;
    standard_platform::atomic<std::uint64_t> lost_{0};
};

// The trace of one slot (worker of a stage): visits, one for each traced item. A visit lasts from the call of
// the function with the item until the function's last output is in a queue. The slot's coroutine calls the
// members, in about the order below. If another thread completes a put for the waiting slot, that thread
// calls `left` and `depth`.
class slot_trail {
  public:
    slot_trail() = default;
    slot_trail(const slot_trail&) = delete;
    slot_trail& operator=(const slot_trail&) = delete;
    virtual ~slot_trail() = default;

    // The slot's states, from which the waits of a visit are read.
    state_journal journal;

    // `chosen` decides whether item number `n`, which begins in this stage, is traced. Called if `may_choose`
    // returns true, with ascending `n`. Returns the tag of the item; 0: not traced.
    bool may_choose(std::uint64_t n) const noexcept { return n >= next_; }
    virtual std::uint64_t chosen(std::uint64_t n, std::int64_t now) noexcept = 0;

    // The slot got a traced item: item number `number` of the queue.
    virtual void came(std::uint32_t queue, std::uint64_t number, std::uint64_t tag) noexcept = 0;
    // The function is called with this item. `item`: its number; `epoch`: the number of the source's pass
    // over its data.
    virtual void begin(std::uint64_t item, std::uint64_t epoch, std::int64_t now) noexcept = 0;
    // As begin(), for an item that begins in this stage, for which `came` is not called.
    virtual void begin_new(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch,
                           std::int64_t now) noexcept = 0;
    // The tag of the current item; 0: not traced.
    std::uint64_t current() const noexcept { return current_; }
    // Whether a visit has begun and not ended.
    bool is_open() const noexcept { return is_open_; }

    // The function has returned or has produced its next output, or the output is in a queue. The visit lasts
    // until `now` at least.
    virtual void end_step(std::int64_t now) noexcept = 0;
    // The function has ended with an exception.
    virtual void failed() noexcept = 0;
    // The output is in a queue, and its tag is set there: see `trail_marks::set`. Called under the lock of
    // the queue, before the output can be got.
    virtual void left(std::uint32_t queue, std::uint64_t number) noexcept = 0;
    // How many items were put into the queue so far, and how many were got from it. Called when the slot has
    // got a traced item, after `begin`; and when a traced item is put, after `left`, if that is called.
    virtual void depth(std::uint32_t queue, std::uint64_t puts, std::uint64_t gets,
                       std::int64_t now) noexcept = 0;

    // For stages that combine items: the stage makes an output from all kept items and, if `with_current`,
    // the current item. `item`, `epoch`: as in `begin`; used if no visit has begun. Returns the tag of the
    // output: that of the first kept item, or else of the current item; 0: not traced. From then on, no item
    // is kept.
    virtual std::uint64_t gives(bool with_current, std::uint64_t item, std::uint64_t epoch,
                                std::int64_t now) noexcept = 0;
    bool has_kept() const noexcept { return num_kept_ != 0; }
    // The current item is kept for a later output; `forget_kept`: no item is kept any more.
    virtual void keep(std::int64_t now) noexcept = 0;
    void forget_kept() noexcept { num_kept_ = 0; }

    // The function of a source returned no item, because its input has ended: drops the visit that has begun.
    virtual void did_not_begin() noexcept = 0;
    // Ends the visit.
    virtual void end() noexcept = 0;

  protected:
    std::uint64_t next_ = 0;      // the smallest number of an item for which `chosen` is called
    std::uint64_t current_ = 0;   // the tag of the current item
    std::uint64_t num_kept_ = 0;  // items that are kept for a later output
    bool is_open_ = false;
};

// The trace of one run (a started pipeline). Outlives the run.
class run_trail {
  public:
    run_trail() = default;
    run_trail(const run_trail&) = delete;
    run_trail& operator=(const run_trail&) = delete;
    virtual ~run_trail() = default;

    // `add_stage` and `add_queue` are called before the run begins, in the order in which items pass;
    // `add_slot` is called then and during the run. Errors of the three functions: `std::bad_alloc`.
    virtual std::size_t add_stage(const std::string& name) = 0;  // returns the index of the stage
    // `feeds_stage`: a stage gets from the queue; false: the consumer does.
    virtual trail_marks& add_queue(const std::string& name, std::size_t capacity, bool feeds_stage) = 0;
    virtual slot_trail& add_slot(std::size_t stage) = 0;

    // The run begins. `now`: ns of the run's clock.
    virtual void begin(std::int64_t now) noexcept = 0;
};

// Attaches a trace to a slot before the slot is used. `all` null: no tracing.
inline void follow(slot& one, run_trail* all, std::size_t stage) {
    if (all == nullptr) return;
    slot_trail& trail = all->add_slot(stage);
    one.start_tracing(trail, trail.journal);
}

}  // namespace weir::detail

#endif
