// weir stages, internal: the trace of followed items, as the worker of a slot records it
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

// From which items a stage makes a result: from the current item; from the current item and all held items;
// or unknown.
enum class result_origin : std::uint8_t { its_item, all_held, unknown };

// Records the visits of followed items to one slot. A visit begins with the work on an item, and ends before
// the next one begins. Used by the worker of the slot only, and only where the run follows items (`is_on`).
class item_tracer {
  public:
    item_tracer(slot& me, result_origin origin) noexcept : me_(me), origin_(origin) {}

    bool is_on() const noexcept { return me_.trail != nullptr; }

    // The work on the `number`-th item of a queue begins. Returns true if the item is followed. `item`: its
    // number at this stage; `epoch`: its epoch.
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
    // The same for an item that the stage makes without input. `nth`: the number of items made before.
    bool begin_new(std::uint64_t nth, std::uint64_t item, std::uint64_t epoch) noexcept;
    // The work begins without a followed item: on a mark, an added item, gathered parts, or no item.
    void begin_none() noexcept { stop_following(); }

    // The stage takes an item, and holds it for a result made of several: the visit takes no time.
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
    void worked(bool has_failed, bool was_none) noexcept;

    // The next result is to be put. `has_item`: the result contains the current item; `mark`: the result is
    // an end-of-epoch mark.
    void record_result(bool mark, bool has_item, std::uint64_t item, std::uint64_t epoch) noexcept;
    // Ends the visit, when the worker has put all results that are ready. `holds`: the stage still holds
    // items.
    void end(bool holds) noexcept;

  private:
    std::int64_t now() const noexcept { return me_.clock().now().time_since_epoch().count(); }
    bool is_visited() const noexcept;
    void stop_following() noexcept;
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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/item_tracer.ipp>
#endif

#endif
