// simulate: the function of a stage: it sleeps or computes, and may fail.
// The numbers of the items that fail are known before.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_WORK_HPP
#define WEIR_EXAMPLES_SIMULATE_WORK_HPP

#include "item.hpp"
#include "processors.hpp"
#include "punctual.hpp"
#include "spec.hpp"

#include <weir/executor/executor.hpp>
#include <weir/run/invocation.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>  // for std::min, std::ranges::binary_search
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::make_shared, std::shared_ptr
#include <stdexcept>  // for std::runtime_error
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

/// The exception of an item that is to fail.
class planned_failure : public std::runtime_error {
  public:
    planned_failure() : std::runtime_error("this item was to fail") {}
};

// The function of a pipe: takes the time that the spec has for item k, and throws if item k is to fail.
class timed_work {
  public:
    /// \param rank   of the stage, from the sources to the sink.
    /// \param cpus   null: the stage does not compute.
    timed_work(const stage_spec& spec, std::size_t rank, weir::executor& clock, processors* cpus)
        : state_(std::make_shared<state>(spec, rank, clock, spec.computes ? cpus : nullptr)) {}

    weir::task<item> operator()(item it, const weir::invocation& call) const {
        return work(state_, std::move(it), call.item());
    }

  private:
    struct state {
        state(const stage_spec& s, std::size_t r, weir::executor& clock, processors* c)
            : spec(s), rank(r), sleeper(clock), cpus(c) {}
        [[nodiscard]] bool fails(std::uint64_t k) const {
            return (spec.fails_every != 0 && k % spec.fails_every == spec.fails_every - 1) ||
                   std::ranges::binary_search(spec.fails, k);
        }
        const stage_spec spec;
        const std::size_t rank;
        punctual sleeper;
        processors* const cpus;
    };

    static weir::task<item> work(std::shared_ptr<state> s, item it, std::uint64_t k) {
        const std::int64_t whole = s->spec.service_ns[k % s->spec.service_ns.size()];
        const std::int64_t run = std::min(whole, s->spec.run_ns.value_or(whole));
        const bool computes = s->cpus != nullptr && (run != 0 || run == whole);
        if (computes) co_await s->cpus->acquire(s->rank, k);
        const weir::time_point computed = s->sleeper.after(computes ? run : whole);
        co_await weir::sleep_until(computed);
        s->sleeper.woke_up(computed);
        if (computes) s->cpus->release();
        if (computes && run != whole) {
            const weir::time_point end = s->sleeper.after(whole - run);
            co_await weir::sleep_until(end);
            s->sleeper.woke_up(end);
        }
        if (s->fails(k)) throw planned_failure();
        co_return it;
    }

    std::shared_ptr<state> state_;
};

}  // namespace simulate

#endif
