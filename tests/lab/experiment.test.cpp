#include "lab/driver/experiment.hpp"

#include "lab/data/csv.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/run_table.hpp"
#include "lab/driver/launch.hpp"
#include "lab/driver/lock.hpp"
#include "lab/driver/schedule.hpp"
#include "lab/driver/score.hpp"
#include "lab/folders.hpp"
#include "support/catch.hpp"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>
#include <string>
#include <thread>

namespace {

// A program whose cost is 100 - 10 a + q, which says what it was told, and fails where it is told to.
const std::string program = R"(
for x in "$@"; do case $x in --a=*) a=${x#*=};; --log=*) log=${x#*=};; --q=*) q=${x#*=};; esac; done
case $q in 13) echo "no luck" >&2; exit 3;; 14) kill -SEGV $$;; 15) exit 0;; 16) q=1000;; 17) sleep 1000;; esac
echo "{\"@parameters\":{\"a\":$a,\"q\":$q},\"@result\":{\"us\":$((100 - 10*a + q)).5}}"
)";

lab::factor_file factors_in(const lab_tests::temporary_folder& folder) {
    lab_tests::write_text(folder / "program.sh", program);
    lab::factor_file file = lab::parse_factor_file(R"({
      "factors": [{"name": "a"}, {"name": "log", "levels": ["none", "file"]},
                  {"name": "q", "low": 1, "high": 64, "integer": true, "base": 2}],
      "constraints": ["log=file requires a=1"],
      "score": "@result.us"})",
                                                   "factors.json");
    file.command = {"sh", folder / "program.sh"};
    ::setenv("WEIR_LAB_LOCK", (folder / "lock").c_str(), 1);
    return file;
}

lab::plan plan_in(const std::string& text, const lab::factor_file& file) {
    return lab::plan_of(lab::parse_csv(text, "plan.csv"), file);
}

lab::schedule_options base_control(const lab::factor_file& file, std::size_t repeat = 1,
                                   std::size_t every = 0) {
    lab::schedule_options how;
    how.repeat = repeat;
    how.control_every = every;
    how.control = file.base();
    return how;
}

lab::experiment_options into(const std::string& folder) {
    lab::experiment_options options;
    options.folder = folder;
    options.limit_s = 0.3;
    options.seed = "1";
    return options;
}

std::string rows_in_sqlite(const std::string& path) {
    sqlite3* connection = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &connection) == SQLITE_OK);
    std::string text;
    const auto add = [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) += std::string(values[0]) + " ";
        return 0;
    };
    CHECK(sqlite3_exec(connection, "SELECT \"@position\" FROM runs ORDER BY \"@run\"", add, &text, nullptr) ==
          SQLITE_OK);
    sqlite3_close(connection);
    return text;
}

std::string positions_in_csv(const std::string& path) {
    const lab::csv_file file = lab::read_csv(path);
    std::string text;
    for (const lab::csv_row& row : file.rows) text += row.fields[*file.column("@position")] + " ";
    return text;
}

}  // namespace

TEST_CASE("experiment: each run is a row that the analyses read, in both files") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto schedule = lab::scheduled(plan_in("a;log;q\n0;none;2\n1;none;2\n1;file;8\n", file), file,
                                         base_control(file, 4, 5));
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(done.planned == 12 + 2 * 2);
    CHECK(done.done == done.planned);
    CHECK(done.failed.empty());
    CHECK(done.controls.size() == 2);
    CHECK(done.not_echoed == std::vector<std::string>{"log"});
    lab::read_options options;
    options.file = done.csv;
    const auto table = lab::read_runs(options);
    CHECK(table.cost_name == "us");
    CHECK(table.runs.size() == 16);
    for (const lab::measured_run& run : table.runs)
        CHECK(run.cost == 100.5 - 10 * run.values[table.factor_of("a")] + run.values[table.factor_of("q")]);
    CHECK(rows_in_sqlite(done.sqlite) == positions_in_csv(done.csv));
}

