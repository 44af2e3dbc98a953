// weir channel, internal: how a thread puts into a channel and gets from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_BLOCKING_OPERATIONS_HPP
#define WEIR_CHANNEL_BLOCKING_OPERATIONS_HPP

#include <weir/channel/get_result.hpp>
#include <weir/channel/uninitialised_slot.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/detached_task.hpp>

#include <algorithm>  // for std::max
#include <cstdint>    // for std::int64_t

namespace weir::detail {

struct blocking_operations {
    template <class Channel>
    static channel_status put(Channel& channel, typename Channel::value_type& item, duration timeout) {
        using core = typename Channel::core_type;
        detail::check_threads_of(channel.clock_.owner());
        typename core::parker flag;
        typename core::waiter w(&item, nullptr);
        w.is_thread(&flag, timeout != duration::max());
        wake_list<typename core::platform> woken;
        executor* ex = nullptr;
        outcome how;
        {
            const typename core::whole held(channel);
            how = channel.offer(item, nullptr, woken);
            if (how == outcome::pending) ex = channel.wait_in_line(w, core::side::put);
        }
        core::wake_all(woken);
        if (how == outcome::pending) how = block(channel, w, core::side::put, flag, ex, timeout);
        return how == outcome::done        ? channel_status::success
               : how == outcome::timed_out ? channel_status::timed_out
                                           : channel_status::closed;
    }

    template <class Channel>
    static get_result<typename Channel::value_type> get(Channel& channel, duration timeout) {
        using T = typename Channel::value_type;
        using core = typename Channel::core_type;
        detail::check_threads_of(channel.clock_.owner());
        typename core::parker flag;
        uninitialised_slot<T> place;
        typename core::waiter w(place.address(), nullptr);
        w.is_thread(&flag, timeout != duration::max());
        wake_list<typename core::platform> woken;
        executor* ex = nullptr;
        outcome how;
        {
            const typename core::whole held(channel);
            how = channel.take(place.address(), w.number, nullptr, woken);
            if (how == outcome::pending) ex = channel.wait_in_line(w, core::side::get);
        }
        core::wake_all(woken);
        if (how == outcome::pending) how = block(channel, w, core::side::get, flag, ex, timeout);
        if (how == outcome::done) return get_result<T>(*place.take());
        return get_result<T>(how == outcome::timed_out ? channel_status::timed_out : channel_status::closed);
    }

  private:
    // Blocks the thread until `w` is answered or the time is over. Where `ex`, the channel's executor, has
    // no threads of its own, the thread runs it meanwhile: see `help_until`. The time is that of `ex`.
    template <class Channel, class Waiter, class Parker>
    static outcome block(Channel& channel, Waiter& w, typename Channel::core_type::side line, Parker& flag,
                         executor* ex, duration timeout) {
        const bool forever = timeout == duration::max();
        const basic_blocked_thread<typename Channel::core_type::platform> here(forever ? &flag : nullptr);
        const auto now = [ex] {
            return ex != nullptr ? ex->now() : time_point(duration(Channel::core_type::platform::now()));
        };
        const time_point limit =
            forever ? time_point::max() : weir::saturating_add(now(), std::max(timeout, duration(0)));
        try {
            while (!flag.is_set()) {
                const bool helping = detail::help_until(flag, ex, limit);
                if (flag.is_set()) break;
                if (forever) {
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
