// weir report, internal: the part of a run that a page shows: stages, queues, and the figures of its laps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_VIEW_HPP
#define WEIR_REPORT_RUN_VIEW_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/table.hpp>

#include <algorithm>  // for std::ranges::max_element
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// A figure (a number that a page shows) of a lap (a part of a run), as a fraction. The figure of several laps
// is the sum of their numerators divided by the sum of their denominators. A denominator of 0: no figure.
struct fraction {
    double numerator = 0;
    double denominator = 0;

    fraction& operator+=(const fraction& more) noexcept {
        numerator += more.numerator;
        denominator += more.denominator;
        return *this;
    }
    [[nodiscard]] double value() const noexcept {
        return denominator > 0 ? numerator / denominator : no_value;
    }
};

// A figure of the plots of a page, and how to read it.
struct quantity {
    const char* id;
    const char* title;
    const char* label;  // of the axis
    figure_kind kind;
    bool high_is_notable;  // the stages or queues with high figures matter most; else those with low ones
    bool by_differences;   // a plot whose lines differ by more than 50 times gets a logarithmic axis
    fraction (*of_stage)(const stage_stats&);    // null: a figure of queues
    fraction (*of_queue)(const channel_stats&);  // null: a figure of stages
    const char* meaning;                         // a sentence
    std::vector<const char*> guide;              // sentences that say how to read the plot
};

// The figures of the plots: those that SPDL, another library for loading data, explains in its guide
// "Analyzing the Performance", in its order.
[[nodiscard]] const std::vector<quantity>& quantities();

// The figures of all laps, for the first `most_each` stages and queues. Kept instead of the statistics of the
// laps, which take gigabytes in a long run of many stages.
class lap_figures {
  public:
    explicit lap_figures(std::size_t most_each) : most_each_(most_each) {}

    void add(const pipeline_stats& lap);

    [[nodiscard]] std::size_t size() const noexcept { return laps_.size(); }
    // When the lap begins, since the start of the run. `lap >= size()`: when the last lap ends.
    [[nodiscard]] duration start_of(std::size_t lap) const { return starts_[smaller(lap, laps_.size())]; }
    // \param which  an index in `quantities()`.
    // \param index  that of the stage or queue.
    // \returns      the figure of the laps from `begin` to before `end` together; `no_value` if these laps
    //               lack the stage or queue, or have no such figure, as the average of no tasks.
    [[nodiscard]] double value(std::size_t which, std::size_t index, std::size_t begin,
                               std::size_t end) const;

  private:
    std::size_t most_each_;
    std::vector<std::vector<std::vector<fraction>>> laps_;  // [lap][quantity][stage or queue]
    std::vector<duration> starts_ = {duration(0)};          // of each lap, and the end of the last one
};

// \returns the state with the most time; of equal ones the first; if all times are 0, the last state, `off`.
[[nodiscard]] inline const state_in_reports& longest_state(const slot_times& t) {
    if (t.total() <= duration(0)) return states_in_reports.back();
    return *std::ranges::max_element(states_in_reports, {}, [&t](const auto& s) { return t.*(s.time); });
}

// \returns the state with the most time, and its share: `83 % starved`.
[[nodiscard]] inline std::string longest_state_text(const slot_times& t) {
    const state_in_reports& longest = longest_state(t);
    return units::whole_percent(share_of(t.*(longest.time), t.total())) + " % " + longest.is;
}

// \returns the states in which time was spent: `17.0 % at work, 83.0 % starved`; else `no time has passed`.
[[nodiscard]] std::string states_text(const slot_times& t);

// \returns the shares of the states as SVG lines in a row, which begins at (`x`, `y`) and is `width` long.
[[nodiscard]] markup state_bar(const slot_times& t, long x, long y, long width);

// \returns labels for stages or queues: at most 24 columns of each name, `(no name)` for an empty name, and
//          no two the same. Of equal labels, the later ones get numbers: `read`, `read (2)`.
[[nodiscard]] std::vector<std::string> labels_of(const std::vector<std::string>& names);