TEST_CASE("experiment: failures are rows, with their reasons") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    auto how = base_control(file);
    how.as_planned = true;
    const auto schedule = lab::scheduled(plan_in("q\n13\n14\n15\n16\n17\n2\n", file), file, how);
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(done.done == 6);
    const lab::csv_file rows = lab::read_csv(done.csv);
    const auto text = [&](std::size_t row, const char* column) {
        return rows.rows[row].fields[*rows.column(column)];
    };
    CHECK(text(0, "@status") == "exit 3");
    CHECK(text(0, "@message") == "no luck");
    CHECK(text(1, "@status") == "SIGSEGV");
    CHECK(text(2, "@status") == "no result");
    CHECK(text(3, "@status") == "wrong settings");
    CHECK(text(3, "@message") == "q: planned 16, and it had 1000");
    CHECK(text(3, "us").empty());
    CHECK(text(4, "@status") == "timeout");
    CHECK(text(5, "@status") == "ok");
    CHECK(done.failed.size() == 5);

    CHECK(lab::run_experiment(file, schedule, into(folder / "out")).done == 0);
    auto again = into(folder / "out");
    again.retry_failed = true;
    CHECK(lab::run_experiment(file, schedule, again).done == 5);
}

TEST_CASE("experiment: a program that isn't there, and a build that fails, are rows, too") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.command = {"/nowhere/program"};
    const auto schedule = lab::scheduled(plan_in("q\n2\n", file), file, base_control(file));
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(done.failed.at("not started") == 1);

    file = factors_in(folder);
    file.factors[0].hard_to_change = true;
    file.applications[0] = {};
    file.applications[0].build = {{"0", "-O2"}, {"1", "-O3"}};
    file.build = {
        "sh", "-c",
        "case '{flags}' in -O2) mkdir -p {folder} && echo 'echo 5' > {folder}/program;; *) exit 1;; esac"};
    file.command = {"sh", "{folder}/program"};
    file.score = "last number";
    const auto builds = lab::scheduled(plan_in("a\n0\n1\n", file), file, base_control(file, 2));
    const auto built = lab::run_experiment(file, builds, into(folder / "built"));
    CHECK(built.failed.at("build failed") == 2);
    const lab::csv_file rows = lab::read_csv(built.csv);
    for (const lab::csv_row& row : rows.rows) {
        const bool second = row.fields[*rows.column("a")] == "1";
        CHECK(row.fields[*rows.column("@status")] == (second ? "build failed" : "ok"));
        CHECK(row.fields[*rows.column("@plot")].starts_with("visit "));
    }
}

TEST_CASE("experiment: a stop ends a build, too, and leaves no rows") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.factors[0].hard_to_change = true;
    file.applications[0] = {};
    file.applications[0].build = {{"0", "-O2"}, {"1", "-O3"}};
    file.build = {"sleep", "1000"};
    const auto schedule = lab::scheduled(plan_in("a\n0\n1\n", file), file, base_control(file));
    volatile std::sig_atomic_t stop = 0;
    auto options = into(folder / "out");
    options.stop = &stop;
    options.progress = [&](const std::string&) { stop = SIGINT; };  // when it begins to build
    const auto done = lab::run_experiment(file, schedule, options);
    CHECK(done.stopped);
    CHECK(done.done == 0);
    CHECK(done.failed.empty());
}

