// lab analysis: expected improvement over a surrogate
#include "lab/analysis/search.hpp"

#include "lab/analysis/surrogate.hpp"
#include "lab/data/input_error.hpp"
#include "lab/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

namespace lab {

namespace {

class searcher {
  public:
    searcher(const std::vector<factor>& factors, const std::vector<configuration>& candidates,
             const std::function<double(std::size_t)>& cost_of, const search_options& options)
        : factors_(factors), candidates_(candidates), cost_of_(cost_of), options_(options),
          random_(options.seed), model_(factors, candidates), was_run_(candidates.size(), false) {}

    search_result run() {
        const std::size_t budget = std::min(options_.budget - options_.confirm, candidates_.size());
        // A quarter, but at most twice the runs that determine each factor's effect.
        const std::size_t first =
            std::min(budget, std::clamp<std::size_t>(budget / 4, 4, 2 * factors_.size() + 2));
        while (result_.runs.size() < first) run_one(farthest());
        while (result_.runs.size() < budget)
            for (const std::size_t candidate : most_promising())
                if (result_.runs.size() < budget) run_one(candidate);
        for (std::size_t i = 0; i < options_.confirm; ++i) run_one(least_sure_of_best());
        name_the_best();
        return result_;
    }

  private:
    void run_one(std::size_t candidate) {
        was_run_[candidate] = true;
        const double cost = cost_of_(candidate);
        result_.runs.push_back({candidate, cost});
        if (std::isfinite(cost)) costs_[candidate].push_back(cost);
    }

    [[nodiscard]] std::size_t differences(std::size_t a, std::size_t b) const {
        std::size_t count = 0;
        for (std::size_t f = 0; f < factors_.size(); ++f) count += candidates_[a][f] != candidates_[b][f];
        return count;
    }
    // A random one of the candidates that are farthest from those that were run; the first candidate is random.
    std::size_t farthest() {
        std::vector<std::size_t> best;
        std::pair<std::size_t, std::size_t> most{0, 0};
        for (std::size_t c = 0; c < candidates_.size(); ++c) {  // a candidate that was run has distance 0
            std::pair<std::size_t, std::size_t> far{factors_.size() + 1, 0};
            for (const search_run& run : result_.runs) {
                const std::size_t d = differences(c, run.candidate);
                far.first = std::min(far.first, d);
                far.second += d;
            }
            if (far > most || best.empty()) {
                best.clear();
                most = far;
            }
            if (far == most) best.push_back(c);
        }
        return best[random_() % best.size()];
    }

    // Logarithms if possible, because costs of configurations differ by factors.
    [[nodiscard]] double loss(double cost) const {
        const double scaled = all_positive() ? std::log(cost) : cost;
        return options_.more_is_better ? -scaled : scaled;
    }
    [[nodiscard]] bool all_positive() const {
        return std::all_of(costs_.begin(), costs_.end(), [](const auto& of) {
            return std::all_of(of.second.begin(), of.second.end(), [](double cost) { return cost > 0; });
        });
    }
    [[nodiscard]] static double mean(const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    }

    // A failed candidate counts as the worst.
    double learn() {
        std::vector<std::size_t> places;
        std::vector<double> losses;
        double worst = -std::numeric_limits<double>::infinity();
        double best = std::numeric_limits<double>::infinity();
        for (const auto& [candidate, of] : costs_) {
            places.push_back(candidate);
            losses.push_back(loss(mean(of)));
            worst = std::max(worst, losses.back());
            best = std::min(best, losses.back());
        }
        for (const search_run& run : result_.runs) {
            if (costs_.contains(run.candidate)) continue;
            places.push_back(run.candidate);
            losses.push_back(worst);
        }
        model_.learn(places, losses);
        return best;
    }

