// weir stages, internal: what the worker of a stage records of the items that a trace follows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_ITEM_TRACER_HPP
#define WEIR_STAGES_ITEM_TRACER_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// Of which items a stage makes its results: of the item in hand; of that item and all items that it holds; or
// the framework cannot tell.
enum class result_origin : std::uint8_t { its_item, all_held, unknown };

// Records the visits of followed items to one slot. A visit begins with the work on an item, and ends before
// the next one begins. Used by the worker of the slot only, and only where the run follows items (`is_on`).
class item_tracer {
  public:
    item_tracer(slot& me, result_origin origin) noexcept : me_(me), origin_(origin) {}

    bool is_on() const noexcept { return me_.trail != nullptr; }

    // The work on the `number`-th item of a queue begins. True: the item is followed. `item`, `epoch`: its
    // number at this stage, and its epoch.
    template <class Queue>
    WEIR_NOINLINE bool begin(Queue& from, std::uint64_t number, std::uint64_t item,
                             std::uint64_t epoch) noexcept {
        stop_following();
        if (!take_tag(from, number)) return false;
        const std::int64_t at = now();
        me_.trail->begin(item, epoch, at);
        record_depth(from, at);
        if (origin_ == result_origin::its_item) me_.follow(me_.trail->current());
        return true;
    }
    // The same of an item that the stage makes. `nth`: how many it has made before.
    WEIR_NOINLINE bool begin_new(std::uint64_t nth, std::uint64_t item, std::uint64_t epoch) noexcept {
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
    // The work on something begins that is never followed: a mark, or nothing.
    void begin_none() noexcept { stop_following(); }

    // An item came that the stage holds, to make a result of several: its visit is an instant.
    template <class Queue>
    WEIR_NOINLINE void hold(Queue& from, std::uint64_t number, std::uint64_t epoch) noexcept {
        if (!take_tag(from, number)) return;
        const std::int64_t at = now();
        me_.trail->begin(number, epoch, at);
        record_depth(from, at);
        me_.trail->keep(at);
        me_.trail->end();
    }

    // The work is done. `was_none`: there was no item to make, as the source has ended.
    WEIR_NOINLINE void worked(bool has_failed, bool was_none) noexcept {
        if (!is_visited()) return;
        me_.trail->end_step(now());
        if (has_failed) {
            me_.trail->failed();
        } else if (was_none) {
            me_.trail->did_not_begin();
            me_.follow(0);
        }
    }

    // The next result is to be put. `has_item`: the result contains the current item; `mark`: the result is
    // an end-of-epoch mark.
    WEIR_NOINLINE void record_result(bool mark, bool has_item, std::uint64_t item,
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
    // Ends the visit, when the worker has put all results that are ready. `holds`: the stage still holds
    // items.
    WEIR_NOINLINE void end(bool holds) noexcept {
        if (origin_ == result_origin::its_item) return;
        if (origin_ == result_origin::all_held) holds ? me_.trail->keep(now()) : me_.trail->forget_kept();
        me_.trail->end();
        me_.follow(0);
    }

  private:
    std::int64_t now() const noexcept { return me_.clock().now().time_since_epoch().count(); }
    bool is_visited() const noexcept {
        return origin_ == result_origin::its_item ? me_.is_following() : me_.trail->is_open();
    }
    void stop_following() noexcept {
        if (me_.is_following()) me_.follow(0);
    }
    template <class Queue>
    bool take_tag(Queue& from, std::uint64_t number) noexcept {
        trail_marks* const marks = from.marks();
        const std::uint64_t tag = marks == nullptr ? 0 : marks->take(number);
        if (tag == 0) return false;
        me_.trail->came(marks->queue(), number, tag);
        return true;
    }
    template <class Queue>
    void record_depth(Queue& from, std::int64_t at) noexcept {
        using side = typename Queue::side;
        me_.trail->depth(from.marks()->queue(), from.count_at(side::put), from.count_at(side::get), at);
    }

    slot& me_;
    const result_origin origin_;
    std::uint64_t num_given_ = 0;  // results of unknown origin
};

}  // namespace weir::detail

#endif