TEST_CASE("experiment: what is there of another schedule, or another experiment, isn't touched") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto first = lab::scheduled(plan_in("q\n2\n3\n", file), file, base_control(file));
    lab::run_experiment(file, first, into(folder / "out"));
    const std::string before = lab_tests::text_of(folder / "out/runs.csv");
    const auto second = lab::scheduled(plan_in("q\n2\n4\n", file), file, base_control(file));
    CHECK_THROWS_AS(lab::run_experiment(file, second, into(folder / "out")), lab::input_error);
    std::filesystem::create_directories(folder / "other");
    lab_tests::write_text(folder / "other/runs.csv", "a;cost\n0;1\n");
    CHECK_THROWS_AS(lab::run_experiment(file, first, into(folder / "other")), lab::input_error);
    lab::factor_file changed = file;
    changed.applications[2].argument = "--q=1{}";
    CHECK_THROWS_AS(lab::run_experiment(changed, first, into(folder / "out")), lab::input_error);
    changed = file;
    changed.build = {"true"};
    CHECK_THROWS_AS(lab::run_experiment(changed, first, into(folder / "out")), lab::input_error);
    changed = file;
    changed.also = {"@parameters.q"};
    CHECK_THROWS_AS(lab::run_experiment(changed, first, into(folder / "out")), lab::input_error);
    CHECK(lab_tests::text_of(folder / "out/runs.csv") == before);
    CHECK(lab_tests::text_of(folder / "other/runs.csv") == "a;cost\n0;1\n");
}

TEST_CASE("experiment: other numbers of a document are kept beside the cost, and can be the cost") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.also = {"@parameters.a", "@parameters.q"};
    const auto schedule = lab::scheduled(plan_in("q\n2\n5\n13\n", file), file, base_control(file));
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(done.failed.at("exit 3") == 1);
    lab::read_options options;
    options.file = done.csv;
    options.cost = "@parameters.q";
    options.ignore = {"us"};
    const auto table = lab::read_runs(options);
    REQUIRE(table.runs.size() == 2);
    for (const lab::measured_run& run : table.runs) CHECK(run.cost == run.values[table.factor_of("q")]);
    file.also = {"status"};
    CHECK_THROWS_AS(lab::run_experiment(file, schedule, into(folder / "other")), lab::input_error);
}

TEST_CASE("experiment: a build is known by the script that an interpreter runs, whatever the wrapper") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.applications[0].wrapper["1"] = {"env", "A=1"};
    const auto build_of = [&](const std::string& out) {
        const auto schedule = lab::scheduled(plan_in("a;q\n0;2\n1;2\n", file), file, base_control(file));
        const lab::csv_file rows = lab::read_csv(lab::run_experiment(file, schedule, into(folder / out)).csv);
        REQUIRE(rows.rows.size() == 2);
        CHECK(rows.rows[0].fields[*rows.column("@build")] == rows.rows[1].fields[*rows.column("@build")]);
        return rows.rows[0].fields[*rows.column("@build")];
    };
    const std::string first = build_of("first");
    CHECK(first.size() == 16);
    CHECK(build_of("again") == first);
    lab_tests::write_text(folder / "program.sh", program + "# another\n");
    CHECK(build_of("other") != first);
    // Of a file as large as data it isn't the content.
    std::ofstream(folder / "data");
    std::filesystem::resize_file(folder / "data", 65U << 20U);
    const std::string with_data = lab::hash_of_command({"sh", folder / "data"});
    std::fstream(folder / "data") << "other";
    std::filesystem::last_write_time(folder / "data", {});
    CHECK(lab::hash_of_command({"sh", folder / "data"}) != with_data);
}

TEST_CASE("experiment: a build that takes too long has failed") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.build = {"sleep", "1000"};
    const auto schedule = lab::scheduled(plan_in("q\n2\n", file), file, base_control(file));
    auto options = into(folder / "out");
    options.build_limit_s = 0.05;
    const auto done = lab::run_experiment(file, schedule, options);
    CHECK(done.failed.at("build failed") == 1);
    CHECK(lab_tests::text_of(done.csv).find("failed (timeout)") != std::string::npos);
}

TEST_CASE("experiment: SQLite is made anew from the CSV, and rows that only it has are no secret") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto schedule = lab::scheduled(plan_in("q\n2\n3\n4\n", file), file, base_control(file));
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    const std::string rows = rows_in_sqlite(done.sqlite);
    std::filesystem::remove(done.sqlite);
    CHECK(lab::run_experiment(file, schedule, into(folder / "out")).done == 0);
    CHECK(rows_in_sqlite(done.sqlite) == rows);
    std::filesystem::remove(done.csv);
    CHECK_THROWS_AS(lab::run_experiment(file, schedule, into(folder / "out")), lab::input_error);
}

