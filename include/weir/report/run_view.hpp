// weir report, internal: what of a run is shown: stages and queues, their names, who takes from whom
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_VIEW_HPP
#define WEIR_REPORT_RUN_VIEW_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/markup.hpp>
#include <weir/report/quantity.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/structure.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir::detail {

// A queue between two stages, or behind the last one.
struct shown_queue {
    std::size_t channel;
    std::size_t from;               // of the stages
    std::optional<std::size_t> to;  // nothing: the program takes from it
    std::string branch;             // that begins with it
};

// Laps that are one point of a plot.
struct lap_range {
    std::size_t begin;
    std::size_t end;
};

class run_view {
  public:
    // So that a page has an end.
    static constexpr std::size_t most_stages = 128;
    static constexpr std::size_t most_queues = 512;

    // `laps`: those of the run, which itself may lack them. `most`: so many stages are shown, and queues.
    run_view(const run_record& run, const lap_figures& laps, std::size_t most = most_stages)
        : run_(run), most_(most), laps_(laps) {
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
    [[nodiscard]] std::size_t num_stages() const noexcept { return smaller(run_.total.stages.size(), most_); }
    [[nodiscard]] std::size_t num_channels() const noexcept {
        return smaller(run_.total.channels.size(), most_);
    }
    [[nodiscard]] const std::string& stage(std::size_t i) const { return stages_[i]; }
    [[nodiscard]] const std::string& channel(std::size_t i) const { return channels_[i]; }
    [[nodiscard]] const std::vector<shown_queue>& queues() const noexcept { return queues_; }
    // From which the program takes: the last one; null if there is none.
    [[nodiscard]] const channel_stats* last_queue() const noexcept { return last_; }
    // As the pipeline was described; null where that doesn't belong to these statistics.
    [[nodiscard]] const described_stage* described(std::size_t stage) const {
        const auto& all = run_.description.stages;
        const bool fits =
            all.size() == run_.total.stages.size() && all[stage].name == run_.total.stages[stage].name;
        return fits ? &all[stage] : nullptr;
    }

    // Whether they show how the run went on.
    [[nodiscard]] bool has_laps() const noexcept { return has_laps_; }
    // Without any the whole run is one.
    [[nodiscard]] const lap_figures& laps() const noexcept { return laps_; }
    // How many of them are drawn: without a last one that is shorter than a tenth of the first one, of which
    // there is no rate worth the name.
    [[nodiscard]] std::size_t num_drawn() const {
        const std::size_t n = laps_.size();
        const bool rest = n > 1 && (laps_.start_of(n) - laps_.start_of(n - 1)) * 10 < laps_.start_of(1);
        return rest ? n - 1 : n;
    }
    // Those in at most so many parts of, but for the last one, equally many laps.
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
    std::size_t most_;
    lap_figures laps_;
    bool has_laps_ = false;
    std::vector<std::string> stages_;  // their names
    std::vector<std::string> channels_;
    std::vector<shown_queue> queues_;
    const channel_stats* last_ = nullptr;
};

}  // namespace weir::detail

#endif
