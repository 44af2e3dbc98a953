// weir report, internal: the part of a run that a page shows: stages, queues and laps, with labels and states
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_VIEW_HPP
#define WEIR_REPORT_RUN_VIEW_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/line.hpp>
#include <weir/report/quantity.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>

#include <cmath>     // for std::lround
#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir::detail {

// \returns the state with the most time; of equal ones the first.
[[nodiscard]] inline const state_in_reports& chief_state(const slot_times& t) {
    const state_in_reports* most = &states_in_reports.back();
    for (auto s = states_in_reports.rbegin(); s != states_in_reports.rend(); ++s) {
        if (t.*(s->time) >= t.*(most->time)) most = &*s;
    }
    return t.total() <= duration(0) ? states_in_reports.back() : *most;
}

// \returns the state with the most time, and its share: `83 % starved`.
[[nodiscard]] inline std::string chief_text(const slot_times& t) {
    const state_in_reports& chief = chief_state(t);
    return units::whole_percent(share_of(t.*(chief.time), t.total())) + " % " + chief.is;
}

// \returns the states that have time: `83 % starved, 17 % at work`.
[[nodiscard]] inline std::string states_text(const slot_times& t) {
    std::string text;
    for (const state_in_reports& s : states_in_reports) {
        if (t.*(s.time) <= duration(0)) continue;
        text += (text.empty() ? "" : ", ") + units::percent(share_of(t.*(s.time), t.total())) + " " + s.is;
    }
    return text.empty() ? "no time has passed" : text;
}

// \returns the shares of the states as SVG lines one behind the other, `width` long from `x` on, at the
//          height `y`.
[[nodiscard]] inline markup state_bar(const slot_times& t, long x, long y, long width) {
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

// \returns labels for stages or queues: short, not empty, and no two equal.
[[nodiscard]] inline std::vector<std::string> labels_of(const std::vector<std::string>& names) {
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

// A queue between two stages, or behind the last one.
struct shown_queue {
    std::size_t channel;
    std::size_t from;               // stage
    std::optional<std::size_t> to;  // stage; none: the program takes from the queue
    std::string branch;             // the branch that begins with the queue
};

// The laps of one point of a plot.
struct lap_range {
    std::size_t begin;
    std::size_t end;
};

class run_view {
  public:
    // Limits the size of a page.
    static constexpr std::size_t most_stages = 128;
    static constexpr std::size_t most_queues = 512;

    // `laps`: the laps of the run, which `run` need not have. `most`: the number of stages and queues to
    // show.
    run_view(const run_record& run, const lap_figures& laps, std::size_t most = most_stages)
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

    [[nodiscard]] const run_record& run() const noexcept { return run_; }
    [[nodiscard]] std::size_t num_stages() const noexcept {
        return smaller(run_.total.stages.size(), limit_);
    }
    [[nodiscard]] std::size_t num_channels() const noexcept {
        return smaller(run_.total.channels.size(), limit_);
    }
    [[nodiscard]] const std::string& stage(std::size_t i) const { return stages_[i]; }
    [[nodiscard]] const std::string& channel(std::size_t i) const { return channels_[i]; }
    [[nodiscard]] const std::vector<shown_queue>& queues() const noexcept { return queues_; }
    // The queue from which the program takes: the last one; null if there is none.
    [[nodiscard]] const channel_stats* last_queue() const noexcept { return last_; }
    // The description of the stage; null if the description does not fit the statistics.
    [[nodiscard]] const described_stage* described(std::size_t stage) const {
        const auto& all = run_.description.stages;
        const bool fits =
            all.size() == run_.total.stages.size() && all[stage].name == run_.total.stages[stage].name;
        return fits ? &all[stage] : nullptr;
    }

    // Whether the run has more than one lap.
    [[nodiscard]] bool has_laps() const noexcept { return has_laps_; }
    // If the run has no laps, the whole run is one.
    [[nodiscard]] const lap_figures& laps() const noexcept { return laps_; }
    // The number of laps to draw. A last lap shorter than a tenth of the first is not drawn: its rates mean
    // nothing.
    [[nodiscard]] std::size_t num_drawn() const {
        const std::size_t n = laps_.size();
        const bool rest = n > 1 && (laps_.start_of(n) - laps_.start_of(n - 1)) * 10 < laps_.start_of(1);
        return rest ? n - 1 : n;
    }
    // The laps in at most `most` parts. All parts but the last have equally many laps.
    [[nodiscard]] std::vector<lap_range> parts(std::size_t most) const {
        const std::size_t n = num_drawn();
        const std::size_t each = (n + most - 1) / most;
        std::vector<lap_range> all;
        for (std::size_t i = 0; i < n; i += each) all.push_back({i, smaller(i + each, n)});
        return all;
    }

  private:
    void find_queues() {
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
                        if (input == c && to > from && to < num_stages())
                            add({c, from, to, branch_of(from, to)});
                    }
                }
                if (!taken[c]) add({c, from, std::nullopt, {}});
            }
        }
    }
    [[nodiscard]] std::string branch_of(std::size_t from, std::size_t to) const {
        if (described(from) == nullptr) return {};
        for (const described_edge& e : run_.description.edges) {
            if (e.from == from && e.to == to) return e.branch;
        }
        return {};
    }

    const run_record& run_;
    std::size_t limit_;
    lap_figures laps_;
    bool has_laps_ = false;
    std::vector<std::string> stages_;  // labels
    std::vector<std::string> channels_;
    std::vector<shown_queue> queues_;
    const channel_stats* last_ = nullptr;
};

}  // namespace weir::detail

#endif