TEST_CASE("launch: arguments, environment, wrapper and build of a configuration") {
    const lab::factor_file file = lab::parse_factor_file(R"({
      "factors": [{"name": "q", "low": 1, "high": 64, "base": 2},
                  {"name": "fast", "apply": {"argument": "--fast"}},
                  {"name": "malloc", "levels": ["glibc", "jemalloc"], "apply": {"environment": {"LD_PRELOAD": {"jemalloc": "j.so"}}}},
                  {"name": "pad", "low": 0, "high": 9, "apply": {"environment": {"PAD": "x{}x"}}},
                  {"name": "pinned", "apply": {"wrapper": {"1": ["taskset", "-c", "0"]}}},
                  {"name": "opt", "levels": ["O2", "O3"], "apply": {"build": {"O2": "-O2", "O3": "-O3"}}}],
      "command": ["program"]})",
                                                         "factors.json");
    const lab::launch base = lab::launch_of(file, file.base());
    CHECK(base.command == std::vector<std::string>{"program", "--q=2"});
    // A variable that a level doesn't name isn't what the driver happens to have.
    CHECK(base.environment ==
          std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", ""}, {"PAD", "x0x"}});
    CHECK(base.build_flags == "-O2");
    lab::factor large = file.factors[0];
    large.high = 1e9;
    CHECK(large.text_of(1e7) == "10000000");  // which a program may not read as 1e+07
    CHECK(large.text_of(-0.00125) == "-0.00125");
    CHECK(large.text_of(0.1 + 0.2) == "0.30000000000000004");
    CHECK(large.text_of(1e300) == "1e+300");
    const lab::launch other = lab::launch_of(file, {64, 1, 1, 9, 1, 1});
    CHECK(other.command == std::vector<std::string>{"taskset", "-c", "0", "program", "--q=64", "--fast"});
    CHECK(other.environment ==
          std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", "j.so"}, {"PAD", "x9x"}});
    CHECK(other.build_flags == "-O3");
}

TEST_CASE("experiment: a program that reads a file of settings has each factor there, as its level says") {
    const lab_tests::temporary_folder folder;
    ::setenv("WEIR_LAB_LOCK", (folder / "lock").c_str(), 1);
    const std::string text = R"({
      "factors": [{"name": "room", "low": 1, "high": 9, "integer": true},
                  {"name": "log", "levels": ["off", "on"], "apply": {"settings": {"off": "", "on": "0.5"}}}],
      "settings": "{room}{log}\n",
      "command": ["cat", "{settings}"], "score": "last number"})";
    const auto file = lab::parse_factor_file(text, "factors.json");
    CHECK(lab::launch_of(file, {7, 1}).settings == "70.5\n");
    CHECK(lab::launch_of(file, {7, 1}).command == std::vector<std::string>{"cat", "{settings}"});
    const auto schedule = lab::scheduled(plan_in("room;log\n3;off\n4;on\n", file), file, base_control(file));
    const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(done.failed.empty());
    std::set<double> costs;
    for (const auto& [place, cost] : done.costs) costs.insert(cost);
    CHECK(costs == std::set<double>{3, 40.5});
    CHECK_FALSE(std::filesystem::exists(folder / "out/logs/0.settings"));
    lab::factor_file changed = file;
    changed.settings = "{room}{log} \n";
    CHECK_THROWS_AS(lab::run_experiment(changed, schedule, into(folder / "out")), lab::input_error);
    const auto without = [&](const std::string& part, const std::string& instead) {
        std::string wrong = text;
        wrong.replace(wrong.find(part), part.size(), instead);
        try {
            lab::parse_factor_file(wrong, "factors.json");
        } catch (const lab::input_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(without("\"settings\": {\"off\": \"\", \"on\": \"0.5\"}", "\"argument\": \"--log\"") ==
          "factors.json:3: log is in 'settings', and not in its 'apply'");
    CHECK(without("{settings}", "x") ==
          "factors.json:5: 'command' doesn't say where the file of settings goes: write {settings} there");
    CHECK(without("{log}", "") ==
          "factors.json:3: log is applied by 'settings', and the file's 'settings' has no {log}");
}

TEST_CASE("experiment: two drivers never measure at once") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto schedule = lab::scheduled(plan_in("q\n2\n", file), file, base_control(file));
    const lab::driver_lock other(folder / "lock", "measures into elsewhere");
    try {
        lab::run_experiment(file, schedule, into(folder / "out"));
        CHECK(false);
    } catch (const lab::input_error& wrong) {
        CHECK(std::string(wrong.what())
                  .find("another driver measures: process " + std::to_string(::getpid()) +
                        ", measures into elsewhere") != std::string::npos);
    }
}

