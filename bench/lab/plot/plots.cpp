// lab plot: finds plots by name
#include "lab/plot/plots.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"
#include "lab/plot/makers.hpp"

#include <algorithm>
#include <array>

namespace lab {

namespace {

struct entry {
    const char* name;
    plot (*make)(study& of);
};

constexpr std::array<entry, 21> entries{{
    {"means", means_plot},
    {"means-kept", kept_plot},
    {"means-both", both_plot},
    {"scatter", before_after_plot},
    {"scatter-flipped", flipped_plot},
    {"crossing", crossing_plot},
    {"waterfall-time", [](study& of) { return time_waterfall(of, false); }},
    {"waterfall-time-nicest", [](study& of) { return time_waterfall(of, true); }},
    {"waterfall-rate", [](study& of) { return rate_waterfall(of, false); }},
    {"waterfall-rate-nicest", [](study& of) { return rate_waterfall(of, true); }},
    {"treemap", [](study& of) { return path_treemap(of, false); }},
    {"treemap-nicest", [](study& of) { return path_treemap(of, true); }},
    {"fit-main", [](study& of) { return fit_plot(of, false); }},
    {"fit-pairs", [](study& of) { return fit_plot(of, true); }},
    {"coefficients", coefficients_plot},
    {"interactions", interactions_plot},
    {"biplot", biplot},
    {"scree", scree},
    {"colours", colours_plot},
    {"shapley", shapley_plot},
    {"runs", runs_plot},
}};

}  // namespace

std::vector<std::string> plot_names() {
    std::vector<std::string> names;
    for (const entry& e : entries) names.emplace_back(e.name);
    return names;
}

std::vector<plot> plots_of(study& of, const std::vector<std::string>& only) {
    const std::vector<std::string> names = plot_names();
    for (const std::string& name : only) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        throw input_error("there is no plot " + name + "; there are " + joined(names));
    }
    std::vector<plot> plots;
    for (const entry& e : entries)
        if (only.empty() || std::find(only.begin(), only.end(), e.name) != only.end())
            plots.push_back(e.make(of));
    return plots;
}

}  // namespace lab
