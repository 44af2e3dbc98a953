// lab driver: shuffled blocks, visits of builds, and A/A pairs
#include "lab/driver/schedule.hpp"
#include "lab/stats/shuffle.hpp"

#include <map>
#include <random>

namespace lab {

namespace {

// The common part of the runs of one whole plot: the factors that are hard to change, and the visit named in the plan.
std::string plot_of(const planned_run& run, const std::vector<factor>& factors) {
    std::string text = run.plot;
    for (std::size_t f = 0; f < factors.size(); ++f)
        if (factors[f].hard_to_change)
            text += (text.empty() ? "" : " ") + factors[f].name + "=" + factors[f].text_of(run.values[f]);
    return text;
}

}  // namespace

plan scheduled(const plan& what, const factor_file& file, const schedule_options& options) {
    std::mt19937_64 random(options.seed);
    plan result{what.name, what.factors, {}};
    std::map<std::size_t, std::vector<planned_run>> blocks;
    std::size_t planned_blocks = 0;
    for (const planned_run& run : what.runs) planned_blocks = std::max(planned_blocks, run.block + 1);
    for (std::size_t repetition = 0; repetition < options.repeat; ++repetition) {
        for (planned_run run : what.runs) {
            run.block += repetition * planned_blocks;
            blocks[run.block].push_back(run);
        }
    }
    std::size_t since_control = 0;
    std::size_t visit = 0;
    const auto add_controls = [&](const planned_run& beside) {
        if (options.control_every == 0 || ++since_control < options.control_every) return;
        since_control = 0;
        planned_run control = beside;
        for (std::size_t f = 0; f < file.factors.size(); ++f)
            if (!file.factors[f].hard_to_change) control.values[f] = options.control[f];
        if (!file.allows(control.values)) return;
        const bool b_first = (random() & 1) != 0;
        for (const bool second : {false, true}) {
            control.control = second != b_first ? "B" : "A";
            result.runs.push_back(control);
        }
    };
    for (auto& [block, runs] : blocks) {
        std::vector<std::vector<planned_run>> plots;
        std::map<std::string, std::size_t> places;
        for (const planned_run& run : runs) {
            const std::string plot = plot_of(run, file.factors);
            const bool again =
                options.as_planned && !plots.empty() && plot_of(plots.back()[0], file.factors) != plot;
            const auto [found, is_new] = places.try_emplace(plot, plots.size());
            if (is_new || again) {
                found->second = plots.size();
                plots.emplace_back();
            }
            plots[found->second].push_back(run);
        }
        if (!options.as_planned) {
            shuffle(plots, random);
            for (std::vector<planned_run>& plot : plots) shuffle(plot, random);
        }
        for (const std::vector<planned_run>& plot : plots) {
            ++visit;
            for (planned_run run : plot) {
                if (!plot_of(run, file.factors).empty()) run.plot = "visit " + std::to_string(visit);
                result.runs.push_back(run);
                add_controls(run);
            }
        }
    }
    return result;
}

}  // namespace lab
