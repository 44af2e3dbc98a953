// weir channel, internal: what ends the wait of a channel operation when a stop is asked for
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_STOP_LISTENER_HPP
#define WEIR_CHANNEL_STOP_LISTENER_HPP

#include <weir/task/stop_token.hpp>

#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::detail {

// An operation that was given no stop token has nothing of this.
struct no_stop {};

// Ends the wait of an operation when a stop is asked for.
template <class Channel, class Stop>
class stop_listener {
    using waiter = typename Channel::core_type::waiter;
    using side = typename Channel::core_type::side;

  protected:
    explicit stop_listener(Stop stop) noexcept : stop_(std::move(stop)) {}
    bool stop_requested() const noexcept { return stop_.stop_requested(); }
    bool stop_possible() const noexcept { return stop_.stop_possible(); }

    // The callback may run at once, or from another thread before the waiter is linked: then it marks
    // the waiter, which is looked at under the lock.
    void listen(Channel& channel, waiter& w, side line) {
        if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_waiting{&channel, &w, line});
    }
    void listen_no_more() noexcept { on_stop_.reset(); }  // waits for a callback that runs right now

  private:
    struct stop_waiting {
        Channel* channel;
        waiter* who;
        side line;
        void operator()() const noexcept { channel->stop(*who, line); }
    };
    Stop stop_;
    std::optional<stop_callback<stop_waiting, typename Channel::core_type::platform>> on_stop_;
};
template <class Channel>
class stop_listener<Channel, no_stop> {
  protected:
    explicit stop_listener(no_stop) noexcept {}
    static constexpr bool stop_requested() noexcept { return false; }
};

}  // namespace weir::detail

#endif
