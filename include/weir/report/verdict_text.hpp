// weir report, internal: verdicts in other reports: a line of a log, a value of JSON; the verdict of laps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_VERDICT_TEXT_HPP
#define WEIR_REPORT_VERDICT_TEXT_HPP

#include <weir/insight/verdict.hpp>
#include <weir/measure/stats.hpp>

#include <optional>  // for std::optional
#include <string>    // for std::string

namespace weir::detail {

// \returns the verdict as one line, also if the name of the stage has line breaks:
//          `[verdict]\tcause=stage stage="decode" gain=0.50 sure=1.00: stage 'decode' is the ...`.
[[nodiscard]] std::string verdict_line(const verdict& v);

// \returns the verdict as a JSON object. Unknown values are null.
[[nodiscard]] std::string verdict_json(const verdict& v);

// \returns `brief_verdict(stats)`; none also if this verdict would cost more than 1 % of `stats.elapsed`.
[[nodiscard]] std::optional<verdict> cheap_verdict(const pipeline_stats& stats);

// Keeps the latest verdict (a sentence on what limits the rate), for reports that show a verdict in each lap
// (a part of a run). When the laps since the latest verdict, joined, have a `cheap_verdict`, that verdict
// replaces the latest. Used by one thread at a time.
class recent_verdict {
  public:
    // Adds a lap. Returns the latest verdict, which may be of earlier laps; none: no laps had a verdict yet.
    const std::optional<verdict>& add(const pipeline_stats& lap);

  private:
    pipeline_stats since_;  // the laps since the last verdict
    std::optional<verdict> latest_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/verdict_text.ipp>
#endif

#endif
