// weir report, internal: bodies of the functions of report/recent_verdict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RECENT_VERDICT_IPP
#define WEIR_REPORT_RECENT_VERDICT_IPP

#include <weir/report/recent_verdict.hpp>

#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/report/run_record.hpp>

#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE const std::optional<verdict>& recent_verdict::add(const pipeline_stats& lap) {
    constexpr std::int64_t least_ratio = 100;
    since_ = since_.elapsed == duration(0) ? lap : joined(since_, lap);
    if (cost_of_brief_verdict(since_) > since_.elapsed / least_ratio) return latest_;
    if (std::optional<verdict> next = brief_verdict(since_)) {
        latest_ = std::move(next);
        since_ = pipeline_stats();
    }
    return latest_;
}

}  // namespace weir::detail

#endif
