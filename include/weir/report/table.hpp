// weir report: statistics as text for people: tables, and one line about a stage, a queue or a histogram
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TABLE_HPP
#define WEIR_REPORT_TABLE_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <concepts>  // for std::same_as
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

/// \returns count and durations: `200 times, ave 2.7 ms, p50 2.6 ms, p99 4.1 ms, max 4.3 ms`. Unknown values
///          are left out.
[[nodiscard]] std::string line_text(const histogram& h);

/// \returns all states with their times, by the names of `slot_times`: `run 1.2 s, await 0, ...`.
[[nodiscard]] std::string line_text(const slot_times& t);

/// \returns `download[12]: 200 tasks, 3 failed after 80.0 ms, 33.3 /s, ave 2.7 ms; run 1.2 s, ...`. In
///          brackets: the number of slots (workers), if above 1. The time after which tasks failed is the
///          average; it is left out if none failed.
[[nodiscard]] std::string line_text(const stage_stats& s);

/// \returns `load_queue: 2 of 8 in it, 200 taken, 33.3 /s, put wait 2.7 ms, get wait 0, readiness 98.2 %`.
///          "put wait" is the average wait of a put. "get wait" is the time in which at least one get waited,
///          divided by the number of gets. If items were discarded, the line says so: `3 discarded`.
[[nodiscard]] std::string line_text(const channel_stats& c);

/// \returns `1.8 of 2 processors busy, 0.1 in the system; 212 MB resident; 12.0 k context switches, 3.1 k of
///          them forced; read 1.2 GB, written 0 B`. If there were major page faults, the line has them, too.
///          Unknown values are left out.
[[nodiscard]] std::string line_text(const process_stats& p);

