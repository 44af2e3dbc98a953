// weir report: each stage of a pipeline alone, at several concurrencies: what it could give
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_HPP
#define WEIR_REPORT_PROFILE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/report/profile_result.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/rehearsal.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_defaults.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/run/stage_trials.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/detached_task.hpp>

#include <algorithm>    // for std::ranges::sort
#include <cstddef>      // for std::size_t
#include <exception>    // for std::exception_ptr, std::rethrow_exception
#include <memory>       // for std::make_unique
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::forward, std::move, std::pair
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// What is asked of a run's trials, and what they have found, for a thread that waits for it.
struct kept_profile {
    kept_profile(std::size_t items, profile_options how) : num_items(items), options(std::move(how)) {
        refuse_negative(items, "weir: a profile was to take a negative number of items; take 1 or more");
        if (items == 0) {
            throw std::invalid_argument("weir: a profile of 0 items tells nothing; take 1 or more");
        }
        for (const std::size_t each : options.concurrencies) {
            refuse_negative(each, "weir: a profile was to try a negative concurrency; try 1 or more");
            places.emplace_back(each, places.size());
        }
        std::ranges::sort(places);
        for (const auto& each : places) concurrencies.push_back(each.first);
        if (concurrencies.empty() || concurrencies.front() == 0) {
            throw std::invalid_argument(
                "weir: a profile needs the concurrencies to try, each of them 1 or more");
        }
        if (options.time_limit <= duration(0)) {
            throw std::invalid_argument(
                "weir: the time_limit of a profile was not positive; each trial gets it");
        }
    }

    std::size_t num_items;
    profile_options options;
    std::vector<std::pair<std::size_t, std::size_t>>
        places;                              // the concurrencies, upwards, and where they stood
    std::vector<std::size_t> concurrencies;  // the first of each
    parker done;
    profile_result found;
    std::exception_ptr error;
};

// No item goes on behind the trials.
class kept_trials final : public stage_trials {
  public:
    explicit kept_trials(kept_profile& to) noexcept
        : stage_trials(to.num_items, to.concurrencies,
                       {.still = to.options.time_limit, .trial = to.options.time_limit, .rounds = 15}),
          to_(to) {}

    void finish(rehearsed_run& run) override {
        if (!run.is_cut_short()) tell({}, 0, total_);
        end(run);
    }
    void gave_up(rehearsed_run& run, std::exception_ptr error) noexcept override {
        to_.error = std::move(error);
        end(run);
    }

  private:
    void begins(rehearsed_run& run) override {
        for (std::size_t i = 0; i < run.num_stages(); ++i) {
            to_.found.stages.push_back({run.name_of(i), run.kind_of(i), {}});
            to_.found.stages.back().trials.resize(num_trials(run, i));
            total_ += num_trials(run, i);
        }
    }
    void begins(const rehearsed_run& run, std::size_t stage, std::size_t num_slots) override {
        tell(run.name_of(stage), num_slots, done_);
    }
    void found(const rehearsed_run& run, std::size_t stage, std::size_t place,
               const profile_trial& trial) override {
        to_.found.stages[stage].trials[num_trials(run, stage) > 1 ? to_.places[place].second : 0] = trial;
        ++done_;
        if (is_source()) to_.found.num_items += trial.num_items;
    }

    void tell(const std::string& stage, std::size_t num_slots, std::size_t done) {
        if (to_.options.on_progress) to_.options.on_progress({stage, num_slots, done, total_});
    }
    void end(rehearsed_run& run) noexcept {
        run.end();
        to_.done.set();
    }

    kept_profile& to_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
};

