// lab plot: paths from slow to fast, by time, rate and area; and the value of each treatment whatever the order
#include "lab/data/numbers.hpp"
#include "lab/data/rate.hpp"
#include "lab/plot/bars.hpp"
#include "lab/plot/makers.hpp"
#include "lab/plot/treemap.hpp"
#include "lab/plot/waterfall.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

const path& path_of(study& of, bool nicest) { return nicest ? of.nicest() : of.greedy(); }
std::string name_of(const char* name, bool nicest) { return std::string(name) + (nicest ? "-nicest" : ""); }
std::string title_of(const char* kind, bool nicest) {
    return std::string(kind) + (nicest ? ", the nicest treatments first" : ", greedily");
}

std::string no_steps(study& of) {
    return "nothing that was measured one treatment away from " +
           configuration_text(of.table().factors, of.greedy().from) + " is better than it";
}

std::string start_name(study& of) {
    const std::string text = configuration_text(of.table().factors, of.greedy().from);
    return text == "(base)" ? "start: base" : "start: " + text;
}

// A note if both paths are equal.
std::string same_story(study& of, bool nicest) {
    if (!nicest) return {};
    const auto& a = of.greedy().steps;
    const auto& b = of.nicest().steps;
    const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                 [](const auto& x, const auto& y) { return x.treatment == y.treatment; });
    return same ? " It is the greedy path again: the treatments' tiers ask for no other order." : "";
}

// The step with the largest change.
const waterfall_step& greatest(const std::vector<waterfall_step>& steps) {
    return *std::max_element(steps.begin(), steps.end(),
                             [](const waterfall_step& a, const waterfall_step& b) {
                                 return std::abs(a.after - a.before) < std::abs(b.after - b.before);
                             });
}

std::string times_text(double from, double to) {
    if (!(from > 0) || !(to > 0)) return {};
    return to < from ? ", " + short_text(from / to, 3) + " times less"
                     : ", " + short_text(to / from, 3) + " times as much";
}

std::string story(const std::vector<waterfall_step>& steps, const std::string& unit) {
    const waterfall_step& most = greatest(steps);
    const double whole = steps.back().after - steps.front().before;
    const double change = most.after - most.before;
    std::string text = count(steps.size(), "step") + (steps.size() == 1 ? " leads" : " lead") + " from " +
                       figure(steps.front().before) + " to " + figure(steps.back().after) + " " + unit +
                       times_text(steps.front().before, steps.back().after) + ". " + most.name +
                       " changes most, by " + figure(change) + " " + unit;
    if (steps.size() > 1 && whole != 0 && change / whole <= 1)
        text += ", " + percent(change / whole) + " of the whole way";
    return text + ".";
}

}  // namespace

plot time_waterfall(study& of, bool nicest) {
    plot result{name_of("waterfall-time", nicest),
                title_of(("Waterfall by " + of.table().cost_name).c_str(), nicest),
                {},
                false,
                0,
                0,
                {}};
    const path& p = path_of(of, nicest);
    if (p.steps.empty()) return empty_plot(result.name, result.title, no_steps(of));
    waterfall what{start_name(of),
                   {},
                   of.table().cost_name + " [" + of.words().unit + "]",
                   of.words().more_is_better};
    for (const path_step& s : p.steps) what.steps.push_back({s.treatment, s.before, s.after});
    draw_waterfall(result, what);
    result.sentence = story(what.steps, of.words().unit) + same_story(of, nicest);
    return result;
}

plot rate_waterfall(study& of, bool nicest) {
    const rate_scale rate = rate_of(of.table().cost_name);
    plot result{name_of("waterfall-rate", nicest),
                title_of(of.words().more_is_better ? "The same path by its reciprocal"
                                                   : "The same path by rate",
                         nicest),
                {},
                false,
                0,
                0,
                {}};
    const path& p = path_of(of, nicest);
    if (p.steps.empty()) return empty_plot(result.name, result.title, no_steps(of));
    waterfall what{start_name(of),
                   {},
                   std::string(of.words().more_is_better ? "reciprocal [" : "rate [") + rate.unit + "]",
                   !of.words().more_is_better};
    for (const path_step& s : p.steps) {
        if (!(s.before > 0) || !(s.after > 0))
            return empty_plot(result.name, result.title,
                              "a step has a " + of.table().cost_name +
                                  " that isn't positive, of which there is no rate");
        what.steps.push_back({s.treatment, rate.scale / s.before, rate.scale / s.after});
    }
    draw_waterfall(result, what);
    result.sentence = story(what.steps, rate.unit) + same_story(of, nicest);
    const auto most_time = std::max_element(p.steps.begin(), p.steps.end(), [](const auto& a, const auto& b) {
        return std::abs(a.after - a.before) < std::abs(b.after - b.before);
    });
    if (most_time->treatment != greatest(what.steps).name)
        result.sentence += " By " + of.table().cost_name + " it was " + most_time->treatment + ".";
    return result;
}

