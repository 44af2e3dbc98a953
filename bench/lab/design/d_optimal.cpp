// lab design: plans with the largest determinant
#include "lab/design/exchange.hpp"
#include "lab/design/sampling.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

// A run as a row of the model: 1, the levels of each factor (s levels are s - 1 columns, orthogonal in a
// balanced plan), numbers from -1 to 1, and products.
class coding {
  public:
    coding(const factor_file& file, const std::vector<std::vector<double>>& values, bool pairs)
        : file_(file), values_(values), pairs_(pairs) {
        Eigen::Index columns = 0;
        for (std::size_t f = 0; f < values.size(); ++f) {
            first_.push_back(columns);
            columns += width(f);
        }
        first_.push_back(columns);
        mains_ = columns;
    }
    [[nodiscard]] Eigen::Index mains() const { return 1 + mains_; }
    [[nodiscard]] Eigen::Index columns() const {
        Eigen::Index count = mains();
        for (std::size_t a = 0; pairs_ && a < values_.size(); ++a)
            for (std::size_t b = a + 1; b < values_.size(); ++b) count += width(a) * width(b);
        return count;
    }
    [[nodiscard]] Eigen::VectorXd row(const configuration& run) const {
        Eigen::VectorXd result(columns());
        result(0) = 1;
        for (std::size_t f = 0; f < values_.size(); ++f) set_main(result, f, run[f]);
        Eigen::Index next = mains();
        for (std::size_t a = 0; pairs_ && a < values_.size(); ++a)
            for (std::size_t b = a + 1; b < values_.size(); ++b)
                for (Eigen::Index i = first_[a]; i < first_[a + 1]; ++i)
                    for (Eigen::Index j = first_[b]; j < first_[b + 1]; ++j)
                        result(next++) = result(1 + i) * result(1 + j);
        return result;
    }

  private:
    [[nodiscard]] Eigen::Index width(std::size_t f) const {
        if (values_[f].size() < 2) return 0;
        return file_.factors[f].is_number() ? 1 : static_cast<Eigen::Index>(values_[f].size()) - 1;
    }
    void set_main(Eigen::VectorXd& to, std::size_t f, double value) const {
        const factor& what = file_.factors[f];
        if (width(f) == 0) return;
        if (what.is_number()) {
            const double share = what.logarithmic
                                     ? std::log(value / what.low) / std::log(what.high / what.low)
                                     : (value - what.low) / (what.high - what.low);
            to(1 + first_[f]) = 2 * share - 1;
            return;
        }
        // Helmert's contrasts, each of length sqrt(s) over the s levels.
        const double levels = static_cast<double>(values_[f].size());
        for (Eigen::Index c = 0; c < width(f); ++c) {
            const double k = static_cast<double>(c) + 1;
            const double scale = std::sqrt(levels / (k * (k + 1)));
            to(1 + first_[f] + c) = value < k ? scale : (value == k ? -k * scale : 0);
        }
    }

    const factor_file& file_;
    const std::vector<std::vector<double>>& values_;
    bool pairs_;
    std::vector<Eigen::Index> first_;
    Eigen::Index mains_ = 0;
};

class determinant {
  public:
    determinant(const factor_file& file, const std::vector<std::vector<double>>& values, const coding& model,
                std::vector<configuration> runs, bool keeps_builds)
        : file_(file), values_(values), model_(model), runs_(std::move(runs)), keeps_builds_(keeps_builds) {
        refresh();
    }

    bool pass() {
        bool changed = false;
        for (configuration& run : runs_) {
            for (std::size_t f = 0; f < values_.size(); ++f) {
                if (keeps_builds_ && file_.factors[f].hard_to_change) continue;
                const double before = run[f];
                const Eigen::VectorXd old_row = model_.row(run);
                const Eigen::VectorXd old_through = inverse_ * old_row;
                const double old_length = old_row.dot(old_through);
                double best = before;
                double most = 1 + 1e-6;
                for (const double value : values_[f]) {
                    if (value == before) continue;
                    run[f] = value;
                    if (!file_.allows(run)) continue;
                    const Eigen::VectorXd row = model_.row(run);
                    const double across = row.dot(old_through);
                    const double ratio = (1 + row.dot(inverse_ * row)) * (1 - old_length) + across * across;
                    if (ratio > most) {
                        most = ratio;
                        best = value;
                    }
                }
                run[f] = best;
                if (best != before) {
                    add(model_.row(run), 1);
                    add(old_row, -1);
                    changed = true;
                }
            }
        }
        refresh();  // against accumulated rounding errors
        return changed;
    }
    [[nodiscard]] double logarithm() const { return logarithm_; }
    [[nodiscard]] const std::vector<configuration>& runs() const { return runs_; }

  private:
    void add(const Eigen::VectorXd& row, double sign) {
        const Eigen::VectorXd through = inverse_ * row;
        inverse_ -= (sign / (1 + sign * row.dot(through))) * through * through.transpose();
    }
    void refresh() {
        const Eigen::Index columns = model_.columns();
        Eigen::MatrixXd products = Eigen::MatrixXd::Zero(columns, columns);
        for (const configuration& run : runs_) {
            const Eigen::VectorXd row = model_.row(run);
            products.selfadjointView<Eigen::Lower>().rankUpdate(row);
        }
        constexpr double ridge_of_mains = 1e-6;
        constexpr double ridge_of_pairs = 1;
        for (Eigen::Index c = 0; c < columns; ++c)
            products(c, c) += c < model_.mains() ? ridge_of_mains : ridge_of_pairs;
        const Eigen::LDLT<Eigen::MatrixXd> decomposed(products.selfadjointView<Eigen::Lower>());
        logarithm_ = decomposed.vectorD().array().abs().log().sum();
        inverse_ = decomposed.solve(Eigen::MatrixXd::Identity(columns, columns));
    }

    const factor_file& file_;
    const std::vector<std::vector<double>>& values_;
    const coding& model_;
    std::vector<configuration> runs_;
    bool keeps_builds_;
    Eigen::MatrixXd inverse_;
    double logarithm_ = 0;
};

}  // namespace

std::vector<configuration> d_optimal_plan(const factor_file& file,
                                          const std::vector<std::vector<double>>& values, std::size_t runs,
                                          bool pairs, std::mt19937_64& random,
                                          const std::vector<configuration>& builds) {
    const coding model(file, values, pairs);
    double tried = 0;
    for (const std::vector<double>& of_factor : values) tried += static_cast<double>(of_factor.size());
    const double columns = static_cast<double>(model.columns());
    const double cost = static_cast<double>(runs) * tried * columns * columns;  // cost of one pass
    const int passes = std::clamp(static_cast<int>(1e9 / cost), 1, 30);
    const int starts = std::clamp(static_cast<int>(1e9 / cost / passes), 1, 10);
    std::vector<configuration> best;
    double most = 0;
    for (int start = 0; start < starts; ++start) {
        determinant made(file, values, model, random_configurations(file, values, runs, random, builds),
                         !builds.empty());
        for (int i = 0; i < passes && made.pass(); ++i) {
        }
        if (best.empty() || made.logarithm() > most) {
            most = made.logarithm();
            best = made.runs();
        }
    }
    return best;
}

}  // namespace lab
