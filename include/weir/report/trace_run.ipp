// weir report, internal: bodies of the functions of report/trace_run.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_RUN_IPP
#define WEIR_REPORT_TRACE_RUN_IPP

#include <weir/report/trace_run.hpp>

#include <weir/platform/config.hpp>

#include <memory>   // for std::make_unique, std::make_unique_for_overwrite
#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE void slot_trace::end_step(std::int64_t now) noexcept {
    write_states(larger(first_state_, journal.first()), visit_.end, larger(now, visit_.end));
    if (journal.count() != 0)
        first_state_ = larger(first_state_, journal.count() - 1);  // the last state goes on
    visit_.end = larger(now, visit_.end);
}

WEIR_INLINE std::uint64_t slot_trace::gives(bool with_current, std::uint64_t item, std::uint64_t epoch,
                                            std::int64_t now) noexcept {
    const std::uint64_t tag = num_kept_ != 0 ? kept_ : with_current ? current_ : 0;
    if (tag == 0) return 0;
    if (!is_open_) open(tag, item, epoch, now);
    end_step(now);
    if (num_kept_ != 0) {
        events.add({now, now, next_kept_ - num_kept_, next_kept_ - 1, 0, trace_kind::gathered, 0});
    }
    num_kept_ = 0;
    gave_current_ = gave_current_ || with_current;
    return tag;
}

WEIR_INLINE void slot_trace::open(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch,
                                  std::int64_t now) noexcept {
    if (is_open_) {
        const std::uint64_t came = current_;
        end();
        current_ = came;
    }
    now = larger(now, last_end_);
    visit_ = {now, now, item, tag, static_cast<std::uint32_t>(epoch), trace_kind::visit, 0};
    is_open_ = true;
    gave_current_ = false;
    // Adds the slot's (worker's) states since the function last ran: its waits before this visit of an item.
    std::uint64_t first = journal.count();
    if (first > journal.first()) --first;  // the last state is `run`, in which the slot is now
    while (first > journal.first() && journal[first - 1].state != slot_state::run) --first;
    write_states(first, last_end_, now);
    first_state_ = journal.count();
}

WEIR_INLINE void slot_trace::write_states(std::uint64_t from, std::int64_t lo, std::int64_t hi) noexcept {
    for (std::uint64_t i = from; i < journal.count(); ++i) {
        const slot_state state = journal[i].state;
        if (state == slot_state::run || state == slot_state::off) continue;
        const std::int64_t begin = larger(journal[i].since, lo);
        const std::int64_t end = i + 1 < journal.count() ? smaller(journal[i + 1].since, hi) : hi;
        if (begin >= end) continue;
        events.add({begin, end, 0, 0, 0, trace_kind::state, static_cast<std::uint8_t>(state)});
    }
}

WEIR_INLINE slot_trail& run_trace::add_slot(std::size_t stage) {
    auto added = std::make_unique<slot_trace>(settings_, begin_, stage);
    slot_trace& slot = *added;
    const std::lock_guard guard(lock_);
    if (is_reserved_) slot.events.reserve(share_of(stages_[stage]->per_slot.size() + 1));
    stages_[stage]->per_slot.push_back(std::move(added));
    return slot;
}

WEIR_INLINE void run_trace::reserve() {
    for (const auto& stage : stages_) {
        for (const auto& slot : stage->per_slot) slot->events.reserve(share_of(stage->per_slot.size()));
    }
    is_reserved_ = true;
}

WEIR_INLINE void run_trace::end() noexcept {
    const std::lock_guard guard(lock_);
    for (const auto& stage : stages_) {
        for (const auto& slot : stage->per_slot) slot->end();
    }
}

}  // namespace weir::detail

#endif
