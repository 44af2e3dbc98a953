// weir platform, internal: what a thread does for a pool, and leaves to another thread before it blocks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_THREAD_PLACE_HPP
#define WEIR_PLATFORM_THREAD_PLACE_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

namespace weir::detail {

// The place that a thread has in a pool. While what it runs blocks there, another thread has to work in its
// place: the pool may have no other, and what the thread waits for may be queued there.
class thread_place {
  public:
    // On its thread. False: there is no other thread now; it may be tried again.
    virtual bool leave() noexcept = 0;

    // Before the calling thread sleeps, whatever for. Nothing on a thread that is no pool's.
    WEIR_NOINLINE static void leave_here() noexcept {
        if (thread_place* const mine = of_thread()) static_cast<void>(mine->leave());
    }

  protected:
    ~thread_place() = default;
    void belong_to_thread() noexcept { of_thread() = this; }

  private:
    struct per_thread {
        thread_place* here = nullptr;
    };
    static thread_place*& of_thread() noexcept { return standard_platform::of_thread<per_thread>().here; }
};

}  // namespace weir::detail

#endif