// A queue between two stages, or behind the last one.
struct shown_queue {
    std::size_t channel;            // its index in `pipeline_stats::channels`
    std::size_t from;               // the index of the stage that puts
    std::optional<std::size_t> to;  // the index of the stage that takes; none: the program takes
    std::string branch;             // the name of the branch that begins with the queue; empty: none begins
};

// The laps of one point of a plot: from `begin` to before `end`.
struct lap_range {
    std::size_t begin;
    std::size_t end;
};

// A run for a page: its first stages and queues with labels, how they are connected, and its laps.
class run_view {
  public:
    // The most stages that have labels, and the most queues that `queues` returns. A page shows these stages
    // as boxes, and these queues as lines between them. Both limits keep the page small.
    static constexpr std::size_t most_stages = 128;
    static constexpr std::size_t most_queues = 512;

    // `laps`: the figures of the run's laps; `run.laps` is not read. `most`: the most stages, and the most
    // queues, that have labels. The `most_each` of `laps` limits how many of these have figures.
    run_view(const run_record& run, const lap_figures& laps, std::size_t most = most_stages);

    [[nodiscard]] const run_record& run() const noexcept { return run_; }
    [[nodiscard]] std::size_t num_stages() const noexcept {
        return smaller(run_.total.stages.size(), limit_);
    }
    [[nodiscard]] std::size_t num_channels() const noexcept {
        return smaller(run_.total.channels.size(), limit_);
    }
    [[nodiscard]] const std::string& stage(std::size_t i) const { return stages_[i]; }
    [[nodiscard]] const std::string& channel(std::size_t i) const { return channels_[i]; }
    [[nodiscard]] const std::vector<shown_queue>& queues() const noexcept { return queues_; }
    // The number of all items that failed. A record that a program made of statistics has it in them only.
    [[nodiscard]] std::uint64_t num_failures() const noexcept {
        std::uint64_t all = 0;
        for (const stage_stats& s : run_.total.stages) all += s.num_failures;
        return larger(run_.num_failures, all);
    }
    // The queue from which the program takes: the last one; null if there is none.
    [[nodiscard]] const channel_stats* last_queue() const noexcept { return last_; }
    // The description of the stage; null if the description does not fit the statistics.
    [[nodiscard]] const described_stage* described(std::size_t stage) const {
        const auto& all = run_.description.stages;
        const bool fits =
            all.size() == run_.total.stages.size() && all[stage].name == run_.total.stages[stage].name;
        return fits ? &all[stage] : nullptr;
    }

    // Whether the run has more than one lap.
    [[nodiscard]] bool has_laps() const noexcept { return laps_.size() > 1; }
    // The figures of the laps; if the run has no laps, the whole run is one lap.
    [[nodiscard]] const lap_figures& laps() const noexcept { return laps_; }
    // The number of laps to draw. A last lap shorter than a tenth of the first is not drawn: its rates mean
    // nothing.
    [[nodiscard]] std::size_t num_drawn() const {
        const std::size_t n = laps_.size();
        const bool rest = n > 1 && (laps_.start_of(n) - laps_.start_of(n - 1)) * 10 < laps_.start_of(1);
        return rest ? n - 1 : n;
    }
    // The laps to draw, in at most `most` parts. All parts but the last have equally many laps.
    [[nodiscard]] std::vector<lap_range> parts(std::size_t most) const {
        const std::size_t n = num_drawn();
        const std::size_t each = (n + most - 1) / most;
        std::vector<lap_range> all;
        for (std::size_t i = 0; i < n; i += each) all.push_back({i, smaller(i + each, n)});
        return all;
    }

  private:
    void find_queues();
    [[nodiscard]] std::string branch_of(std::size_t from, std::size_t to) const {
        if (described(from) == nullptr) return {};
        for (const described_edge& e : run_.description.edges) {
            if (e.from == from && e.to == to) return e.branch;
        }
        return {};
    }

    const run_record& run_;
    std::size_t limit_;  // `most` of the constructor
    lap_figures laps_;
    std::vector<std::string> stages_;    // the labels of the stages
    std::vector<std::string> channels_;  // the labels of the channels
    std::vector<shown_queue> queues_;
    const channel_stats* last_ = nullptr;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/run_view.ipp>
#endif

#endif
