// indicators advice: intervals, order and reasons
#include "indicators/advice/advice.hpp"

#include "indicators/advice/spreads.hpp"
#include "lab/analysis/fit.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace indicators {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

class adviser {
  public:
    adviser(const lab::run_table& table, const advice_options& options) : table_(table), options_(options) {
        is_relative_ = std::all_of(table.runs.begin(), table.runs.end(),
                                   [](const lab::measured_run& r) { return r.cost > 0; });
    }

    advice run() {
        for (const lab::repeated_configuration& c : lab::configurations_of(table_)) {
            ranked_configuration one;
            one.values = c.values;
            one.runs = c.runs;
            for (const std::size_t r : c.runs)
                one.mean += table_.runs[r].cost / static_cast<double>(c.runs.size());
            result_.ranked.push_back(std::move(one));
        }
        if (result_.ranked.empty()) {
            result_.not_enough = "there are no runs";
            return std::move(result_);
        }
        std::vector<std::pair<double, double>> all;
        for (const ranked_configuration& c : result_.ranked) all.push_back(squares(c));
        spreads_ = spreads(all);
        for (ranked_configuration& c : result_.ranked)
            std::tie(c.low, c.high) = interval(c, options_.confidence);
        std::stable_sort(result_.ranked.begin(), result_.ranked.end(), [this](const auto& a, const auto& b) {
            return table_.better(counted_on(a), counted_on(b));
        });
        compare_with_best();
        say_whether_enough();
        // Corrected for the selection of the best (Šidák, 1967).
        const double share = 1 / static_cast<double>(result_.ranked.size());
        std::tie(result_.low_as_best, result_.high_as_best) =
            interval(result_.ranked.front(), std::pow(options_.confidence, share));
        explain();
        return std::move(result_);
    }

  private:
    [[nodiscard]] double scaled(double cost) const { return is_relative_ ? std::log(cost) : cost; }
    [[nodiscard]] std::vector<double> costs(const ranked_configuration& c) const {
        std::vector<double> all;
        for (const std::size_t r : c.runs) all.push_back(table_.runs[r].cost);
        return all;
    }
    // The sum of squares, and its degrees of freedom.
    [[nodiscard]] std::pair<double, double> squares(const ranked_configuration& c) const {
        const double mean = scaled_mean(c);
        double sum = 0;
        for (const double cost : costs(c)) sum += std::pow(scaled(cost) - mean, 2);
        return {sum, static_cast<double>(c.runs.size()) - 1};
    }

    // The variance of its runs (scaled), and its degrees of freedom.
    [[nodiscard]] spread spread_of(const ranked_configuration& c) const {
        const auto [sum, freedom] = squares(c);
        return spreads_.moderated(sum, freedom);
    }
    [[nodiscard]] double scaled_mean(const ranked_configuration& c) const {
        double mean = 0;
        for (const double cost : costs(c)) mean += scaled(cost) / static_cast<double>(c.runs.size());
        return mean;
    }

    [[nodiscard]] std::pair<double, double> interval(const ranked_configuration& c, double confidence) const {
        const spread of = spread_of(c);
        if (!(of.freedom > 0)) return {unknown, unknown};
        const double wide = lab::t_quantile(0.5 + confidence / 2, of.freedom) * of.deviation /
                            std::sqrt(static_cast<double>(c.runs.size()));
        if (is_relative_) return {c.mean * std::exp(-wide), c.mean * std::exp(wide)};
        return {c.mean - wide, c.mean + wide};
    }
    [[nodiscard]] double counted_on(const ranked_configuration& c) const {
        if (std::isnan(c.low)) return c.mean;
        return table_.more_is_better ? c.low : c.high;
    }

    void compare_with_best() {
        const ranked_configuration& best = result_.ranked.front();
        for (ranked_configuration& c : result_.ranked) {
            c.to_best = c.mean / best.mean;
            c.verdict = &c == &best ? "best" : verdict_on(best, c);
        }
    }
    // For any pair, because the best was not known before: by Bonferroni's inequality, with Welch's degrees of
    // freedom (1947).
    [[nodiscard]] const char* verdict_on(const ranked_configuration& best,
                                         const ranked_configuration& c) const {
        constexpr double no_difference = 0.01;
        double variance = 0;
        double parts = 0;
        for (const ranked_configuration* one : {&best, &c}) {
            const spread of = spread_of(*one);
            if (!(of.freedom > 0)) return "too few runs";
            const double part = of.deviation * of.deviation / static_cast<double>(one->runs.size());
            variance += part;
            parts += part * part / of.freedom;
        }
        const double freedom = parts > 0 ? std::min(variance * variance / parts, spreads_.freedom()) : 1e9;
        const double worse_by = (scaled_mean(c) - scaled_mean(best)) * (table_.more_is_better ? -1 : 1);
        const double error = std::sqrt(variance);
        const double slack = is_relative_ ? no_difference : no_difference * std::abs(best.mean);
        const double wide = lab::t_quantile(0.5 + options_.confidence / 2, freedom) * error;
        if (worse_by - wide >= -slack && worse_by + wide <= slack) return "as good";
        const double all = static_cast<double>(result_.ranked.size());
        const double sure =
            lab::t_quantile(1 - (1 - options_.confidence) / (all * (all - 1)), freedom) * error;
        return worse_by > sure ? "worse" : "unsure";
    }

