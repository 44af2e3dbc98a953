// weir report, internal: bodies of the functions of report/run_view.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_VIEW_IPP
#define WEIR_REPORT_RUN_VIEW_IPP

#include <weir/report/run_view.hpp>

#include <weir/platform/config.hpp>

#include <cmath>    // for std::lround
#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE const state_in_reports& chief_state(const slot_times& t) {
    const state_in_reports* most = &states_in_reports.back();
    for (auto s = states_in_reports.rbegin(); s != states_in_reports.rend(); ++s) {
        if (t.*(s->time) >= t.*(most->time)) most = &*s;
    }
    return t.total() <= duration(0) ? states_in_reports.back() : *most;
}

WEIR_INLINE std::string chief_text(const slot_times& t) {
    const state_in_reports& chief = chief_state(t);
    return units::whole_percent(share_of(t.*(chief.time), t.total())) + " % " + chief.is;
}

WEIR_INLINE std::string states_text(const slot_times& t) {
    std::string text;
    for (const state_in_reports& s : states_in_reports) {
        if (t.*(s.time) <= duration(0)) continue;
        text += (text.empty() ? "" : ", ") + units::percent(share_of(t.*(s.time), t.total())) + " " + s.is;
    }
    return text.empty() ? "no time has passed" : text;
}

WEIR_INLINE markup state_bar(const slot_times& t, long x, long y, long width) {
    markup bar;
    double begin = 0;
    for (const state_in_reports& s : states_in_reports) {
        const auto edge = [&](double at) { return x + std::lround(at * static_cast<double>(width)); };
        const long from = edge(begin);
        begin += share_of(t.*(s.time), t.total());
        if (edge(begin) == from) continue;
        fill_in(bar.text, R"(<path class="st-{}" d="M{} {}h{}"/>)", s.name, from, y, edge(begin) - from);
    }
    return bar;
}

WEIR_INLINE std::vector<std::string> labels_of(const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    for (const std::string& name : names) {
        const std::string label = name.empty() ? "(no name)" : shortened(name, 24);
        std::size_t before = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (names[i] == name || shortened(names[i], 24) == label) ++before;
        }
        labels.push_back(before == 0 ? label : label + " (" + std::to_string(before + 1) + ")");
    }
    return labels;
}

WEIR_INLINE run_view::run_view(const run_record& run, const lap_figures& laps, std::size_t most)
    : run_(run), limit_(most), laps_(laps) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < num_stages(); ++i) names.push_back(run.total.stages[i].name);
    stages_ = labels_of(names);
    names.clear();
    for (std::size_t i = 0; i < num_channels(); ++i) names.push_back(run.total.channels[i].name);
    channels_ = labels_of(names);
    find_queues();
    has_laps_ = laps_.size() > 1;
    if (laps_.size() == 0) laps_.add(run.total);
}

WEIR_INLINE std::size_t run_view::num_stages() const noexcept {
    return smaller(run_.total.stages.size(), limit_);
}

WEIR_INLINE std::size_t run_view::num_channels() const noexcept {
    return smaller(run_.total.channels.size(), limit_);
}

WEIR_INLINE const described_stage* run_view::described(std::size_t stage) const {
    const auto& all = run_.description.stages;
    const bool fits =
        all.size() == run_.total.stages.size() && all[stage].name == run_.total.stages[stage].name;
    return fits ? &all[stage] : nullptr;
}

WEIR_INLINE std::size_t run_view::num_drawn() const {
    const std::size_t n = laps_.size();
    const bool rest = n > 1 && (laps_.start_of(n) - laps_.start_of(n - 1)) * 10 < laps_.start_of(1);
    return rest ? n - 1 : n;
}

WEIR_INLINE std::vector<lap_range> run_view::parts(std::size_t most) const {
    const std::size_t n = num_drawn();
    const std::size_t each = (n + most - 1) / most;
    std::vector<lap_range> all;
    for (std::size_t i = 0; i < n; i += each) all.push_back({i, smaller(i + each, n)});
    return all;
}

WEIR_INLINE void run_view::find_queues() {
    const auto& stages = run_.total.stages;
    std::vector<bool> taken(run_.total.channels.size(), false);
    for (const stage_stats& s : stages) {
        for (const std::size_t c : s.inputs) {
            if (c < taken.size()) taken[c] = true;
        }
    }
    for (const stage_stats& s : stages) {
        for (const std::size_t c : s.outputs) {
            if (c < taken.size() && !taken[c]) last_ = &run_.total.channels[c];
        }
    }
    const auto add = [this](shown_queue q) {
        if (queues_.size() < most_queues) queues_.push_back(std::move(q));
    };
    for (std::size_t from = 0; from < num_stages(); ++from) {
        for (const std::size_t c : stages[from].outputs) {
            if (c >= num_channels()) continue;
            for (std::size_t to = 0; to < stages.size(); ++to) {
                for (const std::size_t input : stages[to].inputs) {
                    if (input == c && to > from && to < num_stages()) add({c, from, to, branch_of(from, to)});
                }
            }
            if (!taken[c]) add({c, from, std::nullopt, {}});
        }
    }
}

WEIR_INLINE std::string run_view::branch_of(std::size_t from, std::size_t to) const {
    if (described(from) == nullptr) return {};
    for (const described_edge& e : run_.description.edges) {
        if (e.from == from && e.to == to) return e.branch;
    }
    return {};
}

}  // namespace weir::detail

#endif
