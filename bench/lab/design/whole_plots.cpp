// lab design: the builds of a plan
#include "lab/design/whole_plots.hpp"

#include "lab/design/exchange.hpp"

#include <algorithm>
#include <set>

namespace lab {

std::size_t usual_builds(const factor_file& file, std::size_t runs) {
    std::size_t effects = 1;
    for (const factor& f : file.factors)
        if (f.hard_to_change) effects += f.is_number() ? 1 : f.levels.size() - 1;
    return std::max<std::size_t>(1, std::min(2 * effects, runs / 2));
}

std::vector<configuration> whole_plots(const factor_file& file,
                                       const std::vector<std::vector<double>>& values, std::size_t count,
                                       std::mt19937_64& random) {
    std::vector<std::size_t> hard;
    double combinations = 1;
    for (std::size_t f = 0; f < file.factors.size(); ++f) {
        if (!file.factors[f].hard_to_change) continue;
        hard.push_back(f);
        combinations *= static_cast<double>(values[f].size());
    }
    std::vector<configuration> result;
    if (hard.empty() || combinations <= static_cast<double>(count)) return result;
    std::set<configuration> seen;
    for (const configuration& drawn : balanced_plan(file, values, count, random)) {
        configuration build;
        for (const std::size_t f : hard) build.push_back(drawn[f]);
        if (seen.insert(build).second) result.push_back(drawn);
    }
    return result;
}

std::vector<std::vector<double>> values_of_run(const factor_file& file,
                                               const std::vector<std::vector<double>>& values,
                                               const std::vector<configuration>& builds, std::size_t run) {
    std::vector<std::vector<double>> result = values;
    if (builds.empty()) return result;
    const configuration& build = builds[run % builds.size()];
    for (std::size_t f = 0; f < values.size(); ++f)
        if (file.factors[f].hard_to_change) result[f] = {build[f]};
    return result;
}

}  // namespace lab
