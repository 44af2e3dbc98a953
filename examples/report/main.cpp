// report: makes a page of HTML of a run that was stored, with all its figures over the time, and how
// they are read.
// SPDX-License-Identifier: BSL-1.0
#include "../common/options.hpp"
#include "../common/output.hpp"

#include <weir/report/html.hpp>
#include <weir/report/json.hpp>

#include <exception>  // for std::exception
#include <iostream>   // for std::cout, std::cerr
#include <string>     // for std::string

int main(int argc, char** argv) {
    std::string file;
    std::string page;
    examples::options options(
        "report FILE [-o PAGE]",
        "Makes a page of HTML of a stored run; it needs nothing else, and opens offline.");
    options.argument("FILE", file, "the run: what weir::write_json wrote");
    options.text("-o", "PAGE", page, "the page (FILE, its ending replaced by .html)");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (file.empty()) return options.wrong("needs a FILE");
    const bool has_ending = file.find('.', file.find_last_of('/') + 1) != std::string::npos;
    if (page.empty()) page = (has_ending ? file.substr(0, file.rfind('.')) : file) + ".html";
    if (page == file) return options.wrong("FILE would be replaced by the page: name another one with -o");
    try {
        weir::write_html(page, weir::read_run(file));
        std::cout << page << '\n';
        return examples::exit_status(0, "report");
    } catch (const std::exception& e) {
        std::cerr << "report: " << e.what() << '\n';
        return 1;
    }
}
