// weir stages, internal: in what order the slots of a stage give what they have made
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_OUTPUT_SEQUENCER_HPP
#define WEIR_STAGES_OUTPUT_SEQUENCER_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/bounds.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// What a slot has in hand: the item's number at this stage, its epoch, and whether it is the mark of that
// epoch's end.
struct turn {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// One by one: by their numbers. Else items of one epoch as they come, but none before the mark of the
// epoch before has left, and that not before all items of its epoch. Numbers have no gaps: what is
// dropped takes its turn as well, so that no more is in flight than there are slots.
class turn_rule {
  public:
    using ticket = turn;

    turn_rule(bool one_by_one, std::uint64_t first_epoch) noexcept
        : one_by_one_(one_by_one), epoch_(first_epoch) {}

    admission ask(const turn& t) const noexcept {
        if (one_by_one_) {
            if (t.number > blocked_.number) return admission::refused;
            return t.number == left_ ? admission::go : admission::wait;
        }
        if (t.mark ? t.number == left_ : t.epoch == epoch_) return admission::go;
        const bool never = t.mark ? t.epoch >= blocked_.epoch : t.epoch > blocked_.epoch;
        return never ? admission::refused : admission::wait;
    }

    void leave(const turn& t) noexcept {
        ++left_;
        if (t.mark) epoch_ = t.epoch + 1;
    }

    // This one will never leave, nor will what has to leave after it.
    void block(const turn& t) noexcept {
        blocked_.number = detail::smaller(blocked_.number, t.number);
        blocked_.epoch = detail::smaller(blocked_.epoch, t.epoch);
    }

  private:
    bool one_by_one_;
    std::uint64_t left_ = 0;  // how many have left
    std::uint64_t epoch_;     // of those who may leave
    turn blocked_{UINT64_MAX, UINT64_MAX, false};
};

using output_sequencer = wait_queue<turn_rule>;

}  // namespace weir::detail

#endif
