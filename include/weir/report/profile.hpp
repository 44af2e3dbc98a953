// weir report: each stage of a pipeline alone, at several concurrencies: what it could give
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_HPP
#define WEIR_REPORT_PROFILE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/profile_result.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage.hpp>

#include <algorithm>    // for std::ranges::min, std::ranges::count
#include <cstddef>      // for std::size_t
#include <functional>   // for std::function
#include <ranges>       // for std::views::all
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// Of `profile`.
struct profile_options {
    /// With how many slots a stage runs that may have several. What comes of the trial with the fewest is
    /// what the next stage is fed with.
    std::vector<std::size_t> concurrencies = {32, 16, 8, 4, 1};

    /// Told before each trial, and at the end, on the thread that called: `weir::profile_bar(std::cerr)`.
    std::function<void(const profile_progress&)> on_progress = nullptr;
};

namespace detail {

// Whether it may have more slots than one.
template <class S>
inline constexpr bool takes_slots = false;
template <class F>
inline constexpr bool takes_slots<pipe_stage<F>> = true;
template <class F>
inline constexpr bool takes_slots<for_each_stage<F>> = true;

// Whether there is a stage left to feed.
template <class... Rest>
inline constexpr bool feeds_another = false;
template <class First, class... Rest>
inline constexpr bool feeds_another<First, Rest...> = !is_sink<First>;

// Runs the stages one after the other, and keeps what one gave for the next.
class profiler {
  public:
    profiler(executor& ex, std::size_t items, profile_options options)
        : executor_(ex), most_(items), options_(std::move(options)) {
        if (items == 0) {
            throw std::invalid_argument("weir: a profile of 0 items tells nothing; take 1 or more");
        }
        refuse_negative(items, "weir: a profile was to take a negative number of items; take 1 or more");
        if (options_.concurrencies.empty() || std::ranges::count(options_.concurrencies, 0U) > 0) {
            throw std::invalid_argument(
                "weir: a profile needs the concurrencies to try, each of them 1 or more");
        }
    }

    template <class Source, class... Stages>
    profile_result run(Source source, const Stages&... stages) {
        const std::size_t tries = options_.concurrencies.size();
        total_ = 1 + (std::size_t{0} + ... + (is_sink<Stages> ? 0 : takes_slots<Stages> ? tries : 1));
        follow(record(std::move(source)), stages...);
        tell({}, 0);
        return std::move(result_);
    }

  private:
    // Gives the source's items, as many as are wanted.
    template <class Source>
    auto record(Source source) {
        const std::string name = source.options.name;
        tell(name, 1);
        tolerate(source);
        auto run = (std::move(source) | weir::sink(3)).start(executor_);
        std::vector<typename decltype(run)::value_type> items;
        while (items.size() < most_) {
            auto item = run.get();
            if (!item) break;
            items.push_back(std::move(*item));
        }
        pipeline_stats stats = run.stats();
        stats.stages.pop_back();  // the sink
        profile_trial trial = trial_of(stats);
        trial.num_items = trial.num_results = items.size();
        result_.num_items = items.size();
        add(name, stats.stages, {trial});
        return items;
    }

    template <class In>
    void follow(const std::vector<In>&) {}
    template <class In, class S, class... Rest>
    void follow(std::vector<In> items, const S& stage, const Rest&... rest) {
        if constexpr (!is_sink<S>) {
            constexpr bool feeds = std::is_copy_constructible_v<In>;
            static_assert(feeds,
                          "weir: a profile feeds a stage with copies of the same items again and again, and "
                          "these can't be copied; hold what only moves by std::shared_ptr");
            static_assert(is_copyable<S>,
                          "weir: a profile runs copies of a stage again and again, and this one can't be "
                          "copied; hold what only moves by std::shared_ptr");
            if constexpr (feeds && is_copyable<S>) {
                auto results = try_all<feeds_another<Rest...>>(items, stage);
                std::vector<In>().swap(items);
                follow(std::move(results), rest...);
            }
        }
    }

    // Gives what the stage made of the items, if that is wanted.
    template <bool Wanted, class In, class S>
    auto try_all(const std::vector<In>& items, const S& stage) {
        using Out = carried_value_t<std::conditional_t<is_end<S>, nothing, typename S::template output<In>>>;
        std::vector<Out> results;
        std::vector<profile_trial> trials;
        std::vector<stage_stats> inside;
        const std::string name = name_of(stage);
        const auto concurrencies = takes_slots<S> ? options_.concurrencies : std::vector<std::size_t>{1};
        const std::size_t fewest = std::ranges::min(concurrencies);
        for (const std::size_t slots : concurrencies) {
            tell(name, slots);
            const bool keeps = Wanted && slots == fewest;
            if (keeps) results.clear();
            pipeline_stats stats = try_one<In>(items, stage, slots, keeps ? &results : nullptr);
            stats.stages.erase(stats.stages.begin());  // what feeds it
            const channel_stats& before = stats.channels.front();
            const double starved = static_cast<double>(before.get_blocked.count());
            const double all = static_cast<double>(stats.elapsed.count());
            profile_trial trial = trial_of(stats);
            trial.num_items = before.num_get;
            trial.num_results = is_end<S> ? 0 : stats.channels.back().num_get;
            if (all > 0) trial.readiness = 1 - std::min(starved / all, 1.0);
            trials.push_back(trial);
            inside = std::move(stats.stages);
        }
        if (!inside.empty()) add(name, inside, std::move(trials));  // a list may have no stage
        return results;
    }

