// lab driver: reads scores and settings from the output of a program
#include "lab/driver/score.hpp"

#include "lab/data/document.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace lab {

namespace {

std::optional<json> document_in(const std::string& output) {
    json whole = json::parse(output, nullptr, false);
    if (whole.is_object()) return whole;
    std::istringstream lines(output);
    std::optional<json> last;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('{')) continue;
        json parsed = json::parse(line, nullptr, false);
        if (parsed.is_object()) last = std::move(parsed);
    }
    return last;
}

const json* value_at(const json& document, const std::string& path) {
    const json* at = &document;
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(part);
        if (found == at->end()) return nullptr;
        at = &*found;
    }
    return at;
}

// The last word with a digit, or a word such as "nan"; without "score=" before it and letters of a unit after it. Empty if
// this is no complete number: "1,5" is not 5.
std::optional<double> last_number(const std::string& output) {
    std::istringstream words(output);
    std::string last;
    for (std::string word; words >> word;) {
        const std::string value = lower(word.substr(word.find_last_of("=:") + 1));  // npos + 1 is 0
        const bool no_number = value == "nan" || value == "-nan" || value == "inf" || value == "-inf";
        if (no_number || word.find_first_of("0123456789") != std::string::npos) last = value;
    }
    while (!last.empty() &&
           (last.back() == '%' || last.back() == ';' || (last.back() >= 'a' && last.back() <= 'z')))
        last.pop_back();
    return number_in(last);
}

// "1", "on", "true" and "yes" are equal, and so are their opposites.
std::string plain(const std::string& text) {
    if (text == "on" || text == "true" || text == "yes") return "1";
    if (text == "off" || text == "false" || text == "no") return "0";
    return text;
}

bool same(const factor& what, double planned, const json& echoed) {
    const std::string text = plain_text(echoed);
    if (what.is_number()) {
        const std::optional<double> number = number_in(text);
        return number && std::abs(*number - planned) <= 1e-9 * std::max(1.0, std::abs(planned));
    }
    return plain(text) == plain(what.text_of(planned));
}

}  // namespace

reported report_in(const std::string& output, const factor_file& file, const configuration& planned) {
    reported result;
    const auto no_result = [&](const std::string& why) {
        result.status = "no result";
        result.message = why;
        return result;
    };
    const std::optional<json> document = document_in(output);
    if (document) {
        const json* echo = value_at(*document, "@parameters");
        if (echo == nullptr) echo = value_at(*document, "parameters");
        for (std::size_t f = 0; f < file.factors.size(); ++f) {
            const factor& what = file.factors[f];
            const bool said = echo != nullptr && echo->is_object() && echo->contains(what.name);
            if (!said) {
                result.not_echoed.push_back(what.name);
            } else if (!same(what, planned[f], (*echo)[what.name])) {
                result.status = "wrong settings";
                result.message += (result.message.empty() ? "" : "; ") + what.name + ": planned " +
                                  what.text_of(planned[f]) + ", and it had " + plain_text((*echo)[what.name]);
            }
        }
        if (result.status != "ok") return result;
    } else {
        for (const factor& what : file.factors) result.not_echoed.push_back(what.name);
    }
    const bool last = file.score == "last number";
    std::vector<std::string> paths = file.also;
    if (!last) paths.push_back(file.score);
    if (!document && !paths.empty()) return no_result("what it wrote is no JSON object");
    for (const std::string& path : paths) {
        const json* number = value_at(*document, path);
        if (number == nullptr) return no_result("its document has no '" + path + "'");
        if (!number->is_number() || !std::isfinite(number->get<double>()))
            return no_result("'" + path + "' is " + number->dump() + ", no number");
        result.also.push_back(number->get<double>());
    }
    if (last) {
        const std::optional<double> number = last_number(output);
        if (!number) return no_result("the last word of what it wrote is no number");
        result.cost = *number;
    } else {
        result.cost = result.also.back();
        result.also.pop_back();
    }
    return result;
}

}  // namespace lab
