// weir channel, internal: how a thread puts into a channel and gets from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_BLOCKING_OPERATIONS_HPP
#define WEIR_CHANNEL_BLOCKING_OPERATIONS_HPP

#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/detached_task.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

// A channel without its item's type: see `channel_store`.
struct blocking_operations {
    template <class Store>
    static outcome put(Store& channel, void* item, duration max_wait) {
        return wait(channel, Store::side::put, item, max_wait);
    }
    template <class Store>
    static outcome get(Store& channel, void* into, duration max_wait) {
        return wait(channel, Store::side::get, into, max_wait);
    }

  private:
    template <class Store>
    static outcome wait(Store& channel, typename Store::side line, void* item, duration max_wait) {
        detail::check_threads_of(channel.clock_.owner());
        typename Store::parker flag;
        typename Store::waiter w(item, nullptr);
        w.is_thread(&flag, max_wait != (duration::max)());
        typename Store::wakes woken;
        executor* ex = nullptr;
        outcome how;
        {
            const typename Store::whole held(channel);
            how = channel.attempt(line, w, woken);
            if (how == outcome::pending) ex = channel.wait_in_line(w, line);
        }
        Store::wake_all(woken);
        return how == outcome::pending ? block(channel, w, line, flag, ex, max_wait) : how;
    }

    // Blocks the thread until `w` is answered or the time is over. Where `ex`, the channel's executor, has
    // no threads of its own, the thread runs it meanwhile: see `help_until`. The time is that of `ex`.
    template <class Store>
    static outcome block(Store& channel, typename Store::waiter& w, typename Store::side line,
                         typename Store::parker& flag, executor* ex, duration max_wait) {
        const bool has_no_limit = max_wait == (duration::max)();
        const basic_blocked_thread<typename Store::platform> here(has_no_limit ? &flag : nullptr);
        const auto now = [ex] {
            return ex != nullptr ? ex->now() : time_point(duration(Store::platform::now()));
        };
        const time_point limit = has_no_limit
                                     ? (time_point::max)()
                                     : weir::saturating_add(now(), detail::larger(max_wait, duration(0)));
        try {
            while (!flag.is_set()) {
                const bool helping = detail::help_until(flag, ex, limit);
                if (flag.is_set()) break;
                if (!helping) thread_place::leave_here();
                if (has_no_limit) {
                    if (!helping) here.wait(flag);
                    continue;
                }
                const std::int64_t left =
                    time_between(now().time_since_epoch().count(), limit.time_since_epoch().count());
                if (left <= 0) break;
                if (!helping) flag.wait(left);
            }
        } catch (...) {
            if (channel.forget(w, line)) throw;  // else it was answered all the same
        }
        if (!flag.is_set()) {
            if (channel.forget(w, line)) return outcome::timed_out;
            while (!flag.wait()) {  // answered this moment; whoever did it sets the flag next
            }
        }
        return w.outcome;
    }
};

}  // namespace weir::detail

#endif
