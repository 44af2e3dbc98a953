// indicators emit: prints one performance indicator as JSON, from any C++20 program
#ifndef INDICATORS_EMIT_INDICATOR_HPP
#define INDICATORS_EMIT_INDICATOR_HPP

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace indicators {

// A JSON value: a text, true or false, a whole number, a number, or a list or an object of these. Throws
// std::invalid_argument for NaN and infinities, which JSON does not have.
class value {
  public:
    using members = std::vector<std::pair<std::string, value>>;

    value(std::string_view text) : json_(quoted(text)) {}
    value(const std::string& text) : json_(quoted(text)) {}
    value(const char* text) : json_(quoted(text)) {}
    template <std::same_as<bool> Bool>
    value(Bool yes) : json_(yes ? "true" : "false") {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    value(Number number) : json_(std::to_string(number)) {}
    value(double number) {
        if (!std::isfinite(number)) throw std::invalid_argument("an indicator can't hold NaN or infinity");
        char text[40];
        json_.assign(text, std::to_chars(text, text + sizeof text, number).ptr);
        if (json_.find_first_not_of("-0123456789") == json_.npos)
            json_ += ".0";  // otherwise it would be a whole number
    }

    static value list(const std::vector<value>& items) {
        std::string all;
        for (const value& item : items) all.append(all.empty() ? "" : ",").append(item.json_);
        return value(raw{"[" + all + "]"});
    }
    static value object(const members& of) {
        std::string all;
        for (const auto& [key, item] : of)
            all.append(all.empty() ? "" : ",").append(quoted(key)).append(":").append(item.json_);
        return value(raw{"{" + all + "}"});
    }

    [[nodiscard]] const std::string& json() const { return json_; }

  private:
    struct raw {
        std::string text;
    };
    explicit value(raw whole) : json_(std::move(whole.text)) {}
    // Bytes from 0x80 on are treated as UTF-8.
    static std::string quoted(std::string_view text) {
        std::string result = "\"";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte < 0x20) {
                result += "\\u00";
                result += "0123456789abcdef"[byte >> 4];
                result += "0123456789abcdef"[byte & 15];
            } else {
                if (c == '"' || c == '\\') result += '\\';
                result += c;
            }
        }
        return result + '"';
    }

    std::string json_;
};

// The output of a program, printed once on standard output, and nothing else there:
//
//     indicators::indicator document("PiSort", "std");
//     document.parameter("items", 1'000'000).result("elapsed_ms", 61.5).score(16.3);
//     std::cout << document.json() << '\n';
//
// The model of this name declares the parameters and results: `bench/run indicator models PiSort`.
class indicator {
  public:
    // \param component  the tested thing, in lower case: "weir", "tensorflow".
    indicator(std::string name, std::string component)
        : name_(std::move(name)), component_(std::move(component)) {}

    // Each of these throws std::invalid_argument for a key that exists: parameters and results share their
    // keys.
    indicator& parameter(const std::string& key, value of) { return add(parameters_, key, std::move(of)); }
    indicator& result(const std::string& key, value of) { return add(results_, key, std::move(of)); }
    // Any other member, kept unchanged: how a program was built ("weir_buildinfo"), tables.
    indicator& extra(const std::string& key, value of) {
        if (key == "name" || key == "component" || key == "framework" || key == "overall_score" ||
            key.starts_with('@'))
            throw std::invalid_argument("'" + key + "' of an indicator means something else");
        return add(extra_, key, std::move(of));
    }
    // More is better.
    indicator& score(double overall) {
        score_ = value(overall).json();
        return *this;
    }

    // One line, without its end.
    [[nodiscard]] std::string json() const {
        value::members all{{"name", name_},
                           {"component", component_},
                           {"@parameters", value::object(parameters_)},
                           {"@result", value::object(results_)}};
        all.insert(all.end(), extra_.begin(), extra_.end());
        std::string text = value::object(all).json();
        if (!score_.empty()) text.insert(text.size() - 1, ",\"overall_score\":" + score_);
        return text;
    }

  private:
    indicator& add(value::members& to, const std::string& key, value of) {
        if (!keys_.insert((&to == &extra_ ? "$." : "") + key).second)
            throw std::invalid_argument("an indicator has '" + key + "' twice");
        to.emplace_back(key, std::move(of));
        return *this;
    }

    std::string name_;
    std::string component_;
    value::members parameters_;
    value::members results_;
    value::members extra_;
    std::string score_;
    std::set<std::string> keys_;
};

}  // namespace indicators

#endif
