#include "settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace tasks {
namespace {

template <class T>
std::optional<T> parsed(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

void take(values& v, const factor& f, const std::string& value, const std::string& from) {
    bool fits = f.has_level(value);
    std::string normal = value;
    if (f.is_number()) {
        const auto n = parsed<integer>(value);
        fits = n && *n >= f.low && *n <= f.high;
        if (fits) normal = std::to_string(*n);
    }
    if (!fits) throw refusal{from + "=" + value + ": " + f.name + " has to be " + f.range_text()};
    v.set(f.name, normal);
}

double seconds_of(const std::string& text) {
    const auto seconds = parsed<double>(text);
    if (!seconds || !std::isfinite(*seconds) || *seconds <= 0 || *seconds > 86'400) {
        throw refusal{"--time " + text + ": it takes seconds, more than 0 and up to 86400"};
    }
    return *seconds;
}

void read_environment(values& v) {
    for (const factor& f : factors()) {
        std::string variable = f.name;
        std::ranges::transform(variable, variable.begin(), [](unsigned char c) { return std::toupper(c); });
        const char* const value = std::getenv(variable.c_str());
        if (value != nullptr) take(v, f, value, variable);
    }
}

// "a=x|y" holds.
bool holds(const values& v, const std::string& clause) {
    const std::size_t equals = clause.find('=');
    std::istringstream levels(clause.substr(equals + 1));
    for (std::string level; std::getline(levels, level, '|');) {
        if (v.is(clause.substr(0, equals), level)) return true;
    }
    return false;
}

std::string as_it_is(const values& v, const std::string& name) { return name + "=" + v.text(name); }

}  // namespace

std::string values::text(const std::string& name) const {
    const auto found = all_.find(name);
    return found != all_.end() ? found->second : find_factor(name)->base_text();
}

integer values::of(const std::string& name) const { return *parsed<integer>(text(name)); }

settings read_settings(int argc, char** argv) {
    settings s;
    read_environment(s.asked);
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        const std::size_t equals = arg.find('=');
        const std::string option = arg.substr(0, equals);
        const auto value = [&]() -> std::string {
            if (equals != arg.npos) return arg.substr(equals + 1);
            if (++i == argc) throw refusal{option + " takes a value: " + option + "=VALUE"};
            return argv[i];
        };
        const factor* const f = option.starts_with("--") ? find_factor(option.substr(2)) : nullptr;
        if (f != nullptr) {
            take(s.asked, *f, value(), option);
        } else if (option == "--time") {
            s.seconds = seconds_of(value());
        } else if (arg == "--table") {
            s.table = true;
        } else if (arg == "--list-factors") {
            s.list = true;
        } else if (arg == "--help" || arg == "-h") {
            s.help = true;
        } else {
            throw refusal{arg +
                          ": there is no such option; --list-factors lists all factors, --help the rest"};
        }
    }
    if (s.seconds && s.asked.has("app_items")) {
        throw refusal{"--time finds out how many items there are, so app_items can't be given with it"};
    }
    return s;
}

void check_constraints(const values& v) {
    for (const std::string& each : constraints()) {
        std::istringstream words(each);
        std::string left, relation, right;
        words >> left >> relation >> right;
        if (relation == ">=" && v.of(left) < v.of(right)) {
            throw refusal{"it has to be " + each + ": here is " + as_it_is(v, left) + ", " +
                          as_it_is(v, right)};
        }
        if (relation == "requires" && holds(v, left) && !holds(v, right)) {
            throw refusal{each + ": here is " + as_it_is(v, right.substr(0, right.find('=')))};
        }
        if (relation == "excludes" && holds(v, left) && holds(v, right)) throw refusal{each};
    }
}

void check_effective(const values& asked, const values& effective) {
    for (const factor& f : factors()) {
        if (!asked.has(f.name) || !effective.has(f.name) || asked.text(f.name) == effective.text(f.name))
            continue;
        throw refusal{as_it_is(asked, f.name) + " was asked for, and it is " + effective.text(f.name) +
                      (f.how == applied::by_preload ? ": load the library by LD_PRELOAD"
                       : f.how == applied::by_flags ? ": build it so (see bench/CMakeLists.txt)"
                                                    : "")};
    }
}

}  // namespace tasks