TEST_CASE("experiment: a stop and a budget leave the rest for the next call") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto schedule = lab::scheduled(plan_in("q\n2\n3\n4\n", file), file, base_control(file));
    volatile std::sig_atomic_t stop = 0;
    auto options = into(folder / "out");
    options.stop = &stop;
    options.progress = [&](const std::string&) { stop = SIGINT; };
    const auto stopped = lab::run_experiment(file, schedule, options);
    CHECK(stopped.stopped);
    CHECK(stopped.done == 1);
    options = into(folder / "out");
    options.budget_s = 1e-9;
    CHECK(lab::run_experiment(file, schedule, options).out_of_budget);
    const auto rest = lab::run_experiment(file, schedule, into(folder / "out"));
    CHECK(rest.done_before == 1);
    CHECK(rest.done == 2);
}

TEST_CASE("experiment: killed at any moment, no run is lost and none is there twice") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto schedule = lab::scheduled(plan_in("q\n2\n3\n4\n5\n", file), file, base_control(file, 8, 4));
    std::size_t kills = 0;
    for (unsigned round = 0;; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                const auto done = lab::run_experiment(file, schedule, into(folder / "out"));
                ::_exit(done.done + done.done_before == done.planned ? 0 : 1);
            } catch (const std::exception& failure) {
                std::cerr << failure.what() << std::endl;
                ::_exit(2);
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(3000 + 977 * (round * 7919 % 31)));
        kills += ::kill(child, SIGKILL) == 0;
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            REQUIRE(WEXITSTATUS(status) == 0);
            break;
        }
        // Half a line, as a full disk would leave it.
        if (round % 3 == 0 && std::filesystem::exists(folder / "out/runs.csv"))
            std::ofstream(folder / "out/runs.csv", std::ios::app) << "999;17642";
        REQUIRE(round < 2000);
    }
    const lab::csv_file rows = lab::read_csv(folder / "out/runs.csv");
    std::set<std::string> positions;
    for (const lab::csv_row& row : rows.rows) positions.insert(row.fields[*rows.column("@position")]);
    CHECK(rows.rows.size() == schedule.runs.size());
    CHECK(positions.size() == schedule.runs.size());
    CHECK(rows_in_sqlite(folder / "out/runs.sqlite") == positions_in_csv(folder / "out/runs.csv"));
    CHECK(kills > 0);
}

TEST_CASE("schedule: blocks are in an order by lot, and the same with the same seed") {
    const lab_tests::temporary_folder folder;
    const auto file = factors_in(folder);
    const auto plan = plan_in("q\n1\n2\n3\n4\n5\n6\n7\n8\n", file);
    auto how = base_control(file, 3);
    const auto first = lab::scheduled(plan, file, how);
    REQUIRE(first.runs.size() == 24);
    for (std::size_t block = 0; block < 3; ++block) {
        std::set<double> values;
        for (std::size_t i = 0; i < 8; ++i) {
            CHECK(first.runs[block * 8 + i].block == block);
            values.insert(first.runs[block * 8 + i].values[2]);
        }
        CHECK(values.size() == 8);
    }
    CHECK(lab::plan_text(lab::scheduled(plan, file, how)) == lab::plan_text(first));
    how.seed = 2;
    CHECK(lab::plan_text(lab::scheduled(plan, file, how)) != lab::plan_text(first));
    how.as_planned = true;
    CHECK(lab::scheduled(plan, file, how).runs[3].values[2] == 4);
}

