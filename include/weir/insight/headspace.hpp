// weir insight: measures three rates: of a pipeline alone, of its consumer alone, and of both together
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_HEADSPACE_HPP
#define WEIR_INSIGHT_HEADSPACE_HPP

#include <weir/insight/repeated_consumer.hpp>
#include <weir/measure/clock.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <type_traits>  // for std::invoke_result_t, std::is_invocable_v
#include <utility>      // for std::as_const, std::move
#include <vector>       // for std::vector

namespace weir {

/// The options of `headspace`. Each of the three measurements ends after `items` items or after `time`; the
/// two measurements with the pipeline also end when the pipeline ends.
struct headspace_options {
    std::uint64_t items = 1'000;               ///< the most items of a measurement; at least 2
    duration time = duration(10'000'000'000);  ///< the longest time of a measurement, by the executor's clock
    std::size_t kept = 16;                     ///< the most items that are kept in memory; at least 1. If
                                               ///< items hold objects of a pool, it needs so many more
    std::uint64_t skipped = 10;  ///< first items that the rate leaves out, up to half of those that come
};

/// The result of `headspace`: three rates, in items per second, and what follows from these rates. A measured
/// time of 0 counts as 1 ns.
struct headspace_result {
    double measured = 0;         ///< of the pipeline with the consumer, the function that uses the items
    double consumer = 0;         ///< of the consumer alone, with items that are kept in memory
    double pipeline = 0;         ///< of the pipeline alone, with a consumer that takes no time
    double gain = 0;             ///< how much more `consumer` is than `measured`: 0.25 is a quarter more
    std::string sentence = {};   ///< all of this in a sentence, without a full stop at its end
    std::uint64_t num_kept = 0;  ///< how many items were kept in memory
};

namespace detail {

// Measures the rate at which items are got. A measurement ends after `headspace_options::items` items, or
// when `headspace_options::time` has passed since the instant `begin`.
class rate_meter {
  public:
    rate_meter(const headspace_options& limits, time_point begin) noexcept : limits_(limits), begin_(begin) {}
    void got_at(time_point t) {
        if (first_.size() <= limits_.skipped) first_.push_back(t);
        last_ = t;
        ++count_;
    }
    // The part of `headspace_options::time` that is left at the instant `t`; 0 after `items` items.
    duration left_at(time_point t) const noexcept;
    // \returns items per second, without the skipped items.
    // Errors: std::invalid_argument if fewer than 2 items were got. `whose`: the measurement, in the message.
    double rate(const char* whose) const;

  private:
    const headspace_options& limits_;
    const time_point begin_;
    std::vector<time_point> first_;  // when the skipped items were got, and the item after the last of them
    time_point last_{};
    std::uint64_t count_ = 0;
};

void check_headspace(const headspace_options& options);
// Makes the gain and the sentence from the three rates.
headspace_result headspace_of(double measured, double consumer, double pipeline, std::size_t num_kept);

// Passes the items of a run to `take` until a limit is reached or the run ends. \returns items per second.
template <class Executor, class Run, class Take>
double measure_run(Executor& ex, Run& run, const headspace_options& limits, const char* whose, Take take) {
    rate_meter meter(limits, ex.now());
    for (duration left = limits.time; left > duration(0); left = meter.left_at(ex.now())) {
        auto got = run.get(left);
        if (!got) break;
        meter.got_at(ex.now());
        take(*got);
    }
    return meter.rate(whose);
}

// Passes the items of a run to a consumer that returns a task, until a limit is reached or the run ends.
// `meter` records when the items came. `Result`: the type of the consumer's task, and of this coroutine.
template <class Result, class T, class Executor, class Run, class Consumer>
Result consume_run(Executor& ex, Run& run, Consumer& consumer, rate_meter& meter) {
    while (meter.left_at(ex.now()) > duration(0)) {
        std::optional<T> item = co_await run.next();
        if (!item) break;
        meter.got_at(ex.now());
        co_await consumer_of<Consumer, T>::give(consumer, *item);
    }
}

// Sums the times of calls of the consumer, without the times in which their items are copied.
class call_times {
  public:
    call_times(const headspace_options& limits, time_point begin) : meter_(limits, begin) {
        meter_.got_at(at_);
    }
    // False if a limit is reached. The time in which items are copied counts for `headspace_options::time`.
    bool has_time(time_point now) const noexcept { return meter_.left_at(now) > duration(0); }
    void add(duration call) {
        at_ = saturating_add(at_, call);
        meter_.got_at(at_);
    }
    double rate() const { return meter_.rate("the consumer alone"); }

