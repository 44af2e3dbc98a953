// weir report: the two texts that scrapers of metrics read
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_FORMAT_HPP
#define WEIR_REPORT_METRICS_FORMAT_HPP

#include <weir/platform/requirements.hpp>

#include <string>  // for std::string

namespace weir {

/// The text that a scraper of metrics reads.
enum class metrics_format {
    prometheus,   ///< Prometheus's, version 0.0.4
    openmetrics,  ///< OpenMetrics 1.0
};

/// \returns what an answer over HTTP says of such a text: its `Content-Type`.
[[nodiscard]] inline std::string metrics_content_type(metrics_format format) {
    return format == metrics_format::openmetrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace weir

#endif
