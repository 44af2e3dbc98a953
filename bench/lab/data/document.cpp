// lab data: prints JSON as tables for people
#include "lab/data/document.hpp"

#include "lab/data/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace lab {

namespace {

bool is_plain(const json& value) { return !value.is_object() && !value.is_array(); }
bool is_plain_list(const json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), is_plain);
}
bool is_table(const json& value) {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_object(); });
}

std::string cell(const json& value) {
    if (value.is_null()) return "-";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number_float())
        return std::isfinite(value.get<double>()) ? short_text(value.get<double>()) : "-";
    if (value.is_array() || value.is_object()) {
        std::string text;
        for (auto i = value.begin(); i != value.end(); ++i) {
            text += (text.empty() ? "" : ", ") + (value.is_object() ? i.key() + "=" : "") + cell(*i);
        }
        return text;
    }
    return value.dump();
}

// In characters, not bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

void show_table(const json& rows, const std::string& indent, std::ostream& out) {
    std::vector<std::string> columns;
    for (const json& row : rows) {
        for (auto i = row.begin(); i != row.end(); ++i) {
            if (std::find(columns.begin(), columns.end(), i.key()) == columns.end())
                columns.push_back(i.key());
        }
    }
    std::vector<std::vector<std::string>> cells{columns};
    std::vector<bool> numbers(columns.size(), true);
    for (const json& row : rows) {
        std::vector<std::string> line;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const auto found = row.find(columns[c]);
            line.push_back(found == row.end() ? "" : cell(*found));
            if (found != row.end() && !found->is_number() && !found->is_null()) numbers[c] = false;
        }
        cells.push_back(std::move(line));
    }
    std::vector<std::size_t> widths(columns.size());
    for (const auto& line : cells)
        for (std::size_t c = 0; c < columns.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
    for (const auto& line : cells) {
        std::string text;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::string fill(widths[c] - width_of(line[c]), ' ');
            text += (c == 0 ? "" : "  ") + (numbers[c] ? fill + line[c] : line[c] + fill);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out << indent << text << '\n';
    }
}

void show_members(const json& object, const std::string& indent, std::ostream& out) {
    std::size_t width = 0;
    for (auto i = object.begin(); i != object.end(); ++i) {
        if (is_plain(*i) || is_plain_list(*i)) width = std::max(width, width_of(i.key()));
    }
    for (auto i = object.begin(); i != object.end(); ++i) {
        if (is_table(*i)) {
            out << indent << i.key() << ":\n";
            show_table(*i, indent + "  ", out);
        } else if (i->is_object() && !i->empty()) {
            out << indent << i.key() << ":\n";
            show_members(*i, indent + "  ", out);
        } else {
            out << indent << i.key() << std::string(width - std::min(width, width_of(i.key())), ' ') << "  "
                << (i->empty() && !is_plain(*i) ? "none" : cell(*i)) << '\n';
        }
    }
}

}  // namespace

std::string plain_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void show(const json& document, bool as_json, std::ostream& out) {
    if (as_json) {
        out << document.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    } else {
        show_members(document, "", out);
    }
}

}  // namespace lab
