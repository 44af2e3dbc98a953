// weir report: the statistics and reports that std::format, {fmt} and streams can print
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PRINTABLE_HPP
#define WEIR_REPORT_PRINTABLE_HPP

#include <weir/channel/get_result.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/table.hpp>
#include <weir/report/watchdog.hpp>

#include <concepts>  // for std::same_as
#include <sstream>   // for std::ostringstream
#include <string>    // for std::string
#include <utility>   // for std::move

namespace weir {

namespace detail {

template <class T, class... Ts>
concept one_of = (std::same_as<T, Ts> || ...);

}  // namespace detail

/// The types that `weir/report/format.hpp` and `weir/report/fmt.hpp` format: statistics and reports. All can
/// be written to a stream, too.
template <class T>
concept printable =
    detail::one_of<T, pipeline_stats, stage_stats, channel_stats, process_stats, slot_times, histogram,
                   channel_status, pipeline_description, profile_result, deadlock_report, stall_report>;

/// \returns the text that `<<` writes to a stream.
template <class T>
[[nodiscard]] std::string printed(const T& value) {
    static_assert(printable<T>,
                  "weir: printed() takes statistics and reports, as run.stats() and what is in them; write "
                  "anything else to a stream");
    std::ostringstream out;
    if constexpr (printable<T>) out << value;
    return std::move(out).str();
}

}  // namespace weir

#endif
