#include <weir/mpi/rank_report.hpp>

#include "mpi/support.hpp"
#include "unit/report/ranks.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace mpi_tests;
using weir::pipeline_stats;
using weir::rank_stats;
using weir::mpi::rank_report;
using namespace std::chrono_literals;

TEST_CASE("the laps of all ranks are merged, and the straggler is named on each rank") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        cluster all(4, seed);
        const auto job = ranks::job();
        std::vector<std::string> named(4);
        const int failed = all.run([&](communicator c) -> weir::task<> {
            const auto me = static_cast<std::size_t>(c.rank());
            const communicator own = co_await c.duplicate();
            std::size_t laps = 0;
            rank_report report(own, all.all, [&](const rank_stats& lap, const auto& slow) {
                ++laps;
                CHECK(lap.ranks.size() == 4);
                for (const auto& each : slow)
                    named[me] += std::to_string(laps) + ": " + line_text(each) + "\n";
            });
            report.begins(job[me]);
            for (int lap = 0; lap < 3; ++lap) report.lap(job[me]);
            report.ends(job[me], job[me]);
            const rank_stats total = co_await report.total();
            CHECK(total == weir::merged(job));
            CHECK(laps == 4);
        });
        CHECK(failed == 0);
        for (const std::string& each : named) {
            CHECK(each ==
                  "3: rank 2: decode at work 1.9 times the median\n"
                  "4: rank 2: decode at work 1.9 times the median\n");
        }
    }
}

TEST_CASE("ranks with other pipelines, with fewer laps, or without a run, hold up nobody") {
    cluster all(3);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        std::vector<std::size_t> reported;
        rank_report report(own, all.all, [&](const rank_stats& lap, const auto&) {
            reported.push_back(0);
            for (const auto& each : lap.ranks) reported.back() += each.reported ? 1 : 0;
        });
        pipeline_stats mine = ranks::rank(10ms);
        if (c.rank() == 1) mine.stages[1].name = "train";
        if (c.rank() != 2) {
            report.begins(mine);
            for (int lap = 0; lap < 2 + 3 * c.rank(); ++lap) report.lap(mine);
            report.ends(mine, mine);
        } else {
            report.ends({}, {});
        }
        const rank_stats total = co_await report.total();
        CHECK(total.all.stages.size() == 3);
        CHECK(total.all.stages[0].num_tasks == 1600);
        CHECK(reported == std::vector<std::size_t>{2, 2, 2, 1, 1, 1});
    });
    CHECK(failed == 0);
}

TEST_CASE("laps that can't be merged yet are joined, and nothing is lost") {
    cluster all(2);
    const pipeline_stats one = ranks::rank(10ms);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        std::uint64_t num_tasks = 0;
        rank_report report(own, all.all, [&](const rank_stats& lap, const auto&) {
            num_tasks += lap.all.stages[0].num_tasks;
        });
        report.begins(one);
        for (int lap = 0; lap < 100; ++lap) report.lap(one);  // more than there is room for
        report.ends(one, one);
        co_await report.total();
        CHECK(num_tasks == std::uint64_t{2} * 101 * 800);
    });
    CHECK(failed == 0);
}

TEST_CASE("what show throws on one rank is thrown by total of this rank, and holds up nobody") {
    cluster all(3);
    const pipeline_stats one = ranks::rank(10ms);
    std::vector<std::size_t> num_shown(3);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const auto me = static_cast<std::size_t>(c.rank());
        const communicator own = co_await c.duplicate();
        rank_report report(own, all.all, [&](const rank_stats&, const auto&) {
            if (++num_shown[me] == 2 && me == 1) throw std::runtime_error("the disk is full");
        });
        report.begins(one);
        for (int lap = 0; lap < 3; ++lap) report.lap(one);
        report.ends(one, one);
        const rank_stats total = co_await report.total();
        CHECK(total.all.stages[0].num_tasks == std::uint64_t{3} * 800);
    });
    CHECK(failed == 1);
    CHECK(all.message == "the disk is full");
    CHECK(num_shown == std::vector<std::size_t>{4, 2, 4});
}

TEST_CASE("an exception that destroys a report before its end is a failure of the rank, and hangs nobody") {
    cluster all(2);
    all.is_broken = true;
    const pipeline_stats one = ranks::rank(10ms);
    std::vector<std::unique_ptr<rank_report>> reports(2);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        auto& mine = reports.at(static_cast<std::size_t>(c.rank()));
        mine = std::make_unique<rank_report>(own, all.all);
        mine->begins(one);
    });
    REQUIRE(failed == 0);
    const auto train = [&] {
        const auto mine = std::move(reports[0]);
        mine->ends(one, one);  // as the run does that the exception destroys before; that of rank 1 goes on
        throw std::runtime_error("the disk is full");
    };
    CHECK_THROWS_WITH(train(), "the disk is full");  // does not wait for rank 1
    CHECK(all.at(0).must_report_failure());
    all.at(0).fail("the disk is full");
    for (int i = 0; i < 1'000'000 && all.at(1).loop()->failure() == nullptr; ++i)
        static_cast<void>(all.all.polled[static_cast<std::size_t>(i % 2)]->poll());
    CHECK_THROWS_WITH(weir::sync_wait(all.all, reports[1]->total()), "weir: rank 0 failed: the disk is full");
}

TEST_CASE("an exception that destroys a report behind its end is no failure of the rank") {
    cluster all(2);
    const pipeline_stats one = ranks::rank(10ms);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        rank_report report(own, all.all);
        report.begins(one);
        report.ends(one, one);
        static_cast<void>(co_await report.total());
        throw std::runtime_error("the disk is full");
    });
    CHECK(failed == 2);
    for (int r = 0; r < 2; ++r) CHECK(all.at(r).loop()->failure() == nullptr);
}

TEST_CASE("a report that was of a run is refused for another one") {
    cluster all(1);
    const pipeline_stats one = ranks::rank(10ms);
    const int failed = all.run([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        rank_report report(own, all.all);
        report.begins(one);
        report.ends(one, one);
        CHECK_THROWS_AS(report.begins(one), std::logic_error);
        CHECK((co_await report.total()).all.stages[0].num_tasks == 800);
    });
    CHECK(failed == 0);
}

TEST_CASE("a rank that can't merge a lap fails, and the other ranks don't wait for it") {
    cluster all(2);
    all.is_broken = true;
    const pipeline_stats one = ranks::rank(10ms);
    pipeline_stats other = one;
    other.stages[1].name = "in no outline";
    const int failed = all.run<weir::mpi::rank_failed>([&](communicator c) -> weir::task<> {
        const communicator own = co_await c.duplicate();
        rank_report report(own, all.all);
        report.begins(one);
        report.lap(c.rank() == 1 ? other : one);
        report.ends(one, one);
        try {
            static_cast<void>(co_await report.total());
        } catch (const std::invalid_argument&) {
            CHECK(c.rank() == 1);
        }
    });
    CHECK(failed == 1);
    CHECK(all.message.find("weir: rank 1 failed: ") == 0);
    CHECK(all.message.find("in no outline") != std::string::npos);
}
