// weir executor, internal: what a watchdog sees of an executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_EXECUTOR_VIEW_HPP
#define WEIR_EXECUTOR_EXECUTOR_VIEW_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

struct worker_view {
    bool runs = false;       // a coroutine has its thread
    std::uint64_t done = 0;  // how many things it has done
};

// Where an executor says nothing of itself, these are the values.
struct executor_view {
    // Something is queued, on its way to a thread, or will be, as a timer is set; or the executor can't
    // tell.
    bool pending = true;
    // Coroutines are queued, and no thread is free for them.
    bool crowded = false;
    std::size_t busy = 0;       // threads that do something, or wait inside of what they do
    std::uint64_t resumed = 0;  // how many coroutines, ever
    std::vector<worker_view> workers;
};

// A coroutine on its way is in a queue; or in the hands of a worker that searches, is active, or both while
// it changes from the one to the other; or it has been counted as resumed. It only goes on in that order.
// So who looks at the queues between two looks at the workers, of which each asks for searching before
// activity, and reads the count first and last, can't miss it.
template <class Workers, class Idle, class Inbox, class Timers>
void inspect_pool(executor_view& view, const Workers& workers, const Idle& idle, const Inbox& inbox,
                  const Timers& timers) {
    const unsigned count = workers.size();
    const auto resumed = [&] {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < count; ++i) sum += workers[i].resumed();
        return sum;
    };
    const auto search = [&] {
        bool any = false;
        for (unsigned i = 0; i < count; ++i) any = any || workers[i].searches();
        return any;
    };
    view.resumed = resumed();
    const bool searched = search();
    view.busy = static_cast<std::size_t>(idle.active());
    view.workers.clear();
    bool queued = !inbox.empty();
    for (unsigned i = 0; i < count; ++i) {
        queued = queued || !workers[i].empty();
        view.workers.push_back({workers[i].running() != nullptr, workers[i].done()});
    }
    const bool timed = timers.next() != timers.never;
    view.crowded = queued && idle.none_idle();
    view.pending =
        searched || queued || timed || search() || idle.active() != view.busy || resumed() != view.resumed;
}

}  // namespace weir::detail

#endif
