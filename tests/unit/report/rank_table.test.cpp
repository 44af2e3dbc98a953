#include <weir/report/rank_table.hpp>

#include "support/catch.hpp"
#include "unit/report/ranks.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/html.hpp>
#include <weir/report/run_record.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::duration;
using weir::pipeline_stats;
using weir::straggler;
using weir::stragglers;
using namespace std::chrono_literals;

namespace {

enum class spread_of_times { none, even, long_tail };

// The times of a stage's invocations.
struct service {
    std::mt19937_64 random;
    duration mean;
    spread_of_times how;

    duration next() {
        const double u = static_cast<double>(random() >> 11U) * 0x1p-53;
        const double factor = how == spread_of_times::none   ? 1
                              : how == spread_of_times::even ? 0.5 + u
                                                             : 0.5 - std::log(1 - u) / 2;
        return duration(static_cast<std::int64_t>(static_cast<double>(mean.count()) * factor));
    }
};

struct stage_plan {
    duration mean;
    spread_of_times how;
    std::size_t slots;
    std::size_t capacity;
};

using laps = std::array<pipeline_stats, 5>;

// \returns the stragglers of the first lap that has some.
std::vector<straggler> watched(const std::vector<laps>& ranks) {
    const std::vector<std::string> outlines(ranks.size(), weir::rank_outline(ranks[0][0]));
    const weir::rank_layout layout(outlines);
    weir::straggler_watch watch;
    for (std::size_t lap = 0; lap < std::tuple_size_v<laps>; ++lap) {
        std::vector<std::uint64_t> sum(layout.size());
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            std::uint64_t* to = sum.data();
            for (const std::uint64_t word : layout.pack(ranks[r][lap], r)) *to++ += word;
        }
        auto found = watch.add(layout.unpack(sum));
        if (!found.empty()) return found;
    }
    return {};
}

// A random pipeline, which several ranks run.
class job {
  public:
    explicit job(std::uint64_t seed) : seed_(seed), random_(seed) {
        for (stage_plan& s : stages_) {
            s = {1ms + duration(random_() % 3'000'000), static_cast<spread_of_times>(random_() % 3),
                 1 + random_() % 4, 1 + random_() % 4};
            slowest_ = std::max(slowest_, s.mean / static_cast<std::int64_t>(s.slots));
        }
        num_ranks = 3 + random_() % 3;
        slow_rank = random_() % num_ranks;
        slow_stage = random_() % stages_.size();
    }

    // The laps of a rank, in which the slowest stage has about 60 invocations. `slower`: the factor of
    // `slow_stage`.
    laps run(std::size_t rank, double slower) const {
        weir::virtual_time time(seed_);
        const auto stage = [&](std::size_t i) {
            const double mean = static_cast<double>(stages_[i].mean.count()) * (i == slow_stage ? slower : 1);
            auto times =
                std::make_shared<service>(service{std::mt19937_64(seed_ * 100 + rank * 10 + i),
                                                  duration(static_cast<std::int64_t>(mean)), stages_[i].how});
            const auto work = [times](int item) -> weir::task<int> {
                co_await weir::sleep_for(times->next());
                co_return item;
            };
            return weir::pipe(work, {.name = "stage " + std::to_string(i),
                                     .concurrency = stages_[i].slots,
                                     .capacity = stages_[i].capacity});
        };
        auto run = (weir::source([n = 0]() mutable { return std::optional<int>(n++); }) | stage(0) |
                    stage(1) | weir::sink(2))
                       .start(time);
        pipeline_stats before = run.stats();
        laps all;
        for (pipeline_stats& lap : all) {
            const auto end = time.now() + slowest_ * 60;
            while (time.now() < end) static_cast<void>(run.get(end - time.now()));
            const pipeline_stats now = run.stats();
            lap = now - std::exchange(before, now);
        }
        return all;
    }

    std::size_t num_ranks = 0, slow_rank = 0, slow_stage = 0;

  private:
    std::uint64_t seed_;
    std::mt19937_64 random_;
    std::array<stage_plan, 2> stages_{};
    duration slowest_{};
};

}  // namespace

TEST_CASE("1.5 times slower in one stage, a rank is named within five laps; of balanced ranks none is") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        const job random(seed);
        std::vector<laps> ranks;
        for (std::size_t rank = 0; rank < random.num_ranks; ++rank) ranks.push_back(random.run(rank, 1));
        CHECK(watched(ranks).empty());
        ranks[random.slow_rank] = random.run(random.slow_rank, 1.5);
        const auto found = watched(ranks);
        REQUIRE(found.size() == 1);
        CHECK(found[0].rank == random.slow_rank);
        CHECK(found[0].stage == "stage " + std::to_string(random.slow_stage));
        CHECK(found[0].state == "awaiting");
        CHECK(found[0].ratio > 1.3);
        CHECK(found[0].ratio < 1.8);
    }
}

