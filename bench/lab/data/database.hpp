// lab data: a SQLite database, and statements that free themselves
#ifndef LAB_DATA_DATABASE_HPP
#define LAB_DATA_DATABASE_HPP

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace lab {

class database;

// One statement with places `?1`, `?2`, ... Everything throws std::runtime_error with the file's name and SQLite's
// text.
class statement {
  public:
    statement(database& in, const std::string& sql);
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement();

    statement& bind(int place, std::string_view text);
    statement& bind(int place, const char* text) { return bind(place, std::string_view(text)); }
    statement& bind(int place, double number);
    statement& bind(int place, std::int64_t number);
    statement& bind_null(int place);
    // Returns whether there is a row. After the last row the statement can be bound again.
    bool next();
    // Runs a statement without rows, and resets it, so that it can be bound again.
    void run();

    // The value of a column of the row, from 0.
    [[nodiscard]] int columns() const;
    [[nodiscard]] std::string name(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] bool is_integer(int column) const;
    [[nodiscard]] bool is_number(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] double number(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;

  private:
    database& in_;
    sqlite3_stmt* statement_ = nullptr;
};

// A connection. Several processes may write to one file: each waits for others for up to a minute.
class database {
  public:
    enum class mode { create, existing, reading };
    // ":memory:" is a new database in memory. The journal is a write-ahead log; each commit is on the disk before
    // it returns. Throws input_error if the file exists and is no database.
    explicit database(const std::string& path, mode how = mode::create);
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database();

    void run(const std::string& sql);
    [[nodiscard]] const std::string& path() const { return path_; }
    [[noreturn]] void fail();

  private:
    void open(const std::string& name, int flags);
    void set_up(mode how);
    friend class statement;
    friend class transaction;
    std::string path_;
    sqlite3* connection_ = nullptr;
};

// A transaction with BEGIN IMMEDIATE: no other process writes meanwhile. It is undone unless commit() is called.
class transaction {
  public:
    explicit transaction(database& in) : in_(in) { in_.run("BEGIN IMMEDIATE"); }
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction();
    void commit() {
        in_.run("COMMIT");
        open_ = false;
    }

  private:
    database& in_;
    bool open_ = true;
};

// "name" in double quotes, for SQL.
std::string sql_name(std::string_view name);

}  // namespace lab

#endif
