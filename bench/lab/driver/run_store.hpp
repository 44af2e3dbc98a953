// lab driver: stores the rows of runs: in a CSV that only grows, and in SQLite
#ifndef LAB_DRIVER_RUN_STORE_HPP
#define LAB_DRIVER_RUN_STORE_HPP

#include <weir/platform/output_file.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lab {

// FOLDER/runs.csv, and FOLDER/runs.sqlite with the table `runs`. A row is in the CSV on the disk when append()
// returns. A row that is missing in SQLite, because a process was killed in between, is added when the store is
// opened again.
class run_store {
  public:
    // The first column names the row. Throws input_error if the existing file has other columns, or is no CSV;
    // std::system_error if it can't be written. An incomplete last line, left by a kill, is cut off.
    run_store(const std::string& folder, std::vector<std::string> columns);
    run_store(const run_store&) = delete;
    run_store& operator=(const run_store&) = delete;
    ~run_store();

    // All rows, in their order; each has one field per column.
    [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }
    [[nodiscard]] std::size_t column(const std::string& name) const;
    // Throws std::system_error if the CSV can't be written, or std::runtime_error if SQLite can't; the CSV then
    // has the row.
    void append(std::vector<std::string> row);

    [[nodiscard]] const std::string& csv_path() const { return csv_path_; }
    [[nodiscard]] const std::string& sqlite_path() const { return sqlite_path_; }

  private:
    class table;
    std::vector<std::string> columns_;
    std::string csv_path_;
    std::string sqlite_path_;
    std::vector<std::vector<std::string>> rows_;
    std::unique_ptr<weir::detail::output_file> csv_;
    std::unique_ptr<table> table_;
};

}  // namespace lab

#endif
