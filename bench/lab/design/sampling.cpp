// lab design: random draws that satisfy the constraints
#include "lab/design/sampling.hpp"

#include "lab/data/input_error.hpp"
#include "lab/design/constraints.hpp"
#include "lab/design/whole_plots.hpp"
#include "lab/stats/shuffle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace lab {

std::vector<std::vector<double>> planned_values(const factor_file& file, std::size_t number_levels) {
    std::vector<std::vector<double>> result;
    for (const factor& f : file.factors) {
        std::vector<double>& values = result.emplace_back();
        if (!f.is_number()) {
            values.resize(f.levels.size());
            std::iota(values.begin(), values.end(), 0.0);
            continue;
        }
        std::set<double> different;
        for (std::size_t i = 0; i < number_levels; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(number_levels - 1);
            const double value =
                f.logarithmic ? f.low * std::pow(f.high / f.low, share) : f.low + share * (f.high - f.low);
            different.insert(std::clamp(f.integer ? std::round(value) : value, f.low, f.high));
        }
        const std::size_t place = result.size() - 1;
        for (const constraint& c : file.constraints) {
            if (c.first == place) different.insert(c.first_values.begin(), c.first_values.end());
            if (c.second == place) different.insert(c.second_values.begin(), c.second_values.end());
        }
        values.assign(different.begin(), different.end());
    }
    return result;
}

configuration random_configuration(const factor_file& file, const std::vector<std::vector<double>>& values,
                                   std::mt19937_64& random) {
    std::vector<std::vector<double>> tried = values;
    for (std::vector<double>& of_factor : tried) shuffle(of_factor, random);
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, random);
    const std::optional<configuration> found = allowed_configuration(file, tried, order);
    if (!found)
        throw input_error(
            file.name,
            "no configuration of the values that a plan tries satisfies all constraints; try more values "
            "of numbers (--levels-of-numbers)");
    return *found;
}

std::vector<configuration> random_configurations(const factor_file& file,
                                                 const std::vector<std::vector<double>>& values,
                                                 std::size_t count, std::mt19937_64& random,
                                                 const std::vector<configuration>& builds) {
    std::vector<configuration> result;
    std::set<configuration> seen;
    constexpr int most_tries = 100;
    while (result.size() < count) {
        const auto left = values_of_run(file, values, builds, result.size());
        configuration drawn = random_configuration(file, left, random);
        for (int tries = 0; tries < most_tries && seen.contains(drawn); ++tries)
            drawn = random_configuration(file, left, random);
        seen.insert(drawn);
        result.push_back(std::move(drawn));
    }
    return result;
}

std::vector<configuration> around(const factor_file& file, const std::vector<std::vector<double>>& values,
                                  const configuration& centre) {
    std::vector<configuration> result{centre};
    for (std::size_t f = 0; f < values.size(); ++f) {
        for (const double value : values[f]) {
            configuration changed = centre;
            changed[f] = value;
            if (value != centre[f] && file.allows(changed)) result.push_back(std::move(changed));
        }
    }
    return result;
}

std::vector<configuration> all_configurations(const factor_file& file,
                                              const std::vector<std::vector<double>>& values,
                                              std::size_t most) {
    std::vector<configuration> result;
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    visit_allowed(file, values, order, [&](const configuration& found) {
        if (result.size() == most)
            throw input_error(file.name, "has more than " + std::to_string(most) +
                                             " configurations; give --runs more, or choose another --kind");
        result.push_back(found);
        return true;
    });
    return result;
}

}  // namespace lab
