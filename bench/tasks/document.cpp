#include "document.hpp"

#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace tasks {
namespace {

std::string text_of(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", std::isfinite(value) ? value : 0.0);
    return text;
}

std::string text_of(const figure& f) {
    return f.is_count ? std::to_string(static_cast<integer>(f.value)) : text_of(f.value);
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

}  // namespace

document::document(values effective) : parameters(std::move(effective)) {
    for (const factor& f : factors()) {
        if (!parameters.has(f.name)) throw std::logic_error("nobody knows what became of " + f.name);
    }
}

std::string document::json() const {
    std::ostringstream out;
    out << R"({"name":"WeirTasks","component":"weir","@parameters":{)";
    const char* between = "";
    const auto member = [&](const std::string& name, const std::string& value) {
        out << std::exchange(between, ",") << quoted(name) << ":" << value;
    };
    for (const factor& f : factors()) {
        const std::string value = parameters.text(f.name);
        member(f.name, f.is_number() ? value : quoted(value));
    }
    out << R"(},"@result":{)";
    between = "";
    for (const figure& f : results) member(f.name, text_of(f));
    out << R"(},"overall_score":)" << text_of(overall_score) << R"(,"about":{)";
    between = "";
    for (const auto& [name, value] : about) member(name, quoted(value));
    out << "}}\n";
    return out.str();
}

std::string document::table() const {
    std::string out;
    const auto row = [&out](const std::string& name, const std::string& value, const char* note = "") {
        char line[400];
        std::snprintf(line, sizeof line, "  %-22s %14s%s\n", name.c_str(), value.c_str(), note);
        out += line;
    };
    out += "result\n";
    for (const figure& f : results) row(f.name, text_of(f));
    out += "settings\n";
    for (const factor& f : factors()) {
        const std::string value = parameters.text(f.name);
        row(f.name, value, value == f.base_text() ? "" : "  *");
    }
    out += "  (*: not as it is where nothing is set)\nabout\n";
    for (const auto& [name, value] : about) out += "  " + name + ": " + value + "\n";
    return out;
}

}  // namespace tasks
