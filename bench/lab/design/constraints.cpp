// lab design: parses constraints
#include "lab/design/constraints.hpp"

#include "lab/data/input_error.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace lab {

namespace {

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class side_reader {
  public:
    side_reader(const std::vector<factor>& factors, const std::string& whole, const std::string& file,
                std::size_t line)
        : factors_(factors), whole_(whole), file_(file), line_(line) {}

    [[nodiscard]] std::size_t factor_named(const std::string& name) const {
        if (const auto place = place_of(factors_, name)) return *place;
        fail("there is no factor '" + name + "'; there are " + names_of(factors_));
    }
    // "name" or "name=value|value".
    [[nodiscard]] std::pair<std::size_t, std::vector<double>> side(const std::string& text) const {
        const std::size_t equals = text.find('=');
        const std::size_t f = factor_named(trimmed(text.substr(0, equals)));
        const factor& what = factors_[f];
        std::vector<double> values;
        if (equals == std::string::npos) {
            if (what.is_number())
                fail("which values of the number " + what.name + "? Write " + what.name + "=VALUE");
            for (std::size_t level = 1; level < what.levels.size(); ++level)
                values.push_back(static_cast<double>(level));
            return {f, values};
        }
        std::string rest = text.substr(equals + 1) + "|";
        for (std::size_t bar = rest.find('|'); bar != std::string::npos; bar = rest.find('|')) {
            const std::string value = trimmed(rest.substr(0, bar));
            const std::optional<double> number = value_of(what, value);
            if (!number) fail(what.name + " can't be '" + value + "'; it is " + values_text(what));
            values.push_back(*number);
            rest.erase(0, bar + 1);
        }
        return {f, values};
    }
    [[noreturn]] void fail(const std::string& message) const {
        throw input_error(file_, line_, "in the constraint '" + whole_ + "': " + message);
    }

  private:
    const std::vector<factor>& factors_;
    const std::string& whole_;
    const std::string& file_;
    std::size_t line_;
};

bool has(const std::vector<double>& values, double value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

constraint parse_constraint(const std::string& text, const std::vector<factor>& factors,
                            const std::string& file, std::size_t line) {
    const side_reader reader(factors, text, file, line);
    constraint result;
    result.text = text;
    result.line = line;
    for (const auto& [word, kind] : {std::pair(" requires ", constraint::kind::requirement),
                                     std::pair(" excludes ", constraint::kind::exclusion)}) {
        const std::size_t at = text.find(word);
        if (at == std::string::npos) continue;
        result.what = kind;
        std::tie(result.first, result.first_values) = reader.side(trimmed(text.substr(0, at)));
        std::tie(result.second, result.second_values) =
            reader.side(trimmed(text.substr(at + std::string(word).size())));
        if (result.first == result.second)
            reader.fail(factors[result.first].name +
                        " conflicts with itself; a constraint is of two factors");
        return result;
    }
    for (const char* relation : {">=", "<=", ">", "<"}) {
        const std::size_t at = text.find(relation);
        if (at == std::string::npos) continue;
        result.relation = relation;
        result.first = reader.factor_named(trimmed(text.substr(0, at)));
        result.second = reader.factor_named(trimmed(text.substr(at + result.relation.size())));
        if (result.first == result.second)
            reader.fail(factors[result.first].name +
                        " conflicts with itself; a constraint is of two factors");
        for (const std::size_t f : {result.first, result.second})
            if (!factors[f].is_number())
                reader.fail(factors[f].name + " is no number, and can't be compared");
        return result;
    }
    reader.fail("write 'a=x requires b=y', 'a=x excludes b=y' or 'a >= b'");
}

bool constraint::holds(const configuration& values) const {
    const double a = values[first];
    const double b = values[second];
    if (what == kind::relation)
        return relation == ">=" ? a >= b : relation == "<=" ? a <= b : relation == ">" ? a > b : a < b;
    if (!has(first_values, a)) return true;
    return has(second_values, b) == (what == kind::requirement);
}

namespace {

// Removes values that no value of another factor allows, until nothing changes. Returns false as soon as a
// factor has no value left.
bool prune(const factor_file& file, std::vector<std::vector<double>>& left) {
    configuration two(left.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (const constraint& c : file.constraints) {
            for (const auto& [f, other] : {std::pair(c.first, c.second), std::pair(c.second, c.first)}) {
                const std::size_t place = f;
                const std::size_t partner = other;
                const auto taken = std::erase_if(left[place], [&](double value) {
                    two[place] = value;
                    return std::none_of(left[partner].begin(), left[partner].end(), [&](double beside) {
                        two[partner] = beside;
                        return c.holds(two);
                    });
                });
                if (left[place].empty()) return false;
                changed = changed || taken > 0;
            }
        }
    }
    return true;
}

}  // namespace

void visit_allowed(const factor_file& file, const std::vector<std::vector<double>>& tried,
                   const std::vector<std::size_t>& order,
                   const std::function<bool(const configuration&)>& visit) {
    const std::function<bool(std::vector<std::vector<double>>, std::size_t)> choose =
        [&](std::vector<std::vector<double>> left, std::size_t next) {
            if (!prune(file, left)) return true;
            if (next == order.size()) {
                configuration values;
                for (const std::vector<double>& of_factor : left) values.push_back(of_factor.front());
                return visit(values);
            }
            for (const double value : left[order[next]]) {
                std::vector<std::vector<double>> with = left;
                with[order[next]] = {value};
                if (!choose(std::move(with), next + 1)) return false;
            }
            return true;
        };
    choose(tried, 0);
}

std::optional<configuration> allowed_configuration(const factor_file& file,
                                                   const std::vector<std::vector<double>>& tried,
                                                   const std::vector<std::size_t>& order) {
    std::optional<configuration> first;
    visit_allowed(file, tried, order, [&](const configuration& found) {
        first = found;
        return false;
    });
    return first;
}

bool allows_anything(const factor_file& file) {
    std::vector<std::vector<double>> tried;
    std::vector<std::size_t> order;
    for (std::size_t f = 0; f < file.factors.size(); ++f) {
        const factor& what = file.factors[f];
        std::set<double> values;
        for (std::size_t level = 0; level < what.levels.size(); ++level)
            values.insert(static_cast<double>(level));
        if (what.is_number()) values.insert({what.low, what.base, what.high});
        for (const constraint& c : file.constraints) {
            if (c.first == f) values.insert(c.first_values.begin(), c.first_values.end());
            if (c.second == f) values.insert(c.second_values.begin(), c.second_values.end());
        }
        tried.emplace_back(values.begin(), values.end());
        order.push_back(f);
    }
    return allowed_configuration(file, tried, order).has_value();
}

}  // namespace lab
