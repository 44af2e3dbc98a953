// weir stages, internal: bodies of the functions of stages/iteration.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_ITERATION_IPP
#define WEIR_STAGES_ITERATION_IPP

#include <weir/stages/iteration.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

// A trace follows some items through the run; a tag is the number of a followed item. `me_.follow(tag)`: the
// slot works on this item; 0: on none that is followed. `trail`: the record of the slot's visits.

WEIR_NOINLINE WEIR_INLINE bool item_tracer::begin_new(std::uint64_t nth, std::uint64_t item,
                                                      std::uint64_t epoch) noexcept {
    stop_following();
    slot_trail& trail = *me_.trail;
    if (!trail.may_choose(nth)) return false;
    const std::int64_t at = now();
    const std::uint64_t tag = trail.chosen(nth, at);
    if (tag == 0) return false;
    trail.begin_new(tag, item, epoch, at);
    me_.follow(tag);
    return true;
}

WEIR_NOINLINE WEIR_INLINE void item_tracer::worked(bool has_failed, bool was_none) noexcept {
    if (!is_visited()) return;
    me_.trail->end_step(now());
    if (has_failed) {
        me_.trail->failed();
    } else if (was_none) {
        me_.trail->did_not_begin();
        me_.follow(0);
    }
}

WEIR_NOINLINE WEIR_INLINE void item_tracer::record_result(bool mark, bool has_item, std::uint64_t item,
                                                          std::uint64_t epoch) noexcept {
    slot_trail& trail = *me_.trail;
    if (origin_ == result_origin::its_item) {
        if (is_visited()) trail.end_step(now());
    } else if (mark) {
        me_.follow(0);
    } else if (origin_ == result_origin::all_held) {
        if (!trail.has_kept() && trail.current() == 0) return;
        me_.follow(trail.gives(has_item, item, epoch, now()));
    } else {
        me_.follow(0);
        if (!trail.may_choose(num_given_++)) return;
        const std::int64_t at = now();
        const std::uint64_t tag = trail.chosen(num_given_ - 1, at);
        if (tag == 0) return;
        if (!trail.is_open()) trail.begin_new(tag, item, epoch, at);
        trail.end_step(at);
        me_.follow(tag);
    }
}

WEIR_NOINLINE WEIR_INLINE void item_tracer::end(bool holds) noexcept {
    if (origin_ == result_origin::its_item) return;
    if (origin_ == result_origin::all_held) holds ? me_.trail->keep(now()) : me_.trail->forget_kept();
    me_.trail->end();
    me_.follow(0);
}

}  // namespace weir::detail

#endif
