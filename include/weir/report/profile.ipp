// weir report, internal: bodies of the functions of report/profile.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_IPP
#define WEIR_REPORT_PROFILE_IPP

#include <weir/report/profile.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max, std::ranges::min_element, std::ranges::sort

namespace weir {

WEIR_INLINE void profile_bar::operator()(const profile_progress& p) {
    const std::string total = std::to_string(p.total);
    std::string line = units::right(std::to_string(p.done), total.size()) + "/" + total;
    if (!p.stage.empty()) {
        line += "  " + detail::ascii_only(p.stage) + ", " + std::to_string(p.concurrency) +
                (p.concurrency == 1 ? " slot" : " slots");
    }
    if (in_place_) {
        const std::size_t full = p.total == 0 ? length : length * p.done / p.total;
        const std::string bar = std::string(full, '#') + std::string(length - full, '.');
        const std::size_t before = width_;
        width_ = line.size();
        line = "\r[" + bar + "]  " + units::left(line, before) + (p.stage.empty() ? "\n" : "");
    } else {
        line += '\n';
    }
    out_->write(line.data(), static_cast<std::streamsize>(line.size()));
    out_->flush();
}

WEIR_INLINE std::string profile_text(const profile_result& profile) {
    std::string text = "each stage alone, " + std::to_string(profile.num_items) + " items\n";
    if (profile.stages.empty()) return text;
    std::size_t longest = 0;
    for (const stage_profile& stage : profile.stages) longest = (std::max)(longest, stage.name.size());
    detail::profile_lines table(longest);
    text += '\n' + table.head();
    for (const stage_profile& stage : profile.stages) {
        const auto fewest = std::ranges::min_element(stage.trials, {}, &profile_trial::concurrency);
        std::string name = detail::ascii_only(stage.name);
        for (const profile_trial& t : stage.trials) {
            text += table.line(name, t, stage.trials.size() > 1 ? &*fewest : nullptr);
            name.clear();  // the next lines belong to the same stage
        }
    }
    return text + table.foot();
}

WEIR_INLINE std::ostream& operator<<(std::ostream& out, const profile_result& profile) {
    return detail::write_text(out, profile_text(profile));
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE profile_state::profile_state(std::size_t items, profile_options how)
    : num_items(items), options(std::move(how)) {
    refuse_negative(items, "weir: a profile was to take a negative number of items; take 1 or more");
    refuse_if(items == 0, "weir: a profile of 0 items tells nothing; take 1 or more");
    for (const std::size_t each : options.concurrencies) {
        refuse_negative(each, "weir: a profile was to try a negative concurrency; try 1 or more");
        ascending.emplace_back(each, ascending.size());
    }
    std::ranges::sort(ascending);
    for (const auto& each : ascending) concurrencies.push_back(each.first);
    refuse_if(concurrencies.empty() || concurrencies.front() == 0,
              "weir: a profile needs the concurrencies to try, each of them 1 or more");
    refuse_if(options.time_limit <= duration(0),
              "weir: the time_limit of a profile was not positive; each trial gets it");
}

WEIR_INLINE profile_trials::profile_trials(profile_state& to) noexcept
    : stage_trials(to.num_items, to.concurrencies,
                   {.still = to.options.time_limit, .trial = to.options.time_limit, .rounds = 15}),
      state_(to) {}

WEIR_INLINE void profile_trials::on_begin(profiled_run& run) {
    for (std::size_t i = 0; i < run.num_stages(); ++i) {
        state_.found.stages.push_back({run.name_of(i), run.kind_of(i), {}});
        state_.found.stages.back().trials.resize(num_trials(run, i));
        total_ += num_trials(run, i);
    }
}

WEIR_INLINE void profile_trials::on_result(const profiled_run& run, std::size_t stage, std::size_t index,
                                           const profile_trial& trial) {
    state_.found.stages[stage].trials[num_trials(run, stage) > 1 ? state_.ascending[index].second : 0] =
        trial;
    ++done_;
    if (is_source()) state_.found.num_items += trial.num_items;
}

}  // namespace weir::detail

#endif
