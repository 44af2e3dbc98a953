// weir report, internal: bodies of the functions of report/verdict_text.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_VERDICT_TEXT_IPP
#define WEIR_REPORT_VERDICT_TEXT_IPP

#include <weir/report/verdict_text.hpp>

#include <weir/insight/brief_verdict.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/run_record.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

WEIR_INLINE std::string verdict_line(const verdict& v) {
    std::string text = "cause=" + std::string(name_of(v.cause));
    if (!v.stage.empty()) {
        text += " stage=\"";
        for (const char c : v.stage) text += c == '"' ? '\'' : c;
        text += '"';
    }
    text += " gain=" + units::fixed(v.gain, 2) + " sure=" + units::fixed(v.sure, 2) + ": " + v.sentence + ".";
    return "[verdict]\t" + in_one_line(std::move(text)) + "\n";
}

// \returns the change as the programs `examples/explain` and `examples/what_if` read it:
//          `{"stage":"decode","concurrency":4}`.
WEIR_INLINE std::string change_json(const setting_change& change) {
    const auto count = [&change] { return std::to_string(static_cast<std::uint64_t>(change.value)); };
    std::string text = "{";
    if (!change.stage.empty()) {
        text += "\"stage\":";
        append_json(text, std::string_view(change.stage));
        text += ',';
    }
    switch (change.kind) {
        case change_kind::faster:
            return text + "\"faster\":" + units::fixed(change.value, 4) + "}";
        case change_kind::concurrency:
            return text + "\"concurrency\":" + count() + "}";
        case change_kind::capacity:
            return text + "\"capacity\":" + count() + "}";
        case change_kind::batch_size:
            return text + "\"batch\":" + count() + "}";
        case change_kind::completion_order:
            return text + "\"output_order\":\"completion\"}";
        case change_kind::threads:
            return text + "\"workers\":" + count() + "}";
        case change_kind::consumer:
            return text + "\"consumer_ms\":" + units::fixed(change.value * 1e3, 6) + "}";
        case change_kind::source:
            return text + "\"source\":\"unlimited\"}";
        case change_kind::max_bytes:
            return text + "\"max_bytes\":0}";
    }
    return "null";
}

WEIR_INLINE std::string verdict_json(const verdict& v) {
    std::string text = "{\"cause\":";
    append_json(text, name_of(v.cause));
    text += ",\"stage\":";
    v.stage.empty() ? void(text += "null") : append_json(text, std::string_view(v.stage));
    text += ",\"lost\":" + units::fixed(v.lost, 4) + ",\"gain\":" + units::fixed(v.gain, 4) +
            ",\"change\":" + (v.change ? change_json(*v.change) : "null") +
            ",\"sure\":" + units::fixed(v.sure, 2) + ",\"sentence\":";
    append_json(text, std::string_view(v.sentence));
    return text + "}";
}

WEIR_INLINE std::optional<verdict> cheap_verdict(const pipeline_stats& stats) {
    return cost_of_brief_verdict(stats) > stats.elapsed / 100 ? std::nullopt : brief_verdict(stats);
}

WEIR_INLINE const std::optional<verdict>& recent_verdict::add(const pipeline_stats& lap) {
    since_ = since_.elapsed == duration(0) ? lap : joined(since_, lap);
    if (std::optional<verdict> next = cheap_verdict(since_)) {
        latest_ = std::move(next);
        since_ = pipeline_stats();
    }
    return latest_;
}

}  // namespace weir::detail

#endif
