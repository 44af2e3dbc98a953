#include <weir/report/rank_metrics.hpp>

#include "support/catch.hpp"
#include "unit/report/ranks.hpp"

#include <stdexcept>
#include <string>

using Catch::Matchers::ContainsSubstring;

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
