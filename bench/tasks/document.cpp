#include "document.hpp"

#include "common/weir_buildinfo.hpp"
#include "indicators/emit/indicator.hpp"

#include <cmath>
#include <cstdio>
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

}  // namespace

document::document(values effective) : parameters(std::move(effective)) {
    for (const factor& f : factors()) {
        if (!parameters.has(f.name)) throw std::logic_error("nobody knows what became of " + f.name);
    }
}

std::string document::json() const {
    indicators::indicator all("WeirTasks", "weir");
    for (const factor& f : factors()) {
        if (f.is_number()) {
            all.parameter(f.name, parameters.of(f.name));
        } else {
            all.parameter(f.name, parameters.text(f.name));
        }
    }
    for (const figure& f : results) {
        if (f.is_count) {
            all.result(f.name, static_cast<integer>(f.value));
        } else if (std::isfinite(f.value)) {
            all.result(f.name, f.value);
        }
    }
    if (std::isfinite(overall_score)) all.score(overall_score);
    all.extra("weir_buildinfo", bench::weir_buildinfo());
    all.extra("about", indicators::value::object(indicators::value::members(about.begin(), about.end())));
    return all.json() + "\n";
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
