// weir report, internal: bodies of the functions of report/html.hpp: those of the class run_recorder
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORDER_IPP
#define WEIR_REPORT_RUN_RECORDER_IPP

#include <weir/report/html.hpp>

#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir {

WEIR_INLINE run_recorder::run_recorder(std::string name, pipeline_description made_of,
                                       run_recorder_options options)
    : options_(std::move(options)),
      record_(detail::new_record(std::move(name), std::move(made_of), options_.settings)) {
    if (options_.most_laps < 2)
        throw std::invalid_argument("weir: a run_recorder keeps at least two laps: most_laps = 2");
}

WEIR_INLINE run_record run_recorder::record() const {
    run_record all;
    lap_texts laps;
    {
        const std::lock_guard guard(lock_);
        all = record_;
        laps = laps_;
    }
    for (const auto& text : laps) {
        all.laps.push_back(lap_in(*text));
        if (!all.ended) all.total = all.laps.size() == 1 ? all.laps[0] : joined(all.total, all.laps.back());
    }
    return all;
}

WEIR_INLINE void run_recorder::begins(const pipeline_stats& all) {
    std::string now = detail::utc_now();
    const std::lock_guard guard(lock_);
    laps_.clear();
    record_.started = std::move(now);
    record_.ended = false;
    record_.total = all;
    record_.failures.clear();
    record_.num_failures = 0;
}

WEIR_INLINE void run_recorder::lap(const pipeline_stats& one) {
    auto text = text_of(one);
    lap_texts all;
    {
        const std::lock_guard guard(lock_);
        laps_.push_back(std::move(text));
        if (laps_.size() <= options_.most_laps) return;
        all = laps_;
    }
    join_pairs(all);
}

WEIR_INLINE void run_recorder::failed(const failure& what) {
    // Before the lock, because `message` may call a function of the user: `std::exception::what`.
    recorded_failure one{what.stage, what.item, what.message(), detail::place_text(what.where)};
    const std::lock_guard guard(lock_);
    if (record_.num_failures++ >= options_.most_failures) return;
    one.lap = laps_.size();
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
    if (is_short && laps_ == before) {
        laps_.back() = std::move(last);
        for (recorded_failure& each : record_.failures)
            each.lap = detail::smaller(each.lap, laps_.size() - 1);
    }
    record_.total = all;
    record_.ended = true;
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

WEIR_INLINE void run_recorder::join_pairs(const lap_texts& all) {
    lap_texts fewer;
    for (std::size_t i = 0; i < all.size(); i += 2) {
        const bool has_other = i + 1 != all.size();
        fewer.push_back(has_other ? text_of(joined(lap_in(*all[i]), lap_in(*all[i + 1]))) : all[i]);
    }
    const std::size_t next = fewer.size();
    const std::lock_guard guard(lock_);
    if (laps_ != all) return;
    laps_.swap(fewer);
    for (recorded_failure& each : record_.failures) each.lap = each.lap < all.size() ? each.lap / 2 : next;
}

}  // namespace weir

#endif
