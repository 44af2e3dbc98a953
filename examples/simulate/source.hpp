// simulate: the source of a simulated pipeline.
// It gives a stream, with or without time between its items, or epochs.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SOURCE_HPP
#define WEIR_EXAMPLES_SIMULATE_SOURCE_HPP

#include "item.hpp"
#include "punctual.hpp"

#include <weir/executor/executor.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <memory>    // for std::make_shared, std::shared_ptr
#include <optional>  // for std::optional
#include <ranges>    // for std::views::iota, std::views::transform
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

// The function of a source that takes time for each item.
class timed_items {
  public:
    // `times`: in ns, used in turn; not empty. `items`: none: the source never ends.
    timed_items(std::vector<std::int64_t> times, std::optional<std::uint64_t> items, weir::executor& clock)
        : state_(std::make_shared<state>(std::move(times), items, clock)) {}

    weir::task<std::optional<item>> operator()() const { return next(state_); }

  private:
    struct state {
        state(std::vector<std::int64_t> t, std::optional<std::uint64_t> n, weir::executor& clock)
            : times(std::move(t)), left(n), sleeper(clock) {}
        const std::vector<std::int64_t> times;
        std::optional<std::uint64_t> left;
        punctual sleeper;
        std::size_t given = 0;
    };

    static weir::task<std::optional<item>> next(std::shared_ptr<state> s) {
        if (s->left && (*s->left)-- == 0) co_return std::nullopt;
        const weir::time_point end = s->sleeper.after(s->times[s->given++ % s->times.size()]);
        co_await weir::sleep_until(end);
        s->sleeper.woke_up(end);
        co_return item();
    }

    std::shared_ptr<state> state_;
};

template <bool HasEpochs>
auto source(weir::source_options options, std::optional<std::uint64_t> items, std::uint64_t epochs) {
    if constexpr (HasEpochs) {
        const auto epoch = [n = *items] {
            return std::views::iota(std::uint64_t{0}, n) |
                   std::views::transform([](std::uint64_t) { return item(); });
        };
        return weir::source(weir::epochs(epoch, epochs), std::move(options));
    } else {
        const auto next_item = [left = items]() mutable -> std::optional<item> {
            if (left && (*left)-- == 0) return std::nullopt;
            return item();
        };
        return weir::source(next_item, std::move(options));
    }
}

}  // namespace detail

}  // namespace simulate

#endif