    // Candidates that were not run. If there are very many: those that differ from one of the best ten in one
    // or two factors, and some random ones.
    std::vector<std::size_t> promising() {
        constexpr std::size_t most = 3000;
        std::vector<std::size_t> left;
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            if (!was_run_[c]) left.push_back(c);
        if (left.size() <= most) return left;
        std::vector<std::size_t> best = by_mean();
        best.resize(std::min<std::size_t>(best.size(), 10));
        const auto near = [&](std::size_t c) {
            return std::any_of(best.begin(), best.end(),
                               [&](std::size_t b) { return differences(b, c) <= 2; });
        };
        const auto others = std::stable_partition(left.begin(), left.end(), near);
        auto next = others;
        const auto wanted = static_cast<std::size_t>(others - left.begin()) + most / 2;
        for (; next != left.end() && static_cast<std::size_t>(next - left.begin()) < wanted; ++next)
            std::swap(*next, *(next + static_cast<std::ptrdiff_t>(
                                          random_() % static_cast<std::size_t>(left.end() - next))));
        left.erase(next, left.end());
        return left;
    }

    // The candidate with the largest expected improvement. After many runs the next few candidates at once, because the
    // model then takes longer, and changes less.
    std::vector<std::size_t> most_promising() {
        if (costs_.empty()) return {farthest()};
        const double best = learn();
        const std::vector<std::size_t> asked = promising();
        const auto expected = model_.expectations(asked);
        std::vector<std::pair<double, std::size_t>> improvements;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const double deviation = std::max(expected[i].deviation, 1e-12);
            const double z = (best - expected[i].mean) / deviation;
            const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
            improvements.emplace_back(-deviation * (z * normal_probability(z) + density), asked[i]);
        }
        constexpr std::size_t few = 150;
        const std::size_t runs = result_.runs.size();
        const std::size_t count = std::min(improvements.size(), runs < few ? 1 : 1 + runs / 40);
        std::partial_sort(improvements.begin(), improvements.begin() + static_cast<std::ptrdiff_t>(count),
                          improvements.end());
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < count; ++i) chosen.push_back(improvements[i].second);
        return chosen;
    }

    // Among the candidates with the best means, the one with the fewest runs.
    std::size_t least_sure_of_best() {
        if (costs_.empty()) return farthest();
        std::vector<std::size_t> order = by_mean();
        order.resize(std::min<std::size_t>(order.size(), 5));
        return *std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return costs_.at(a).size() < costs_.at(b).size();
        });
    }
    [[nodiscard]] std::vector<std::size_t> by_mean() const {
        std::vector<std::size_t> order;
        for (const auto& [candidate, of] : costs_) order.push_back(candidate);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return loss(mean(costs_.at(a))) < loss(mean(costs_.at(b)));
        });
        return order;
    }

    void name_the_best() {
        if (costs_.empty()) throw input_error("no run of the search ended well");
        const std::vector<std::size_t> order = by_mean();
        // Among repeated candidates, if there are any, because a single run may have been lucky.
        const auto best = std::find_if(order.begin(), order.end(), [&](std::size_t c) {
            return options_.confirm == 0 || costs_.at(c).size() > 1;
        });
        result_.best = best == order.end() ? order.front() : *best;
        result_.cost = mean(costs_.at(result_.best));
        result_.best_runs = costs_.at(result_.best).size();
        for (const std::size_t c : order)
            if (c != result_.best &&
                std::abs(mean(costs_.at(c)) - result_.cost) <= 0.02 * std::abs(result_.cost))
                result_.alternatives.push_back(c);
    }

    const std::vector<factor>& factors_;
    const std::vector<configuration>& candidates_;
    const std::function<double(std::size_t)>& cost_of_;
    const search_options& options_;
    std::mt19937_64 random_;
    surrogate model_;
    std::vector<bool> was_run_;
    std::map<std::size_t, std::vector<double>> costs_;
    search_result result_;
};

}  // namespace

search_result search(const std::vector<factor>& factors, const std::vector<configuration>& candidates,
                     const std::function<double(std::size_t)>& cost_of, const search_options& options) {
    if (candidates.empty()) throw input_error("there is no configuration to search in");
    if (options.budget < 1 || options.confirm >= options.budget)
        throw input_error("a search needs a budget of at least one run, and of more than it confirms with");
    return searcher(factors, candidates, cost_of, options).run();
}

}  // namespace lab