TEST_CASE("a straggler is named with stage and state, and by how much") {
    const auto found = stragglers(weir::merged(ranks::job()));
    REQUIRE(found.size() == 1);
    CHECK(line_text(found[0]) == "rank 2: decode at work 1.9 times the median");
    CHECK(found[0].stage_index == 1);
    CHECK(found[0].lost > 0.37);
    CHECK(found[0].lost < 0.38);

    auto awaits = ranks::job();
    awaits[2] = ranks::rank(19ms, 9ms);
    CHECK(line_text(stragglers(weir::merged(awaits)).at(0)) ==
          "rank 2: decode awaiting 1.9 times the median");
    awaits[1] = ranks::rank(30ms);
    const auto both = stragglers(weir::merged(awaits));
    REQUIRE(both.size() == 2);
    CHECK(both[0].rank == 1);
    CHECK(both[1].rank == 2);
}

TEST_CASE("of several slow stages of a rank, the one that loses most is named") {
    auto job = ranks::job();
    for (pipeline_stats& each : job) each.stages.push_back(ranks::stage("late", 100, 1ms));
    job[2].stages[0] = ranks::stage("read", 421, 2ms);
    job[2].stages[2] = ranks::stage("late", 100, 2ms);
    const auto found = stragglers(weir::merged(job));
    REQUIRE(found.size() == 1);
    CHECK(found[0].stage == "decode");
}

TEST_CASE("without histograms, times count as widely spread") {
    auto job = ranks::job();
    for (pipeline_stats& each : job)
        each.stages[1].task_times = weir::histogram::without_quantiles(400, 400 * 10ms, 19ms);
    CHECK(stragglers(weir::merged(job)).size() == 1);
    for (pipeline_stats& each : job) each.stages[1] = ranks::stage("decode", 20, 10ms);
    job[2].stages[1] = ranks::stage("decode", 20, 19ms);
    CHECK(stragglers(weir::merged(job)).size() == 1);
    for (pipeline_stats& each : job)
        each.stages[1].task_times = weir::histogram::without_quantiles(20, 20 * 10ms, 19ms);
    CHECK(stragglers(weir::merged(job)).empty());
}

TEST_CASE("of two ranks, the slower one is the straggler; one rank alone is none") {
    std::vector<pipeline_stats> job = {ranks::rank(20ms), ranks::rank(10ms)};
    REQUIRE(stragglers(weir::merged(job)).size() == 1);
    CHECK(stragglers(weir::merged(job))[0].rank == 0);
    job.pop_back();
    CHECK(stragglers(weir::merged(job)).empty());
}

// If the median is computed for each rank, this takes a minute.
TEST_CASE("the stragglers of a thousand ranks are found at once") {
    weir::rank_stats all = weir::merged(ranks::job());
    const auto usual = all.ranks[0];
    const auto slow = all.ranks[2];
    all.ranks.assign(1000, usual);
    all.all.stages[1].num_tasks *= 250;
    for (std::size_t i = 0; i < 20; ++i) {
        all.all.stages.push_back(all.all.stages[0]);
        for (auto& each : all.ranks) each.stages.push_back(usual.stages[0]);
    }
    for (std::size_t i = 0; i < all.ranks.size(); i += 4) all.ranks[i].stages[1] = slow.stages[1];
    CHECK(stragglers(all).size() == 250);
    weir::straggler_watch watch;
    CHECK(watch.add(all).empty());
    CHECK(watch.add(all).empty());
    CHECK(watch.add(all).size() == 250);
}

TEST_CASE("a stage that only one rank has makes no straggler") {
    std::vector<pipeline_stats> job = {ranks::rank(10ms), ranks::rank(10ms), ranks::rank(10ms)};
    job[0].stages = {ranks::stage("train", 10, 900ms)};
    job[0].channels.clear();
    CHECK(stragglers(weir::merged(job)).empty());
}

