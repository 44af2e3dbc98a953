// lab plot: the mean change by each treatment, over all runs, and without the strongest treatment
#include "lab/plot/bars.hpp"
#include "lab/plot/makers.hpp"
#include "lab/plot/wording.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

bar_chart chart_of(const std::vector<mean_delta>& means, const wording& words) {
    bar_chart chart;
    chart.series = {"mean"};
    chart.axis = "mean change [" + words.unit + "]";
    chart.note = "n";
    chart.more_is_better = words.more_is_better;
    for (const mean_delta& m : means)
        chart.rows.push_back({m.treatment, {{m.mean, m.low, m.high}}, std::to_string(m.num_deltas)});
    return chart;
}

std::string interval_text(const mean_delta& m) {
    if (!std::isfinite(m.low)) return {};
    return " (95 %: " + figure(m.low) + " to " + figure(m.high) + ")";
}

// "7 treatments: 5 help, 1 hurts, 1 can't be told from 0".
std::string verdicts(const std::vector<mean_delta>& means, bool more_is_better) {
    std::size_t help = 0;
    std::size_t hurt = 0;
    for (const mean_delta& m : means) {
        if (!(m.low > 0) && !(m.high < 0)) continue;
        ++((m.mean > 0) == more_is_better ? help : hurt);
    }
    const std::size_t open = means.size() - help - hurt;
    std::string text = "Of " + count(means.size(), "treatment") + ", " + std::to_string(help) +
                       (help == 1 ? " helps and " : " help and ") + std::to_string(hurt) +
                       (hurt == 1 ? " hurts" : " hurt") + " beyond what chance explains";
    if (open > 0) text += "; " + std::to_string(open) + " can't be told from 0";
    return text + ".";
}

const char* const cut_text = " Intervals that are longer than twice the longest bar are cut.";

const mean_delta* same(const std::vector<mean_delta>& means, const std::string& treatment) {
    const auto found = std::find_if(means.begin(), means.end(),
                                    [&](const mean_delta& m) { return m.treatment == treatment; });
    return found == means.end() ? nullptr : &*found;
}

}  // namespace

plot means_plot(study& of) {
    plot result{"means", "Means: what each treatment changes", {}, false, 0, 0, {}};
    const auto& means = of.means();
    if (means.empty()) return empty_plot(result.name, result.title, no_deltas);
    const bool cut = draw_bars(result, chart_of(means, of.words()));
    const mean_delta& first = means.front();
    result.sentence = first.treatment + " " + of.words().effect(first.mean) + " on average" +
                      interval_text(first) + ", over " + count(first.num_deltas, "pair") +
                      " of runs that differ in it alone";
    if (means.size() > 1)
        result.sentence += "; at the other end " + means.back().treatment + " " +
                           of.words().effect(means.back().mean) + interval_text(means.back());
    result.sentence += ". " + verdicts(means, of.words().more_is_better) + (cut ? cut_text : "");
    if (of.paired_by_means()) result.sentence += " Repeated runs are paired by their means.";
    return result;
}

plot kept_plot(study& of) {
    plot result{"means-kept", "Means with the strongest kept out", {}, false, 0, 0, {}};
    const auto& kept = of.kept();
    if (!kept.value) return empty_plot(result.name, result.title, kept.reason);
    result.title = "Means with " + list_text(kept.value->names) + " kept out";
    if (kept.value->means.empty())
        return empty_plot(result.name, result.title,
                          "of the " + count(kept.value->num_runs, "run") + " without " +
                              list_text(kept.value->names) + " no two differ in one treatment alone");
    const auto& means = kept.value->means;
    const bool cut = draw_bars(result, chart_of(means, of.words()));
    const mean_delta& first = means.front();
    result.sentence = "Of the " + std::to_string(kept.value->num_runs) + " of " +
                      count(of.table().runs.size(), "run") + " without " + list_text(kept.value->names) +
                      ", " + first.treatment + " is the best: it " + of.words().effect(first.mean) +
                      " on average" + interval_text(first);
    if (const mean_delta* all = same(of.means(), first.treatment))
        result.sentence += "; over all runs it " + of.words().effect(all->mean);
    result.sentence += ". " + verdicts(means, of.words().more_is_better) + (cut ? cut_text : "");
    return result;
}

plot both_plot(study& of) {
    plot result{"means-both", "Means of all runs, and with the strongest kept out", {}, false, 0, 0, {}};
    const auto& kept = of.kept();
    if (!kept.value) return empty_plot(result.name, result.title, kept.reason);
    bar_chart chart;
    chart.series = {"all runs", "without " + list_text(kept.value->names)};
    chart.axis = "mean change [" + of.words().unit + "]";
    const mean_delta* most_before = nullptr;
    const mean_delta* most_after = nullptr;
    std::vector<std::string> turned;
    for (const mean_delta& m : of.means()) {
        bar_row row{m.treatment, {{m.mean, m.low, m.high}, {}}, {}};
        if (const mean_delta* k = same(kept.value->means, m.treatment)) {
            row.bars[1] = {k->mean, k->low, k->high};
            if ((m.low > 0 && k->high < 0) || (m.high < 0 && k->low > 0)) turned.push_back(m.treatment);
            if (most_before == nullptr ||
                std::abs(k->mean - m.mean) > std::abs(most_after->mean - most_before->mean)) {
                most_before = &m;
                most_after = k;
            }
        }
        chart.rows.push_back(std::move(row));
    }
    if (most_before == nullptr)
        return empty_plot(result.name, result.title, "no treatment has a mean in both sets of runs");
    const bool cut = draw_bars(result, chart);
    const double change = std::abs(most_after->mean - most_before->mean);
    if (change <= 1e-9 * std::abs(most_before->mean)) {
        result.sentence = "Without " + list_text(kept.value->names) + " all means stay the same. ";
    } else {
        result.sentence = "Without " + list_text(kept.value->names) + ", " + most_before->treatment +
                          " differs most: it " + of.words().effect(most_after->mean) + ", over all runs it " +
                          of.words().effect(most_before->mean) + ". ";
    }
    if (turned.empty()) {
        result.sentence += "No treatment turns from help to harm beyond what chance explains.";
    } else {
        const std::size_t shown = std::min<std::size_t>(turned.size(), 3);
        result.sentence += list_text({turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(shown)}) +
                           (turned.size() > shown ? " and others turn"
                            : shown == 1          ? " turns"
                                                  : " turn") +
                           " from help to harm, or the other way.";
    }
    result.sentence += cut ? cut_text : "";
    return result;
}

}  // namespace lab
