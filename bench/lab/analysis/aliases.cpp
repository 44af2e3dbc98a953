// lab analysis: names the columns that can't be distinguished
#include "lab/analysis/model_matrix.hpp"
#include "lab/analysis/normal_equations.hpp"
#include "lab/data/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

namespace {

std::string why_aliased(const model_matrix& model, const normal_equations& equations, Eigen::Index column) {
    const auto parts = equations.made_of(column);
    if (model.values.col(column).cwiseAbs().maxCoeff() == 0) {
        return model.columns[static_cast<std::size_t>(column)].treatments.size() == 2 ? "never on together"
                                                                                      : "never on";
    }
    constexpr std::size_t most = 6;
    std::string text = "=";
    for (std::size_t i = 0; i < std::min(parts.size(), most); ++i) {
        const auto& [other, coefficient] = parts[i];
        text += coefficient < 0 ? " - " : i == 0 ? " " : " + ";
        const double size = std::abs(coefficient);
        const std::string& name = model.columns[static_cast<std::size_t>(other)].name;
        const bool constant = name == "(intercept)";
        if (constant || std::abs(size - 1) > 1e-6) text += short_text(size, 4);
        if (!constant) text += (std::abs(size - 1) > 1e-6 ? " " : "") + name;
    }
    if (parts.size() > most) text += " ... (" + std::to_string(parts.size()) + " terms)";
    return text;
}

}  // namespace

aliased_term alias_of(const model_matrix& model, const normal_equations& equations, Eigen::Index column) {
    return {model.columns[static_cast<std::size_t>(column)].name, why_aliased(model, equations, column)};
}

std::vector<aliased_term> aliases_of(const model_matrix& model) {
    const Eigen::MatrixXd gram = model.values.transpose() * model.values;
    const normal_equations equations(gram);
    std::vector<aliased_term> result;
    for (const Eigen::Index c : equations.left_out()) result.push_back(alias_of(model, equations, c));
    return result;
}

}  // namespace lab
