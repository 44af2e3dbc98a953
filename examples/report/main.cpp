// report: makes a page of HTML from a stored run, with all figures over the time of the run, and an
// explanation of how to read them.
// SPDX-License-Identifier: BSL-1.0
#include "../common/options.hpp"
#include "../common/output.hpp"
#include "stored_run.hpp"

#include <weir/report/html.hpp>

#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception
#include <iostream>   // for std::cout, std::cerr
#include <string>     // for std::string

int main(int argc, char** argv) {
    std::string file;
    std::string page;
    std::int64_t number = 0;
    examples::options options(
        "report FILE [-o PAGE] [--run N]",
        "Makes a page of HTML of a stored run; it needs nothing else, and opens offline.");
    options.argument("FILE", file, "the run: JSON by weir::write_json, or a database by weir::sqlite_report");
    options.text("-o", "PAGE", page, "the page (FILE, its ending replaced by .html)");
    options.number("--run", number, 0, INT64_MAX, "which run of a database, from 1; 0: the newest");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (file.empty()) return options.wrong("needs a FILE");
    const bool has_ending = file.find('.', file.find_last_of('/') + 1) != std::string::npos;
    if (page.empty()) page = (has_ending ? file.substr(0, file.rfind('.')) : file) + ".html";
    if (page == file) return options.wrong("FILE would be replaced by the page: name another one with -o");
    try {
        weir::write_html(page, report::stored_run(file, number));
        std::cout << page << '\n';
        return examples::exit_status(0, "report");
    } catch (const std::exception& e) {
        std::cerr << "report: " << e.what() << '\n';
        return 1;
    }
}
