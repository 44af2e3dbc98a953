// lab data: the text form of values of factors
#include "lab/data/factor.hpp"

#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

namespace lab {

std::string factor::text_of(double value) const {
    if (is_number()) return exact_text(value);
    return levels.at(static_cast<std::size_t>(value));
}

std::string factor::treatment(double value) const {
    if (kind == factor_kind::on_off) return value == 1 ? name : name + "=" + text_of(value);
    if (was_columns) return text_of(value);
    return name + "=" + text_of(value);
}

std::optional<std::size_t> place_of(const std::vector<factor>& factors, const std::string& name) {
    for (std::size_t f = 0; f < factors.size(); ++f)
        if (factors[f].name == name) return f;
    return std::nullopt;
}

std::string names_of(const std::vector<factor>& factors) {
    std::vector<std::string> names;
    for (const factor& f : factors) names.push_back(f.name);
    return joined(names);
}

std::string configuration_text(const std::vector<factor>& factors, const configuration& values) {
    std::string text;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        if (values[i] == factors[i].base_value()) continue;
        text += (text.empty() ? "" : " + ") + factors[i].treatment(values[i]);
    }
    return text.empty() ? "(base)" : text;
}

}  // namespace lab
