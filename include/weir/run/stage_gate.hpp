// weir run, internal: all that keeps the slots of a stage from going on with an item that they have
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_STAGE_GATE_HPP
#define WEIR_RUN_STAGE_GATE_HPP

#include <weir/executor/executor.hpp>
#include <weir/run/admission_gate.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/turnstile.hpp>

#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::make_unique, std::unique_ptr

namespace weir::detail {

// The base of every stage of a run.
class stage_gate {
  public:
    stage_gate(run_context& run, executor& ex) noexcept : run_(run), executor_(ex) {}

    // Where it runs.
    executor& home() const noexcept { return executor_; }

    // Before the run begins: its stages are to be tried one by one.
    void add_turnstile() { turnstile_ = std::make_unique<turnstile>(); }
    // Null: they aren't.
    turnstile* stile() const noexcept { return turnstile_.get(); }

    run_context& run() const noexcept { return run_; }
    bool may_be_held_up() const noexcept { return run_.may_hold_up(); }
    // Whether a slot has to wait before it begins with an item: for the end of a pause, for stages that go
    // first, or for other stages that are tried alone. Every worker asks before each item, and again whenever
    // it has awaited `admitted`. `sources`: which sources of the run the stage is, as a set of bits: too many
    // bytes in the queues of the run hold those up, too. `counts`: the slot begins with an item, not with the
    // end of an epoch; only an item is counted as admitted.
    bool is_held_up(std::uint64_t sources, bool counts) const noexcept {
        if (!run_.may_hold_up()) return false;
        if (run_.is_paused() || run_.gives_way(executor_)) return true;
        if (sources != 0 && run_.budget() != nullptr && run_.budget()->is_spent(sources)) return true;
        return turnstile_ != nullptr && !turnstile_->lets_in(run_.main_executor(), counts);
    }

    // Awaitable of bool: waits for the first of these things. False: the run ends, and nothing is to begin.
    template <class Slot>
    auto admitted(Slot& me) noexcept {
        return admission_gate<Slot>(run_, executor_, me, turnstile_.get());
    }

  protected:
    run_context& run_;
    executor& executor_;

  private:
    std::unique_ptr<turnstile> turnstile_;
};

}  // namespace weir::detail

#endif
