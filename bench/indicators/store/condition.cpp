// indicators store: parses and checks conditions
#include "indicators/store/condition.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <algorithm>
#include <sstream>

namespace indicators {

condition condition_in(const std::string& text) {
    const std::size_t at = text.find_first_of("=<>!");
    if (at == text.npos || at == 0)
        throw lab::input_error(
            "'" + text + "': write a condition as NAME=VALUE, NAME!=VALUE, NAME>=VALUE, NAME<VALUE, ...");
    condition result{text, text.substr(0, at), {}, {}};
    std::size_t end = at + 1;
    if (end < text.size() && text[end] == '=' && text[at] != '=') ++end;
    result.relation = text.substr(at, end - at);
    if (result.relation == "!") throw lab::input_error("'" + text + "': write != for what is not to be");
    std::istringstream values(text.substr(end));
    for (std::string value; std::getline(values, value, '|');) result.values.push_back(value);
    if (result.values.empty()) result.values.emplace_back();
    if (result.values.size() > 1 && result.relation != "=" && result.relation != "!=")
        throw lab::input_error("'" + text + "': several values go with = and != alone");
    return result;
}

bool condition::holds_for(const std::string& value) const {
    const auto number = lab::number_in(value);
    const auto is_equal = [&](const std::string& wanted) {
        const auto other = lab::number_in(wanted);
        return value == wanted || (number && other && *number == *other);
    };
    const bool any = std::any_of(values.begin(), values.end(), is_equal);
    if (relation == "=" || relation == "!=") return any == (relation == "=");
    const auto limit = lab::number_in(values.front());
    if (!limit) throw lab::input_error("'" + text + "': " + relation + " needs a number");
    if (!number) return false;
    if (relation == "<") return *number < *limit;
    if (relation == "<=") return *number <= *limit;
    if (relation == ">") return *number > *limit;
    return *number >= *limit;
}

}  // namespace indicators
