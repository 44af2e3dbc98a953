// lab analysis: turns the columns of a model into terms with intervals
#include "lab/analysis/fit.hpp"

#include "lab/analysis/cross_validation.hpp"
#include "lab/analysis/grouped_fit.hpp"
#include "lab/analysis/model_matrix.hpp"
#include "lab/analysis/shrinkage.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/stats/distributions.hpp"
#include "lab/stats/false_discoveries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab {

namespace {

// Uses the best predictions where least squares has too few data.
void predict_instead(grouped_fit& fitted, const model_matrix& model, const shrunk_fit& shrunk) {
    fitted.estimates = shrunk.estimates;
    fitted.errors = shrunk.errors;
    fitted.freedom = Eigen::VectorXd::Constant(shrunk.estimates.size(), shrunk.freedom);
    fitted.freedom_left = shrunk.freedom;
    fitted.residuals = model.response - model.values * shrunk.estimates;
    fitted.run_variance = shrunk.variance;
    fitted.group_variance = 0;
}

void set_terms(fit_result& result, const model_matrix& model, const grouped_fit& fitted, double confidence,
               const Eigen::VectorXd& shrunk) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> probabilities;
    for (Eigen::Index c = 0; c < model.values.cols(); ++c) {
        if (std::binary_search(fitted.left_out.begin(), fitted.left_out.end(), c)) continue;
        const model_column& column = model.columns[static_cast<std::size_t>(c)];
        fitted_term term;
        term.name = column.name;
        term.treatments = column.treatments;
        term.factors = column.factors;
        term.estimate = fitted.estimates(c);
        term.shrunk = shrunk.size() > 0 && column.treatments.size() == 2 ? shrunk(c) : unknown;
        term.freedom = fitted.freedom(c);
        term.error = term.low = term.high = term.p = unknown;
        if (term.freedom > 0 && fitted.freedom_left > 0) {
            term.error = fitted.errors(c);
            const double wide = t_quantile(0.5 + confidence / 2, term.freedom) * term.error;
            term.low = term.estimate - wide;
            term.high = term.estimate + wide;
            term.p = term.error > 0 ? t_two_sided(term.estimate / term.error, term.freedom)
                                    : (term.estimate == 0 ? 1 : 0);
        }
        probabilities.push_back(column.treatments.empty() ? unknown : term.p);
        result.terms.push_back(std::move(term));
    }
    const std::vector<double> rates = false_discovery_rates(probabilities);
    for (std::size_t i = 0; i < rates.size(); ++i) result.terms[i].q = rates[i];
}

void set_predictions(fit_result& result, const grouped_fit& fitted, const model_matrix& model) {
    const double factor = result.log_scale ? smearing(fitted.residuals) : 1;
    const double deviation = std::sqrt(fitted.residuals.squaredNorm() / std::max(1.0, fitted.freedom_left));
    constexpr double far = 4;
    for (Eigen::Index i = 0; i < model.response.size(); ++i) {
        const double predicted = model.response(i) - fitted.residuals(i);
        result.predicted.push_back(result.log_scale ? factor * std::exp2(predicted) : predicted);
        const double deviations = deviation > 0 ? fitted.residuals(i) / deviation : 0;
        if (std::abs(deviations) > far) result.outliers.push_back({static_cast<std::size_t>(i), deviations});
    }
}

}  // namespace

const fitted_term* fit_result::find(const std::string& name) const {
    const auto found =
        std::find_if(terms.begin(), terms.end(), [&](const fitted_term& t) { return t.name == name; });
    return found == terms.end() ? nullptr : &*found;
}

fit_result fit(const run_table& table, const fit_options& options) {
    fit_result result;
    model_matrix model = model_of(table, options);
    if (model.num_configurations < 2) {
        throw input_error(table.name,
                          "all runs are of one configuration; a model needs runs of at least two");
    }
    grouped_fit fitted = fit_grouped(model);
    shrunk_fit shrunk;
    const bool has_pairs = std::any_of(model.columns.begin(), model.columns.end(),
                                       [](const model_column& c) { return c.treatments.size() == 2; });
    if (has_pairs) {
        shrunk = fit_shrunk(model);
        result.shrunk = 2 * model.num_configurations < 3 * model.columns.size();
        if (result.shrunk) {
            predict_instead(fitted, model, shrunk);
            std::erase_if(fitted.left_out,
                          [&](Eigen::Index c) { return model.values.col(c).cwiseAbs().maxCoeff() > 0; });
            result.notes.push_back(
                "there are " + std::to_string(model.num_configurations) + " configurations for " +
                std::to_string(model.columns.size()) +
                " terms: pairs are predicted as draws from one distribution, and drawn to 0");
        }
    }

    result.log_scale = options.log_scale;
    result.num_runs = table.runs.size();
    result.num_configurations = model.num_configurations;
    result.num_groups = model.num_groups;
    result.grouped_by_plot = model.groups != model.configurations;
    result.sigma = std::sqrt(fitted.run_variance);
    result.group_sigma = std::sqrt(fitted.group_variance);
    result.freedom = fitted.freedom_left;
    const double n = static_cast<double>(result.num_runs);
    const double whole = (model.response.array() - model.response.mean()).square().sum();
    result.r2 = whole > 0 ? 1 - fitted.residuals.squaredNorm() / whole : 1;
    result.adjusted_r2 =
        fitted.freedom_left > 0 ? 1 - (1 - result.r2) * (n - 1) / fitted.freedom_left : result.r2;
    result.cross_validated_error = cross_validated_error(model, result.shrunk ? nullptr : fitted.gram.get(),
                                                         table, options.log_scale, options.seed);
    for (const Eigen::Index c : fitted.left_out)
        result.aliased.push_back(alias_of(model, *fitted.equations, c));
    set_terms(result, model, fitted, options.confidence, shrunk.estimates);
    set_predictions(result, fitted, model);
    if (fitted.freedom_left <= 0)
        result.notes.push_back("there are no more runs than terms: nothing is left to tell what chance does");
    else if (std::any_of(result.terms.begin(), result.terms.end(),
                         [](const fitted_term& t) { return t.freedom <= 0; }))
        result.notes.push_back(std::string("there are no more ") +
                               (result.grouped_by_plot ? "visits of builds" : "configurations") +
                               " than terms that are the same throughout each: these have no interval");
    return result;
}

double runs_of_each_group(const fit_result& fitted, double cost_of_group) {
    if (!(fitted.group_sigma > 0)) return std::numeric_limits<double>::quiet_NaN();
    return std::ceil(std::sqrt(cost_of_group) * fitted.sigma / fitted.group_sigma);
}

}  // namespace lab
