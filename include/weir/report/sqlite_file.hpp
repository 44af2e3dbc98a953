// weir report, internal: a database of SQLite, its statements and its errors
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_SQLITE_FILE_HPP
#define WEIR_REPORT_SQLITE_FILE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/process.hpp>

#include <sqlite3.h>  // for sqlite3_open_v2

#include <cstdint>       // for std::int64_t
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::generic_category
#include <utility>       // for std::move

namespace weir::detail {

class sqlite_statement;

// Errors:  `std::runtime_error`, whose text has the path and what SQLite says: `run.sqlite: database or disk
//          is full`.
// Threads: one at a time. A fork of the process lets go of it, as SQLite asks for.
class sqlite_file {
  public:
    enum class use : std::uint8_t { read, write };

    sqlite_file(std::string path, use how) : path_(std::move(path)) {
        const int flags =
            how == use::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        if (sqlite3_open_v2(path_.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
            try {
                fail();
            } catch (...) {
                sqlite3_close_v2(db_);
                throw;
            }
        }
        sqlite3_extended_result_codes(db_, 1);
    }
    sqlite_file(const sqlite_file&) = delete;
    sqlite_file& operator=(const sqlite_file&) = delete;
    ~sqlite_file() {
        if (process_.is_here()) sqlite3_close_v2(db_);
    }

    // For how long a statement waits for others that use the file.
    void wait_at_most(std::int64_t milliseconds) {
        sqlite3_busy_timeout(db_, static_cast<int>(smaller<std::int64_t>(milliseconds, INT32_MAX)));
    }

    void run(const char* sql) {
        if (!run_unless_busy(sql)) fail();
    }
    // False: others use the file, and didn't end in time.
    [[nodiscard]] bool run_unless_busy(const char* sql) {
        const int result = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
        if (result != SQLITE_OK && (result & 0xFF) != SQLITE_BUSY) fail();
        return result == SQLITE_OK;
    }
    std::int64_t last_row() const noexcept { return sqlite3_last_insert_rowid(db_); }

    // Ends a transaction that was not committed.
    void roll_back() noexcept {
        if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    }

    [[noreturn]] void fail() const { fail(db_ == nullptr ? "no memory for it" : sqlite3_errmsg(db_)); }
    [[noreturn]] void fail(const std::string& why) const {
        const int error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
        const bool known = db_ != nullptr && (sqlite3_errcode(db_) & 0xFF) == SQLITE_CANTOPEN && error != 0;
        throw std::runtime_error(path_ + ": " + why +
                                 (known ? ": " + std::generic_category().message(error) : std::string()));
    }

  private:
    friend sqlite_statement;

    const std::string path_;
    sqlite3* db_ = nullptr;
    const process_of_origin process_;
};

// One that gets its parameters in their order.
class sqlite_statement {
  public:
    sqlite_statement(const sqlite_file& file, std::string_view sql) : file_(file) {
        const int size = static_cast<int>(sql.size());
        if (sqlite3_prepare_v2(file_.db_, sql.data(), size, &all_, nullptr) != SQLITE_OK) file_.fail();
    }
    sqlite_statement(const sqlite_statement&) = delete;
    sqlite_statement& operator=(const sqlite_statement&) = delete;
    ~sqlite_statement() { sqlite3_finalize(all_); }

    sqlite_statement& operator<<(std::string_view text) {
        const auto size = static_cast<sqlite3_uint64>(text.size());
        return bound(sqlite3_bind_text64(all_, ++bound_, text.data(), size, SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    sqlite_statement& operator<<(std::int64_t number) {
        return bound(sqlite3_bind_int64(all_, ++bound_, number));
    }
    sqlite_statement& operator<<(std::nullptr_t) { return bound(sqlite3_bind_null(all_, ++bound_)); }

    // The next row. False: there is none; it may then be given other parameters, and run again.
    bool step() {
        const int result = sqlite3_step(all_);
        if (result == SQLITE_ROW) return true;
        if (result != SQLITE_DONE) file_.fail();
        sqlite3_reset(all_);
        bound_ = 0;
        return false;
    }
    // Of the row, by the column's place.
    std::int64_t number(int column) const noexcept { return sqlite3_column_int64(all_, column); }
    std::string text(int column) const {
        const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(all_, column));
        if (begin == nullptr) return {};
        return std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(all_, column)));
    }

  private:
    sqlite_statement& bound(int result) {
        if (result != SQLITE_OK) file_.fail();
        return *this;
    }

    const sqlite_file& file_;
    sqlite3_stmt* all_ = nullptr;
    int bound_ = 0;
};

}  // namespace weir::detail

#endif
