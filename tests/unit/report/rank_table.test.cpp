#include <weir/report/rank_table.hpp>

#include "support/catch.hpp"
#include "unit/report/ranks.hpp"

#include <weir/report/html.hpp>
#include <weir/report/run_record.hpp>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;

TEST_CASE("the tables of ranks say how they differ, and name the straggler") {
    CHECK(weir::table_text(weir::merged(ranks::job())) == R"(4 ranks, 10.0 s elapsed; 282 /s

                                      ---- time of a task -----   % of the slots' time -
stage   slots  tasks  failed    rate      ave      p50      p99            run  wait_get
read        4   2821       0  282 /s   1.0 ms   1.0 ms   1.0 ms              7        93
decode      4   2821       0  282 /s  11.3 ms  10.2 ms  19.0 ms             80        20

                              put wait -  -- get wait ---
queue   size  items    rate     ave  p99     ave      p99  readiness
read     0/8   2821  282 /s       0    0  1.4 ms  10.0 ms       90 %
decode   0/8   2821  282 /s       0    0  1.7 ms  19.0 ms       88 %

                   ---- time at work of a task -----  ------------- rate --------------  - % waiting --
over ranks  ranks        least   median         most        least   median         most   least    most
read            4       1.0 ms   1.0 ms       1.0 ms  42.1 /s (2)  80.0 /s  80.0 /s (3)  92 (0)  96 (2)
decode          4  10.0 ms (0)  10.0 ms  19.0 ms (2)  42.1 /s (2)  80.0 /s  80.0 /s (3)      20      20

                   ------- readiness --------
over ranks  ranks     least  median      most
read            4      90 %    90 %      90 %
decode          4  81 % (2)    90 %  90 % (3)

wait_get: starved by the stage before.
rank 2: decode at work 1.9 times the median, which costs it 37.9 % of its slots' time.
)");
}

TEST_CASE("the tables of balanced ranks name no straggler; those of different ranks say who has what") {
    std::vector<weir::pipeline_stats> job(3, ranks::rank(10ms));
    job[0].stages.pop_back();
    job[0].channels.pop_back();
    std::ostringstream out;
    out << weir::merged(job);
    CHECK_THAT(out.str(), ContainsSubstring("\ndecode          2   10.0 ms"));
    CHECK_THAT(out.str(),
               ContainsSubstring("\nnot all ranks have the same stages: only ranks 1-2 have 'decode'.\n"
                                 "no rank is slower in a stage than the others.\n"));
}

TEST_CASE("the page of a run of several ranks has a section about them") {
    const auto stats = weir::merged(ranks::job());
    weir::run_record run;
    run.total = stats.all;
    CHECK(weir::html_text(run).find("id=\"ranks\"") == std::string::npos);
    run.ranks = stats.ranks;
    const std::string page = weir::html_text(run);
    CHECK_THAT(page, ContainsSubstring("id=\"ranks\""));
    CHECK_THAT(page,
               ContainsSubstring("<p>rank 2: decode at work 1.9 times the median, which costs it 37.9 % of"));
    CHECK_THAT(page, ContainsSubstring("of 4 ranks together"));
    run.ranks[1].queues.pop_back();  // as in a damaged file
    CHECK(weir::html_text(run).find("the ranks are not compared") != std::string::npos);
}

TEST_CASE("metrics of ranks have the label rank, and each family is there once") {
    auto stats = weir::merged(ranks::job());
    stats.ranks[1].reported = false;
    const std::string text = weir::metrics_text(stats, {.labels = {{"run", "training"}}});
    CHECK_THAT(text, ContainsSubstring("weir_stage_task_duration_seconds_count{rank=\"2\",run=\"training\","
                                       "stage=\"decode\",position=\"1\",kind=\"pipe\"} 421\n"));
    CHECK_THAT(text, ContainsSubstring("rank=\"3\""));
    CHECK(text.find("rank=\"1\"") == std::string::npos);
    const std::string head = "# TYPE weir_stage_task_duration_seconds ";
    CHECK(text.find(head) == text.rfind(head));
    CHECK_THROWS_AS(weir::metrics_text(stats, {.labels = {{"rank", "7"}}}), std::invalid_argument);
}
