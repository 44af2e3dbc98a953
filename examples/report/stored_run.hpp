// report: reads a stored run, from JSON or from an SQLite database.
// The first bytes of the file decide which.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_REPORT_STORED_RUN_HPP
#define WEIR_EXAMPLES_REPORT_STORED_RUN_HPP

#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>

#include <cstdint>      // for std::int64_t
#include <fstream>      // for std::ifstream
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view

#ifdef REPORT_READS_SQLITE
#include <weir/report/sqlite.hpp>
#endif

namespace report {

[[nodiscard]] inline bool is_database(const std::string& path) {
    constexpr std::string_view mark = "SQLite format 3";
    std::string begin(mark.size(), '\0');
    std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin == mark;
}

/// \param number the run of a database; 0: the newest
/// Errors: a `std::exception` with the reason.
[[nodiscard]] inline weir::run_record stored_run(const std::string& path, std::int64_t number) {
    if (!is_database(path)) {
        if (number != 0) throw std::runtime_error(path + ": has one run; --run chooses one of a database");
        return weir::read_run(path);
    }
#ifdef REPORT_READS_SQLITE
    return weir::read_sqlite(path, number);
#else
    throw std::runtime_error(path +
                             ": is a database, and this program was built without SQLite (Debian's "
                             "libsqlite3-dev)");
#endif
}

}  // namespace report

#endif