    template <class In, class S, class Out>
    pipeline_stats try_one(const std::vector<In>& items, S stage, std::size_t slots,
                           std::vector<Out>* results) {
        tolerate(stage);
        if constexpr (takes_slots<S>) stage.options.concurrency = slots;
        // So that each slot finds an item, and room for what it gives.
        auto feed = weir::source(std::views::all(items), {.name = "recorded", .capacity = 2 * slots});
        if constexpr (is_end<S>) {
            static_cast<void>(results);
            return (std::move(feed) | std::move(stage)).start(executor_).wait().stats;
        } else {
            auto run = (std::move(feed) | std::move(stage) | weir::sink(2 * slots)).start(executor_);
            while (auto result = run.get()) {
                if (results != nullptr) results->push_back(std::move(*result));
            }
            pipeline_stats stats = run.stats();
            stats.stages.pop_back();  // the sink
            return stats;
        }
    }
    template <class S>
    static void tolerate(S& stage) {
        S::each_options(stage, [](stage_options& o) { o.max_failures = unlimited; });
    }

    template <class S>
    static std::string name_of(const S& stage) {
        if constexpr (stage_description<S>) {
            return stage.options.name;
        } else {
            std::string first, last;
            S::each_options(stage, [&](const stage_options& o) {
                if (first.empty()) first = o.name;
                last = o.name;
            });
            return first == last ? first : first + " ... " + last;
        }
    }

    static profile_trial trial_of(const pipeline_stats& stats) {
        profile_trial trial;
        trial.elapsed = stats.elapsed;
        trial.concurrency = 0;
        for (const stage_stats& s : stats.stages) {
            trial.concurrency += s.concurrency;
            trial.num_failures += s.num_failures;
            trial.times += s.times();
        }
        if (stats.stages.size() == 1) trial.ave_time = stats.stages.front().ave_time();
        return trial;
    }

    // `inside`: one stage, or several that are one to the pipeline.
    void add(const std::string& name, const std::vector<stage_stats>& inside,
             std::vector<profile_trial> trials) {
        std::string kind = "list";
        for (const stage_stats& s : inside) {
            if (s.name == name) kind = s.kind;
        }
        result_.stages.push_back({name, std::move(kind), std::move(trials)});
    }

    void tell(const std::string& stage, std::size_t slots) {
        const std::size_t done = stage.empty() ? total_ : done_++;
        if (options_.on_progress) options_.on_progress({stage, slots, done, total_});
    }

    executor& executor_;
    const std::size_t most_;
    const profile_options options_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    profile_result result_;
};

}  // namespace detail

/// Runs each stage of a pipeline alone, at several concurrencies, with recorded items, to see what it could
/// give if nothing else held it up:
///
///     std::cout << weir::profile(pipeline, pool, 1000);
///
/// Takes `items` items from the source, feeds them to the first stage, what that gives to the second, and
/// so on. A stage that has one slot by its nature (an aggregate) runs with that; what has several stages
/// inside (a list, a route) runs as a whole, as it is described. Where the source has epochs, the items are
/// taken over their ends, which no stage is told of.
///
/// \param pipeline  with a source; a sink is not needed. An rvalue's source may be good for one run.
/// \param ex      where the stages run that name no executor. A stage that blocks its thread is as fast
///                  as its executor has threads, whatever its concurrency: it has to name one with enough.
///                  On virtual time the figures are exact, and processor time counts nothing.
/// \param items     how many at most; the source is asked for some more.
/// \returns what was measured; `<<` prints a table.
/// Errors:  items that fail are tolerated, and counted. `pipeline_failure` where a stage can't go on, as
///          when the source throws; `std::invalid_argument` for what no run would start with, 0 items, and
///          no concurrency or one of 0.
/// Threads: blocks until all is done; not for a thread of `ex`.
/// Lifetime: nothing uses `ex` any more when it returns.
/// Cost:    the time of `items` items in each trial, whose functions are called in each of them; memory for
///          what two stages give.
template <class P>
    requires detail::is_pipeline<std::remove_cvref_t<P>>
[[nodiscard]] profile_result profile(P&& pipeline, executor& ex, std::size_t items = 1000,
                                     profile_options options = {}) {
    using stages = std::remove_cvref_t<decltype(pipeline.stages())>;
    using first = typename detail::first_of<stages>::type;
    constexpr bool begins = stages::begins;
    constexpr bool usable = !std::is_lvalue_reference_v<P> || detail::is_copyable<first>;
    static_assert(begins, "weir: a pipeline to be profiled has a source at its front, for the items");
    static_assert(usable,
                  "weir: the source of this pipeline can't be copied (a generator), so it is good "
                  "for one run: profile(std::move(pipeline), executor)");
    detail::profiler profiler(ex, items, std::move(options));
    if constexpr (begins && usable) {
        return stages::apply(std::forward<P>(pipeline).stages(), [&](auto&& source, const auto&... rest) {
            return profiler.run(first(std::forward<decltype(source)>(source)), rest...);
        });
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