plot path_treemap(study& of, bool nicest) {
    plot result{name_of("treemap", nicest), title_of("Treemap of the path", nicest), {}, false, 0, 0, {}};
    const path& p = path_of(of, nicest);
    if (p.steps.empty()) return empty_plot(result.name, result.title, no_steps(of));
    const bool more = of.words().more_is_better;
    // The base of the plot: for a cost the value at the end, for a rate the value at the start.
    const double rest = more ? p.start : p.end();
    if (!(rest >= 0))
        return empty_plot(result.name, result.title,
                          "the path " + std::string(more ? "starts" : "ends") + " at " +
                              of.words().amount(rest) + ", of which there is no area");
    std::vector<area> areas;
    double lost = 0;
    double whole = rest;
    std::vector<std::string> worse;
    const path_step* most = nullptr;
    for (const path_step& s : p.steps) {
        const double gained = more ? s.after - s.before : s.before - s.after;
        if (!(gained > 0)) {
            lost -= gained;
            if (gained < 0) worse.push_back(s.treatment);
            continue;
        }
        areas.push_back({s.treatment, of.words().amount(gained), gained, 0});
        whole += gained;
        if (most == nullptr || gained > std::abs(most->after - most->before)) most = &s;
    }
    if (areas.empty() || most == nullptr)
        return empty_plot(result.name, result.title, "no step of the path helps");
    for (std::size_t i = 0; i < areas.size(); ++i)
        areas[i].level = -0.35 - 0.65 * areas[i].size / std::abs(most->after - most->before);
    for (area& a : areas) a.text += ", " + percent(a.size / whole);
    if (rest > 0)
        areas.push_back({more ? "at the start" : "remains",
                         of.words().amount(rest) + ", " + percent(rest / whole), rest, 0});
    draw_treemap(result, areas);
    const double most_size = std::abs(most->after - most->before);
    result.sentence = "Areas are what each step " + std::string(more ? "gains" : "saves") + " of " +
                      of.words().amount(whole) + ": " + most->treatment + " " + percent(most_size / whole) +
                      "; " + of.words().amount(rest) + " (" + percent(rest / whole) + ") " +
                      (more ? "were there at the start." : "remain.");
    if (!worse.empty())
        result.sentence += " " + list_text(worse) + (worse.size() == 1 ? " makes" : " make") +
                           " it worse by " + of.words().amount(lost) + ", which has no area.";
    result.sentence += same_story(of, nicest);
    return result;
}

plot shapley_plot(study& of) {
    plot result{"shapley", "Shapley's values beside the greedy path", {}, false, 0, 0, {}};
    if (of.greedy().steps.empty()) return empty_plot(result.name, result.title, no_steps(of));
    const attribution& shapley = of.shapley();
    if (shapley.values.empty())
        return empty_plot(result.name, result.title,
                          "no chain of measured configurations leads from the path's start to its end");
    bar_chart chart;
    chart.series = {"Shapley: whatever the order", "greedy: in this story"};
    chart.axis = "change [" + of.words().unit + "]";
    const shapley_value* most = nullptr;
    double most_in_story = 0;
    for (const shapley_value& v : shapley.values) {
        bar_row row{v.treatment, {bar{.value = v.worth}, bar{}}, {}};
        for (const path_step& s : of.greedy().steps) {
            if (s.factor != v.factor) continue;
            row.bars[1].value = s.after - s.before;
            if (most == nullptr ||
                std::abs(v.worth - row.bars[1].value) > std::abs(most->worth - most_in_story)) {
                most = &v;
                most_in_story = row.bars[1].value;
            }
        }
        chart.rows.push_back(std::move(row));
    }
    draw_bars(result, chart);
    const shapley_value& first = shapley.values.front();
    result.sentence = "Whatever the order, " + first.treatment + " " + of.words().effect(first.worth) +
                      "; both ends are " +
                      of.words().amount(std::abs(of.greedy().end() - of.greedy().start)) + " apart, with " +
                      short_text(shapley.num_chains, 4) + " chain" + (shapley.num_chains == 1 ? "" : "s") +
                      " of measured configurations between them" +
                      (shapley.complete ? "" : " (others were not measured)") + ".";
    if (most != nullptr && std::abs(most_in_story - most->worth) <= 1e-9 * std::abs(most->worth)) {
        result.sentence += " The greedy story says the same.";
    } else if (most != nullptr) {
        result.sentence += " The greedy story is furthest from that for " + most->treatment + ": there it " +
                           of.words().effect(most_in_story) + ", by Shapley's value it " +
                           of.words().effect(most->worth) + ".";
    }
    return result;
}

}  // namespace lab
