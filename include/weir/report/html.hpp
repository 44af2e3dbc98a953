// weir report: keeps a whole run in memory while it goes on; writes it as a page of HTML, one file
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_HPP
#define WEIR_REPORT_HTML_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::shared_ptr
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir {

/// Options of a `run_recorder`.
struct run_recorder_options {
    /// The number of laps to keep, at least 2. A lap is a part of a run: see `run_options::lap`. When
    /// there are more laps, each two adjacent laps become one, and later laps are joined in the same way: a
    /// lap that is kept consists of 1, 2, 4 or more laps of the run, and all have equally many, but the last.
    /// So a run of any length is recorded; the longer the run, the longer the laps of its record.
    std::size_t most_laps = 1000;
    /// The number of failures to keep: the first ones. All failures are counted.
    std::size_t most_failures = 100;
    /// Settings to record with the run, such as a number of threads or the name of a dataset.
    std::vector<run_setting> settings = {};
};

/// Keeps a whole run in memory:
///
///     auto recorder = std::make_shared<weir::run_recorder>("training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {recorder}});
///     for (auto& batch : run) train(batch);
///     run.stop();  // when this returns, the end of the run is recorded
///     weir::write_json("run.json", *recorder);
///
/// If the recorder is given to several runs, one after the other, it keeps the last run.
///
/// Threads: any thread may call `record` at any time.
/// Cost:    a few hundred bytes per lap for each stage and queue; more if durations differ widely.
class run_recorder : public run_report {
  public:
    /// \param made_of  `describe(pipeline)`; without it the record has no types, executors and branches.
    /// Errors: `std::invalid_argument` if `most_laps` is less than 2.
    explicit run_recorder(std::string name = {}, pipeline_description made_of = {},
                          run_recorder_options options = {});

    /// \returns the run as far as it is recorded. Errors: `std::bad_alloc`.
    /// Cost: 30 KiB of memory per lap for each stage and its queue, and about 0.1 ms per lap for ten stages.
    ///       `write_json` of the recorder and `html_report` need this memory for one lap only.
    [[nodiscard]] run_record record() const;

    [[nodiscard]] std::string name() const override { return "the record of a run"; }
    WEIR_INLINE void begins(const pipeline_stats& all) override;
    WEIR_INLINE void lap(const pipeline_stats& one) override;
    WEIR_INLINE void failed(const failure& what) override;
    WEIR_INLINE void ends(const pipeline_stats& rest, const pipeline_stats& all) override;

  protected:
    /// \returns the record without its laps. Until the run has ended, the figures of
    /// `run_record::total` are 0.
    /// Errors: `std::bad_alloc`.
    [[nodiscard]] run_record without_laps() const {
        const std::lock_guard guard(lock_);
        return record_;
    }
    /// Calls `call(lap)` for each lap, in order. Only one lap at a time is in memory as `pipeline_stats`, in
    /// which each histogram takes 10 KiB. Laps that end meanwhile are left out.
    /// Errors: `std::bad_alloc`, and the errors of `call`.
    template <class Call>
    void each_lap(Call call) const {
        const lap_texts all = texts();
        for (const auto& text : all) call(lap_in(*text));
    }

  private:
    friend void write_json(const std::string& path, const run_recorder& recorder);

    // As JSON, which is smaller: a `histogram` in memory takes 10 KiB. Shared, so that laps are read and
    // joined without the lock, which slots need that fail.
    using lap_texts = std::vector<std::shared_ptr<const std::string>>;

    struct kept_laps {
        lap_texts texts;
        std::size_t each = 1;  // how many laps of the run each of them consists of
        std::size_t last = 0;  // of how many the last one does: at most `each`; 0 without laps

        // The index of the kept lap to which the next lap of the run belongs.
        [[nodiscard]] std::size_t next() const noexcept {
            return last % each == 0 ? texts.size() : texts.size() - 1;
        }
    };

    WEIR_INLINE void ended_by(run_outcome how, const std::string& stage) override;
    // \returns the record without its laps, but with the total. Sets `laps` to the laps.
    run_record with_total(lap_texts& laps) const;
    static pipeline_stats lap_in(const std::string& text);
    static std::shared_ptr<const std::string> text_of(const pipeline_stats& lap);
    lap_texts texts() const {
        const std::lock_guard guard(lock_);
        return laps_.texts;
    }
    // Joins each two adjacent laps.
    static void join_pairs(kept_laps& all);

    const run_recorder_options options_;
    mutable detail::spin_lock lock_;
    run_record record_;  // without laps
    kept_laps laps_;
};

/// Writes `json_text(recorder.record())` to a file, with less memory: only one lap at a time is in memory as
/// `pipeline_stats`. The file is replaced as a whole or not at all.
/// Errors: `std::bad_alloc`; `std::system_error`, with the path.
void write_json(const std::string& path, const run_recorder& recorder);

/// \returns the run as a page of HTML (UTF-8; also well-formed XML). The first sentence is the verdict (what
///          limits the rate), if `brief_verdict` has one. Then come the pipeline as a graph, the time of each
///          stage by state, six plots over the run with explanations, percentiles, failures and settings.
///          Ranks (processes of a job) and copies to a device are shown if there are any. The page loads
///          nothing. It works without scripts, by keyboard, in light and dark, on paper.
/// A page has less than 500 kB. If there is too much to show, the page says what is left out: a point of a
/// plot stands for several laps (parts of the run: see `run_options::lap`), and only the first 128
/// stages are shown, or fewer if names and texts are long.
/// Errors: `std::bad_alloc`. Cost: that of `brief_verdict`, and a few milliseconds; more with many laps.
[[nodiscard]] std::string html_text(const run_record& run);

/// Writes `html_text(run)` to a file. The file is replaced as a whole or not at all.
/// Errors: `std::system_error`, with the path.
void write_html(const std::string& path, const run_record& run);

/// Writes the page of a run when the run ends:
///
///     const auto page = std::make_shared<weir::html_report>("run.html", "training", weir::describe(loader));
///     auto run = loader.start(pool, {.lap = 1s, .reports = {page}});
///
/// If several runs use the report, one after the other, the file has the page of the last run. `record()` of
/// the base class can be called at any time. If the file can't be written, the function set by
/// `set_report_warning` is called.
class html_report : public run_recorder {
  public:
    /// \param made_of  `describe(pipeline)`; without it the page has no types, executors and branches.
    /// \param options  by default, 240 laps are kept, as a plot has at most 240 points.
    explicit html_report(std::string path, std::string name = {}, pipeline_description made_of = {},
                         run_recorder_options options = {.most_laps = 240})
        : run_recorder(std::move(name), std::move(made_of), std::move(options)), path_(std::move(path)) {}

    [[nodiscard]] std::string name() const override { return path_; }
    WEIR_INLINE void ends(const pipeline_stats& rest, const pipeline_stats& all) override;

  private:
    std::string path_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/html.ipp>
#include <weir/report/run_recorder.ipp>
#endif

#endif
