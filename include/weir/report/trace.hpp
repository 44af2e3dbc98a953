// weir report: some items of a run, followed through its stages, as trace events that Perfetto shows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_HPP
#define WEIR_REPORT_TRACE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/platform/platform.hpp>
#include <weir/report/trace_run.hpp>
#include <weir/report/trace_slot.hpp>
#include <weir/report/trace_text.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::make_shared, std::shared_ptr
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir {

/// Of a `trace_report`.
struct trace_options {
    /// Of so many items of a source one is followed, the first one among them; at least 1. The same ones in
    /// each run.
    std::uint64_t every = 100;
    /// How many events are kept, 40 bytes each; the last ones. Each stage has the same share.
    std::size_t max_events = 200'000;
    /// From when on, since the run began, items that are followed begin.
    duration after = duration(0);
    /// And for how long; 0: until the end.
    duration length = duration(0);
};

/// Follows some items of a run through its stages, and writes what became of them when the run has ended, as
/// Chrome's trace events: https://ui.perfetto.dev opens the file.
///
///     auto trace = std::make_shared<weir::trace_report>("run.trace.json");
///     auto run = loader.start(pool, {.reports = {trace}});
///
/// For each slot there is a lane, `decode #2`, with a span for each item from when the slot got it until it
/// has found room for what came of it. Inside of it are the times in which the function did not run, under
/// the names of `slot_times`: `await`, `runnable`, `wait_put`, `wait_turn`, `overhead`; before it,
/// `wait_get`. Arrows go with an item from span to span, whatever overtakes it; from the items of a batch to
/// where that is given, and on to all that is made of it. What comes out of a `shuffle`, or of an aggregator
/// of one's own, begins anew, as nobody knows what it was. Counters say how many items a queue holds when one
/// that is followed is put or got. Times are by the run's clock: a trace on virtual time is exact, and the
/// same each time.
///
/// Errors:   `std::invalid_argument` for an `every` or `max_events` of 0, and what is negative. A file that
///           can't be written, and too little memory, are warned of, and the run goes on: see `run_report`.
/// Threads:  one run at a time.
/// Lifetime: kept by the run.
/// Cost:     in a run without one, a look at a flag where a slot waits. With one, in each stage some 10 ns
///           for an item that isn't followed, and 80 for one that is: with 1 us of work in each of three
///           stages 1 % for one of 100, 13 to 19 % for all. At the end about 1 us and 300 bytes an event. In
///           a run that measures nothing (`unmeasured`) no item is followed.
class trace_report final : public run_report {
  public:
    /// \param path  of a file, which is replaced when the run has ended; empty: none, see `text`.
    explicit trace_report(std::string path, const trace_options& options = {})
        : path_(std::move(path)), settings_(settings_of(options)) {}

    [[nodiscard]] std::string name() const override { return path_.empty() ? "a trace" : path_; }

    /// \returns the trace of the last run that has ended; empty: there was none. Errors: `std::bad_alloc`.
    /// Threads: any.
    [[nodiscard]] std::string text() const {
        std::shared_ptr<const detail::run_trace> ended;
        {
            const std::lock_guard guard(lock_);
            ended = ended_;
        }
        return ended == nullptr ? std::string() : detail::trace_text(*ended);
    }

    void begins(const pipeline_stats&) override { running_->reserve(); }
    void ends(const pipeline_stats&, const pipeline_stats&) override {
        running_->end();
        {
            const std::lock_guard guard(lock_);
            ended_ = std::move(running_);
        }
        if (!path_.empty()) detail::output_file::replace(path_, text());
    }

  private:
    std::shared_ptr<detail::run_trail> follows_items() override {
        auto next = std::make_shared<detail::run_trace>(settings_);
        // One that could not be started is nobody's any more.
        if (running_ != nullptr && running_.use_count() > 1) {
            throw std::logic_error(
                "weir: a trace_report is of one run at a time, and the one before goes on");
        }
        return running_ = std::move(next);
    }

    static detail::trace_settings settings_of(const trace_options& o) {
        detail::refuse_if(o.every == 0, "weir: a trace follows every n-th item, and n has to be 1 or more");
        detail::refuse_if(o.max_events == 0,
                          "weir: a trace of 0 events has nothing to show; give it 1 or more");
        detail::refuse_negative(o.every, "weir: the every of a trace was negative; give it 1 or more");
        detail::refuse_negative(o.max_events, "weir: the max_events of a trace were negative");
        detail::refuse_if(o.after < duration(0) || o.length < duration(0),
                          "weir: the after and the length of a trace can't be negative");
        const time_point until = weir::saturating_add(time_point(o.after), o.length);
        const bool ends = o.length != duration(0);
        return {o.every, o.max_events, o.after.count(), ends ? until.time_since_epoch().count() : INT64_MAX};
    }
    const std::string path_;
    const detail::trace_settings settings_;
    std::shared_ptr<detail::run_trace> running_;
    mutable detail::standard_platform::mutex lock_;  // guards what follows
    std::shared_ptr<detail::run_trace> ended_;
};

}  // namespace weir

#endif
