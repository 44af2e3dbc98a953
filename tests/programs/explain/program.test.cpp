#include "../../../examples/simulate/explaining_program.hpp"

#include "../../../examples/explain/states.hpp"
#include "../../../examples/simulate/changes_table.hpp"
#include "support/catch.hpp"
#include "support/folder.hpp"
#include "support/printed.hpp"

#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using printed::captured;
using printed::outcome;

namespace {

outcome run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    const captured out(std::cout);
    const captured err(std::cerr);
    const int status =
        simulate::explaining_program(static_cast<int>(arguments.size()), arguments.data(), "explain",
                                     "Explains.",
                                     [](const simulate::request& asked, const simulate::explanation& answer) {
                                         std::cout << asked.title << ": " << answer.why.sentence << '\n'
                                                   << explain::states_table(answer.today)
                                                   << changes_table(asked, answer, 2);
                                     });
    return {status, out.text(), err.text()};
}

const std::string spec = R"({"name": "n", "foreground_ns": [5000000], "stages": [
    {"op": "pipe", "name": "s", "service_ns": [10000000]}]})";

}  // namespace

TEST_CASE("a program that explains prints text, or one object a line") {
    const files::folder here("weir_explain_test");
    const std::string file = here / "f.json";
    std::ofstream(file) << "[" << spec << ", " << spec << "]";
    const outcome json = run({"--json", file.c_str()});
    CHECK(json.status == 0);
    const std::string line = json.out.substr(0, json.out.find('\n') + 1);
    CHECK(line.starts_with(
        R"({"cause":"stage","stage":"s","sure":1.0,"predictions":[{"change":{"stage":"s",)"));
    CHECK(json.out == line + line);
    const outcome text = run({file.c_str()});
    CHECK(text.status == 0);
    CHECK(text.out.find("n: stage 's' is the bottleneck: it awaits 100 % of the time; ") == 0);
    CHECK(text.out.find("\n  stage          await    wait_put    wait_get\n") != std::string::npos);
    CHECK(text.out.find("\n  s              100 % ") != std::string::npos);
    CHECK(text.out.find("\n  s: 50 % less time            200 /s      200 /s      200 /s    +100.0 %\n") !=
          std::string::npos);
}

TEST_CASE("the table of changes says where no rate is, and that batches count as items") {
    const files::folder here("weir_explain_test");
    const std::string file = here / "f.json";
    const auto table = [&](const std::string& fields) {
        std::ofstream(file) << "{" << fields << "}";
        return run({file.c_str()}).out;
    };
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(table(R"("items": 5, "foreground_ns": [1000000], "stages": [
                   {"op": "pipe", "concurrency": 8, "service_ns": [1]}])"),
               ContainsSubstring("\n  a consumer that takes no time                    no limit    no limit  "
                                 "  no limit    no limit\n"));
    CHECK_THAT(table(R"("foreground_ns": [10000000000], "stages": [{"op": "pipe", "service_ns": [1000]}])"),
               ContainsSubstring(" > 1000-fold\n"));
    const std::string batches = R"("foreground_ns": [0], "stages": [{"op": "pipe", "service_ns": [1000]},
        {"op": "aggregate", "size": 4}, {"op": "pipe", "name": "b", "service_ns": [9000000]}], "changes": [)";
    const std::string note =
        "\n  The rate counts batches; the gain of other batches counts their elements.\n";
    CHECK_THAT(table(batches + R"({"stage": "aggregate", "batch": 8}])"),
               ContainsSubstring("+100.0 %" + note));
    CHECK_THAT(table(batches + R"({"stage": "b", "concurrency": 2}])"), !ContainsSubstring(note));
    CHECK(simulate::detail::rate_text(0) == "too few");
}

TEST_CASE("a program that explains exits with 2 for wrong input, and says on standard error what is wrong") {
    const files::folder here("weir_explain_test");
    const std::string file = here / "f.jsonl";
    std::ofstream(file)
        << R"({"foreground_ns": [1], "stages": [{"op": "pipe", "service_ns": [1]}], "changes": [{"workers": 0}]})";
    const outcome wrong = run({"--json", file.c_str()});
    CHECK(wrong.status == 2);
    CHECK(wrong.out.empty());
    CHECK(wrong.err == "explain: " + file + ": line 1: changes[0].workers: must be at least 1 (is 0)\n");
    CHECK(run({}).status == 2);
    CHECK(run({"--jsn", file.c_str()}).status == 2);
    const outcome missing = run({(here / "none").c_str()});
    CHECK(missing.status == 2);
    CHECK(missing.err.find("can't be read: ") != std::string::npos);
}
