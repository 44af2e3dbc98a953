// lab analysis: balance, variance inflation and aliases of a plan
#include "lab/analysis/plan_report.hpp"

#include "lab/analysis/model_matrix.hpp"
#include "lab/analysis/normal_equations.hpp"

#include <cmath>
#include <map>
#include <set>

namespace lab {

namespace {

run_table as_runs(const plan& what) {
    run_table table;
    table.name = what.name;
    table.factors = what.factors;
    for (const planned_run& run : what.runs) table.runs.push_back({run.values, 1, 0, "", run.line});
    return table;
}

void set_balance(plan_report& report, const plan& what) {
    const double n = static_cast<double>(what.runs.size());
    std::vector<std::map<double, std::size_t>> counts(what.factors.size());
    for (const planned_run& run : what.runs)
        for (std::size_t f = 0; f < counts.size(); ++f) ++counts[f][run.values[f]];
    for (std::size_t f = 0; f < counts.size(); ++f) {
        const factor& of = what.factors[f];
        for (const auto& [value, runs] : counts[f])
            report.levels.push_back({of.name, of.text_of(value), runs});
        for (std::size_t level = 0; !of.is_number() && level < of.levels.size(); ++level)
            if (!counts[f].contains(static_cast<double>(level)))
                report.never.push_back(of.name + "=" + of.levels[level]);
    }
    for (std::size_t a = 0; a < counts.size(); ++a) {
        for (std::size_t b = a + 1; b < counts.size(); ++b) {
            std::map<std::pair<double, double>, std::size_t> together;
            for (const planned_run& run : what.runs) ++together[{run.values[a], run.values[b]}];
            for (const auto& [x, runs_x] : counts[a]) {
                for (const auto& [y, runs_y] : counts[b]) {
                    const auto found = together.find({x, y});
                    const double share = found == together.end() ? 0 : static_cast<double>(found->second) / n;
                    const double expected = static_cast<double>(runs_x) / n * static_cast<double>(runs_y) / n;
                    if (std::abs(share - expected) <= report.worst_pair) continue;
                    report.worst_pair = std::abs(share - expected);
                    report.worst_pair_names = what.factors[a].name + "=" + what.factors[a].text_of(x) + ", " +
                                              what.factors[b].name + "=" + what.factors[b].text_of(y);
                }
            }
        }
    }
}

}  // namespace

plan_report report_of(const plan& what, bool pairs) {
    plan_report report;
    report.runs = what.runs.size();
    std::set<configuration> different;
    for (const planned_run& run : what.runs) different.insert(run.values);
    report.configurations = different.size();
    set_balance(report, what);

    fit_options options;
    const model_matrix mains = model_of(as_runs(what), options);
    const Eigen::MatrixXd gram = mains.values.transpose() * mains.values;
    const normal_equations equations(gram);
    const Eigen::VectorXd inverse = equations.inverse_diagonal();
    const double n = static_cast<double>(report.runs);
    double log_spread = 0;  // for orthogonal columns of the same spread
    for (const Eigen::Index c : equations.kept()) {
        if (c == 0) continue;
        const double spread = gram(c, c) - gram(0, c) * gram(0, c) / n;
        report.terms.push_back({mains.columns[static_cast<std::size_t>(c)].name, inverse(c) * spread});
        // At best a column of 0 and 1 is 1 in half of the runs.
        log_spread += std::log(n / 4);
    }
    const double kept = static_cast<double>(equations.kept().size());
    if (kept > 1)
        report.d_efficiency = std::exp((equations.log_determinant() - std::log(n) - log_spread) / (kept - 1));

    options.pairs = pairs;
    for (const aliased_term& term : aliases_of(model_of(as_runs(what), options)))
        report.aliased.push_back(term);
    return report;
}

}  // namespace lab
