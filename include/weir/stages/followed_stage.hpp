// weir stages, internal: what a stage's worker tells of the items that are followed, if some are
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FOLLOWED_STAGE_HPP
#define WEIR_STAGES_FOLLOWED_STAGE_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/stages/in_hand.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

inline std::int64_t now_of(const slot& me) noexcept { return me.clock().now().time_since_epoch().count(); }

// Whether what the slot got from there is followed. If so it is in the slot's hand.
template <class Queue>
bool is_followed_from(Queue& from, std::uint64_t number, const slot& me) noexcept {
    trail_marks* const marks = from.marks();
    const std::uint64_t tag = marks == nullptr ? 0 : marks->take(number);
    if (tag == 0) return false;
    me.trail->came(marks->queue(), number, tag);
    return true;
}
template <class Queue>
void tell_depth(Queue& from, const slot& me, std::int64_t now) noexcept {
    using side = typename Queue::side;
    me.trail->depth(from.marks()->queue(), from.count_at(side::put), from.count_at(side::get), now);
}
// One of several that become one: it was seen for an instant, and stays.
template <class Queue>
WEIR_NOINLINE void keep_part(Queue& from, std::uint64_t number, slot& me, std::uint64_t epoch) noexcept {
    if (!is_followed_from(from, number, me)) return;
    const std::int64_t now = now_of(me);
    me.trail->begin(number, epoch, now);
    tell_depth(from, me, now);
    me.trail->keep(now);
    me.trail->end();
}

// `Kind`: see `stage_kind`.
template <class Kind>
class followed_stage : public Kind {
  public:
    using Kind::Kind;

  protected:
    // Of the item in hand, or the last one.
    std::uint64_t item_number(const auto& now) const noexcept {
        return Kind::numbers_itself || Kind::works_without_item ? now.on->nth : this->number_of(now.mine);
    }
    bool counted(const auto& now) const noexcept {
        if constexpr (requires { this->counts(now); }) {
            return this->counts(now);
        } else {
            return this->is_call(now);
        }
    }

    // ---- in this order; the first and the third only where items are followed

    // Whether the item in hand is. A visit lasts until the next one begins, but says when its end was.
    WEIR_NOINLINE bool begin_visit(auto& now, auto& take) noexcept {
        auto& me = now.on->me;
        slot_trail& trail = *me.trail;
        if (me.is_following()) me.follow(0);
        if (!this->is_call(now)) return false;
        if constexpr (Kind::makes_items) {
            if (now.item == nullptr) {
                if (!trail.may_choose(now.on->nth)) return false;
                const std::int64_t at = now_of(me);
                const std::uint64_t tag = trail.chosen(now.on->nth, at);
                if (tag == 0) return false;
                trail.begin_new(tag, item_number(now), now.mine.epoch, at);
                me.follow(tag);
                return true;
            }
        }
        if constexpr (Kind::takes && !Kind::gathers_parts) {
            if constexpr (requires { take.is_added(); }) {
                if (take.is_added()) return false;
            }
            if (!is_followed_from(take.queue(), take.queue_number(), me)) return false;
            const std::int64_t at = now_of(me);
            trail.begin(item_number(now), now.mine.epoch, at);
            tell_depth(take.queue(), me, at);
            if (Kind::results_are_of == made_of::its_item) me.follow(trail.current());
            return true;
        }
        return false;
    }
    // A part of an item came.
    WEIR_ALWAYS_INLINE void see_part(auto& now, auto& take) noexcept {
        if constexpr (Kind::gathers_parts) {
            if (now.on->trail == nullptr || now.mine.mark) return;
            keep_part(take.queue(), take.number(), now.on->me, now.mine.epoch);
        }
    }
    void visit_has_worked(auto& now) noexcept {
        auto& me = now.on->me;
        if (!is_visited(me)) return;
        me.trail->goes_on(now_of(me));
        if (now.error) {
            me.trail->failed();
        } else if constexpr (Kind::makes_items) {
            if (now.item != nullptr || counted(now)) return;
            me.trail->did_not_begin();
            me.follow(0);
        }
    }
    // `now.what` comes of it, maybe not alone.
    WEIR_ALWAYS_INLINE void see_result(auto& now) noexcept {
        if constexpr (Kind::gives_several || !is_of_one) {
            if (now.on->trail != nullptr && now.what != nullptr) visit_gives(now);
        }
    }
    // All was given that could be now.
    WEIR_ALWAYS_INLINE void see_end(auto& now) noexcept {
        if constexpr (!is_of_one) {
            if (now.on->trail != nullptr) end_visit(now);
        }
    }

  private:
    static constexpr bool is_of_one = Kind::results_are_of == made_of::its_item;

    static bool is_visited(const slot& me) noexcept {
        return is_of_one ? me.is_following() : me.trail->is_open();
    }
    WEIR_NOINLINE void visit_gives(auto& now) noexcept {
        auto& me = now.on->me;
        slot_trail& trail = *me.trail;
        if constexpr (is_of_one) {
            if (is_visited(me)) trail.goes_on(now_of(me));
        } else if (epoch_item_traits<typename Kind::item_given>::is_mark(*now.what)) {
            me.follow(0);
        } else if constexpr (Kind::results_are_of == made_of::all) {
            if (!trail.has_kept() && trail.current() == 0) return;
            me.follow(trail.gives(this->has_item(now), item_number(now), now.mine.epoch, now_of(me)));
        } else {
            me.follow(0);
            if (!trail.may_choose(now.on->num_given++)) return;
            const std::int64_t at = now_of(me);
            const std::uint64_t tag = trail.chosen(now.on->num_given - 1, at);
            if (tag == 0) return;
            if (!trail.is_open()) trail.begin_new(tag, item_number(now), now.mine.epoch, at);
            trail.goes_on(at);
            me.follow(tag);
        }
    }
    WEIR_NOINLINE void end_visit(auto& now) noexcept {
        auto& me = now.on->me;
        if constexpr (Kind::results_are_of == made_of::all) {
            this->holds(now) ? me.trail->keep(now_of(me)) : me.trail->forget_kept();
        }
        me.trail->end();
        me.follow(0);
    }
};

}  // namespace weir::detail

#endif
