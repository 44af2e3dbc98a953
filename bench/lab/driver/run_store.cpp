// lab driver: writes the CSV first, then SQLite
#include "lab/driver/run_store.hpp"

#include "lab/data/csv.hpp"
#include "lab/data/database.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lab {

namespace {

// Flushes the file to the disk, if the system supports that.
void sync(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::fsync(file);
    ::close(file);
}

}  // namespace

// The same rows, in a table whose first column is its key.
class run_store::table {
  public:
    table(const std::string& path, const std::vector<std::string>& columns)
        : file_(path), insert_(file_, made(file_, columns)) {}

    // Inserts all at once, except rows that exist.
    void add_all(const std::vector<std::vector<std::string>>& rows) {
        transaction all(file_);
        for (const std::vector<std::string>& row : rows) add(row);
        all.commit();
    }
    void add(const std::vector<std::string>& row) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            const int place = static_cast<int>(c) + 1;
            if (row[c].empty()) {
                insert_.bind_null(place);
            } else if (const auto number = number_in(row[c])) {
                constexpr double most_whole = 9e15;
                if (std::abs(*number) < most_whole && std::floor(*number) == *number) {
                    insert_.bind(place, static_cast<std::int64_t>(*number));
                } else {
                    insert_.bind(place, *number);
                }
            } else {
                insert_.bind(place, row[c]);
            }
        }
        insert_.run();
    }
    [[nodiscard]] std::size_t size() {
        statement count(file_, "SELECT count(*) FROM runs");
        return count.next() ? static_cast<std::size_t>(count.integer(0)) : 0;
    }

  private:
    // Makes the table, and prepares the statement that adds a row.
    static std::string made(database& file, const std::vector<std::string>& columns) {
        std::string names;
        std::string places;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            names += (c == 0 ? "" : ", ") + sql_name(columns[c]) + (c == 0 ? " INTEGER PRIMARY KEY" : "");
            places += c == 0 ? "?" : ", ?";
        }
        file.run("CREATE TABLE IF NOT EXISTS runs (" + names + ")");
        return "INSERT OR IGNORE INTO runs VALUES (" + places + ")";
    }
    database file_;
    statement insert_;
};

run_store::run_store(const std::string& folder, std::vector<std::string> columns)
    : columns_(std::move(columns)), csv_path_(folder + "/runs.csv"), sqlite_path_(folder + "/runs.sqlite") {
    csv_ = std::make_unique<weir::detail::output_file>(weir::detail::output_file::append_to(csv_path_));
    if (csv_->empty()) {
        csv_->write(csv_line(columns_));
    } else {
        const std::string text = text_in(csv_path_);
        // parse_csv() treats a file with only a header as a mistake.
        if (text.find('\n') + 1 < text.size() || text != csv_line(columns_)) {
            const csv_file file = parse_csv(text, csv_path_);
            if (file.header != columns_)
                throw input_error(csv_path_, 1,
                                  "has other columns than this experiment; choose another --out for it");
            for (const csv_row& row : file.rows) rows_.push_back(row.fields);
        }
    }
    table_ = std::make_unique<table>(sqlite_path_, columns_);
    table_->add_all(rows_);
    if (table_->size() != rows_.size())
        throw input_error(sqlite_path_, "has other rows than " + csv_path_ +
                                            "; move it away, and it is made anew from that");
}

run_store::~run_store() = default;

std::size_t run_store::column(const std::string& name) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
}

void run_store::append(std::vector<std::string> row) {
    // A row is one line, so that an incomplete row is recognised.
    for (std::string& field : row)
        for (char& c : field) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    csv_->write(csv_line(row));
    sync(csv_path_);  // before SQLite's commit, so that SQLite never has a row that the CSV lost
    rows_.push_back(row);
    table_->add(row);
}

}  // namespace lab
