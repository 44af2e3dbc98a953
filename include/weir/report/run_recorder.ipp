// weir report, internal: bodies of the functions of report/html.hpp: those of the class run_recorder
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORDER_IPP
#define WEIR_REPORT_RUN_RECORDER_IPP

#include <weir/report/html.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/output_file.hpp>

#include <stdexcept>    // for std::invalid_argument
#include <string_view>  // for std::string_view
#include <utility>      // for std::move, std::swap

namespace weir {

WEIR_INLINE run_recorder::run_recorder(std::string name, pipeline_description made_of,
                                       run_recorder_options options)
    : options_(std::move(options)),
      record_(detail::new_record(std::move(name), std::move(made_of), options_.settings)) {
    if (options_.most_laps < 2)
        throw std::invalid_argument("weir: a run_recorder keeps at least two laps: most_laps = 2");
}

WEIR_INLINE run_record run_recorder::record() const {
    lap_texts laps;
    run_record all = with_total(laps);
    for (const auto& text : laps) all.laps.push_back(lap_in(*text));
    return all;
}

WEIR_INLINE run_record run_recorder::with_total(lap_texts& laps) const {
    run_record all;
    {
        const std::lock_guard guard(lock_);
        all = record_;
        laps = laps_.texts;
    }
    for (std::size_t i = 0; i < laps.size() && !all.ended; ++i)
        all.total = i == 0 ? lap_in(*laps[i]) : joined(all.total, lap_in(*laps[i]));
    return all;
}

WEIR_INLINE void run_recorder::begins(const pipeline_stats& all) {
    std::string now = detail::utc_now();
    const std::lock_guard guard(lock_);
    laps_ = {};
    record_.started = std::move(now);
    record_.ended = false;
    record_.outcome.clear();
    record_.total = all;
    record_.failures.clear();
    record_.num_failures = 0;
}

WEIR_INLINE void run_recorder::lap(const pipeline_stats& one) {
    kept_laps all;
    {
        const std::lock_guard guard(lock_);
        all = laps_;
    }
    const lap_texts before = all.texts;
    if (all.next() == all.texts.size()) {
        all.texts.push_back(text_of(one));
        all.last = 1;
    } else {
        all.texts.back() = text_of(joined(lap_in(*all.texts.back()), one));
        ++all.last;
    }
    const bool is_full = all.texts.size() > options_.most_laps;
    if (is_full) join_pairs(all);
    const std::lock_guard guard(lock_);
    if (laps_.texts != before) return;  // another run has begun
    std::swap(laps_, all);
    for (std::size_t i = 0; i < record_.failures.size() && is_full; ++i) record_.failures[i].lap /= 2;
}

WEIR_INLINE void run_recorder::failed(const failure& what) {
    // Before the lock, because `message` may call a function of the user: `std::exception::what`.
    recorded_failure one{what.stage, what.item, what.message(), detail::place_text(what.where)};
    const std::lock_guard guard(lock_);
    if (record_.num_failures++ >= options_.most_failures) return;
    one.lap = laps_.next();
    record_.failures.push_back(std::move(one));
}

WEIR_INLINE void run_recorder::ends(const pipeline_stats& rest, const pipeline_stats& all) {
    const lap_texts before = texts();
    // If no time has passed since the last lap, the rest is joined with that lap.
    const bool is_short = rest.elapsed == duration(0) && !before.empty();
    std::shared_ptr<const std::string> last;
    if (is_short) {
        last = text_of(joined(lap_in(*before.back()), rest));
    } else {
        lap(rest);
    }
    const std::lock_guard guard(lock_);
    if (is_short && laps_.texts == before) {
        laps_.texts.back() = std::move(last);
        for (recorded_failure& each : record_.failures)
            each.lap = detail::smaller(each.lap, before.size() - 1);
    }
    record_.total = all;
    record_.ended = true;
}

WEIR_INLINE void run_recorder::ended_by(run_outcome how, const std::string& stage) {
    std::string text = detail::outcome_text(how, stage);
    const std::lock_guard guard(lock_);
    record_.outcome.swap(text);
}

WEIR_INLINE pipeline_stats run_recorder::lap_in(const std::string& text) {
    pipeline_stats one;
    detail::read_json(detail::json_reader(text).whole(), one);
    return one;
}

WEIR_INLINE std::shared_ptr<const std::string> run_recorder::text_of(const pipeline_stats& lap) {
    std::string text;
    detail::append_json(text, lap);
    return std::make_shared<const std::string>(std::move(text));
}

WEIR_INLINE void run_recorder::join_pairs(kept_laps& all) {
    lap_texts fewer;
    for (std::size_t i = 0; i < all.texts.size(); i += 2) {
        const bool has_other = i + 1 != all.texts.size();
        fewer.push_back(has_other ? text_of(joined(lap_in(*all.texts[i]), lap_in(*all.texts[i + 1])))
                                  : all.texts[i]);
    }
    if (all.texts.size() % 2 == 0) all.last += all.each;
    all.each *= 2;
    all.texts.swap(fewer);
}

WEIR_INLINE void write_json(const std::string& path, const run_recorder& recorder) {
    run_recorder::lap_texts laps;
    std::string text = json_text(recorder.with_total(laps));
    // Only the member itself has these characters: inside of a string, quotes are escaped.
    constexpr std::string_view no_laps = R"("laps":[])";
    const std::size_t behind = text.find(no_laps) + no_laps.size() - 1;
    const std::string rest = text.substr(behind) + "\n";
    text.resize(behind);
    for (const auto& each : laps) {
        if (each != laps.front()) text += ',';
        text += *each;
    }
    detail::output_file::replace(path, text + rest);
}

}  // namespace weir

#endif
