#include "lab/data/run_table.hpp"

#include "lab/data/input_error.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

lab::run_table table_of(const std::string& text, lab::read_options options = {}) {
    return lab::runs_of(lab::parse_csv(text, "runs.csv"), options);
}
std::string message_of(const std::string& text, const lab::read_options& options = {}) {
    try {
        table_of(text, options);
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "";
}

}  // namespace

TEST_CASE("columns are on/off, levels or numbers") {
    const auto table = table_of("a;log;qcap;on;cost\n0;none;1;no;5\n1;file;64;yes;4\n1;stderr;2;no;3\n");
    REQUIRE(table.factors.size() == 4);
    CHECK(table.factors[0].kind == lab::factor_kind::on_off);
    CHECK(table.factors[1].kind == lab::factor_kind::levels);
    CHECK(table.factors[1].levels == std::vector<std::string>{"none", "file", "stderr"});
    CHECK(table.factors[2].is_number());
    CHECK(table.factors[2].high == 64);
    CHECK(table.factors[3].kind == lab::factor_kind::on_off);
    CHECK(table.runs[1].values == lab::configuration{1, 1, 64, 1});
    CHECK(lab::configuration_text(table.factors, table.runs[1].values) == "a + log=file + qcap=64 + on");
    CHECK(lab::configuration_text(table.factors, table.base()) == "(base)");
}

TEST_CASE("numbers can be levels, and any value the base") {
    lab::read_options options;
    options.levels = {"n"};
    options.bases = {"n=8", "m=2"};
    const auto table = table_of("n;m;cost\n16;1;1\n8;2;2\n2;3;3\n", options);
    CHECK(table.factors[0].levels == std::vector<std::string>{"8", "2", "16"});
    CHECK(table.factors[1].base == 2);
}

TEST_CASE("columns of which exactly one is on are one factor, whose levels keep their names") {
    const auto table = table_of("ref_1;a;ref_5;ref_9;cost\n1;0;0;0;5\n0;1;1;0;4\n0;0;0;1;3\n1;1;0;0;2\n");
    REQUIRE(table.factors.size() == 2);
    CHECK(table.factors[0].name == "ref");
    CHECK(table.factors[0].treatment(2) == "ref_9");
    CHECK(table.runs[2].values == lab::configuration{2, 0});
    CHECK(table.notes.size() == 1);
    lab::read_options options;
    options.no_groups = true;
    CHECK(table_of("x;a;y;z;cost\n1;0;0;0;5\n0;1;1;0;4\n0;0;0;1;3\n", options).factors.size() == 4);
}

TEST_CASE("two columns that are opposites stay two") {
    CHECK(table_of("a;b;cost\n1;0;5\n0;1;4\n").factors.size() == 2);
}

TEST_CASE("runs that failed are counted and left out, columns that begin with @ are no factors") {
    const auto table = table_of("@run;@status;@time;a;cost\n0;ok;10;0;5\n1;timeout;11;1;\n2;ok;12;1;4\n");
    CHECK(table.num_failed == 1);
    REQUIRE(table.runs.size() == 2);
    CHECK(table.runs[1].time == 12);
    CHECK(table.runs[1].line == 4);
    CHECK(table.factors.size() == 1);
}

TEST_CASE("runs with a treatment can be left out") {
    lab::read_options options;
    options.without = {"a"};
    const auto table = table_of("a;b;cost\n0;0;5\n1;0;4\n0;1;3\n", options);
    CHECK(table.runs.size() == 2);
    REQUIRE(table.factors.size() == 1);
    CHECK(table.factors[0].name == "b");
    options.without = {"log=file"};
    CHECK(table_of("log;cost\nnone;5\nfile;4\nring;3\n", options).runs.size() == 2);
}

TEST_CASE("repetitions are found, whatever lies between them") {
    const auto table = table_of("a;cost\n0;5\n1;4\n0;7\n");
    const auto configurations = lab::configurations_of(table);
    REQUIRE(configurations.size() == 2);
    CHECK(configurations[0].runs == std::vector<std::size_t>{0, 2});
    CHECK(configurations[0].mean == 6);
}

TEST_CASE("what is wrong is told with file and line") {
    lab::read_options options;
    options.cost = "time";
    CHECK(message_of("a;cost\n0;1\n", options) ==
          "runs.csv:1: there is no column 'time' (--cost); there is a, cost");
    options.cost = "cost";
    options.ignore = {"b"};
    CHECK(message_of("a;cost\n0;1\n", options).find("runs.csv:1: there is no column 'b' (--ignore)") == 0);
    CHECK(message_of("a;cost\n0;1\n1;nan\n")
              .find("runs.csv:3: 'nan' as cost is no number; leave the row out") == 0);
    CHECK(message_of("a;cost\n0;1\n1;1,5\n") ==
          "runs.csv:3: '1,5' as cost is no number; the decimal sign is a point");
    CHECK(message_of("a;cost\n0;1\n;2\n").find("runs.csv:3: there is no value of 'a'") == 0);
    CHECK(message_of("a;cost\n0;1\nNaN;2\n") == "runs.csv:3: 'NaN' is no value of 'a'");
    CHECK(message_of("a;cost\n") == "runs.csv: has no runs, only the names of columns");
    CHECK(message_of("@status;a;cost\nfailed;1;\n") == "runs.csv: has only runs that failed (@status)");
}