namespace detail {

// \returns `part` as a share of `all`: from 0 to 1; 0 if `all` is 0. The time of failed tasks may be longer
//          than the work of all, as it includes overhead: then the share is 1.
[[nodiscard]] inline double share_of(duration part, duration all) {
    if (all <= duration(0)) return 0;
    return part < all ? static_cast<double>(part.count()) / static_cast<double>(all.count()) : 1;
}

// Writes the text in one call; the stream's width and format flags do not matter.
inline std::ostream& write_text(std::ostream& out, const std::string& text) {
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

// \returns the text with `?` for each byte that is not printable ASCII.
[[nodiscard]] inline std::string ascii_only(std::string text) {
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

// \returns the text in lines of at most `max_width` characters, broken at spaces; a longer word stays whole.
[[nodiscard]] std::string in_lines(const std::string& text, std::size_t max_width);

// \returns the verdict in lines of ASCII: `verdict: stage 'decode' is the bottleneck: ...`, broken by
//          `in_lines`.
[[nodiscard]] std::string verdict_lines(const verdict& v, std::size_t max_width);

// \returns what all reports say about a run in which nothing has moved for 10 s or longer; before, an empty
//          text.
[[nodiscard]] inline std::string idle_text(duration idle) {
    constexpr duration is_long(10'000'000'000);
    return idle < is_long ? std::string() : "nothing has moved for " + units::time(idle);
}

// \returns when the first item came to the consumer (which takes the results), the rate since then, and the
//          rate of the whole time.
//          Without the rates if no time has passed since the first item. Only the rate of the whole time if
//          the lap `p` begins after the first item, or if `p.first_item` has no value. `no item yet` if the
//          consumer has got none.
[[nodiscard]] std::string first_item_text(const pipeline_stats& p);

template <class T>
concept has_line = requires(const T& value) { weir::line_text(value); };

}  // namespace detail

/// Writes `line_text(value)` in one call, without a line break. The stream's locale and format flags do not
/// matter.
template <detail::has_line T>
std::ostream& operator<<(std::ostream& out, const T& value) {
    return detail::write_text(out, weir::line_text(value));
}

namespace detail {

// A table in ASCII. The first column has names, aligned left; the others are aligned right. Adjacent columns
// may share a heading above their own.
class text_table {
    static constexpr std::size_t max_name = 20;
    static constexpr std::size_t min_name = 3;

    struct group {
        std::size_t first;
        std::size_t last;
        std::string name;

        // \returns the width of the group's columns with `gap` spaces between two. `widths`: of all columns.
        std::size_t width(const std::vector<std::size_t>& widths, std::size_t gap) const {
            std::size_t width = gap * (last - first);
            for (std::size_t i = first; i <= last; ++i) width += widths[i];
            return width;
        }
    };

    std::vector<std::vector<std::string>> rows_;
    std::vector<group> groups_;

  public:
    static constexpr std::size_t max_width = 120;

    explicit text_table(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }

    // Writes `name` above the columns from `first` to `last`.
    void add_group(std::size_t first, std::size_t last, std::string name) {
        groups_.push_back({first, last, std::move(name)});
    }
    void add(std::vector<std::string> row) {
        row[0] = name(row[0], max_name);
        rows_.push_back(std::move(row));
    }

    // Whether the table has only headings.
    [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }

    // A column is as wide as its widest cell; the first column of a group also makes room for the group's
    // heading. Two spaces lie between columns. If lines would be longer than `max_width`, one space lies
    // between columns. Then names in the first column are cut as far as needed, to at least `min_name`
    // characters. Lines that are still too long stay so.
    void append_to(std::string& text) const;

  private:
    // Appends a line with "--- name ---" above the columns of each group; without groups, an empty line.
    void append_heads(std::string& text, const std::vector<std::size_t>& widths, std::size_t gap) const;

    // \returns the name in ASCII, so that each character is one column wide; cut to `width` characters.
    static std::string name(std::string s, std::size_t width);
};

// \returns the time as text; `-` if it was made from no samples.
[[nodiscard]] inline std::string time_cell(duration d, std::uint64_t samples) {
    return samples == 0 ? "-" : units::time(d);
}
[[nodiscard]] inline std::string quantile_cell(const histogram& h, double q) {
    return time_cell(h.quantile(q), h.has_quantiles() ? h.count() : 0);
}
// \returns `share`, a share of the time `of`, in percent; `-` if `of` is 0.
[[nodiscard]] inline std::string percent_cell(double share, duration of) {
    return of <= duration(0) ? "-" : units::whole_percent(share) + " %";
}

// Appends the tables of stages and queues; and those of failed tasks, of items that stages add to their own
// input, and of copies to a device, if there are any.
void append_tables(std::string& text, const pipeline_stats& stats);

// \returns explanations of the states in the table of stages, except for `run`, `await` and `off`, which are
//          clear; empty if there are no others. Lines have at most `text_table::max_width` characters.
[[nodiscard]] std::string notes_of(const std::vector<stage_stats>& stages);

}  // namespace detail

/// \returns the statistics as tables in ASCII, at most 120 columns wide. The first line says when the program
///          got the first item, and the rates; and if nothing has moved for 10 s or longer. Then come:
///          - the stages, with the times of their tasks and a column for each state that slots were in;
///          - the queues between the stages, with a column of discarded items if there are any;
///          - tables of stages with failed tasks, of stages that add items to their own input, and of stages
///            that copy to a device;
///          - the meaning of the states, and a line about the process;
///          - the verdict: what limits the rate, and which change helps most; left out if `brief_verdict`,
///            which makes the verdict, returns none. Names in the verdict are not cut: a very long name makes
///            a longer line.
///          Names in the tables have at most 20 characters; `~`: the name was cut. Figures are rounded; `-`:
///          unknown.
/// Cost: that of `brief_verdict`, about 10 to 20 ms for five stages, and never longer than `stats.elapsed`;
///       the rest takes less than 1 ms.
[[nodiscard]] std::string table_text(const pipeline_stats& stats);

/// Writes `table_text(stats)` in one call. The stream's locale and format flags do not matter.
template <std::same_as<pipeline_stats> T>
std::ostream& operator<<(std::ostream& out, const T& stats) {
    static_cast<void>(detail::verdict_of_diagnosis<T>::is_set);
    return detail::write_text(out, table_text(stats));
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/table.ipp>
#endif

#endif
