// The arguments of a benchmark program, and the destination of its figures.
#ifndef BENCH_COMMON_SESSION_HPP
#define BENCH_COMMON_SESSION_HPP

#include "session_document.hpp"

#include <weir/platform/system_info.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class session {
  public:
    // --json: one JSON document at the end, and nothing else on standard output. --quick: shorter repetitions,
    // to see that the program works. --long: also cases that take minutes. --workers 1,2,4: the numbers of
    // workers, for groups that depend on it. Any other argument: only the groups whose title contains it.
    // `workers`: the default of --workers.
    session(std::string name, int argc, char** argv, std::vector<unsigned> workers = {1, 2})
        : name_(std::move(name)), workers_(std::move(workers)) {
        for (int i = 1; i < argc; ++i) {
            const std::string_view arg = argv[i];
            if (arg == "--json") {
                json_ = true;
            } else if (arg == "--quick") {
                quick_ = true;
            } else if (arg == "--long") {
                long_ = true;
            } else if (arg == "--workers" && i + 1 < argc && !numbers(argv[i + 1]).empty()) {
                workers_ = numbers(argv[++i]);
            } else if (arg == "--help" || arg.starts_with("-")) {
                std::cerr << name_ << " [--json] [--quick] [--long] [--workers 1,2,4] [PART OF A TITLE]\n";
                std::exit(arg == "--help" ? 0 : 2);
            } else {
                filter_ = arg;
            }
        }
        std::ostringstream out;
        out << name_ << ": " << weir::detail::name_of_compiler() << ", "
            << weir::detail::line_of_system("/proc/cpuinfo", "model name") << ", "
            << std::thread::hardware_concurrency() << " cores, " << weir::detail::name_of_system()
            << ", load " << load() << ", " << weir::detail::utc_now();
        machine_ = out.str();
        if (!json_) std::cout << machine_ << "\n";
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    // Prints the document, unless an exception ends the program.
    ~session() {
        if (!json_ || std::uncaught_exceptions() > exceptions_before_) return;
        std::cout << json_text() << std::endl;
        if (std::cout) return;
        std::fprintf(stderr, "%s: the JSON document can't be written\n", name_.c_str());
        std::_Exit(1);
    }

    bool json() const { return json_; }
    bool quick() const { return quick_; }
    bool takes_long() const { return long_; }
    const std::vector<unsigned>& workers() const { return workers_; }
    bool wants(std::string_view title) const { return title.find(filter_) != title.npos; }
    const std::string& name() const { return name_; }

    // A figure that is no time, such as the bytes of a slot.
    void value(const std::string& what, double amount, const std::string& unit) {
        if (!wants(what)) return;
        if (json_) {
            document_.add_value(what, amount, unit);
        } else {
            std::printf("%-58s %12.*f %s\n", what.c_str(), amount < 10 ? 2 : 1, amount, unit.c_str());
            std::fflush(stdout);
        }
    }

    // A figure that summarises others, only for the document. `key` ends with its unit, and is declared in
    // bench/indicators/models/. The last value of a key counts.
    void result(const std::string& key, double amount) { document_.set_result(key, amount); }

    session_document& document() { return document_; }

    static std::string load() {
        std::string one;
        std::ifstream("/proc/loadavg") >> one;
        return one.empty() ? "unknown" : one;
    }

  private:
    std::string json_text() const {
        std::string workers;
        for (const unsigned n : workers_)
            workers.append(workers.empty() ? "" : ",").append(std::to_string(n));
        indicators::indicator all("Weir" + in_camel_case(name_), "weir");
        all.parameter("part", filter_).parameter("quick", quick_).parameter("takes_long", long_);
        all.parameter("workers", workers);
        document_.tell(all, machine_);
        return all.json();
    }
    // "CompileTime" of "compile_time".
    static std::string in_camel_case(const std::string& name) {
        std::string all;
        bool begins = true;
        for (const char c : name) {
            if (c != '_') all += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
            begins = c == '_';
        }
        return all;
    }
    // Parses "1,2,4"; empty for other texts.
    static std::vector<unsigned> numbers(const std::string& list) {
        constexpr unsigned most = 1024;
        std::vector<unsigned> all;
        std::istringstream in(list);
        char comma = ',';
        for (unsigned n = 0; comma == ',' && in >> n && n >= 1 && n <= most;) {
            all.push_back(n);
            if (!(in >> comma)) return all;
        }
        return {};
    }

    std::string name_;
    std::string machine_;
    std::string_view filter_;
    std::vector<unsigned> workers_;
    bool json_ = false;
    bool quick_ = false;
    bool long_ = false;
    const int exceptions_before_ = std::uncaught_exceptions();
    session_document document_;
};

}  // namespace bench

#endif
