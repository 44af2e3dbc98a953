// weir report, internal: the last events of one slot whose items are followed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_RING_HPP
#define WEIR_REPORT_TRACE_RING_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <memory>   // for std::make_unique_for_overwrite

namespace weir::detail {

enum class trace_kind : std::uint8_t {
    visit,     // of an item, from `begin` to `end`, which ends what was written before it
    state,     // the slot's, from `begin` to `end`
    came,      // out of the queue `where`, as its item `number`
    left,      // into the queue `where`, as its item `number`
    kept,      // the visit's item stays here, as the one of that `number` that did
    gathered,  // those from `number` to `tag` are in what the visit gives
    depth,     // `tag` items were in the queue `where` after its operation `number`
};

// Nothing in it is initialised where many are allocated at once.
struct trace_event {
    std::int64_t begin;  // ns of the run's clock
    std::int64_t end;
    std::uint64_t number;
    std::uint64_t tag;  // of a visit: where its item began, see `slot_trace`
    std::uint32_t where;
    trace_kind kind;
    std::uint8_t what;  // of a state: which; of a visit: whether it failed
};

// One writer. Of what is too much the oldest goes.
class trace_ring {
  public:
    // Errors: `std::bad_alloc`, and it keeps nothing.
    void reserve(std::size_t events) {
        events_ = std::make_unique_for_overwrite<trace_event[]>(events);
        size_ = events;
    }

    void add(const trace_event& e) noexcept {
        ++count_;
        if (size_ == 0) return;
        events_[next_] = e;
        next_ = next_ + 1 == size_ ? 0 : next_ + 1;
    }

    std::uint64_t count() const noexcept { return count_; }
    std::size_t kept() const noexcept { return count_ < size_ ? static_cast<std::size_t>(count_) : size_; }
    // The i-th of those, the oldest first.
    const trace_event& operator[](std::size_t i) const noexcept {
        const std::size_t at = (count_ < size_ ? 0 : next_) + i;
        return events_[at < size_ ? at : at - size_];
    }

  private:
    std::unique_ptr<trace_event[]> events_;
    std::size_t size_ = 0;
    std::size_t next_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace weir::detail

#endif
