// weir floor 0: what a watchdog sees of a run: its stages, their slots, and where these take and give
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_WATCHED_RUN_HPP
#define WEIR_DETAIL_WATCHED_RUN_HPP

#include <weir/detail/immortal.hpp>
#include <weir/detail/parking_place.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/slot.hpp>

#include <mutex>   // for std::lock_guard
#include <vector>  // for std::vector

namespace weir::detail {

struct slot_seen {
    const slot* who = nullptr;
    bool gone = false;  // it has ended, and closed what it had to close
    bool runs = false;  // its function has a thread; if that was asked for, and is measured
};

struct stage_seen {
    std::vector<const parking_place*> from;
    std::vector<const parking_place*> to;
    std::vector<slot_seen> slots;
};

struct run_seen {
    std::vector<stage_seen> stages;
    const parking_place* last = nullptr;  // from which the consumer takes
    bool has_failed = false;
};

// A run that has begun. Not there any more before its stages are destroyed.
class watched_run {
  public:
    watched_run(const watched_run&) = delete;
    watched_run& operator=(const watched_run&) = delete;

    // `states`: with those of the slots, which costs a lock each.
    virtual void look(run_seen& seen, bool states) const = 0;

  protected:
    watched_run() noexcept = default;
    ~watched_run() = default;

  private:
    friend class watched_runs;
    bool listed_ = false;
    watched_run* next_ = nullptr;
    watched_run* previous_ = nullptr;
};

class watched_runs {
  public:
    constexpr watched_runs() noexcept = default;
    watched_runs(const watched_runs&) = delete;
    watched_runs& operator=(const watched_runs&) = delete;

    void add(watched_run& run) noexcept {
        const std::lock_guard guard(lock_);
        run.next_ = first_;
        if (first_ != nullptr) first_->previous_ = &run;
        first_ = &run;
        run.listed_ = true;
    }
    // Does nothing to one that is not here.
    void remove(watched_run& run) noexcept {
        const std::lock_guard guard(lock_);
        if (!run.listed_) return;
        (run.previous_ == nullptr ? first_ : run.previous_->next_) = run.next_;
        if (run.next_ != nullptr) run.next_->previous_ = run.previous_;
        run.next_ = run.previous_ = nullptr;
        run.listed_ = false;
    }

    // Keeps all of them as long as it lives.
    class [[nodiscard]] reader {
      public:
        explicit reader(watched_runs& all) : all_(all), guard_(all.lock_) {}
        template <class Function>
        void each(Function function) const {
            for (const watched_run* r = all_.first_; r != nullptr; r = r->next_) function(*r);
        }

      private:
        watched_runs& all_;
        const std::lock_guard<standard_platform::mutex> guard_;
    };

  private:
    standard_platform::mutex lock_;
    watched_run* first_ = nullptr;
};

// Those of all executors that have threads of their own.
inline constinit immortal<watched_runs> all_runs;

}  // namespace weir::detail

#endif