TEST_CASE("a difference that chance explains, or that costs nothing, makes no straggler") {
    std::vector<pipeline_stats> job = {ranks::rank(10ms), ranks::rank(10ms), ranks::rank(10ms)};
    // Ten invocations of 10 ms, more or less.
    for (pipeline_stats& each : job) {
        each.stages[1] = ranks::stage("decode", 10, 10ms);
        each.stages[1].task_times = {};
        each.stages[1].task_times.record(1ms, 8);
        each.stages[1].task_times.record(46ms, 2);
    }
    job[1].stages[1].per_slot[0].run = 160ms;
    CHECK(stragglers(weir::merged(job)).empty());
    // Many of 1 us.
    for (pipeline_stats& each : job) each.stages[1] = ranks::stage("decode", 10'000, 1us);
    job[1].stages[1] = ranks::stage("decode", 10'000, 9us);
    CHECK(stragglers(weir::merged(job)).empty());
    job[1].stages[1] = ranks::stage("decode", 10'000, 12us);
    CHECK(stragglers(weir::merged(job)).size() == 1);
}

TEST_CASE(
    "a source or a sink_to that awaits what others do makes no straggler, but one that is at work does") {
    for (const char* const kind : {"source", "sink_to"}) {
        auto job = ranks::job();
        job[2] = ranks::rank(19ms, 9ms);
        for (pipeline_stats& each : job) each.stages[1].kind = kind;
        CHECK(stragglers(weir::merged(job)).empty());
        job[2].stages[1].per_slot[0].run += job[2].stages[1].per_slot[0].wait_get;
        CHECK(stragglers(weir::merged(job)).size() == 1);
    }
}

TEST_CASE("a source that awaits something of its own, as a file, makes a straggler") {
    auto job = ranks::job();
    job[2] = ranks::rank(19ms, 9ms);
    for (pipeline_stats& each : job) {
        each.stages[1].kind = "source";
        each.stages[1].awaits_others = false;
    }
    const auto found = stragglers(weir::merged(job));
    REQUIRE(found.size() == 1);
    CHECK(line_text(found[0]) == "rank 2: decode awaiting 1.9 times the median");
    for (pipeline_stats& each : job) each.stages[1].awaits_others = true;
    CHECK(stragglers(weir::merged(job)).empty());
}

TEST_CASE("an invocation that never ends makes its rank a straggler") {
    auto job = ranks::job();
    job[2] = ranks::rank(10ms);
    job[3].stages[1] = ranks::stage("decode", 0, 0ns);
    job[3].stages[1].per_slot[0].wait_get = 1s;
    job[3].stages[1].per_slot[0].await = 9s;
    const auto found = stragglers(weir::merged(job));
    REQUIRE(found.size() == 1);
    CHECK(found[0].rank == 3);
    CHECK(found[0].state == "awaiting");
}

TEST_CASE("a rank that is slow in two of five laps is no straggler, one that is in three is") {
    const auto slow = weir::merged(ranks::job());
    const auto even = weir::merged(std::vector<pipeline_stats>(4, ranks::rank(10ms)));
    weir::straggler_watch watch;
    CHECK(watch.add(slow).empty());
    CHECK(watch.add(slow).empty());
    CHECK(watch.add(even).empty());
    CHECK(watch.add(slow).size() == 1);
    CHECK(watch.add(even).size() == 1);
    CHECK(watch.add(even).empty());  // the first lap no longer counts
}

TEST_CASE("if the ranks or the stages of a job change, a watch begins anew") {
    const auto slow = weir::merged(ranks::job());
    auto job = ranks::job();
    job.push_back(ranks::rank(10ms));
    const auto more_ranks = weir::merged(job);
    for (pipeline_stats& each : job) each.stages.push_back(ranks::stage("train", 10, 1ms));
    const auto more_stages = weir::merged(job);
    weir::straggler_watch watch;
    for (const weir::rank_stats* each : {&slow, &more_ranks, &more_stages, &slow}) {
        CHECK(watch.add(*each).empty());
        CHECK(watch.add(*each).empty());
        CHECK(watch.add(*each).size() == 1);
    }
}

TEST_CASE("ranks with figures of other stages or queues than the job are refused") {
    weir::rank_stats stats;
    stats.all.stages.resize(2);
    stats.all.channels.resize(1);
    stats.ranks.resize(2);
    for (weir::rank_record& each : stats.ranks) {
        each.reported = true;
        each.stages.resize(2);
        each.queues.resize(1);
    }
    CHECK(stragglers(stats).empty());
    const bool lacks_stages = GENERATE(true, false);
    if (lacks_stages) {
        stats.ranks[1].stages.clear();
    } else {
        stats.ranks[1].queues.clear();
    }
    const auto refusal = ContainsSubstring("rank 1 has figures of other stages or queues");
    CHECK_THROWS_WITH(stragglers(stats), refusal);
    CHECK_THROWS_WITH(weir::straggler_watch().add(stats), refusal);
    CHECK_THROWS_WITH(weir::table_text(stats), refusal);
    CHECK_THROWS_WITH(weir::metrics_text(stats), refusal);
    CHECK_THROWS_WITH(weir::of_rank(stats, 1), refusal);
    CHECK_THROWS_WITH(weir::differences_text(stats), refusal);
}

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

                   ----- run + await of a task -----  ------------- rate --------------  - % waiting --
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
    CHECK_THAT(out.str(), ContainsSubstring("\ndecode          2  10.0 ms"));
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