template <class Row>
profile_result profile_of(pipeline<Row> whole, executor& ex, std::size_t items, profile_options options) {
    if constexpr (!Row::ends) {
        return detail::profile_of(std::move(whole) | weir::sink(), ex, items, std::move(options));
    } else {
        kept_profile kept(items, std::move(options));
        pipeline<Row>::each_options(whole, [](stage_options& each) { each.max_failures = unlimited; });
        run_core<measured> core(ex, detail::with_defaults({.max_failures = unlimited}),
                                std::make_unique<kept_trials>(kept));
        pipeline<Row>::attach(std::move(whole), core);
        core.start();
        detail::block_until(kept.done, ex);
        core.stop();
        core.throw_failure();
        if (kept.error) std::rethrow_exception(kept.error);
        return std::move(kept.found);
    }
}

}  // namespace detail

/// Runs each stage of a pipeline alone, at several concurrencies, to see what it could give if nothing else
/// held it up; also those inside of lists, merges, routes and splits:
///
///     std::cout << weir::profile(pipeline, pool, 1000);
///
/// Takes `items` items from each source, then works on them with the first stage, then with the second on
/// what that gave, and so on. Each item passes each stage once: they are divided among the concurrencies,
/// evenly by half, and by half in proportion to them. A stage that has one slot by its nature (an aggregate)
/// is tried with all. A trial ends after `profile_options::time_limit` with what it has, and where more comes
/// of the items than there were of them, or than a limit in bytes lets in. A stage in which nothing moves any
/// more is tried no further: `profile_trial::end`.
/// A stage behind a batch has fewer items. Where they are too few to try it, the sources give more: up to
/// 16 times `items`, and for as long as a trial lasts. `profile_trial::pace` says how sure a figure is.
///
/// `WEIR_DIAGNOSE=1` in the environment does the same at the start of each run of an unchanged program, on
/// items that then go on to its consumer: see `<weir/run/diagnosis.hpp>`.
///
/// \param pipeline  with a source; a sink is not needed. What can't be copied is moved in.
/// \param ex      where the stages run that name no executor. A stage that blocks its thread is as fast
///                  as its executor has threads, whatever its concurrency: it has to name one with enough.
///                  On virtual time the figures are exact, and processor time counts nothing.
/// \param items     how many each stage is to work on, ends of epochs included.
/// \returns what was measured; `<<` prints a table.
/// Errors:  items that fail are tolerated, and counted. `pipeline_failure` where a stage can't go on, as
///          when the source throws; `std::invalid_argument` for what no run would start with, 0 items, and
///          no concurrency or one of 0; what `on_progress` throws.
/// Threads: blocks until all is done; not for a thread of `ex`. A stage is called by as many threads at once
///          as the largest concurrency says; only a `for_each` of one slot keeps that.
/// Lifetime: nothing uses `ex` any more when it returns.
/// Cost:    the time of `items` items in each stage, one stage after the other; memory for what two give.
template <class P>
    requires detail::is_pipeline<std::remove_cvref_t<P>>
[[nodiscard]] profile_result profile(P&& pipeline, executor& ex, std::size_t items = 1000,
                                     profile_options options = {}) {
    using row = std::remove_cvref_t<decltype(pipeline.stages())>;
    constexpr bool begins = row::begins;
    constexpr bool usable = !std::is_lvalue_reference_v<P> || row::copyable;
    static_assert(begins, "weir: a pipeline to be profiled has a source at its front, for the items");
    static_assert(usable,
                  "weir: a stage of this pipeline can't be copied (a generator, or what holds an object that "
                  "only moves), so it is good for one run: profile(std::move(pipeline), executor)");
    if constexpr (begins && usable) {
        return detail::profile_of(std::remove_cvref_t<P>(std::forward<P>(pipeline)), ex, items,
                                  std::move(options));
    } else {
        return {};
    }
}

/// Rejects what is no pipeline at compile time.
template <class P>
    requires(!detail::is_pipeline<std::remove_cvref_t<P>>)
auto profile(P&&, executor&, std::size_t = 1000, const profile_options& = {}) {
    static_assert(detail::is_pipeline<std::remove_cvref_t<P>>,
                  "weir: what is profiled is a pipeline: a source, and stages behind it");
    return profile_result();
}

}  // namespace weir

#endif