    void say_whether_enough() {
        const ranked_configuration& best = result_.ranked.front();
        const auto times = [](std::size_t n) {
            return n == 1 ? std::string("once") : std::to_string(n) + " times";
        };
        if (best.runs.size() < options_.least_runs) {
            result_.not_enough = "the best configuration was run " + times(best.runs.size()) +
                                 ", and has to be run at least " + times(options_.least_runs) +
                                 "; run it again, and those next to it";
        } else if (std::isnan(best.low)) {
            result_.not_enough = "nothing was repeated, so that nobody knows what runs vary by";
        } else {
            result_.enough = true;
        }
    }

    // By a model of the average effect of each setting; none if there are too few runs for it.
    void explain() {
        lab::fit_result fitted;
        bool is_fitted = false;
        try {
            lab::fit_options how;
            how.log_scale = is_relative_;
            how.confidence = options_.confidence;
            if (!table_.factors.empty() && is_relative_) {
                fitted = lab::fit(table_, how);
                is_fitted = true;
            }
        } catch (const lab::input_error&) {  // too few runs for the model
        }
        const ranked_configuration& best = result_.ranked.front();
        for (std::size_t f = 0; f < table_.factors.size(); ++f) {
            const lab::factor& factor = table_.factors[f];
            reason why;
            why.factor = f;
            why.setting = setting(f, best.values[f]);
            why.average = why.low = why.high = unknown;
            if (best.values[f] != factor.base_value() && is_fitted) set_average(why, fitted, best.values[f]);
            set_neighbour(why, best);
            if (why.has_neighbour || !std::isnan(why.average)) result_.why.push_back(why);
        }
        std::stable_sort(result_.why.begin(), result_.why.end(),
                         [](const reason& a, const reason& b) { return weight(a) > weight(b); });
    }
    static double weight(const reason& why) {
        const double of = why.has_neighbour ? why.neighbour_to_best : why.average;
        return std::isnan(of) || !(of > 0) ? 0 : std::abs(std::log(of));
    }
    [[nodiscard]] std::string setting(std::size_t f, double value) const {
        return table_.factors[f].name + "=" + table_.factors[f].text_of(value);
    }
    void set_average(reason& why, const lab::fit_result& fitted, double value) const {
        const lab::factor& factor = table_.factors[why.factor];
        const lab::fitted_term* term =
            fitted.find(factor.is_number() ? factor.name : factor.treatment(value));
        if (term == nullptr) return;
        // The term of a number is the effect from its lowest to its highest value.
        const double share = factor.is_number() ? share_of(factor, value) : 1;
        const double low = std::exp2(std::min(term->low * share, term->high * share));
        const double high = std::exp2(std::max(term->low * share, term->high * share));
        constexpr double too_wide = 4;
        if (!(high <= low * too_wide)) return;  // the runs do not determine the effect
        why.average = std::exp2(term->estimate * share);
        why.low = low;
        why.high = high;
    }
    static double share_of(const lab::factor& factor, double value) {
        const auto at = [&](double x) { return factor.logarithmic ? std::log2(x) : x; };
        return (at(value) - at(factor.base)) / (at(factor.high) - at(factor.low));
    }
    void set_neighbour(reason& why, const ranked_configuration& best) const {
        for (const ranked_configuration& c : result_.ranked) {
            bool alone = c.values[why.factor] != best.values[why.factor];
            for (std::size_t f = 0; f < c.values.size() && alone; ++f)
                alone = f == why.factor || c.values[f] == best.values[f];
            if (!alone) continue;
            why.has_neighbour = true;
            why.neighbour = setting(why.factor, c.values[why.factor]);
            why.neighbour_to_best = c.to_best;
            why.neighbour_runs = c.runs.size();
            return;  // the best one, because they are ordered
        }
    }

    const lab::run_table& table_;
    const advice_options& options_;
    bool is_relative_ = false;
    spreads spreads_;
    advice result_;
};

}  // namespace

advice advise(const lab::run_table& table, const advice_options& options) {
    return adviser(table, options).run();
}

}  // namespace indicators
