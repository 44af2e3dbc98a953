// weir report: shows the state of a running pipeline on a terminal; the same as lines of text
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LIVE_VIEW_HPP
#define WEIR_REPORT_LIVE_VIEW_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_files.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/log.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <algorithm>     // for std::clamp, std::max
#include <cerrno>        // for errno
#include <cmath>         // for std::exp
#include <cstddef>       // for std::size_t
#include <cstdint>       // for INT64_MAX, std::uint64_t
#include <cstdlib>       // for std::getenv
#include <mutex>         // for std::lock_guard
#include <optional>      // for std::optional
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace weir {

/// The progress of a run.
struct live_progress {
    duration elapsed{};                       ///< since the start of the run
    std::uint64_t done = 0;                   ///< items finished: see `live_view_options::counted`
    std::optional<std::uint64_t> total = {};  ///< number of all items; none: not known
    double rate = 0;                          ///< items per second: recently; once `ended`, of the whole run
    std::uint64_t failures = 0;               ///< items that failed
    bool ended = false;                       ///< the run has ended
    run_outcome how = {};                     ///< why the run ended; `running`: not yet, or all work is done
    std::string failed_stage = {};            ///< `failure::stage` of the failure that ended the run
    duration idle{};                          ///< how long nothing has moved: `pipeline_stats::idle`
    std::string verdict = {};                 ///< what limits the rate; empty: not known
};

/// The size of a picture (the lines that show a run on a terminal), and whether it has colours.
struct live_frame {
    std::size_t columns = 80;  ///< characters of a line, at most
    std::size_t rows = 24;     ///< number of lines, at most
    bool colour = false;       ///< ANSI colours; each state has a character of its own in the bars, too
};

/// \returns the lines of a picture of a run: its progress; the verdict (what limits the rate), in up to three
///          lines; a line for each stage; and a legend. The line of a stage has a bar of its slots'
///          (workers') time by state, its rate, and the queue behind it: the share of time with an item, and
///          the number of items. Then come its failures and two percentiles of its task times. If the frame
///          is too narrow, the columns on the right are left out. If the frame has too few rows, the least
///          busy stages and lines of the verdict are left out. With fewer than five rows, all lines but the
///          first show stages. `?` replaces characters of names that could move the cursor, or whose width
///          terminals disagree on.
/// \param lap  the statistics that are shown: those since the last picture; at the end, of the whole run.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::vector<std::string> live_lines(const pipeline_stats& lap, const live_progress& progress,
                                                  const live_frame& frame);

/// \returns the state of a run as one line, without a line break:
///          `00:05  510 of 10000 (5 %)  102 /s  left 01:33  decode 97 % busy`. Until the run ends, the line
///          names the busiest stage. The verdict, if it is known, comes at the end.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::string live_line(const pipeline_stats& lap, const live_progress& progress);

/// Options of a `live_view`.
struct live_view_options {
    /// The number of items, if it is known. Then the view shows the time left.
    std::optional<std::uint64_t> total = std::nullopt;
    /// The stage whose finished items, failed ones included, count as progress: the stage that reads files,
    /// for example, if the run gives batches. Of several stages with this name, the first. If no stage has
    /// this name, the run has no view: see the errors of `live_view`. Empty: the items that reach the end of
    /// the pipeline count, whether the program has taken them or not.
    std::string counted = {};
    /// The number of the file descriptor to draw on: 1 is stdout, 2 stderr.
    int file = 2;
    /// The least time between two lines, written at ends of laps (parts of the run). Lines replace pictures
    /// if the file is not a terminal, in Wine, and if TERM is `dumb` or, except on Windows, not set.
    duration line_every = duration(5'000'000'000);
};

namespace detail {

// \returns the progress as one line: time, items, rate and so on. Parts that `columns` can't hold are left
//          out.
std::string progress_text(const live_progress& p, std::size_t columns = SIZE_MAX);
// \returns a bar of `width` characters, divided among the states in proportion to their times (largest
//          remainders); spaces if all times are 0. `colour`: with escape sequences that colour the states.
std::string live_bar(const slot_times& t, std::size_t width, bool colour);

[[nodiscard]] inline std::string_view environment(const char* variable) {
    const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value == nullptr ? std::string_view() : value;
}

// A recent rate: an average in which the weight of items falls exponentially with their age, with a time
// constant of 10 s. In the first seconds the recent rate is close to the plain average.
class recent_rate {
  public:
    void add(std::uint64_t items, duration length) {
        const double seconds = static_cast<double>(length.count()) / 1e9;
        const double kept = std::exp(-seconds / 10);
        items_ = items_ * kept + static_cast<double>(items);
        seconds_ = seconds_ * kept + seconds;
    }
    [[nodiscard]] double per_second() const { return seconds_ > 0 ? items_ / seconds_ : 0; }

