// weir report: shows a run on a terminal while it goes on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LIVE_VIEW_HPP
#define WEIR_REPORT_LIVE_VIEW_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_files.hpp>
#include <weir/report/laps.hpp>
#include <weir/report/live_text.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_report.hpp>

#include <algorithm>     // for std::min
#include <cerrno>        // for errno
#include <cmath>         // for std::exp
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::uint64_t
#include <cstdlib>       // for std::getenv
#include <optional>      // for std::optional
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <vector>        // for std::vector

namespace weir {

/// Of a `live_view`.
struct live_view_options {
    /// How many items will leave the run, if that is known: then it says how much time is left.
    std::optional<std::uint64_t> total = std::nullopt;
    /// Where it is drawn, by the number of an open file: 1 is stdout, 2 stderr.
    int file = 2;
    /// How often a line is written where that is no terminal, or TERM is `dumb`.
    duration line_every = duration(5'000'000'000);
};

namespace detail {

inline bool says(const char* variable, std::string_view what) {
    const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value != nullptr && (what.empty() ? *value != 0 : value == what);
}

// `Platform`: whose clock says when the next picture is due.
template <class Platform>
class basic_live_view : public run_report {
  public:
    explicit basic_live_view(live_view_options options = {})
        : options_(options), draws_(is_terminal(options.file) && !says("TERM", "dumb")),
          colour_(draws_ && !says("NO_COLOR", {})) {}

    [[nodiscard]] std::string name() const override { return "the live view"; }
    void begins(const pipeline_stats& all) override {
        progress_ = live_progress();
        progress_.total = options_.total;
        since_ = all;
        lines_.clear();
        last_ = Platform::now();
        show();
    }
    void lap(const pipeline_stats& one) override {
        add(one);
        const std::int64_t now = Platform::now();
        if (now - last_ < (draws_ ? least_between : options_.line_every.count())) return;
        last_ = now;
        show();
        since_ = pipeline_stats();
    }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        add(rest);
        progress_.ended = true;
        progress_.rate = per_second(progress_.done, progress_.elapsed);
        since_ = all;
        show();
    }

  private:
    static constexpr std::int64_t least_between = 250'000'000;  // four pictures a second

    static std::uint64_t left_run(const pipeline_stats& lap) {
        if (lap.stages.empty()) return 0;
        const stage_stats& last = lap.stages.back();
        if (last.outputs.empty()) return last.num_tasks - last.num_failures;
        return last.outputs[0] < lap.channels.size() ? lap.channels[last.outputs[0]].num_get : 0;
    }
    void add(const pipeline_stats& lap) {
        const std::uint64_t items = left_run(lap);
        progress_.done += items;
        for (const stage_stats& s : lap.stages) progress_.failures += s.num_failures;
        progress_.elapsed = sum(progress_.elapsed, lap.elapsed);
        // The rate of late: a lap weighs as much as it is long against ten seconds.
        const double length = static_cast<double>(lap.elapsed.count()) / 1e9;
        const double rate = per_second(items, lap.elapsed);
        const double weight = progress_.rate == 0 ? 1 : 1 - std::exp(-length / 10);
        if (length > 0) progress_.rate += weight * (rate - progress_.rate);
        since_ = since_.elapsed == duration(0) ? lap : joined(since_, lap);
    }

    void show() {
        if (!draws_) return write(options_.file, live_line(since_, progress_) + "\n");
        const terminal_size size = size_of_terminal(options_.file);
        std::string text;
        // Back to the first line of the last picture, which may have been wrapped since.
        std::size_t up = 0;
        for (const std::size_t length : lines_) up += 1 + (length == 0 ? 0 : (length - 1) / size.columns);
        up = std::min<std::size_t>(up, size.rows - 1);
        if (up != 0) text += "\x1b[" + std::to_string(up) + "A\r";
        lines_.clear();
        // The cursor stands below the last line, which thus takes one.
        for (const std::string& line :
             live_lines(since_, progress_, {size.columns, size.rows > 1 ? size.rows - 1 : 1, colour_})) {
            text += line + "\x1b[K\n";
            lines_.push_back(width_of(line));
        }
        write(options_.file, text + "\x1b[J");
    }
    // Without colours, which begin with ESC and end with `m`.
    static std::size_t width_of(const std::string& line) {
        std::size_t width = 0;
        bool in_escape = false;
        for (const char c : line) {
            width += !in_escape && c != '\x1b' ? 1 : 0;
            in_escape = c == '\x1b' || (in_escape && c != 'm');
        }
        return width;
    }
    static void write(int file, std::string_view text) {
        if (!write_whole(file, text))
            throw std::system_error(errno, std::generic_category(), "what is shown");
    }

    const live_view_options options_;
    const bool draws_;
    const bool colour_;
    live_progress progress_;
    pipeline_stats since_;            // the last picture
    std::vector<std::size_t> lines_;  // of it, how wide they are
    std::int64_t last_ = 0;
};

}  // namespace detail

/// Shows a run on a terminal, at most four times a second; where there is none, a line every few seconds:
///
///     auto view = std::make_shared<weir::live_view>(weir::live_view_options{.total = 10'000});
///     auto run = loader.start(pool, {.lap = 250ms, .reports = {view}});
///
/// The picture is drawn over the last one, wherever the cursor is, and stays when the run has ended; what the
/// program writes to the terminal meanwhile moves it down by so many lines. NO_COLOR takes the colours away.
/// What it looks like: .github/REPORTS.md.
///
/// Cost: a picture takes some 50 microseconds, on a thread of the run's executor; one that writes to a
///       terminal that is stopped waits with it.
class live_view final : public detail::basic_live_view<detail::standard_platform> {
    using detail::basic_live_view<detail::standard_platform>::basic_live_view;
};

}  // namespace weir

#endif
