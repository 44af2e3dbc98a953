// lab analysis: greedy, nicest and reversed paths, and Shapley's values
#include "lab/analysis/paths.hpp"

#include "lab/analysis/chains.hpp"
#include "lab/data/input_error.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace lab {

namespace {

std::size_t num_applied(const run_table& table, const configuration& values) {
    std::size_t count = 0;
    for (std::size_t f = 0; f < values.size(); ++f) count += values[f] != table.factors[f].base_value();
    return count;
}

path begun(const run_table& table, const configuration_index& measured, std::string name) {
    std::size_t start = 0;
    for (std::size_t i = 1; i < measured.all().size(); ++i)
        if (num_applied(table, measured.all()[i].values) < num_applied(table, measured.all()[start].values))
            start = i;
    path result;
    result.name = std::move(name);
    result.from = measured.all()[start].values;
    result.start = measured.all()[start].mean;
    return result;
}

struct candidate_step {
    std::vector<std::size_t> factors;  // changed together
    std::size_t place = 0;             // place of the resulting configuration
};

void take(path& to, const run_table& table, const configuration_index& measured, const candidate_step& step) {
    const repeated_configuration& reached = measured.all()[step.place];
    path_step next;
    for (const std::size_t f : step.factors) {
        next.factor = f;
        next.value = reached.values[f];
        next.treatment += (next.treatment.empty() ? "" : " + ") + table.factors[f].treatment(next.value);
    }
    next.before = to.end();
    next.after = reached.mean;
    next.values = reached.values;
    to.steps.push_back(std::move(next));
}

const configuration& end_of(const path& of) { return of.steps.empty() ? of.from : of.steps.back().values; }

// With `size` of the factors `remaining`: the step to a measured configuration that `better` prefers.
std::optional<candidate_step> best_step(
    const configuration_index& measured, const configuration& now, const configuration& end,
    const std::vector<std::size_t>& remaining, std::size_t size,
    const std::function<bool(const candidate_step&, const candidate_step&)>& better) {
    std::optional<candidate_step> best;
    candidate_step step;
    configuration values = now;
    const std::function<void(std::size_t)> choose = [&](std::size_t first) {
        if (step.factors.size() == size) {
            const auto place = measured.find(values);
            if (!place) return;
            step.place = *place;
            if (!best || better(step, *best)) best = step;
            return;
        }
        for (std::size_t i = first; i < remaining.size(); ++i) {
            const std::size_t f = remaining[i];
            values[f] = end[f];
            step.factors.push_back(f);
            choose(i + 1);
            step.factors.pop_back();
            values[f] = now[f];
        }
    };
    choose(0);
    return best;
}

// The treatments of `to` in another order. If no single treatment leads to a measured configuration, two or
// three are applied at once, or all that remain.
path reordered(const run_table& table, const path& to, std::string name,
               const std::function<bool(std::size_t, std::size_t)>& nicer,
               const std::function<bool(double, double)>& preferred) {
    const configuration_index measured(table);
    const configuration& end = end_of(to);
    path result;
    result.name = std::move(name);
    result.from = to.from;
    result.start = to.start;
    std::vector<std::size_t> remaining;
    for (std::size_t f = 0; f < end.size(); ++f)
        if (end[f] != to.from[f]) remaining.push_back(f);
    const auto better = [&](const candidate_step& a, const candidate_step& b) {
        // Among sets of one size, the set whose largest tier is smaller; then the cost decides.
        const auto least_nice = [&](const candidate_step& s) {
            return *std::max_element(s.factors.begin(), s.factors.end(), nicer);
        };
        if (nicer(least_nice(a), least_nice(b))) return true;
        if (nicer(least_nice(b), least_nice(a))) return false;
        return preferred(measured.all()[a.place].mean, measured.all()[b.place].mean);
    };
    while (!remaining.empty()) {
        std::optional<candidate_step> step;
        for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, remaining.size()})
            if (!step && size <= remaining.size())
                step = best_step(measured, end_of(result), end, remaining, size, better);
        if (!step) break;  // impossible: all remaining treatments together lead to `to`
        take(result, table, measured, *step);
        std::erase_if(remaining, [&](std::size_t f) { return end_of(result)[f] == end[f]; });
    }
    return result;
}

}  // namespace

path greedy_path(const run_table& table) {
    const configuration_index measured(table);
    path result = begun(table, measured, "greedy");
    for (;;) {
        const configuration now = end_of(result);
        std::optional<candidate_step> best;
        for (std::size_t i = 0; i < measured.all().size(); ++i) {
            const configuration& values = measured.all()[i].values;
            std::vector<std::size_t> factors;
            for (std::size_t f = 0; f < values.size() && factors.size() < 2; ++f)
                if (values[f] != now[f]) factors.push_back(f);
            if (factors.size() != 1 || now[factors.front()] != result.from[factors.front()]) continue;
            if (!table.better(measured.all()[i].mean, result.end())) continue;
            if (!best || table.better(measured.all()[i].mean, measured.all()[best->place].mean))
                best = candidate_step{factors, i};
        }
        if (!best) return result;
        take(result, table, measured, *best);
    }
}

path nicest_path(const run_table& table, const path& to) {
    return reordered(
        table, to, "nicest first",
        [&](std::size_t a, std::size_t b) { return table.factors[a].tier < table.factors[b].tier; },
        [&](double a, double b) { return table.better(a, b); });
}

path reversed_path(const run_table& table, const path& to) {
    return reordered(
        table, to, "reversed", [](std::size_t, std::size_t) { return false; },
        [&](double a, double b) { return table.better(b, a); });
}

attribution shapley_values(const run_table& table, const path& of) {
    const configuration_index measured(table);
    const configuration& end = end_of(of);
    const chain_lattice lattice = chains_between(measured, of.from, end);
    attribution result;
    result.num_chains = lattice.num_chains();
    double all_chains = 1;
    for (std::size_t i = 2; i <= lattice.changed.size(); ++i) all_chains *= static_cast<double>(i);
    result.complete = result.num_chains == all_chains;
    if (result.num_chains == 0) return result;
    std::vector<double> worth(table.factors.size(), 0.0);
    for (const chain_node& node : lattice.nodes) {
        for (const chain_step& step : node.steps) {
            const chain_node& next = lattice.nodes[step.to];
            worth[step.factor] += node.chains_here * next.chains_after / result.num_chains *
                                  (measured.all()[next.place].mean - measured.all()[node.place].mean);
        }
    }
    for (const std::size_t f : lattice.changed)
        result.values.push_back({f, end[f], table.factors[f].treatment(end[f]), worth[f]});
    std::stable_sort(result.values.begin(), result.values.end(),
                     [&](const shapley_value& a, const shapley_value& b) {
                         return table.better(a.worth, b.worth);
                     });
    return result;
}

best_measured best_of(const run_table& table) {
    const configuration_index measured(table);
    const auto best = std::min_element(measured.all().begin(), measured.all().end(),
                                       [&](const repeated_configuration& a, const repeated_configuration& b) {
                                           return table.better(a.mean, b.mean);
                                       });
    return {best->values, best->mean, best->runs.size()};
}

}  // namespace lab
