// lab commands: fit: a linear model of the cost, with and without pairs
#include "lab/analysis/fit.hpp"

#include "lab/analysis/learning_curve.hpp"
#include "lab/commands/command.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace lab {

namespace {

struct fit_arguments : data_arguments {
    fit_options fit;
    bool curve = false;
    double cost_of_group = 1;
};

json term_row(const fitted_term& term) {
    return {{"name", term.name},   {"estimate", term.estimate}, {"low", term.low}, {"high", term.high},
            {"error", term.error}, {"freedom", term.freedom},   {"p", term.p},     {"q", term.q}};
}

// The strongest term first.
std::vector<const fitted_term*> ranked_pairs(const fit_result& fit) {
    std::vector<const fitted_term*> terms;
    for (const fitted_term& term : fit.terms)
        if (term.treatments.size() == 2) terms.push_back(&term);
    std::stable_sort(terms.begin(), terms.end(), [](const fitted_term* a, const fitted_term* b) {
        return std::abs(a->shrunk) > std::abs(b->shrunk);
    });
    return terms;
}

json forms_of(const run_table& table, const fit_options& chosen, const fit_result& fitted) {
    const bool positive = std::all_of(table.runs.begin(), table.runs.end(),
                                      [](const measured_run& run) { return run.cost > 0; });
    json forms = json::array();
    double least = 0;
    std::string best;
    for (const bool pairs : {false, true}) {
        for (const bool log_scale : {false, true}) {
            if (log_scale && !positive) continue;
            fit_options options = chosen;
            options.pairs = pairs;
            options.log_scale = log_scale;
            const bool done = pairs == chosen.pairs && log_scale == chosen.log_scale;
            const fit_result other = done ? fitted : fit(table, options);
            const std::string name = std::string(log_scale ? "log" : "linear") + (pairs ? " with pairs" : "");
            forms.push_back({{"form", name},
                             {"terms", other.terms.size()},
                             {"r2", other.r2},
                             {"cross_validated_error", other.cross_validated_error}});
            if (best.empty() || other.cross_validated_error < least) {
                least = other.cross_validated_error;
                best = name;
            }
        }
    }
    return {{"best", best}, {"compared", forms}};
}

json curve_document(const learning_curve& curve) {
    json points = json::array();
    for (const curve_point& point : curve.points) {
        json row{{"runs", point.runs}};
        for (std::size_t t = 0; t < curve.terms.size(); ++t) row[curve.terms[t]] = point.estimates[t];
        points.push_back(std::move(row));
    }
    return {{"order", curve.by_lot ? "by lot" : "by time"},
            {"enough_runs", curve.enough},
            {"points", points}};
}

void run_fit(const fit_arguments& arguments) {
    const run_table table = read_data(arguments);
    const fit_result fitted = fit(table, arguments.fit);
    json document{{"data", data_summary(table)}};
    document["model"] = {{"scale", fitted.log_scale ? "log2" : "linear"},
                         {"pairs", arguments.fit.pairs},
                         {"confidence", arguments.fit.confidence},
                         {"r2", fitted.r2},
                         {"adjusted_r2", fitted.adjusted_r2},
                         {"sigma", fitted.sigma},
                         {"group_sigma", fitted.group_sigma},
                         {"groups", fitted.grouped_by_plot ? "plots" : "configurations"},
                         {"num_groups", fitted.num_groups},
                         {"freedom", fitted.freedom},
                         {"cross_validated_error", fitted.cross_validated_error},
                         {"notes", fitted.notes}};
    const double repetitions = runs_of_each_group(fitted, arguments.cost_of_group);
    document["repetition"] = {{"group", fitted.grouped_by_plot ? "build" : "configuration"},
                              {"costs_runs", arguments.cost_of_group},
                              {"runs_of_each", std::isfinite(repetitions) ? json(repetitions) : json()}};
    document["terms"] = json::array();
    for (const fitted_term& term : fitted.terms)
        if (term.treatments.size() < 2) document["terms"].push_back(term_row(term));
    document["pairs"] = json::array();
    for (const fitted_term* term : ranked_pairs(fitted)) {
        json row = term_row(*term);
        row["shrunk"] = term->shrunk;
        row["first"] = term->treatments[0];
        row["second"] = term->treatments[1];
        document["pairs"].push_back(std::move(row));
    }
    document["no_effect"] = json::array();
    for (const fitted_term& term : fitted.terms)
        if (term.treatments.size() == 1 && term.q > 0.05) document["no_effect"].push_back(term.name);
    document["aliased"] = json::array();
    for (const aliased_term& term : fitted.aliased)
        document["aliased"].push_back({{"name", term.name}, {"why", term.why}});
    document["outliers"] = json::array();
    for (const outlier& o : fitted.outliers) {
        document["outliers"].push_back({{"line", table.runs[o.run].line},
                                        {"cost", table.runs[o.run].cost},
                                        {"predicted", fitted.predicted[o.run]},
                                        {"deviations", o.deviations}});
    }
    document["forms"] = forms_of(table, arguments.fit, fitted);
    if (arguments.curve) document["curve"] = curve_document(learning_curve_of(table, arguments.fit));
    answer(document, arguments.as_json);
}

}  // namespace

void add_fit(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("fit", "A linear model of the cost: the effect of each treatment and each pair");
    auto arguments = std::make_shared<fit_arguments>();
    add_data_arguments(command, *arguments);
    command.add_flag("--pairs", arguments->fit.pairs, "with all pairs of treatments");
    command.add_flag("--log", arguments->fit.log_scale,
                     "fits the logarithm (base 2), for effects that multiply");
    command.add_flag("--bends", arguments->fit.bends,
                     "with a bend for each number: the deviation of its middle from a line");
    command.add_flag("--with-time", arguments->fit.with_time,
                     "with a drift, and the time of day as a sine and a cosine");
    command.add_flag("--curve", arguments->curve,
                     "estimates by the number of runs, and the number that would have been enough");
    command
        .add_option("--cost-of-group", arguments->cost_of_group,
                    "cost of a new build (or configuration), in runs: `repetition` is the number of runs per "
                    "group that tells most for its time; null: groups do not differ")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--confidence", arguments->fit.confidence, "confidence of the intervals")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
    command.add_option("--seed", arguments->fit.seed, "of the cross-validation")->capture_default_str();
    command.callback([arguments] { run_fit(*arguments); });
}

}  // namespace lab
