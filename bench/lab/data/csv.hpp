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
    std::size_t line = 0;  // of the file, from 1: a quoted field may go over several
    std::vector<std::string> fields;
};

// A file with a header, quoted as RFC 4180 has it, with `;` between fields; a byte-order mark and CR LF are read, too.
// Each row has as many fields as the header, each column a name of its own.
struct csv_file {
    std::string name;  // as messages show it
    std::vector<std::string> header;
    std::vector<csv_row> rows;

    [[nodiscard]] std::optional<std::size_t> column(const std::string& name) const;
    // Throws input_error, which lists the columns there are; `option` is what asked for it, as "--cost".
    std::size_t needed(const std::string& name, const std::string& option) const;
    // Throws input_error with the row's line if that is no finite number.
    [[nodiscard]] double number(const csv_row& row, std::size_t column) const;
};

// Throws input_error with file and line: no such file, nothing in it, commas or tabs as separators, a quote that isn't
// closed, a row with another number of fields, two columns of one name, no row.
csv_file read_csv(const std::string& path);
csv_file parse_csv(const std::string& text, const std::string& name);

// `text`, in quotes if it needs them.
std::string csv_field(const std::string& text);
// One line, with its end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace lab

#endif
