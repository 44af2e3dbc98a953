// lab analysis: makes columns from treatments, time and pairs
#include "lab/analysis/model_matrix.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace lab {

namespace {

double scaled(const factor& f, double value) {
    if (f.high == f.low) return 0;
    if (f.logarithmic && f.low > 0) return std::log2(value / f.low) / std::log2(f.high / f.low);
    return (value - f.low) / (f.high - f.low);
}

void add_column(model_matrix& model, model_column column, const Eigen::VectorXd& values) {
    model.values.col(static_cast<Eigen::Index>(model.columns.size())) = values;
    model.columns.push_back(std::move(column));
}

void add_time(model_matrix& model, const run_table& table) {
    if (!table.has_times) {
        throw input_error(table.name,
                          "there is no column of times; name one with --time, or leave --with-time out");
    }
    const auto n = static_cast<Eigen::Index>(table.runs.size());
    const auto [first, last] =
        std::minmax_element(table.runs.begin(), table.runs.end(),
                            [](const measured_run& a, const measured_run& b) { return a.time < b.time; });
    const double begin = first->time;
    const double length = last->time > begin ? last->time - begin : 1;
    Eigen::VectorXd drift(n);
    Eigen::VectorXd cosine(n);
    Eigen::VectorXd sine(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const double time = table.runs[static_cast<std::size_t>(i)].time;
        const double angle = 2 * std::numbers::pi * std::fmod(time, 86400.0) / 86400.0;
        drift(i) = (time - begin) / length;
        cosine(i) = std::cos(angle);
        sine(i) = std::sin(angle);
    }
    add_column(model, {"time", {}, {}}, drift);
    add_column(model, {"time of day (cosine)", {}, {}}, cosine);
    add_column(model, {"time of day (sine)", {}, {}}, sine);
}

void set_groups(model_matrix& model, const run_table& table) {
    std::map<configuration, std::size_t> places;
    std::map<std::string, std::size_t> plots;
    for (const measured_run& run : table.runs) {
        model.configurations.push_back(places.try_emplace(run.values, places.size()).first->second);
        plots.try_emplace(run.plot, plots.size());
    }
    model.num_configurations = places.size();
    if (plots.size() > 1) {
        for (const measured_run& run : table.runs) model.groups.push_back(plots.at(run.plot));
        model.num_groups = plots.size();
    } else {
        model.groups = model.configurations;
        model.num_groups = model.num_configurations;
    }
}

}  // namespace

model_matrix model_of(const run_table& table, const fit_options& options) {
    const auto n = static_cast<Eigen::Index>(table.runs.size());
    struct treatment {
        model_column column;
        Eigen::VectorXd values;
    };
    std::vector<treatment> treatments;
    for (std::size_t f = 0; f < table.factors.size(); ++f) {
        const factor& what = table.factors[f];
        const std::size_t columns = what.is_number() ? 1 : what.levels.size() - 1;
        for (std::size_t c = 1; c <= columns; ++c) {
            const std::string name = what.is_number() ? what.name : what.treatment(static_cast<double>(c));
            treatment t{{name, {name}, {f}}, Eigen::VectorXd(n)};
            for (Eigen::Index i = 0; i < n; ++i) {
                const double value = table.runs[static_cast<std::size_t>(i)].values[f];
                t.values(i) = what.is_number() ? scaled(what, value) : value == static_cast<double>(c);
            }
            treatments.push_back(std::move(t));
        }
    }
    std::size_t pairs = 0;
    for (std::size_t a = 0; options.pairs && a < treatments.size(); ++a)
        for (std::size_t b = a + 1; b < treatments.size(); ++b)
            pairs += treatments[a].column.factors != treatments[b].column.factors;

    // For a number with values between its ends.
    std::vector<treatment> bends;
    for (const treatment& t : treatments) {
        if (!options.bends || !table.factors[t.column.factors[0]].is_number()) continue;
        const Eigen::VectorXd bend = 4 * t.values.cwiseProduct(Eigen::VectorXd::Ones(n) - t.values);
        if (bend.maxCoeff() > 0) bends.push_back({{t.column.name + " (middle)", {}, t.column.factors}, bend});
    }

    model_matrix model;
    const std::size_t columns = 1 + treatments.size() + bends.size() + (options.with_time ? 3 : 0) + pairs;
    model.values.resize(n, static_cast<Eigen::Index>(columns));
    add_column(model, {"(intercept)", {}, {}}, Eigen::VectorXd::Ones(n));
    for (const treatment& t : treatments) add_column(model, t.column, t.values);
    for (const treatment& bend : bends) add_column(model, bend.column, bend.values);
    if (options.with_time) add_time(model, table);
    for (std::size_t a = 0; options.pairs && a < treatments.size(); ++a) {
        for (std::size_t b = a + 1; b < treatments.size(); ++b) {
            const treatment& x = treatments[a];
            const treatment& y = treatments[b];
            if (x.column.factors == y.column.factors) continue;
            add_column(model,
                       {x.column.name + "*" + y.column.name,
                        {x.column.name, y.column.name},
                        {x.column.factors[0], y.column.factors[0]}},
                       x.values.cwiseProduct(y.values));
        }
    }
    model.response.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const measured_run& run = table.runs[static_cast<std::size_t>(i)];
        if (options.log_scale && !(run.cost > 0)) {
            throw input_error(table.name, run.line,
                              table.cost_name + " is " + short_text(run.cost) +
                                  ", which has no logarithm; leave --log out");
        }
        model.response(i) = options.log_scale ? std::log2(run.cost) : run.cost;
    }
    set_groups(model, table);
    return model;
}

}  // namespace lab
