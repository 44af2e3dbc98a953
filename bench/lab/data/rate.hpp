// lab data: a cost expressed as a rate
#ifndef LAB_DATA_RATE_HPP
#define LAB_DATA_RATE_HPP

#include <array>
#include <string>
#include <utility>

namespace lab {

// rate = scale / cost, in `unit`.
struct rate_scale {
    double scale = 1;
    std::string unit;
};

// "time_per_task_us" and "us_per_task" are microseconds, so a million divided by the cost is a rate per second. If
// the name has no unit of time, the rate is the reciprocal.
inline rate_scale rate_of(const std::string& cost_name) {
    static const std::array<std::pair<const char*, double>, 4> units{
        {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}};
    const std::string name = "_" + cost_name + "_";
    for (const auto& [unit, scale] : units)
        if (name.find(std::string("_") + unit + "_") != std::string::npos) return {scale, "per second"};
    return {1, "1 / " + cost_name};
}

}  // namespace lab

#endif
