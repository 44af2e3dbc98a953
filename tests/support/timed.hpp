// What tests of waits for some time share: an instant, an item that only moves, and one that is put later.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_TIMED_HPP
#define WEIR_TESTS_SUPPORT_TIMED_HPP

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <memory>

namespace timed {

inline constexpr weir::time_point t0{};
using box = std::unique_ptr<int>;

template <class Channel>
weir::task<> put_at(Channel& c, weir::duration when, int n) {
    co_await weir::sleep_for(when);
    const bool in = co_await c.put(n + 0);
    CHECK(in);
}

inline weir::task<> stop_at(weir::stop_source& source, weir::duration when) {
    co_await weir::sleep_for(when);
    source.request_stop();
}

}  // namespace timed

#endif
