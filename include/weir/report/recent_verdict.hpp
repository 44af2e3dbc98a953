// weir report, internal: the verdict of the last laps, for reports that are written during a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RECENT_VERDICT_HPP
#define WEIR_REPORT_RECENT_VERDICT_HPP

#include <weir/insight/brief_verdict.hpp>
#include <weir/insight/verdict.hpp>
#include <weir/measure/stats.hpp>

#include <optional>  // for std::optional

namespace weir::detail {

// Makes a verdict (a sentence on what limits the rate) from time to time, for reports that show one in each
// lap. A new verdict is made from all laps since the last one, when it costs at most 1 % of their time. Used
// by one thread at a time.
class recent_verdict {
  public:
    // Adds a lap. Returns the latest verdict, which may be of earlier laps; none: there was none yet.
    const std::optional<verdict>& add(const pipeline_stats& lap);

  private:
    pipeline_stats since_;  // the laps since the last verdict
    std::optional<verdict> latest_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/recent_verdict.ipp>
#endif

#endif
