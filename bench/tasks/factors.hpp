// tasks: all factors as data: levels or range, how a factor is set, and its effect.
#ifndef BENCH_TASKS_FACTORS_HPP
#define BENCH_TASKS_FACTORS_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tasks {

using integer = long long;

// The way in which a value of a plan reaches the program.
enum class applied {
    by_argument,
    by_preload,  // LD_PRELOAD
    by_flags,    // by flags of the compiler
};

struct choice {
    std::string level;
    std::string with;  // a library to preload, or flags; else empty
};

struct factor {
    std::string name;
    std::vector<choice> levels;  // the first is the base; empty for a number
    integer low = 0;
    integer high = 0;
    integer base = 0;
    bool logarithmic = false;
    applied how = applied::by_argument;
    // 1: environment or a setting that takes nothing away; 2: another build; 3: a setting that takes features away
    int tier = 1;
    bool removes_feature = false;
    std::string about;

    bool is_number() const { return levels.empty(); }
    bool has_level(std::string_view level) const;
    std::string base_text() const { return is_number() ? std::to_string(base) : levels.front().level; }
    // The allowed values, for an error message.
    std::string range_text() const;
};

// The exception for a mistake of the user; the program ends with exit status 2.
struct refusal {
    std::string why;
};

const std::vector<factor>& factors();
const factor* find_factor(std::string_view name);

// "a=x|y requires b=z", "a=x excludes b=y" and "a >= b".
const std::vector<std::string>& constraints();

// Tasks on the executor alone have no queues, stages or statistics: these factors are then at their base.
const std::vector<std::string>& factors_of_pipelines();

// The factor file of `lab plan`.
std::string factor_file();

}  // namespace tasks

#endif
