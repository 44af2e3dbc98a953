// weir report: traces some items through the stages of a run, as trace events that Perfetto shows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_HPP
#define WEIR_REPORT_TRACE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/report/trace_run.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::shared_ptr
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir {

namespace detail {

// Returns the events of a run that has ended, as JSON.
std::string trace_text(const run_trace& run);

}  // namespace detail

/// Options of a `trace_report`. A stage whose results count as new items (see `trace_report`) is a source
/// here, too.
struct trace_options {
    /// Every `every`-th item of a source is traced, from the first on; at least 1.
    std::uint64_t every = 100;
    /// The number of events to keep, 40 bytes each. Each stage gets the same number, divided among its slots;
    /// each slot keeps its last events. Slots that a raised concurrency adds keep further events: `n` slots,
    /// added one by one to a stage, together less than 1 + log(n) times the number of the stage.
    std::size_t max_events = 200'000;
    /// Items that a source begins in this time after the start of the run are not traced.
    duration after = duration(0);
    /// The length of the period, from `after` on, in which sources begin the items that are traced; 0: no
    /// end.
    duration length = duration(0);
};

/// Traces some items of a run through its stages. When the run ends, the report writes Chrome's trace events
/// to a file, which https://ui.perfetto.dev opens.
///
///     auto trace = std::make_shared<weir::trace_report>("run.trace.json");
///     auto run = loader.start(pool, {.reports = {trace}});
///
/// Each slot (a worker of a stage) has a lane, `decode #2`. A span on the lane is a visit of an item: from
/// the time when the slot got the item until there was room for the result. Further spans, inside of a visit
/// or before it, are times in which the function did not run. Their names are those of `slot_times`, such as
/// `wait_get` or `runnable`. Arrows lead from each visit of an item to its next visit, and from the items of
/// a batch to the batch. A result of a `shuffle`, of `batch_slots`, or of a user's aggregator counts as a new
/// item, because its origin is unknown. Counters show the number of items in a queue when a traced item is
/// put or got. Times are by the run's clock: on virtual time (a simulated clock) a trace is exact and always
/// the same.
///
/// Errors:   `std::invalid_argument` if `every` or `max_events` is 0, or a value is negative. If the file
///           can't be written, or memory is exhausted, the function set by `set_report_warning` is called,
///           and the run goes on. The same happens if a run has two traces, or if a trace is given to two
///           runs at the same time.
/// Threads:  a report is of one run at a time. Lifetime: the run keeps the report.
/// Cost:     without a trace, a slot only tests whether there is one. With a trace, each stage spends about
///           10 ns on an item that is not traced, and 80 ns on a traced item. With 1 us of work in each of
///           three stages that is 1 % for one item of 100, and 13 to 19 % for all. Writing takes about 1 us
///           and 300 bytes per event. A run without statistics (`unmeasured`) traces no item.
class trace_report final : public run_report {
  public:
    /// \param path  of the file, which is replaced when a run ends; empty: no file, see `text`.
    explicit trace_report(std::string path, const trace_options& options = {})
        : path_(std::move(path)), settings_(settings_of(options)) {}

    [[nodiscard]] std::string name() const override { return path_.empty() ? "a trace" : path_; }

    /// \returns the trace of the last run that has ended; empty if there was none.
    /// Errors: `std::bad_alloc`. Threads: any.
    [[nodiscard]] std::string text() const;

    void begins(const pipeline_stats&) override { running()->reserve(); }
    WEIR_INLINE void ends(const pipeline_stats&, const pipeline_stats&) override;

  private:
    WEIR_INLINE std::shared_ptr<detail::run_trail> follows_items() override;

    std::shared_ptr<detail::run_trace> running() const {
        const std::lock_guard guard(lock_);
        return running_;
    }

    static detail::trace_settings settings_of(const trace_options& o);

    const std::string path_;
    const detail::trace_settings settings_;
    // Guards the members below: a run may begin while the run before it ends.
    mutable detail::standard_platform::mutex lock_;
    std::shared_ptr<detail::run_trace> running_;  // of the run that goes on
    std::shared_ptr<detail::run_trace> ended_;    // of the last run that has ended
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/trace.ipp>
#endif

#endif