  private:
    double items_ = 0;
    double seconds_ = 0;
};

// `live_view` with the clock and mutex of `Platform`, which tests replace.
template <class Platform>
class basic_live_view : public run_report {
  public:
    explicit basic_live_view(live_view_options options = {})
        : options_(std::move(options)), draws_(draws_on_terminal(options_.file, environment("TERM"))),
          colour_(draws_ && environment("NO_COLOR").empty()),
          interval_(draws_ ? 250'000'000
                           : std::clamp<std::int64_t>(options_.line_every.count(), 1, INT64_MAX / 2)) {}

    [[nodiscard]] std::string name() const override { return "the live view"; }
    void begins(const pipeline_stats& all) override {
        const std::lock_guard guard(lock_);
        counted_ = all.stages.size();
        if (!options_.counted.empty()) {
            for (std::size_t i = all.stages.size(); i-- > 0;)
                if (all.stages[i].name == options_.counted) counted_ = i;
            if (counted_ == all.stages.size())
                throw std::invalid_argument("weir: live_view_options::counted is no stage of this run: " +
                                            for_terminal(options_.counted).text);
        }
        progress_ = live_progress();
        progress_.total = options_.total;
        rate_ = recent_rate();
        verdict_ = recent_verdict();
        recent_ = all;
        picture_.clear();
        begin_ = Platform::now();
        due_ = begin_ + interval_;
        show();
    }
    void lap(const pipeline_stats& one) override {
        const std::lock_guard guard(lock_);
        add(one);
        set_verdict(verdict_.add(one));
        const std::int64_t now = Platform::now();
        if (now < due_ || !takes_output(options_.file)) return;
        // Pictures are due at multiples of the interval after the start. So if all laps are as long as the
        // interval, and end a little late, each lap gets a picture.
        due_ = now + interval_ - (now - begin_) % interval_;
        show();
        recent_ = pipeline_stats();
    }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        const std::lock_guard guard(lock_);
        add(rest);
        progress_.ended = true;
        progress_.rate = per_second(progress_.done, progress_.elapsed);
        recent_ = all;
        set_verdict(brief_verdict(all));
        // The last line is never left out: a pipe may be full only for a moment.
        if (!draws_ || takes_output(options_.file)) show();
        picture_.clear();  // the last picture stays on the terminal
    }

    /// Writes a text above the picture. A line break is added if the text does not end with one.
    /// \returns false if the text can't be written.
    /// Errors: `std::bad_alloc`. Threads: any, also while the run goes on.
    bool print(std::string_view text) {
        const std::lock_guard guard(lock_);
        std::string all = to_first_line();
        if (!all.empty()) all += "\x1b[J";
        all += text;
        if (!text.ends_with('\n')) all += '\n';
        for (const std::string& line : picture_) all += line + "\n";
        return write_whole(options_.file, all);
    }

  private:
    void ended_by(run_outcome how, const std::string& stage) override {
        const std::lock_guard guard(lock_);
        progress_.how = how;
        progress_.failed_stage = stage;
    }
    [[nodiscard]] std::uint64_t finished_in(const pipeline_stats& lap) const {
        if (lap.stages.empty()) return 0;
        const bool is_named = counted_ < lap.stages.size();
        const stage_stats& s = is_named ? lap.stages[counted_] : lap.stages.back();
        // An item counts when it is put into the queue before the sink (the last stage), because a run can
        // end before the program has taken the last items.
        if (s.kind == "sink") return lap.channels.at(s.inputs.at(0)).num_put;
        return is_named ? s.num_tasks : s.num_tasks - s.num_failures;
    }
    void add(const pipeline_stats& lap) {
        const std::uint64_t items = finished_in(lap);
        progress_.done += items;
        for (const stage_stats& s : lap.stages) progress_.failures += s.num_failures;
        progress_.elapsed = sum(progress_.elapsed, lap.elapsed);
        progress_.idle = lap.idle;
        rate_.add(items, lap.elapsed);
        progress_.rate = rate_.per_second();
        recent_ = recent_.elapsed == duration(0) ? lap : joined(recent_, lap);
    }

