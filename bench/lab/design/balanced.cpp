// lab design: plans of least discrepancy
#include "lab/design/exchange.hpp"
#include "lab/design/sampling.hpp"
#include "lab/design/two_level.hpp"
#include "lab/design/whole_plots.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

constexpr double rho = 0.5;

class discrepancy {
  public:
    discrepancy(const factor_file& file, const std::vector<std::vector<double>>& values,
                std::vector<configuration> runs, bool keeps_builds)
        : file_(file), values_(values), runs_(std::move(runs)), keeps_builds_(keeps_builds),
          likeness_(runs_.size() * runs_.size()) {
        for (std::size_t i = 0; i < runs_.size(); ++i)
            for (std::size_t j = 0; j < runs_.size(); ++j) {
                double product = 1;
                for (std::size_t f = 0; f < values_.size(); ++f)
                    product *= alike(f, runs_[i][f] == runs_[j][f]);
                at(i, j) = product;
            }
    }

    [[nodiscard]] double sum() const {
        double total = 0;
        for (const double value : likeness_) total += value;
        return total;
    }

    // Changes each value of each run to the one with the smallest sum; returns whether a value changed.
    bool pass() {
        bool changed = false;
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            for (std::size_t f = 0; f < values_.size(); ++f) {
                if (values_[f].size() < 2 || (keeps_builds_ && file_.factors[f].hard_to_change)) continue;
                const double before = runs_[i][f];
                double best = before;
                double most = 1e-9;
                for (const double value : values_[f]) {
                    if (value == before) continue;
                    runs_[i][f] = value;
                    const double saved = file_.allows(runs_[i]) ? saving(i, f, before, value) : 0;
                    if (saved > most) {
                        most = saved;
                        best = value;
                    }
                }
                runs_[i][f] = best;
                if (best != before) {
                    change(i, f, before, best);
                    changed = true;
                }
            }
        }
        return changed;
    }

    [[nodiscard]] std::vector<configuration> runs() const { return runs_; }

  private:
    [[nodiscard]] double alike(std::size_t f, bool same) const {
        return same ? 1 + rho * (static_cast<double>(values_[f].size()) - 1) : 1 - rho;
    }
    double& at(std::size_t i, std::size_t j) { return likeness_[i * runs_.size() + j]; }
    [[nodiscard]] double saving(std::size_t i, std::size_t f, double before, double after) {
        double saved = 0;
        for (std::size_t j = 0; j < runs_.size(); ++j) {
            if (j == i) continue;
            const double was = alike(f, runs_[j][f] == before);
            const double is = alike(f, runs_[j][f] == after);
            if (was != is) saved += at(i, j) * (1 - is / was);
        }
        return saved;
    }
    void change(std::size_t i, std::size_t f, double before, double after) {
        for (std::size_t j = 0; j < runs_.size(); ++j) {
            if (j == i) continue;
            const double factor = alike(f, runs_[j][f] == after) / alike(f, runs_[j][f] == before);
            at(i, j) *= factor;
            at(j, i) = at(i, j);
        }
    }

    const factor_file& file_;
    const std::vector<std::vector<double>>& values_;
    std::vector<configuration> runs_;
    bool keeps_builds_;
    std::vector<double> likeness_;
};

// Factors with two values as in an orthogonal plan, as far as constraints allow; the other factors are random.
// Empty if there is no such plan.
std::vector<configuration> orthogonal_start(const factor_file& file,
                                            const std::vector<std::vector<double>>& values, std::size_t runs,
                                            std::mt19937_64& random,
                                            const std::vector<configuration>& builds) {
    std::vector<std::size_t> two;
    for (std::size_t f = 0; f < values.size(); ++f)
        if (values[f].size() == 2 && (builds.empty() || !file.factors[f].hard_to_change)) two.push_back(f);
    const std::vector<std::vector<bool>> rows = two_level_plan(runs, two.size(), random);
    std::vector<configuration> result;
    for (const std::vector<bool>& row : rows) {
        const std::vector<std::vector<double>> all = values_of_run(file, values, builds, result.size());
        std::vector<std::vector<double>> left = all;
        for (std::size_t i = 0; i < two.size(); ++i) left[two[i]] = {values[two[i]][row[i] ? 1 : 0]};
        const bool fits =
            file.constraints.empty() ||
            std::all_of(file.constraints.begin(), file.constraints.end(), [&](const constraint& c) {
                return left[c.first].size() > 1 || left[c.second].size() > 1 || [&] {
                    configuration some(values.size());
                    some[c.first] = left[c.first][0];
                    some[c.second] = left[c.second][0];
                    return c.holds(some);
                }();
            });
        result.push_back(random_configuration(file, fits ? left : all, random));
    }
    return result;
}

}  // namespace

std::vector<configuration> balanced_plan(const factor_file& file,
                                         const std::vector<std::vector<double>>& values, std::size_t runs,
                                         std::mt19937_64& random, const std::vector<configuration>& builds) {
    // So that a plan of 600 runs and 20 factors takes a second at most.
    const double cost = static_cast<double>(runs * runs * values.size());
    const int starts = std::clamp(static_cast<int>(3e6 / cost), 1, 8);
    const int passes = std::clamp(static_cast<int>(2e8 / cost / starts), 3, 50);
    std::vector<configuration> best;
    double least = 0;
    for (int start = 0; start < starts + 1; ++start) {
        std::vector<configuration> first;
        if (start == 0) first = orthogonal_start(file, values, runs, random, builds);
        if (first.empty()) {
            if (start == 0) continue;
            first = random_configurations(file, values, runs, random, builds);
        }
        discrepancy made(file, values, std::move(first), !builds.empty());
        for (int i = 0; i < passes && made.pass(); ++i) {
        }
        const double sum = made.sum();
        if (best.empty() || sum < least) {
            least = sum;
            best = made.runs();
        }
    }
    return best;
}

}  // namespace lab
