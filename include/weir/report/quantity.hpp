// weir report, internal: the six figures of a page's plots, how to read them, and their values lap by lap
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_QUANTITY_HPP
#define WEIR_REPORT_QUANTITY_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/html_markup.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

// A figure as a fraction. The figure of several laps is the sum of the numerators over that of the
// denominators. A denominator of 0: no figure.
struct fraction {
    double numerator = 0;
    double denominator = 0;

    fraction& operator+=(const fraction& more) noexcept;
    [[nodiscard]] double value() const noexcept;
};

[[nodiscard]] fraction per(duration sum, std::uint64_t count);

struct quantity {
    const char* id;
    const char* title;
    const char* label;  // of the axis
    figure_kind kind;
    bool high_is_notable;                        // else low figures are
    bool by_differences;                         // see `plot_axis::fitting`
    fraction (*of_stage)(const stage_stats&);    // null: a figure of queues
    fraction (*of_queue)(const channel_stats&);  // null: a figure of stages
    const char* meaning;                         // a sentence
    std::vector<const char*> guide;              // sentences that say how to read the plot
};

// The figures of SPDL's guide "Analyzing the Performance", in its order.
[[nodiscard]] std::vector<quantity> quantities();

// The figures of all laps. The statistics of a long run of many stages would take gigabytes.
class lap_figures {
  public:
    explicit lap_figures(std::size_t most_each) : most_each_(most_each), quantities_(quantities()) {}

    void add(const pipeline_stats& lap);

    [[nodiscard]] std::size_t size() const noexcept { return laps_.size(); }
    // When the lap began, since the start of the run; from `size()` on, when the last lap ended.
    [[nodiscard]] duration start_of(std::size_t lap) const { return starts_[smaller(lap, laps_.size())]; }
    // The figure of a stage or queue in the laps from `begin` to `end` together; `no_value` if it is not in
    // them.
    [[nodiscard]] double value(std::size_t which, std::size_t index, std::size_t begin,
                               std::size_t end) const;

  private:
    std::size_t most_each_;
    std::vector<quantity> quantities_;
    std::vector<std::vector<std::vector<fraction>>> laps_;  // [lap][quantity][stage or queue]
    std::vector<duration> starts_ = {duration(0)};
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/quantity.ipp>
#endif

#endif
