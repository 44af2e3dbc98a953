// lab driver: a CSV first, SQLite second
#include "lab/driver/run_store.hpp"

#include "lab/data/csv.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lab {

namespace {

// What was written of it is on the disk, where that can be had.
void sync(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::fsync(file);
    ::close(file);
}

std::string quoted(const std::string& name) {
    std::string result = "\"";
    for (const char c : name) result += c == '"' ? "\"\"" : std::string(1, c);
    return result + "\"";
}

}  // namespace

class run_store::database {
  public:
    database(const std::string& path, const std::vector<std::string>& columns) : path_(path) {
        if (sqlite3_open(path.c_str(), &connection_) != SQLITE_OK) fail();
        sqlite3_busy_timeout(connection_, 10'000);
        run("PRAGMA journal_mode = WAL");
        std::string names;
        std::string places;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            names += (c == 0 ? "" : ", ") + quoted(columns[c]) + (c == 0 ? " INTEGER PRIMARY KEY" : "");
            places += c == 0 ? "?" : ", ?";
        }
        run("CREATE TABLE IF NOT EXISTS runs (" + names + ")");
        const std::string insert = "INSERT OR IGNORE INTO runs VALUES (" + places + ")";
        if (sqlite3_prepare_v2(connection_, insert.c_str(), -1, &insert_, nullptr) != SQLITE_OK) fail();
    }
    ~database() {
        sqlite3_finalize(insert_);
        sqlite3_close(connection_);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void run(const std::string& statement) {
        if (sqlite3_exec(connection_, statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }
    [[nodiscard]] std::size_t size() {
        sqlite3_stmt* count = nullptr;
        if (sqlite3_prepare_v2(connection_, "SELECT count(*) FROM runs", -1, &count, nullptr) != SQLITE_OK)
            fail();
        const std::size_t rows =
            sqlite3_step(count) == SQLITE_ROW ? static_cast<std::size_t>(sqlite3_column_int64(count, 0)) : 0;
        sqlite3_finalize(count);
        return rows;
    }
    void add(const std::vector<std::string>& row) {
        sqlite3_reset(insert_);
        for (std::size_t c = 0; c < row.size(); ++c) {
            const int place = static_cast<int>(c) + 1;
            if (row[c].empty()) {
                sqlite3_bind_null(insert_, place);
            } else if (const auto number = number_in(row[c])) {
                const auto whole = static_cast<sqlite3_int64>(*number);
                if (static_cast<double>(whole) == *number) {
                    sqlite3_bind_int64(insert_, place, whole);
                } else {
                    sqlite3_bind_double(insert_, place, *number);
                }
            } else {
                sqlite3_bind_text(insert_, place, row[c].data(), static_cast<int>(row[c].size()),
                                  SQLITE_TRANSIENT);
            }
        }
        if (sqlite3_step(insert_) != SQLITE_DONE) fail();
    }

  private:
    [[noreturn]] void fail() { throw std::runtime_error(path_ + ": " + sqlite3_errmsg(connection_)); }
    std::string path_;
    sqlite3* connection_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
};

run_store::run_store(const std::string& folder, std::vector<std::string> columns)
    : columns_(std::move(columns)), csv_path_(folder + "/runs.csv"), sqlite_path_(folder + "/runs.sqlite") {
    csv_ = std::make_unique<weir::detail::output_file>(weir::detail::output_file::append_to(csv_path_));
    if (csv_->empty()) {
        csv_->write(csv_line(columns_));
    } else {
        const std::string text = text_in(csv_path_);
        // A file that has but its header has no rows, which parse_csv() takes for a mistake.
        if (text.find('\n') + 1 < text.size() || text != csv_line(columns_)) {
            const csv_file file = parse_csv(text, csv_path_);
            if (file.header != columns_)
                throw input_error(csv_path_, 1,
                                  "has other columns than this experiment; choose another --out for it");
            for (const csv_row& row : file.rows) rows_.push_back(row.fields);
        }
    }
    database_ = std::make_unique<database>(sqlite_path_, columns_);
    database_->run("BEGIN");
    for (const std::vector<std::string>& row : rows_) database_->add(row);
    database_->run("COMMIT");
    if (database_->size() != rows_.size())
        throw input_error(sqlite_path_, "has other rows than " + csv_path_ +
                                            "; move it away, and it is made anew from that");
}

run_store::~run_store() = default;

std::size_t run_store::column(const std::string& name) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
}

void run_store::append(std::vector<std::string> row) {
    // A row is a line, so that half of one is known for what it is.
    for (std::string& field : row)
        for (char& c : field) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    csv_->write(csv_line(row));
    sync(csv_path_);  // before SQLite's, which does so by itself: it never has a row that the CSV lost
    rows_.push_back(row);
    database_->add(row);
}

}  // namespace lab
