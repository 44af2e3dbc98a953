// weir report: keeps a whole run in memory while it goes on, for JSON and HTML
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORDER_HPP
#define WEIR_REPORT_RUN_RECORDER_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>    // for std::size_t
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Options of a `run_recorder`.
struct run_recorder_options {
    /// The number of laps to keep, at least 2. When there are more, adjacent laps are joined in pairs. So a
    /// run of any length is recorded; the longer the run, the longer its laps.
    std::size_t most_laps = 1000;
    /// The number of failures to keep: the first ones. All failures are counted.
    std::size_t most_failures = 100;
    /// Settings to record with the run.
    std::vector<run_setting> settings = {};
};

/// Keeps a whole run in memory:
///
///     auto recorder = std::make_shared<weir::run_recorder>("training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {recorder}});
///     for (auto& batch : run) train(batch);
///     run.stop();  // when this returns, the end of the run is recorded
///     weir::write_json("run.json", recorder->record());
///
/// If it records several runs, one after the other, it keeps the last.
///
/// Threads: any thread may call `record` at any time.
/// Cost:    a few hundred bytes per lap for each stage and queue; more if durations differ widely.
class run_recorder : public run_report {
  public:
    /// \param made_of  `describe(pipeline)`; without it the record has no types.
    /// Errors: `std::invalid_argument` for fewer than two laps.
    explicit run_recorder(std::string name = {}, pipeline_description made_of = {},
                          run_recorder_options options = {})
        : options_(std::move(options)),
          record_(detail::new_record(std::move(name), std::move(made_of), options_.settings)) {
        if (options_.most_laps < 2)
            throw std::invalid_argument("weir: a run_recorder keeps at least two laps: most_laps = 2");
    }

    /// \returns the run as far as it is recorded. Errors: `std::bad_alloc`. Cost: some microseconds per lap.
    [[nodiscard]] run_record record() const {
        const std::lock_guard guard(lock_);
        run_record all = record_;
        for (const std::string& text : laps_) {
            all.laps.push_back(lap_in(text));
            if (!all.ended)
                all.total = all.laps.size() == 1 ? all.laps[0] : joined(all.total, all.laps.back());
        }
        return all;
    }

    [[nodiscard]] std::string name() const override { return "the record of a run"; }
    void begins(const pipeline_stats& all) override {
        std::string now = detail::utc_now();
        const std::lock_guard guard(lock_);
        laps_.clear();
        record_.started = std::move(now);
        record_.ended = false;
        record_.total = all;
        record_.failures.clear();
        record_.num_failures = 0;
    }
    void lap(const pipeline_stats& one) override {
        std::string text;
        detail::append_json(text, one);
        const std::lock_guard guard(lock_);
        laps_.push_back(std::move(text));
        if (laps_.size() > options_.most_laps) join_pairs();
    }
    void failed(const failure& what) override {
        const std::lock_guard guard(lock_);
        if (record_.num_failures++ >= options_.most_failures) return;
        record_.failures.push_back(
            {what.stage, what.item, what.message(), detail::place_text(what.where), laps_.size()});
    }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        lap(rest);
        const std::lock_guard guard(lock_);
        // A rest of no length belongs to the last lap.
        if (rest.elapsed == duration(0) && laps_.size() > 1) {
            join(laps_[laps_.size() - 2], laps_.back());
            laps_.pop_back();
            for (recorded_failure& each : record_.failures)
                each.lap = detail::smaller(each.lap, laps_.size() - 1);
        }
        record_.total = all;
        record_.ended = true;
    }

  protected:
    /// \returns the record without its laps. Errors: `std::bad_alloc`.
    [[nodiscard]] run_record without_laps() const {
        const std::lock_guard guard(lock_);
        return record_;
    }
    /// Calls `call(lap)` for each lap, in order. All laps at once would take 10 KiB per histogram. `call`
    /// must not use this recorder.
    /// Errors: `std::bad_alloc`, and the errors of `call`.
    template <class Call>
    void each_lap(Call call) const {
        const std::lock_guard guard(lock_);
        for (const std::string& text : laps_) call(lap_in(text));
    }

  private:
    static pipeline_stats lap_in(const std::string& text) {
        pipeline_stats one;
        detail::read_json(detail::json_reader(text).whole(), one);
        return one;
    }
    static void join(std::string& earlier, const std::string& later) {
        std::string both;
        detail::append_json(both, joined(lap_in(earlier), lap_in(later)));
        earlier.swap(both);
    }
    void join_pairs() {
        std::vector<std::string> fewer;
        for (std::size_t i = 0; i < laps_.size(); i += 2) {
            if (i + 1 != laps_.size()) join(laps_[i], laps_[i + 1]);
            fewer.push_back(std::move(laps_[i]));
        }
        laps_.swap(fewer);
        for (recorded_failure& each : record_.failures) each.lap /= 2;
    }

    const run_recorder_options options_;
    mutable detail::spin_lock lock_;
    run_record record_;              // without laps
    std::vector<std::string> laps_;  // as JSON, because a histogram as a value takes 10 KiB
};

}  // namespace weir

#endif
