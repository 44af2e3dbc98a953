// weir run, internal: what a watchdog sees of a run: its stages, their slots, and where these take and give
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_WATCHED_RUN_HPP
#define WEIR_RUN_WATCHED_RUN_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/registry.hpp>

#include <vector>  // for std::vector

namespace weir::detail {

struct slot_seen {
    const slot* who = nullptr;
    bool gone = false;  // it has ended, and closed what it had to close
    bool runs = false;  // its function has a thread; if that was asked for, and is measured
};

struct stage_seen {
    std::vector<const wait_site*> from;
    std::vector<const wait_site*> to;
    std::vector<slot_seen> per_slot;
};

struct run_seen {
    std::vector<stage_seen> stages;
    const wait_site* last = nullptr;  // from which the consumer takes
    bool has_failed = false;
};

// A run that has begun; not in the registry any more before its stages are destroyed.
class watched_run : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::run;

    // `states`: with those of the slots, which costs a lock each.
    virtual void inspect(run_seen& seen, bool states) const = 0;

  protected:
    watched_run() noexcept : registered(registry_kind::run) {}
    ~watched_run() = default;
};

}  // namespace weir::detail

#endif
