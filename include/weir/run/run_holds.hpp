// weir run, internal: where slots wait: out of service, while the run is paused, or holds too many bytes
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_HOLDS_HPP
#define WEIR_RUN_RUN_HOLDS_HPP

#include <weir/channel/byte_budget.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Where slots are that have an item, or would make one, while the run is paused.
struct pause_rule {
    using ticket = char;
    bool paused = false;
    bool over = false;
    admission ask(ticket) const noexcept {
        if (over) return admission::refused;
        return paused ? admission::wait : admission::go;
    }
};

// Where slots are that were taken out of service, until they are wanted again or the stage ends.
struct bench_rule {
    using ticket = const slot*;
    bool over = false;
    admission ask(const slot* who) const noexcept {
        if (over) return admission::refused;
        return who->recalled.load(std::memory_order_relaxed) ? admission::wait : admission::go;
    }
};

// Where sources are while there is too much in the queues of the run.
struct budget_rule {
    using ticket = std::uint64_t;  // the sources that ask
    const byte_budget* budget;
    bool over = false;
    admission ask(ticket sources) const noexcept {
        return budget->is_spent(sources) && !over ? admission::wait : admission::go;
    }
};
class run_budget final : public byte_budget {
  public:
    explicit run_budget(std::size_t most) noexcept
        : byte_budget(most),
          room_(budget_rule{this}, "for the run's queues to hold fewer bytes", wait_kind::room) {}
    void has_room() noexcept override {
        room_.update([](budget_rule&) {});
    }
    void end() noexcept {
        room_.update([](budget_rule& rule) { rule.over = true; });
    }
    template <class Slot>
    auto wait(std::uint64_t sources, Slot& me) noexcept {
        return room_.wait(sources, me, slot_state::wait_turn);
    }

  private:
    wait_queue<budget_rule> room_;
};

}  // namespace weir::detail

#endif
