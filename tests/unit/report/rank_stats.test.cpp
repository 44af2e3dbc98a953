#include <weir/report/rank_stats.hpp>

#include "support/catch.hpp"
#include "unit/report/ranks.hpp"

#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::pipeline_stats;
using weir::rank_layout;
using weir::rank_record;
using weir::rank_stats;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> outlines(const std::vector<pipeline_stats>& all) {
    std::vector<std::string> texts;
    for (const pipeline_stats& each : all) texts.push_back(weir::rank_outline(each));
    return texts;
}

std::string text_of(const weir::rank_spread& s) {
    const auto whole = [](double x) { return std::to_string(static_cast<int>(x)); };
    return whole(s.least) + " (" + std::to_string(s.least_rank) + ") " + whole(s.median) + " " +
           whole(s.greatest) + " (" + std::to_string(s.greatest_rank) + ") of " + std::to_string(s.num_ranks);
}

}  // namespace

TEST_CASE("names of stages and queues that are not valid UTF-8 are found in the outlines") {
    pipeline_stats mine = ranks::rank(10ms);
    mine.stages[1].name =
        "d\xE9"
        "code";
    mine.channels[1].name =
        "d\xE9"
        "code";
    const rank_layout layout(std::vector{weir::rank_outline(mine)});
    const rank_stats sum = layout.unpack(layout.pack(mine, 0));
    CHECK(sum.all.stages[1].name ==
          "d\xEF\xBF\xBD"
          "code");
    CHECK(sum.all.stages[1].num_tasks == mine.stages[1].num_tasks);
}

