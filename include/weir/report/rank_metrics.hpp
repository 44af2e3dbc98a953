// weir report: statistics of all ranks as metrics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_METRICS_HPP
#define WEIR_REPORT_RANK_METRICS_HPP

#include <weir/report/metrics.hpp>
#include <weir/report/rank_stats.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir {

/// \param stats  from the start of the run.
/// \returns the metrics of each rank (a process of the job) that has reported, as one text, with the label
///          `rank`. Histograms have no buckets, because `stats` has none of single ranks.
/// Errors: those of `metrics_text`, also for a label `rank`.
/// Cost: 10 KiB of memory for each stage, and 20 KiB for each queue, of each rank.
[[nodiscard]] inline std::string metrics_text(const rank_stats& stats, const metrics_options& options = {}) {
    std::vector<labelled_run> runs;
    for (std::size_t r = 0; r < stats.ranks.size(); ++r) {
        if (!stats.ranks[r].reported) continue;
        std::vector<metric_label> labels = options.labels;
        labels.push_back({"rank", std::to_string(r)});
        runs.push_back({std::move(labels), weir::of_rank(stats, r)});
    }
    return weir::metrics_text(runs, options.format);
}

}  // namespace weir

#endif
