// lab data: sqlite3 behind a few calls
#include "lab/data/database.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace lab {

statement::statement(database& in, const std::string& sql) : in_(in) {
    if (sqlite3_prepare_v2(in_.connection_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) in_.fail();
}
statement::~statement() { sqlite3_finalize(statement_); }

statement& statement::bind(int place, std::string_view text) {
    if (sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT) !=
        SQLITE_OK)
        in_.fail();
    return *this;
}
statement& statement::bind(int place, double number) {
    if (sqlite3_bind_double(statement_, place, number) != SQLITE_OK) in_.fail();
    return *this;
}
statement& statement::bind(int place, std::int64_t number) {
    if (sqlite3_bind_int64(statement_, place, number) != SQLITE_OK) in_.fail();
    return *this;
}
statement& statement::bind_null(int place) {
    if (sqlite3_bind_null(statement_, place) != SQLITE_OK) in_.fail();
    return *this;
}

bool statement::next() {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) {
        const std::string why = sqlite3_errmsg(in_.connection_);
        sqlite3_reset(statement_);
        throw std::runtime_error(in_.path_ + ": " + why);
    }
    sqlite3_reset(statement_);
    return false;
}
void statement::run() {
    while (next()) {
    }
}

int statement::columns() const { return sqlite3_column_count(statement_); }
std::string statement::name(int column) const { return sqlite3_column_name(statement_, column); }
bool statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
bool statement::is_integer(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}
bool statement::is_number(int column) const {
    return is_integer(column) || sqlite3_column_type(statement_, column) == SQLITE_FLOAT;
}
std::string statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
}
double statement::number(int column) const { return sqlite3_column_double(statement_, column); }
std::int64_t statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

database::database(const std::string& path, mode how) : path_(path) {
    const int flags = SQLITE_OPEN_READWRITE | (how == mode::create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path.c_str(), &connection_, flags, nullptr) != SQLITE_OK) {
        const std::string why = sqlite3_errmsg(connection_);
        sqlite3_close(connection_);
        throw std::runtime_error(path_ + ": " + why);
    }
    try {
        sqlite3_busy_timeout(connection_, 60'000);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
    } catch (...) {
        sqlite3_close(connection_);
        throw;
    }
}
database::~database() { sqlite3_close(connection_); }

void database::run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}
void database::fail() { throw std::runtime_error(path_ + ": " + sqlite3_errmsg(connection_)); }

transaction::~transaction() {
    if (open_) sqlite3_exec(in_.connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

std::string sql_name(std::string_view name) {
    std::string result = "\"";
    for (const char c : name) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + "\"";
}

}  // namespace lab
