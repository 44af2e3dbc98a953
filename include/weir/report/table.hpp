// weir report: statistics as a table for people: where the time of each stage and queue went
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TABLE_HPP
#define WEIR_REPORT_TABLE_HPP

#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/line.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <ostream>  // for std::ostream
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir {

namespace detail {

// A table of text: the first column is aligned left, the others right. Adjacent columns may share a heading.
class text_table {
    static constexpr std::size_t max_name = 20;
    static constexpr std::size_t min_name = 3;

    struct group {
        std::size_t first;
        std::size_t last;
        std::string name;
    };

    std::vector<std::vector<std::string>> rows_;
    std::vector<group> groups_;

  public:
    static constexpr std::size_t max_width = 120;

    explicit text_table(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }

    void add_group(std::size_t first, std::size_t last, std::string name);

    void add(std::vector<std::string> row);

    // Whether the table has only headings.
    [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }

    // A column is as wide as its widest cell, and two spaces lie between columns. If lines would be longer
    // than `max_width`, one space lies between columns, and the names in the first column are cut.
    void append_to(std::string& text) const;

  private:
    // "--- name ---" over the columns of each group.
    void append_heads(std::string& text, const std::vector<std::size_t>& widths, std::size_t gap) const;

    // \returns the name in ASCII, so that each character is one column wide; cut to `width` characters.
    static std::string name(std::string s, std::size_t width);
};

// \returns the time; `-` if there are no samples.
[[nodiscard]] std::string time_cell(duration d, std::uint64_t samples);

[[nodiscard]] std::string quantile_cell(const histogram& h, double q);

// \returns the states in which at least one slot spent time.
[[nodiscard]] std::vector<state_in_reports> states_of(const std::vector<stage_stats>& stages);

[[nodiscard]] text_table table_of(const std::vector<stage_stats>& stages);

// \returns the meaning of each column of states whose name doesn't explain itself, in lines of at most
//          `max_width` characters.
[[nodiscard]] std::string notes_of(const std::vector<stage_stats>& stages);

[[nodiscard]] text_table table_of(const std::vector<channel_stats>& channels);

// Stages with failed tasks; the table may be empty.
[[nodiscard]] text_table failures_table(const std::vector<stage_stats>& stages);

// Stages that copy to a device; the table may be empty.
[[nodiscard]] text_table copies_table(const std::vector<stage_stats>& stages);

// Stages whose function adds items to their own input; the table may be empty.
[[nodiscard]] text_table added_table(const std::vector<stage_stats>& stages);

}  // namespace detail

/// \returns the statistics as tables in ASCII, at most 120 columns wide. The first line says when the first
///          item came to the consumer, and the rates. If nothing has moved for 10 s or longer, it says so,
///          too. Then come:
///          - the stages, with the times of their tasks and a column for each state that slots were in;
///          - the queues between the stages, with a column of discarded items if there are any;
///          - tables of stages with failed tasks, of stages that add items to their own input, and of stages
///            that copy to a device;
///          - the meaning of the states, and a line about the process.
///          Names have at most 20 characters; `~` shows where one was cut. Figures are rounded; `-`: unknown.
[[nodiscard]] std::string table_text(const pipeline_stats& stats);

/// Writes `table_text(stats)` in one call. The stream's locale and format flags do not matter.
std::ostream& operator<<(std::ostream& out, const pipeline_stats& stats);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/table.ipp>
#endif

#endif