    void set_verdict(const std::optional<verdict>& why) {
        progress_.verdict = why ? why->sentence : std::string();
    }

    // \returns the escape sequence that moves the cursor to the first line of the picture; empty without a
    //          picture. A terminal that became narrower has broken a long line of the picture into several.
    [[nodiscard]] std::string to_first_line() const {
        const terminal_size size = size_of_terminal(options_.file);
        std::size_t up = 0;
        for (const std::string& line : picture_)
            up += 1 + (width_of(line) == 0 ? 0 : (width_of(line) - 1) / size.columns);
        up = (std::min<std::size_t>)(up, size.rows - 1);
        return up == 0 ? "" : "\x1b[" + std::to_string(up) + "A\r";
    }
    void show() {
        if (!draws_) return write(live_line(recent_, progress_) + "\n");
        std::string text = to_first_line();
        const terminal_size size = size_of_terminal(options_.file);
        // The last column stays free, because some terminals break the line there. The last row is for the
        // cursor.
        picture_ = live_lines(recent_, progress_,
                              {(std::max)(size.columns, 2U) - 1, (std::max)(size.rows, 2U) - 1, colour_});
        for (const std::string& line : picture_) text += line + "\x1b[K\n";
        write(text + "\x1b[J");
    }
    static std::size_t width_of(const std::string& line) {
        std::string plain;
        bool in_escape = false;  // a colour: from ESC to `m`
        for (const char c : line) {
            in_escape = in_escape || c == '\x1b';
            if (!in_escape) plain += c;
            in_escape = in_escape && c != 'm';
        }
        return for_terminal(plain).width;
    }
    void write(std::string_view text) const {
        if (!write_whole(options_.file, text))
            throw std::system_error(errno, std::generic_category(), "what is shown");
    }

    const live_view_options options_;
    const bool draws_;
    const bool colour_;
    const std::int64_t interval_;            // ns from picture to picture, or line to line
    mutable typename Platform::mutex lock_;  // guards the members below
    std::size_t counted_ = 0;  // the index of the stage `options_.counted`; the number of stages if none
    live_progress progress_;
    recent_rate rate_;
    recent_verdict verdict_;
    pipeline_stats recent_;             // statistics since the last picture
    std::vector<std::string> picture_;  // the lines of the last picture, above the cursor
    std::int64_t begin_ = 0;
    std::int64_t due_ = 0;  // when the next picture is due
};

}  // namespace detail

/// Shows a run on a terminal when a lap (a part of the run: see `run_options::lap`) ends, at most four times
/// a second. Without a terminal, writes a line instead, every 5 s or every `live_view_options::line_every`:
///
///     auto view = std::make_shared<weir::live_view>(weir::live_view_options{.total = 10'000});
///     auto run = loader.start(pool, {.lap = 250ms, .reports = {view}});
///
/// Each picture replaces the last one, in the lines above the cursor. The last picture stays when the run, or
/// the program, has ended. If the program itself writes lines to the terminal, the next picture overwrites
/// them; as many lines of the old picture remain above. `print` writes text above the picture without such
/// remains. The environment variable NO_COLOR turns colours off. An example: include/weir/report/README.md.
///
/// Errors: if the file can't be written, or `counted` is not a stage of the run, the run goes on without the
///         view. The function set by `set_report_warning` is called.
/// Cost: a picture of ten stages takes 0.3 ms, on a thread of the run's executor. Verdicts during the run
///       take at most 1 % of the time: for five stages, a verdict of 10 to 20 ms about every 2 s, on the laps
///       since the last verdict. While a terminal is stopped (Ctrl-S), or a pipe is full, laps draw nothing;
///       a stopped terminal gets no last picture either. The picture (or line) at the start of the run, the
///       last line in a pipe, and `print` wait until the file takes them.
class live_view final : public detail::basic_live_view<detail::standard_platform> {
    using detail::basic_live_view<detail::standard_platform>::basic_live_view;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/live_view.ipp>
#endif

#endif