  private:
    rate_meter meter_;
    time_point at_{};  // the sum of the calls' times, as an instant
};

// Calls a consumer that is a coroutine with the kept items, one after the other, again and again, until a
// limit.
template <class Result, class T, class Executor, class Consumer>
Result consume_kept(Executor& ex, std::vector<T>& kept, Consumer& consumer, call_times& times) {
    std::size_t i = 0;
    do {
        kept_item<T> item(kept[i]);
        const time_point begin = ex.now();
        co_await consumer_of<Consumer, T>::give(consumer, item.value());
        item.destroy();
        times.add(ex.now() - begin);
        i = (i + 1) % kept.size();
    } while (times.has_time(ex.now()));
}

// The third measurement: calls the consumer with the kept items, one after the other, again and again.
// \returns calls per second.
template <class T, class Executor, class Consumer>
double measure_consumer(Executor& ex, std::vector<T>& kept, Consumer& consumer,
                        const headspace_options& limits) {
    using taker = consumer_of<Consumer, T>;
    call_times times(limits, ex.now());
    if constexpr (taker::is_task) {
        sync_wait(ex, consume_kept<typename taker::result>(ex, kept, consumer, times));
    } else {
        std::size_t i = 0;
        do {
            kept_item<T> item(kept[i]);
            const time_point begin = ex.now();
            static_cast<void>(taker::give(consumer, item.value()));
            item.destroy();
            times.add(ex.now() - begin);
            i = (i + 1) % kept.size();
        } while (times.has_time(ex.now()));
    }
    return times.rate();
}

inline constexpr auto beside_kept =
    "the pipeline with its consumer, while items of the first run are kept in memory; if items hold objects "
    "of a pool, the pool needs headspace_options::kept more";

template <class Executor, class Start, class Consumer>
headspace_result measure_headspace(Executor& ex, Start& start, Consumer& consumer,
                                   const headspace_options& limits) {
    using run_type = std::invoke_result_t<Start&>;
    using T = typename run_type::value_type;
    using taker = consumer_of<Consumer, T>;
    check_headspace(limits);
    std::vector<T> kept;
    double pipeline = 0, measured = 0;
    {
        run_type run = start();
        pipeline = measure_run(ex, run, limits, "the pipeline alone", [&](T& item) {
            if (kept.size() < limits.kept) kept.push_back(std::move(item));
        });
    }
    {
        run_type run = start();
        if constexpr (taker::is_task) {
            rate_meter meter(limits, ex.now());
            sync_wait(ex, consume_run<typename taker::result, T>(ex, run, consumer, meter));
            measured = meter.rate(beside_kept);
        } else {
            measured = measure_run(ex, run, limits, beside_kept,
                                   [&](T& item) { static_cast<void>(taker::give(consumer, item)); });
        }
    }
    const double alone = measure_consumer(ex, kept, consumer, limits);
    return headspace_of(measured, alone, pipeline, kept.size());
}

// Starts a run of a pipeline, or calls the user's function that starts one.
template <class Pipeline, class Executor>
struct run_starter {
    Pipeline* from;
    Executor* ex;
    auto operator()() const {
        if constexpr (std::is_invocable_v<Pipeline&>) {
            return (*from)();
        } else {
            return std::as_const(*from).start(*ex);
        }
    }
};

template <class Pipeline>
constexpr bool can_start_twice() {
    if constexpr (requires(const Pipeline& p) { p.stages(); }) {
        return std::remove_cvref_t<decltype(std::declval<const Pipeline&>().stages())>::copyable;
    } else {
        return true;
    }
}

}  // namespace detail

/// Measures how much faster a program would be if its pipeline took no time:
///
///     auto result = weir::headspace(loader, pool, [](batch& b) { train(b); });
///     std::cout << result.sentence << '\n';
///
/// 1. The pipeline runs with a consumer that takes no time. The first `kept` items stay in memory.
/// 2. The pipeline runs again, with the consumer.
/// 3. The consumer gets the kept items again and again, without the pipeline.
///
/// A consumer that is a function runs on the calling thread. A consumer that returns a `task<>` is awaited on
/// the executor. Each kept item is copied for each call, outside of the measured time. An item that can't be
/// copied is passed itself, again and again: the consumer must leave the item usable.
///
/// \param pipeline  a pipeline, which is started twice; or a function that starts a run each time.
/// \param ex        the executor of both runs; times are measured by its clock.
/// \param consumer  called with each item; its result is ignored.
/// \returns the three rates, and a sentence.
/// Errors:   `std::invalid_argument` if one of the three measurements gets fewer than 2 items within the
///           limits. The same for `items` below 2, for `kept` of 0, for a `time` that is not above 0, and for
///           a count that was made from a negative number. Exceptions of the consumer, and the failures of
///           the run.
/// Threads:  blocks the calling thread until all is measured. On an executor `virtual_time`, whose clock is
///           simulated, the calling thread runs the coroutines; as calls take no time there, only `items`
///           ends a measurement. `time` ends no call of the consumer, and no wait for an item if the consumer
///           is a task.
/// Lifetime: all arguments outlive the call.
/// Cost:     the memory of `kept` items; if items hold objects of a pool, such as a `block_pool`, the pool
///           needs `kept` more, else `measured` is too low, or nothing comes. Up to three times `time`, plus
///           what `time` does not end.
template <class Pipeline, class Executor, class Consumer>
[[nodiscard]] headspace_result headspace(Pipeline&& pipeline, Executor& ex, Consumer&& consumer,
                                         const headspace_options& options = {}) {
    using from = std::remove_reference_t<Pipeline>;
    constexpr bool can_start = std::is_invocable_v<from&> || requires { pipeline.stages(); };
    static_assert(can_start,
                  "weir: headspace(pipeline, executor, consumer) takes a pipeline, or a function without "
                  "parameters that starts a run of it");
    if constexpr (can_start) {
        constexpr bool twice = detail::can_start_twice<from>();
        static_assert(twice,
                      "weir: headspace starts a pipeline twice, and a stage of this one can't be copied; "
                      "give it a function that makes the pipeline and starts it");
        if constexpr (twice) {
            detail::run_starter<from, Executor> start{&pipeline, &ex};
            using run_type = std::invoke_result_t<decltype(start)&>;
            constexpr bool has_items = requires { typename run_type::value_type; };
            static_assert(has_items,
                          "weir: headspace takes the items of a run: it needs a pipeline that ends with "
                          "weir::sink(), and no for_each");
            if constexpr (has_items) {
                if constexpr (detail::is_usable_consumer<typename run_type::value_type,
                                                         std::remove_reference_t<Consumer>>()) {
                    return detail::measure_headspace(ex, start, consumer, options);
                }
            }
        }
    }
    return {};
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/headspace.ipp>
#endif

#endif
