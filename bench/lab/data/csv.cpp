// lab data: reads and writes semicolon-separated text
#include "lab/data/csv.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace lab {

namespace {

class csv_reader {
  public:
    csv_reader(const std::string& text, const std::string& name) : text_(text), name_(name) {
        if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    }

    [[nodiscard]] bool more() const { return at_ < text_.size(); }

    csv_row row() {
        csv_row result{line_, {}};
        for (;;) {
            result.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
            if (at_ < text_.size() && text_[at_] == ';') {
                ++at_;
                continue;
            }
            end_of_line();
            return result;
        }
    }

  private:
    std::string plain() {
        const std::size_t end = std::min(text_.find_first_of(";\n\r", at_), text_.size());
        std::string field = text_.substr(at_, end - at_);
        at_ = end;
        return field;
    }
    std::string quoted() {
        const std::size_t begin = line_;
        std::string field;
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') {
                if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
                    ++at_;
                    if (at_ < text_.size() && text_.find_first_of(";\n\r", at_) != at_) {
                        throw input_error(name_, begin,
                                          "there is text behind a closing quote; write \"\" for "
                                          "a quote inside of a field");
                    }
                    return field;
                }
                ++at_;
            } else if (text_[at_] == '\n') {
                ++line_;
            }
            field += text_[at_];
        }
        throw input_error(name_, begin, "a quote is opened here and never closed");
    }
    void end_of_line() {
        if (at_ < text_.size() && text_[at_] == '\r') ++at_;
        if (at_ < text_.size() && text_[at_] == '\n') ++at_;
        ++line_;
    }

    const std::string& text_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
};

void check_header(const csv_file& file) {
    if (file.header.size() == 1) {
        for (const auto& [separator, called] : {std::pair{',', "commas"}, std::pair{'\t', "tabs"}}) {
            if (file.header[0].find(separator) != std::string::npos) {
                throw input_error(file.name, 1,
                                  std::string("the columns are separated by ") + called +
                                      "; write semicolons (and a point as decimal sign)");
            }
        }
    }
    std::set<std::string> seen;
    for (const std::string& name : file.header) {
        if (name.empty())
            throw input_error(file.name, 1, "a column has no name; the first line names them all");
        if (!seen.insert(name).second)
            throw input_error(file.name, 1, "two columns are called '" + name + "'");
    }
}

}  // namespace

std::optional<std::size_t> csv_file::column(const std::string& column_name) const {
    const auto found = std::find(header.begin(), header.end(), column_name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

std::size_t csv_file::needed(const std::string& wanted, const std::string& option) const {
    if (const auto found = column(wanted)) return *found;
    throw input_error(name, 1,
                      "there is no column '" + wanted + "' (" + option + "); there is " + joined(header));
}

double csv_file::number(const csv_row& row, std::size_t place) const {
    if (const auto value = number_in(row.fields[place])) return *value;
    const std::string& text = row.fields[place];
    std::string hint = "write a finite number with a point as decimal sign";
    if (text.empty() || lower(text) == "nan" || lower(text) == "na") {
        hint = "leave the row out, or say in a column @status that this run is not ok";
    } else if (text.find(',') != std::string::npos) {
        hint = "the decimal sign is a point";
    }
    throw input_error(name, row.line, "'" + text + "' as " + header[place] + " is no number; " + hint);
}

csv_file parse_csv(const std::string& text, const std::string& name) {
    csv_file file{name, {}, {}};
    csv_reader from(text, name);
    while (from.more()) {
        csv_row row = from.row();
        const bool blank = row.fields.size() == 1 && row.fields[0].empty();
        if (file.header.empty()) {
            if (blank)
                throw input_error(name, row.line, "the first line is empty; it has to name the columns");
            file.header = std::move(row.fields);
            check_header(file);
        } else if (blank && file.header.size() > 1) {
            continue;
        } else if (row.fields.size() != file.header.size()) {
            throw input_error(name, row.line,
                              "there are " + std::to_string(row.fields.size()) + " fields, and " +
                                  std::to_string(file.header.size()) + " columns in the first line");
        } else {
            file.rows.push_back(std::move(row));
        }
    }
    if (file.header.empty()) throw input_error(name, "is empty; its first line has to name the columns");
    return file;
}

csv_file read_csv(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw input_error(path, "can't be opened; is there a file of that name that you may read?");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) throw input_error(path, "can't be read; is it a file?");
    return parse_csv(text, path);
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(";\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ";") + csv_field(fields[i]);
    return line + '\n';
}

}  // namespace lab
