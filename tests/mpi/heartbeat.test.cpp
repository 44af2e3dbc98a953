#include <weir/mpi/heartbeat.hpp>

#include "mpi/support.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace mpi_tests;
using namespace std::chrono_literals;
using weir::mpi::failure_options;
using weir::mpi::polling_options;
using weir::mpi::detail::heartbeat;
using weir::mpi::detail::reactor;

namespace {

// Heartbeats of ranks, by a clock that the test sets.
class hearts {
  public:
    explicit hearts(int ranks, const failure_options& options = usual) {
        stand_in::settings how;
        how.ranks = ranks;
        stand_in::reset(how);
        for (int r = 0; r < ranks; ++r) {
            stand_in::as(r);
            int level = 0;
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
            reactors.push_back(std::make_unique<reactor>(polling_options(), false));
            all.push_back(std::make_unique<heartbeat>(*reactors.back(), MPI_COMM_WORLD, options));
        }
        now = weir::detail::standard_platform::now();
    }
    // All ranks but `silent` live on for `time`, and poll in intervals of `step`.
    void live(std::chrono::nanoseconds time, int silent = -1, std::chrono::nanoseconds step = 100ms) {
        for (const std::int64_t end = now + time.count(); now < end; now += step.count()) {
            for (std::size_t r = 0; r < all.size(); ++r) {
                if (static_cast<int>(r) == silent) continue;
                stand_in::as(static_cast<int>(r));
                reactors[r]->locked([&]() noexcept { static_cast<void>(all[r]->tick(now)); });
                static_cast<void>(reactors[r]->poll());
            }
        }
    }
    std::string failure(std::size_t r) const {
        const auto* const f = reactors[r]->failure();
        return f == nullptr ? "" : f->what();
    }

    static constexpr failure_options usual{.heartbeat = 1s, .dead_after = 5s, .grace = 3s, .status = 7};
    std::vector<std::unique_ptr<reactor>> reactors;
    std::vector<std::unique_ptr<heartbeat>> all;
    std::int64_t now = 0;
};

}  // namespace

TEST_CASE("ranks that live are not taken for dead") {
    hearts ranks(3);
    ranks.live(2s);
    for (std::size_t r = 0; r < 3; ++r) CHECK(ranks.failure(r).empty());
    CHECK(stand_in::num_calls("MPI_Isend") >= 3);
    CHECK_FALSE(stand_in::look().aborted);
}

TEST_CASE("ranks that were all stopped and continued are not taken for dead") {
    hearts ranks(3);
    ranks.live(2s);
    for (int i = 0; i < 3; ++i) {
        ranks.now += std::chrono::nanoseconds(60s).count();
        ranks.live(2s);
    }
    for (std::size_t r = 0; r < 3; ++r) CHECK(ranks.failure(r).empty());
}

TEST_CASE("a rank that is silent is found also if the others poll more seldom than they wait for it") {
    hearts ranks(2);
    ranks.live(60s, -1, 10s);
    for (std::size_t r = 0; r < 2; ++r) CHECK(ranks.failure(r).empty());
    ranks.live(60s, 0, 10s);
    CHECK_FALSE(ranks.failure(1).empty());
}

TEST_CASE("times of failure options may be endless, and heartbeats are twice as often as they are missed") {
    hearts endless(3, {.heartbeat = weir::duration::max(), .dead_after = weir::duration::max()});
    endless.live(60s, 1);
    for (std::size_t r = 0; r < 3; ++r) CHECK(endless.failure(r).empty());
    CHECK(stand_in::num_calls("MPI_Isend") == 2);

    hearts seldom(3, {.heartbeat = weir::duration::max(), .dead_after = 5s});
    seldom.live(61s);
    for (std::size_t r = 0; r < 3; ++r) CHECK(seldom.failure(r).empty());
    CHECK(stand_in::num_calls("MPI_Isend") == 3 * 25);

    hearts patient(3, {.grace = weir::duration::max()});
    patient.reactors[0]->locked([&] { patient.all[0]->fail(0, "out of memory"); });
    patient.live(60s);
    CHECK_FALSE(stand_in::look().aborted);
}

