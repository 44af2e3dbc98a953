// simulate: what flows through a simulated pipeline, and the work of its stages, which is to sleep.
// On a real clock everybody wakes a little late; the next sleep makes up for it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_WORK_HPP
#define WEIR_EXAMPLES_SIMULATE_WORK_HPP

#include <weir/executor/executor.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>  // for std::min
#include <atomic>     // for std::atomic
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::make_shared
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

// What flows through a simulated pipeline. Only its nesting matters: it is a list of items, which
// are lists themselves. One type for all, since the stages are known at run time only.
class item {
  public:
    item() = default;
    explicit item(std::vector<item> parts) : parts_(std::move(parts)) {}
    [[nodiscard]] auto begin() { return parts_.begin(); }
    [[nodiscard]] auto end() { return parts_.end(); }

  private:
    std::vector<item> parts_;
};

// Sleeps that take as long as they should, on average: a real clock wakes everybody a little late,
// which the next sleep makes up for. On virtual time nobody is late.
class punctual {
  public:
    explicit punctual(weir::executor& clock) noexcept : clock_(clock) {}

    /// \returns when to wake up in order to have slept for so long.
    [[nodiscard]] weir::time_point after(std::int64_t ns) noexcept {
        const std::int64_t owed = std::min(ns, owed_.exchange(0, std::memory_order_relaxed));
        return clock_.now() + weir::duration(ns - owed);
    }

    void woke_up(weir::time_point planned) noexcept {
        constexpr std::int64_t most = 500'000;  // a machine that stood still is not made up for
        const std::int64_t late = std::min<std::int64_t>((clock_.now() - planned).count(), most);
        if (late > 0) owed_.fetch_add(late, std::memory_order_relaxed);
    }

  private:
    weir::executor& clock_;
    std::atomic<std::int64_t> owed_{0};
};

// The work of a pipe: it takes the time that the spec says for its k-th invocation.
class timed_work {
  public:
    timed_work(std::vector<std::int64_t> service_ns, weir::executor& clock)
        : state_(std::make_shared<state>(std::move(service_ns), clock)) {}

    weir::task<item> operator()(item it) const { return work(state_, std::move(it)); }

  private:
    struct state {
        state(std::vector<std::int64_t> ns, weir::executor& clock)
            : service_ns(std::move(ns)), sleeper(clock) {}
        std::vector<std::int64_t> service_ns;
        std::atomic<std::uint64_t> invocations{0};
        punctual sleeper;
    };

    static weir::task<item> work(std::shared_ptr<state> s, item it) {
        const std::uint64_t k = s->invocations.fetch_add(1, std::memory_order_relaxed);
        const weir::time_point end = s->sleeper.after(s->service_ns[k % s->service_ns.size()]);
        co_await weir::sleep_until(end);
        s->sleeper.woke_up(end);
        co_return it;
    }

    std::shared_ptr<state> state_;
};

}  // namespace simulate

#endif