TEST_CASE("the statistics of ranks are the sums of counts, times and histograms") {
    const auto job = ranks::job();
    const rank_stats s = weir::merged(job);
    REQUIRE(s.all.stages.size() == 2);
    REQUIRE(s.all.channels.size() == 2);
    const weir::stage_stats& decode = s.all.stages[1];
    CHECK(decode.name == "decode");
    CHECK(decode.kind == "pipe");
    CHECK(decode.concurrency == 4);
    CHECK(decode.elapsed == 10s);
    CHECK(decode.num_tasks == 3 * 800 + 421);
    CHECK(decode.times().run == 3 * 800 * 10ms + 421 * 19ms);
    CHECK(decode.times().total() == 40s);
    weir::histogram times;
    for (const pipeline_stats& each : job) times += each.stages[1].task_times;
    CHECK(decode.task_times == times);
    CHECK(decode.inputs == std::vector<std::size_t>{0});
    CHECK(decode.outputs == std::vector<std::size_t>{1});
    weir::histogram waits;
    for (const pipeline_stats& each : job) waits += each.channels[1].get_waits;
    CHECK(s.all.channels[1].get_waits == waits);
    CHECK(s.all.channels[1].capacity == 8);
    CHECK(s.all.channels[1].num_get == decode.num_tasks);
    CHECK(s.all.channels[1].empty == (3 * 1s + 1'900ms) / 4);
    CHECK(s.all.num_items == decode.num_tasks);
    CHECK(s.all.elapsed == 10s);

    REQUIRE(s.ranks.size() == 4);
    const weir::stage_on_rank& slow = s.ranks[2].stages[1];
    CHECK(slow.exists);
    CHECK(slow.num_tasks == 421);
    CHECK(slow.times == job[2].stages[1].times());
    CHECK(slow.longest == 19ms);
    CHECK(s.ranks[2].queues[1].longest_get == 19ms);
    CHECK(weir::differences_text(s).empty());
}

TEST_CASE("members that are no sum over ranks are the longest, shortest or first") {
    std::vector<pipeline_stats> job = {ranks::rank(10ms), ranks::rank(10ms)};
    job[0].elapsed = 9s;
    job[0].idle = 2s;
    job[1].idle = 1s;
    job[0].first_item = {.after = 3s, .since = 6s, .num_items = 5};
    job[1].first_item = {.after = 2s, .since = 8s, .num_items = 7};
    job[0].process.emplace().elapsed = 9s;
    job[0].process->processors = 2;
    job[0].process->user_time = 1s;
    job[1].process = job[0].process;
    job[1].stages[0].elapsed = 7s;
    job[1].channels[0].elapsed = 8s;
    const rank_stats s = weir::merged(job);
    CHECK(s.all.elapsed == 10s);
    CHECK(s.all.stages[0].elapsed == 10s);
    CHECK(s.all.channels[0].elapsed == 10s);
    CHECK(s.all.idle == 1s);
    CHECK(s.all.first_item == weir::first_item_stats{.after = 2s, .since = 8s, .num_items = 12});
    REQUIRE(s.all.process);
    CHECK(s.all.process->elapsed == 9s);
    CHECK(s.all.process->user_time == 2s);
    CHECK(!s.all.process->processors);
    CHECK(!s.all.process->resident);
    CHECK(s.ranks[0].first_item == job[0].first_item);
    CHECK(s.ranks[1].process == job[1].process);
}

TEST_CASE("figures that some stages have are known of all ranks together, and of each") {
    std::vector<pipeline_stats> job = {ranks::rank(10ms), ranks::rank(10ms)};
    job[1].stages[0].transfers.emplace().num_copies = 5;
    job[0].stages[1].added = weir::added_stats{4, 1, 3, 0};
    job[1].stages[1].added = weir::added_stats{6, 0, 2, 1};
    job[1].stages[1].retries = weir::retry_stats{2, 3ms};
    const rank_stats s = weir::merged(job);
    CHECK(s.all.stages[0].transfers == job[1].stages[0].transfers);
    CHECK(!s.ranks[0].stages[0].transfers);
    CHECK(s.ranks[1].stages[0].transfers == job[1].stages[0].transfers);
    REQUIRE(s.all.stages[1].added);
    CHECK(s.all.stages[1].added == weir::added_stats{10, 1, 5, 1});  // 5: the sum of the maxima
    CHECK(s.all.stages[1].retries == weir::retry_stats{2, 3ms});
}

TEST_CASE("ranks with other stages are merged by name and kind, and a sentence says who has what") {
    pipeline_stats trains = ranks::rank(10ms);
    trains.stages = {ranks::stage("receive", 100, 1ms), ranks::stage("train", 100, 50ms)};
    trains.channels = {ranks::queue("receive", 100, 1s)};
    trains.stages[0].outputs = trains.stages[1].inputs = {0};
    std::vector<pipeline_stats> job = {trains, ranks::rank(10ms), ranks::rank(10ms), ranks::rank(10ms)};
    job[3].stages.insert(job[3].stages.begin() + 1, ranks::stage("filter", 3, 1ms));
    job[3].stages.push_back(ranks::stage("decode", 7, 1ms));
    const rank_stats s = weir::merged(job);
    std::string names;
    for (const weir::stage_stats& each : s.all.stages) names += each.name + " ";
    CHECK(names == "receive train read filter decode decode ");
    CHECK(s.all.stages[4].num_tasks == 3 * 800);
    CHECK(s.all.stages[5].num_tasks == 7);
    CHECK(s.all.stages[4].inputs == std::vector<std::size_t>{1});
    CHECK(s.all.stages[1].inputs == std::vector<std::size_t>{0});
    CHECK(!s.ranks[0].stages[4].exists);
    CHECK(s.ranks[3].stages[5].num_tasks == 7);
    CHECK(weir::differences_text(s) ==
          "not all ranks have the same stages: only rank 0 has 'receive', 'train'; only ranks 1-3 have "
          "'read', 'decode'; only rank 3 has 'filter', 'decode'");
}

TEST_CASE("the vectors of ranks are summed in any order, and a missing one is known as missing") {
    const auto job = ranks::job();
    const rank_layout layout(outlines(job));
    std::vector<std::uint64_t> sum(layout.size());
    for (const std::size_t r : {3U, 0U, 2U}) {
        const auto words = layout.pack(job[r], r);
        REQUIRE(words.size() == sum.size());
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
    }
    const rank_stats s = layout.unpack(sum);
    CHECK(layout.num_ranks() == 4);
    CHECK(s.all.stages[1].num_tasks == 2 * 800 + 421);
    CHECK(!s.ranks[1].reported);
    CHECK(s.ranks[1] == [&] {
        rank_record none;
        none.stages.resize(2);
        none.queues.resize(2);
        return none;
    }());
    CHECK(weir::differences_text(s) == "1 of 4 ranks have reported nothing");
    const rank_stats none = layout.unpack(std::vector<std::uint64_t>(layout.size()));
    CHECK(none.all.idle == 0ns);
    CHECK(none.all.stages[0].num_tasks == 0);
}

TEST_CASE("vectors of other layouts, and a rank that is there twice, are refused") {
    const auto job = ranks::job();
    const rank_layout layout(outlines(job));
    auto other = job;
    other[1].stages[0].name = "fetch";
    const rank_layout differs(outlines(other));
    CHECK_THROWS_WITH(layout.pack(other[1], 1),
                      ContainsSubstring("'fetch' of this rank is a stage or queue of "
                                        "no outline"));
    CHECK_THROWS_WITH(layout.pack(job[0], 4), ContainsSubstring("this rank is none of those"));
    auto words = layout.pack(job[1], 1);
    CHECK_THROWS_WITH(differs.unpack(words), ContainsSubstring("not packed by this layout"));
    for (std::uint64_t& each : words) each *= 2;
    CHECK_THROWS_WITH(layout.unpack(words), ContainsSubstring("one rank is in them twice"));
    CHECK_THROWS_WITH(layout.unpack({}), ContainsSubstring("not packed by this layout"));
    CHECK_THROWS_WITH(rank_layout({}), ContainsSubstring("needs one outline for each rank"));
    CHECK_THROWS_AS(rank_layout(std::vector<std::string>{"{"}), std::runtime_error);
}

TEST_CASE("the statistics of one rank have its figures, and totals of histograms") {
    const auto job = ranks::job();
    const pipeline_stats slow = weir::of_rank(weir::merged(job), 2);
    CHECK(slow.elapsed == 10s);
    CHECK(slow.num_items == 421);
    CHECK(slow.stages[1].name == "decode");
    CHECK(slow.stages[1].ave_time() == 19ms);
    CHECK(slow.stages[1].task_times == weir::histogram::without_quantiles(421, 421 * 19ms, 19ms));
    CHECK(slow.channels[1].get_waits.count() == 421);
    CHECK_THROWS_AS(weir::of_rank(weir::merged(job), 4), std::out_of_range);
}

TEST_CASE("the spread over ranks has the least, the lower median and the greatest, with ranks") {
    const rank_stats s = weir::merged(ranks::job());
    const auto tasks = [](const rank_record& r) -> std::optional<double> {
        if (r.stages[1].num_tasks == 421) return std::nullopt;
        return static_cast<double>(r.stages[1].num_tasks);
    };
    CHECK(text_of(weir::spread(s, tasks)) == "800 (0) 800 800 (3) of 3");
    const auto place = [&s](const rank_record& r) { return std::optional<double>(&r - s.ranks.data()); };
    CHECK(text_of(weir::spread(s, place)) == "0 (0) 1 3 (3) of 4");
    const auto none = [](const rank_record&) { return std::optional<double>(); };
    CHECK(text_of(weir::spread(s, none)) == "0 (0) 0 0 (0) of 0");
}

TEST_CASE("JSON keeps the figures of each rank") {
    const rank_stats s = weir::merged(ranks::job());
    weir::run_record run;
    run.total = s.all;
    run.ranks = s.ranks;
    CHECK(weir::run_from_json(weir::json_text(run)) == run);
    run.ranks.clear();
    CHECK(weir::run_from_json(weir::json_text(run)) == run);
}
