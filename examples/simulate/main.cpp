// simulate: runs the pipelines that a file describes, on virtual time or on the wall clock, and prints
// their statistics. With --documents, the eight pipelines of the guide to the statistics.
// SPDX-License-Identifier: BSL-1.0
#include "../common/options.hpp"
#include "../common/output.hpp"
#include "documents.hpp"
#include "file.hpp"
#include "measure.hpp"
#include "results.hpp"
#include "scenario.hpp"
#include "show.hpp"
#include "spec.hpp"
#include "spec_error.hpp"

#include <weir/measure/unit_text.hpp>

#include <chrono>     // for std::chrono::duration
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception
#include <iostream>   // for std::cout
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace {

struct settings {
    std::string clock = "virtual";
    bool json = false;
    bool documents = false;
    std::int64_t seed = 0;
};

simulate::measurement measure(const simulate::pipeline_spec& spec, const settings& s) {
    if (s.clock == "virtual") return simulate::measure_virtual(spec, static_cast<std::uint64_t>(s.seed));
    simulate::measurement m = simulate::measure_real(spec);
    if (m.late > std::chrono::milliseconds(4)) {
        std::cerr << "simulate: the machine is busy: it woke sleepers up to " << weir::units::time(m.late)
                  << " late, which is in the figures that follow\n";
    }
    return m;
}

void run_documents(const settings& s) {
    const auto start = std::chrono::steady_clock::now();
    if (!s.json) std::cout << "In parentheses, what the document says.\n\n";
    for (const simulate::scenario& scenario : simulate::documents()) {
        const simulate::measurement m = measure(scenario.spec, s);
        if (s.json) {
            std::cout << simulate::to_json(scenario.spec, m).dump() << std::endl;
        } else {
            simulate::show(scenario.title, scenario.spec, m, &scenario);
        }
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!s.json) std::cout << "All of it took " << weir::units::fixed(took.count(), 1) << " ms.\n";
}

void run_file(const std::string& file, const settings& s) {
    const std::vector<simulate::pipeline_spec> specs = simulate::read_specs(file);
    for (std::size_t number = 1; const simulate::pipeline_spec& spec : specs) {
        const simulate::measurement m = measure(spec, s);
        if (s.json) {
            std::cout << simulate::to_json(spec, m).dump() << std::endl;
        } else {
            simulate::show(spec.name.empty() ? "spec " + std::to_string(number) : spec.name, spec, m,
                           nullptr);
        }
        ++number;
    }
}

}  // namespace

int main(int argc, char** argv) {
    settings s;
    std::string file;
    examples::options options("simulate [OPTION...] FILE",
                              "Runs the pipelines that FILE describes (tests/programs/golden/README.md "
                              "tells how) and prints their statistics.");
    options.argument("FILE", file, "a .json spec, a list of them, or .jsonl with one a line");
    options.choice("--clock", s.clock, {"virtual", "steady"}, "exact and at once, or in real time");
    options.flag("--json", s.json, "one JSON object a spec, one a line, instead of tables");
    options.flag("--documents", s.documents, "the eight pipelines of the guide to the statistics; no FILE");
    options.number("--seed", s.seed, 0, INT64_MAX, "on virtual time, shuffles what is ready; 0: in order");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (s.documents == !file.empty()) return options.wrong("give either a FILE or --documents");
    try {
        s.documents ? run_documents(s) : run_file(file, s);
        return examples::exit_status(0, "simulate");
    } catch (const simulate::spec_error& e) {
        std::cerr << "simulate: " << e.what() << '\n';
        return 2;
    } catch (const std::exception& e) {
        std::cerr << "simulate: " << e.what() << '\n';
        return 1;
    }
}
