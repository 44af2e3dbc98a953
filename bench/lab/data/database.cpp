// lab data: wraps sqlite3 in a few calls
#include "lab/data/database.hpp"

#include "lab/data/input_error.hpp"

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
    try {
        if (how == mode::reading) {
            open(path, SQLITE_OPEN_READONLY);
        } else {
            open(path, SQLITE_OPEN_READWRITE | (how == mode::create ? SQLITE_OPEN_CREATE : 0));
        }
        set_up(how);
    } catch (...) {
        sqlite3_close(connection_);
        throw;
    }
}

void database::open(const std::string& name, int flags) {
    if (sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr) != SQLITE_OK) fail();
    sqlite3_busy_timeout(connection_, 60'000);
    // A name in double quotes is always a name, never a text.
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
}

void database::set_up(mode how) {
    if (how != mode::reading) {
        // If two connections switch a new file to WAL at once, SQLite refuses one of them without waiting.
        for (int tries = 0; sqlite3_exec(connection_, "PRAGMA journal_mode = WAL", nullptr, nullptr,
                                         nullptr) != SQLITE_OK;) {
            if (sqlite3_errcode(connection_) != SQLITE_BUSY || ++tries == 100) fail();
            sqlite3_sleep(10);
        }
        run("PRAGMA synchronous = FULL");
        return;
    }
    if (sqlite3_exec(connection_, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr) == SQLITE_OK)
        return;
    const int code = sqlite3_errcode(connection_);
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) fail();
    // If the files of the log can't be made, the file is read-only.
    sqlite3_close(connection_);
    connection_ = nullptr;
    std::string name = "file:";
    for (const char c : path_) {
        if (c == '%' || c == '?' || c == '#') {
            static constexpr char digits[] = "0123456789abcdef";
            name += {'%', digits[static_cast<unsigned char>(c) >> 4], digits[c & 15]};
        } else {
            name += c;
        }
    }
    open(name + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    run("SELECT 1 FROM sqlite_master");
}
database::~database() { sqlite3_close(connection_); }

void database::run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}
void database::fail() {
    const std::string why = sqlite3_errmsg(connection_);
    if (sqlite3_errcode(connection_) == SQLITE_NOTADB) throw input_error(path_, why);
    throw std::runtime_error(path_ + ": " + why);
}

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
