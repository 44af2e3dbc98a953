// What the tests of formatting share: whichever library formats, it gives what a stream gets.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_FORMATS_HPP
#define WEIR_TESTS_SUPPORT_FORMATS_HPP

#include <weir/channel/get_result.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/printable.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/watchdog.hpp>

namespace formats {

// Every type of which there is a report, one value each.
template <class Visitor>
void for_each_printable(Visitor&& visit) {
    visit(weir::pipeline_stats());
    visit(weir::stage_stats());
    visit(weir::channel_stats());
    visit(weir::slot_times());
    visit(weir::histogram());
    visit(weir::channel_status::closed);
    visit(weir::pipeline_description());
    visit(weir::profile_result());
    visit(weir::deadlock_report());
    visit(weir::stall_report());
}

}  // namespace formats

#endif
