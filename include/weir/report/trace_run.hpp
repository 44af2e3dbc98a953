// weir report, internal: the items of a run that are followed, as its slots write them down
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_RUN_HPP
#define WEIR_REPORT_TRACE_RUN_HPP

#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/platform/platform.hpp>
#include <weir/report/trace_slot.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <memory>   // for std::make_unique
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

struct stage_trace {
    explicit stage_trace(const std::string& of) : name(of) {}
    const std::string name;
    std::size_t share = 0;  // of the events, for each slot
    owning_list<slot_trace> per_slot;
};

class run_trace final : public run_trail {
  public:
    explicit run_trace(const trace_settings& how) noexcept : how_(how) {}

    std::size_t add_stage(const std::string& name) override {
        stages_.push_back(std::make_unique<stage_trace>(name));
        return stages_.size() - 1;
    }
    trail_marks& add_queue(const std::string& name, std::size_t capacity, bool is_read) override {
        const auto place = static_cast<std::uint32_t>(queues_.size());
        queues_.push_back(std::make_unique<trail_marks>(place, capacity, is_read));
        queue_names_.push_back(name);
        return *queues_[place];
    }
    slot_trail& add_slot(std::size_t stage) override {
        auto added = std::make_unique<slot_trace>(how_, begin_, stage);
        slot_trace& slot = *added;
        const std::lock_guard guard(lock_);
        if (stages_[stage]->share != 0) slot.events.reserve(stages_[stage]->share);
        stages_[stage]->per_slot.push_back(std::move(added));
        return slot;
    }
    // The stages are all there. Each has as much room as the others, as each sees about as many items.
    void reserve() {
        for (stage_trace* const stage : stages_) {
            const std::size_t num_slots =
                larger<std::size_t>(1, stage->per_slot.size());  // none: nothing is measured
            const std::size_t share = how_.most / stages_.size() / num_slots;
            stage->share = larger<std::size_t>(1, share);
            for (slot_trace* const slot : stage->per_slot) slot->events.reserve(stage->share);
        }
    }
    void begin(std::int64_t now) noexcept override { begin_ = now; }

    const trace_settings& settings() const noexcept { return how_; }
    std::int64_t begin() const noexcept { return begin_; }
    const std::vector<std::string>& queue_names() const noexcept { return queue_names_; }
    // Items that are no longer followed, as there was no room to say so.
    std::uint64_t lost() const noexcept {
        std::uint64_t all = 0;
        for (const trail_marks* const each : queues_) all += each->lost();
        return all;
    }
    // Once the last slot has left, before it is read.
    void end() noexcept {
        const std::lock_guard guard(lock_);
        for (stage_trace* const stage : stages_) {
            for (slot_trace* const slot : stage->per_slot) slot->end();
        }
    }
    template <class Read>
    auto read(Read read) const {
        const std::lock_guard guard(lock_);
        return read(stages_);
    }

  private:
    const trace_settings how_;
    std::int64_t begin_ = 0;
    mutable standard_platform::mutex lock_;  // guards the slots of the stages once the run has begun
    owning_list<stage_trace> stages_;
    owning_list<trail_marks> queues_;
    std::vector<std::string> queue_names_;
};

}  // namespace weir::detail

#endif
