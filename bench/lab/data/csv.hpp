// lab data: semicolon-separated text, read with line numbers, and written for R, Python and sqlite3
#ifndef LAB_DATA_CSV_HPP
#define LAB_DATA_CSV_HPP

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace lab {

struct csv_row {
    std::size_t line = 0;  // number of the line in the file, from 1; a quoted field may span several lines
    std::vector<std::string> fields;
};

// A file with a header, quoted as in RFC 4180, with `;` between fields. A byte-order mark and CR LF are accepted. Each
// row has as many fields as the header, and names of columns are unique.
struct csv_file {
    std::string name;  // for messages
    std::vector<std::string> header;
    std::vector<csv_row> rows;

    [[nodiscard]] std::optional<std::size_t> column(const std::string& name) const;
    // Throws input_error with a list of the columns. `option` is the option that named the column, as "--cost".
    std::size_t needed(const std::string& name, const std::string& option) const;
    // Throws input_error with the line of the row if the field is no finite number.
    [[nodiscard]] double number(const csv_row& row, std::size_t column) const;
};

// Throws input_error with file and line for: no such file, an empty file, commas or tabs as separators, an unclosed
// quote, a row with another number of fields, two columns of one name, no row.
csv_file read_csv(const std::string& path);
csv_file parse_csv(const std::string& text, const std::string& name);

// `text`, in quotes if necessary.
std::string csv_field(const std::string& text);
// One line, including its end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace lab

#endif
