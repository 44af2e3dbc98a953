// tasks: items through a pipeline.
#ifndef BENCH_TASKS_PIPELINE_HPP
#define BENCH_TASKS_PIPELINE_HPP

#include "pipeline_base.hpp"
#include "runner.hpp"

#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tasks {

// The stages from `first` to `end` (exclusive) in one function.
struct stage_range {
    const workload* work;
    batch_watch* watch;
    std::uint64_t first;
    std::uint64_t end;
};

template <class Unit>
struct working : stage_range {
    Unit operator()(Unit x) const {
        if constexpr (std::is_same_v<Unit, item>) {
            for (std::uint64_t s = first; s < end; ++s) work->work(x, s);
        } else {
            watch->see(x.size());
            for (item& each : x) {
                for (std::uint64_t s = first; s < end; ++s) work->work(each, s);
            }
        }
        return x;
    }
};

template <class Unit>
struct waiting : stage_range {
    weir::task<Unit> operator()(Unit x) const {
        if constexpr (std::is_same_v<Unit, item>) {
            item now = std::move(x);
            for (std::uint64_t s = first; s < end; ++s) {
                item next = co_await work->wait(std::move(now), s);
                now = std::move(next);
            }
            co_return now;
        } else {
            watch->see(x.size());
            for (item& each : x) {
                for (std::uint64_t s = first; s < end; ++s) {
                    item next = co_await work->wait(std::move(each), s);
                    each = std::move(next);
                }
            }
            co_return x;
        }
    }
};

template <class Run>
weir::task<totals> take_all(Run& run, latencies& times) {
    totals seen;
    while (true) {
        const auto x = co_await run.next();
        if (!x) break;
        times.end_of(*x);
        seen.add(*x);
    }
    co_return seen;
}

template <class Policy, bool Batches>
class pipeline_runner final : public pipeline_base {
    using unit = std::conditional_t<Batches, std::vector<item>, item>;
    using stages = weir::stage_list<unit, weir::policies<Policy>>;

  public:
    explicit pipeline_runner(const context& c) : pipeline_base(c) {}

    totals pass(std::uint64_t items) override {
        context_.work.begin_batch(context_.pool);
        if constexpr (Batches) {
            return end_with(source(items) | weir::aggregate(batch_, {.capacity = unit_capacity()}) |
                            all_stages() | weir::disaggregate({.capacity = capacity_}));
        } else {
            return end_with(source(items) | all_stages());
        }
    }

  private:
    auto source(std::uint64_t items) const {
        weir::source_options options;
        options.capacity = capacity_;
        const auto make = [next = std::uint64_t{0}, items, size = size_,
                           timed = context_.times.on()]() mutable -> std::optional<item> {
            if (next == items) return std::nullopt;
            const std::uint64_t number = next++;
            return std::optional<item>(std::in_place, number, size, timed);
        };
        return weir::source(make, options);
    }

    stages all_stages() {
        const std::uint64_t n = context_.work.stages();
        stages all;
        for (std::uint64_t s = 0; s < n; s += step()) {
            const stage_range part{&context_.work, &watch_, s, s + step()};
            if (context_.work.waits()) {
                all.add(weir::pipe(waiting<unit>{part}, stage(s)));
            } else {
                all.add(weir::pipe(working<unit>{part}, stage(s)));
            }
        }
        return all;
    }

    template <class Whole>
    auto start(Whole&& whole) {
        order_ = whole.options("stage 0").output_order;
        return std::forward<Whole>(whole).template start<Policy>(context_.pool, options());
    }

    template <class Part>
    totals end_with(Part&& part) {
        if (consumer_ == consumer::a_stage) {
            totals seen;
            const auto take = [&seen, this](const item& x) {
                context_.times.end_of(x);
                seen.add(x);
            };
            auto whole = std::forward<Part>(part) | weir::for_each(take);
            auto run = start(std::move(whole));
            run.wait();
            keep(run.stats());
            return seen;
        }
        auto whole = std::forward<Part>(part) | weir::sink(sink_capacity_);
        auto run = start(std::move(whole));
        totals seen;
        if (consumer_ == consumer::a_coroutine) {
            seen = weir::sync_wait(context_.pool, take_all(run, context_.times));
        } else {
            for (const item& x : run) {
                context_.times.end_of(x);
                seen.add(x);
            }
        }
        keep(run.stats());
        return seen;
    }
};

template <class Policy, bool Batches>
std::unique_ptr<runner> make_pipeline(const context& c) {
    return std::make_unique<pipeline_runner<Policy, Batches>>(c);
}

}  // namespace tasks

#endif