TEST_CASE("all ranks hear of a rank that is silent, and the lowest of the others ends the job") {
    for (const int silent : {0, 1, 2}) {
        hearts ranks(3);
        ranks.live(7s, silent);
        const std::string expected = "weir: rank " + std::to_string(silent) +
                                     " failed: it was not heard of for 5000 ms: it hangs, or is dead";
        for (int r = 0; r < 3; ++r) {
            if (r != silent) CHECK(ranks.failure(static_cast<std::size_t>(r)) == expected);
        }
    }
}

TEST_CASE("a failure is told again if the message can't be sent or received at first") {
    for (const char* const name : {"MPI_Isend", "MPI_Recv", "MPI_Get_count", "MPI_Iprobe"}) {
        for (int nth = 0; nth < 2; ++nth) {
            hearts ranks(3);
            stand_in::fail(name, nth);
            ranks.reactors[1]->locked([&] { ranks.all[1]->fail(1, "disk full"); });
            ranks.live(1s);
            CHECK(stand_in::failed().size() == 1);
            for (std::size_t r = 0; r < 3; ++r) CHECK(ranks.failure(r) == "weir: rank 1 failed: disk full");
        }
    }
}

TEST_CASE("after a failure the job ends when all ranks have left, with the status") {
    hearts ranks(3);
    ranks.reactors[1]->locked([&] { ranks.all[1]->fail(1, "disk full"); });
    ranks.live(1s);
    for (std::size_t r = 0; r < 3; ++r) CHECK(ranks.failure(r) == "weir: rank 1 failed: disk full");
    CHECK_FALSE(stand_in::look().aborted);
    ranks.all[1]->leave();
    ranks.all[0]->leave();
    ranks.live(1s);
    CHECK_FALSE(stand_in::look().aborted);
    ranks.all[2]->leave();
    ranks.live(200ms);
    CHECK(stand_in::look().aborted == 7);
}

TEST_CASE("a rank that does not leave its work is waited for until the grace is over") {
    hearts ranks(2);
    ranks.reactors[0]->locked([&] { ranks.all[0]->fail(0, "out of memory"); });
    ranks.live(2s);
    CHECK_FALSE(stand_in::look().aborted);
    ranks.live(2s);
    CHECK(stand_in::look().aborted == 7);
}

TEST_CASE("a rank that has failed tells the others the reason when it is known, or none after a second") {
    const auto abandon = [](hearts& ranks) {
        ranks.reactors[1]->locked([&] { ranks.all[1]->abandon({}); });
        CHECK_FALSE(ranks.failure(1).empty());
        ranks.live(500ms);
        CHECK(ranks.failure(0).empty());
        CHECK(ranks.failure(2).empty());
    };
    const auto explain = [](hearts& ranks) {
        ranks.reactors[1]->locked([&] { ranks.all[1]->explain("disk full"); });
    };
    hearts explained(3);
    abandon(explained);
    CHECK(explained.all[1]->awaits_reason());
    explain(explained);
    CHECK_FALSE(explained.all[1]->awaits_reason());
    explained.live(300ms);
    CHECK(explained.failure(0) == "weir: rank 1 failed: disk full");
    CHECK(explained.failure(2) == "weir: rank 1 failed: disk full");

    hearts unexplained(3);
    abandon(unexplained);
    unexplained.live(1s);
    explain(unexplained);
    unexplained.live(300ms);
    CHECK(unexplained.failure(0) == unexplained.failure(1));
    CHECK(unexplained.failure(2) == unexplained.failure(1));
    for (std::size_t r = 0; r < 3; ++r) unexplained.all[r]->leave();
    unexplained.live(300ms);
    CHECK(stand_in::look().aborted == 7);
}
