// weir run, internal: bodies of the functions of run/run_report.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_REPORT_IPP
#define WEIR_RUN_RUN_REPORT_IPP

#include <weir/run/run_report.hpp>

#include <weir/platform/config.hpp>

#include <cstdio>     // for std::snprintf
#include <stdexcept>  // for std::invalid_argument

namespace weir {

WEIR_INLINE void run_report::ends(const pipeline_stats& rest, const pipeline_stats& all) {
    static_cast<void>(rest);
    static_cast<void>(all);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE void print_report_warning(std::string_view report, std::string_view why) noexcept {
    char line[1000];
    const auto most = [](std::string_view text) {
        return static_cast<int>(smaller<std::size_t>(text.size(), 400));
    };
    // NOLINTBEGIN(bugprone-suspicious-stringview-data-usage): the sizes are given
    const int size = std::snprintf(line, sizeof line,
                                   "weir: %.*s is no longer written, as this failed: %.*s; the run goes on\n",
                                   most(report), report.data(), most(why), why.data());
    // NOLINTEND(bugprone-suspicious-stringview-data-usage)
    // Not by the stream `stderr`: if stderr is a closed pipe, the signal SIGPIPE would end the program.
    // `write_whole` blocks the signal.
    if (size > 0) static_cast<void>(write_whole(2, {line, static_cast<std::size_t>(size)}));
}

WEIR_INLINE run_reports::run_reports(std::vector<std::shared_ptr<run_report>> all,
                                     std::vector<shared_hook>& hooks) {
    for (auto& each : all) {
        if (each == nullptr) throw std::invalid_argument("weir: a report of a run is null");
        all_.push_back(owned<entry>(new entry(std::move(each))));
    }
    call_each([&hooks](run_report& r) {
        if (auto around = r.around_invocations()) hooks.emplace_back(std::move(around));
    });
    call_each([this](run_report& r) {
        auto follows = r.follows_items();
        if (follows == nullptr) return;
        if (trail_ != nullptr) throw std::invalid_argument("weir: another one follows this run's items");
        trail_ = std::move(follows);
    });
}

WEIR_INLINE void run_reports::abandon(entry& it, const std::exception_ptr& why) noexcept {
    if (it.has_failed.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only the first warns
    // acquire; pairs with set_report_warning(): sees all writes before that call
    const report_warning warn = the_report_warning.load(std::memory_order_acquire);
    if (warn == nullptr) return;
    try {
        const std::string text = detail::error_text(why);
        try {
            warn(it.report->name(), text);
        } catch (...) {
            warn("a report", text);
        }
    } catch (...) {
        warn("a report", "memory lacks to say what");
    }
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE report_warning set_report_warning(report_warning warn) noexcept {
    // acq_rel; pairs with itself and with abandon(): a reader of `warn` sees all writes before this call
    return detail::the_report_warning.exchange(warn, std::memory_order_acq_rel);
}

}  // namespace weir

#endif