TEST_CASE("schedule: builds are visited as whole plots, each in each block") {
    const lab_tests::temporary_folder folder;
    auto file = factors_in(folder);
    file.factors[0].hard_to_change = true;
    const auto plan = plan_in("a;q\n0;1\n1;1\n0;2\n1;2\n0;3\n1;3\n", file);
    const auto schedule = lab::scheduled(plan, file, base_control(file, 4, 3));
    std::size_t changes = 0;
    std::set<std::string> visits;
    for (std::size_t i = 0; i < schedule.runs.size(); ++i) {
        visits.insert(schedule.runs[i].plot);
        if (i > 0) changes += schedule.runs[i].plot != schedule.runs[i - 1].plot;
        if (i > 0 && schedule.runs[i].plot == schedule.runs[i - 1].plot)
            CHECK(schedule.runs[i].values[0] == schedule.runs[i - 1].values[0]);
    }
    CHECK(visits.size() == 8);
    CHECK(changes == 7);
}

TEST_CASE("score: out of a document, its last line, or the last number") {
    lab::factor_file file;
    file.factors.emplace_back().name = "a";
    file.score = "@result.us";
    CHECK(lab::report_in("{\"@result\": {\"us\": 2.5}}", file, {0}).cost == 2.5);
    CHECK(lab::report_in("warming up\n{\"@result\": {\"us\": 2.5}}\n", file, {0}).cost == 2.5);
    CHECK(lab::report_in("{\"@result\": {\"us\": \"2.5\"}}", file, {0}).message ==
          "'@result.us' is \"2.5\", no number");
    CHECK(lab::report_in("{\"@result\": {\"us\": NaN}}", file, {0}).status == "no result");
    CHECK(lab::report_in("{\"@result\": {}}", file, {0}).message == "its document has no '@result.us'");
    CHECK(lab::report_in("", file, {0}).message == "what it wrote is no JSON object");
    CHECK(lab::report_in("{\"@parameters\": {\"a\": true}, \"@result\": {\"us\": 1}}", file, {1}).status ==
          "ok");
    CHECK(lab::report_in("{\"@parameters\": {\"a\": \"off\"}, \"@result\": {\"us\": 1}}", file, {1}).status ==
          "wrong settings");
    file.also = {"p99", "@result.p50"};
    const lab::reported both =
        lab::report_in("{\"p99\": 9, \"@result\": {\"us\": 2.5, \"p50\": 4}}", file, {0});
    CHECK(both.cost == 2.5);
    CHECK(both.also == std::vector<double>{9, 4});
    CHECK(lab::report_in("{\"@result\": {\"us\": 1, \"p50\": 4}}", file, {0}).message ==
          "its document has no 'p99'");
    file.score = "last number";
    CHECK(lab::report_in("5", file, {0}).message == "what it wrote is no JSON object");
    CHECK(lab::report_in("{\"p99\": 9, \"@result\": {\"p50\": 4}}\n6\n", file, {0}).cost == 6);
    file.also.clear();
    CHECK(lab::report_in("took 3 s\nscore 17.5\n", file, {0}).cost == 17.5);
    CHECK(lab::report_in("took 3 s, score=17.5", file, {0}).cost == 17.5);
    CHECK(lab::report_in("took 3 s\n17.5us\n", file, {0}).cost == 17.5);
    for (const char* wrong : {"no digits", "warm 5\nscore nan", "runs 4\n1,5", ""})
        CHECK(lab::report_in(wrong, file, {0}).status == "no result");
}
