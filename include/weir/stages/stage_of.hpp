// weir stages, internal: a stage of a run: a stage kind, with a worker for each slot
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_OF_HPP
#define WEIR_STAGES_STAGE_OF_HPP

#include <weir/channel/channel.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_task.hpp>
#include <weir/stages/stage_worker.hpp>
#include <weir/task/detached_task.hpp>

#include <memory>  // for std::unique_ptr

namespace weir::detail {

// The class of a stage in a run: its kind, and the functions by which the run makes workers and ends waits.
template <class Kind>
class stage_of final : public Kind {
  public:
    using Kind::Kind;

  private:
    using slot = slot_of<typename Kind::policy_type>;
    using worker = stage_worker<Kind>;

    bool blocks_threads() const noexcept override { return !awaits_work<Kind> && !awaits_fetch<Kind>; }
    void recall(slot& waiting) noexcept override {
        if constexpr (Kind::has_input) detail::base_of(*this->in_).recall(waiting);
        this->recall_idle();
    }
    detached_task<void> make_worker(slot& me) override {
        return run_machine(std::unique_ptr<slot_machine>(new worker(*this, me)));
    }
};

}  // namespace weir::detail

#endif
