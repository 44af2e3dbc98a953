#include <weir/mpi/world.hpp>

#include "mpi/support.hpp"

#include <chrono>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace mpi_tests;
using Catch::Matchers::ContainsSubstring;
using weir::mpi::world;
using weir::mpi::detail::process;

namespace {

world_options of_level(int level) {
    world_options o;
    o.threads = level;
    return o;
}

}  // namespace

TEST_CASE("a world initialises and finalises MPI on one thread, at every level from funnelled on") {
    for (const int level : {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE}) {
        stand_in::reset();
        {
            world w(of_level(level));
            CHECK(w.thread_level() == level);
            CHECK(w.size() == 1);
            int x = 3;
            for (int i = 0; i < 100; ++i) {
                weir::sync_wait(w.all_reduce(std::span(&x, 1), weir::mpi::reduction::sum));
            }
            CHECK(x == 3);
            CHECK(w.failure() == nullptr);
        }
        const stand_in::report found = stand_in::look();
        for (const auto& sentence : found.wrong) UNSCOPED_INFO(sentence);
        CHECK(found.wrong.empty());
        CHECK(found.requests == 0);
        CHECK(found.communicators == 0);
        CHECK(stand_in::num_calls("MPI_Finalize") == 1);
    }
}

TEST_CASE("a second world is refused, and one after the end of MPI") {
    stand_in::reset();
    {
        const world w(without_thread());
        CHECK_THROWS_AS(world(without_thread()), std::logic_error);
    }
    CHECK_THROWS_WITH(
        world(without_thread()),
        "weir: MPI was finalised in this process, and can't begin again; keep one world for the "
        "whole program");
}

TEST_CASE("an MPI without threads is refused") {
    stand_in::settings how;
    how.level = MPI_THREAD_SINGLE;
    stand_in::reset(how);
    CHECK_THROWS_WITH(world(), "weir: this MPI knows no threads: it grants only MPI_THREAD_SINGLE");
}

TEST_CASE("a world asks for no level of threads that is none, or too low") {
    stand_in::reset();
    const std::string rest = ": ask for MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED or MPI_THREAD_FUNNELED";
    CHECK_THROWS_WITH(world(of_level(MPI_THREAD_SINGLE)),
                      "weir: world_options::threads is MPI_THREAD_SINGLE, which forbids other threads" +
                          rest);
    CHECK_THROWS_WITH(world(of_level(99)), "weir: world_options::threads is 99, which is no level" + rest);
    CHECK(stand_in::num_calls("MPI_Init_thread") == 0);
}

TEST_CASE("a world without a thread names the level that suffices, if the program's is too low") {
    stand_in::reset();
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level);
    CHECK_THROWS_WITH(
        world(without_thread()),
        "weir: MPI was initialised by the program with MPI_THREAD_SINGLE, which forbids other "
        "threads: let the world initialise MPI, or ask MPI_Init_thread for MPI_THREAD_FUNNELED");
}

TEST_CASE("an MPI that the program has initialised is used and not finalised, unless it is for one thread") {
    stand_in::reset();
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    {
        world w;
        weir::sync_wait(w.barrier());
    }
    CHECK(stand_in::num_calls("MPI_Finalize") == 0);
    CHECK(stand_in::look().communicators == 0);

    stand_in::reset();
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    CHECK_THROWS_AS(world(), std::logic_error);
    const world driven(without_thread());
    CHECK(driven.thread_level() == MPI_THREAD_FUNNELED);
}

TEST_CASE("run returns the status for main") {
    stand_in::reset();
    world w(without_thread());
    CHECK(w.run([] {}) == 0);
    CHECK(w.failure() == nullptr);
}

TEST_CASE("a process waits until MPI is initialised, and frees what it made") {
    stand_in::reset();
    {
        const process p(world_options{});
        CHECK(p.level() == MPI_THREAD_MULTIPLE);
        CHECK(p.all()->size == 1);
        CHECK(stand_in::look().communicators == 2);
    }
    CHECK(stand_in::look().communicators == 0);
    CHECK(stand_in::look().wrong.empty());
}

TEST_CASE("an MPI that can't make a communicator is refused") {
    stand_in::reset();
    stand_in::fail("MPI_Comm_dup", 1);
    CHECK_THROWS_WITH(process(world_options{}), "weir: MPI_Comm_dup failed: MPI_ERR_OTHER");
}

TEST_CASE("each call that begins MPI is refused by its name if it fails") {
    for (const char* const name :
         {"MPI_Initialized", "MPI_Finalized", "MPI_Init_thread", "MPI_Comm_set_errhandler", "MPI_Comm_dup",
          "MPI_Comm_rank", "MPI_Comm_size"}) {
        for (int nth = 0; nth < 2; ++nth) {
            stand_in::reset();
            stand_in::fail(name, nth);
            bool is_refused = false;
            try {
                const process p(world_options{});
            } catch (const std::logic_error& e) {
                is_refused = std::string(e.what()).starts_with("weir: " + std::string(name) + " failed");
            }
            CHECK(is_refused == !stand_in::failed().empty());
        }
    }
    stand_in::reset();
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    stand_in::fail("MPI_Query_thread", 0, MPI_ERR_INTERN);
    CHECK_THROWS_WITH(process(world_options{}), "weir: MPI_Query_thread failed: MPI_ERR_INTERN");
}

#if defined(__unix__)
TEST_CASE("if a call fails while the ranks leave, the job ends with the status of a failure") {
    for (int nth = 0; nth < 3; ++nth) {
        const pid_t child = fork();
        if (child == 0) {
            stand_in::settings how;
            how.abort_exits = true;
            stand_in::reset(how);
            world_options o = without_thread();
            o.failures.status = 7;
            process p(o);
            if (nth < 2) stand_in::fail("MPI_Ibarrier", nth);
            p.leave();
            std::_Exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WEXITSTATUS(status) == (nth < 2 ? 7 : 0));
    }
}

TEST_CASE("with funnelled threads, the thread that waits for a call which fails tells no rank itself") {
    const pid_t child = fork();
    if (child == 0) {
        stand_in::settings how;
        how.ranks = 2;
        how.level = MPI_THREAD_FUNNELED;
        how.abort_exits = true;
        stand_in::reset(how);
        stand_in::during_calls([] {
            if (!stand_in::look().wrong.empty()) std::_Exit(9);
        });
        world_options o;
        o.failures = {.heartbeat = {}, .grace = std::chrono::milliseconds(10), .status = 7};
        process p(o);
        stand_in::fail("MPI_Ibarrier");
        p.leave();
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
}
#endif

TEST_CASE("a rank at rest sends its heartbeats, however seldom it is to poll") {
    stand_in::reset({.ranks = 2});
    world_options seldom;
    seldom.polling = {.longest = weir::duration::max(), .background = weir::duration::max()};
    seldom.failures.heartbeat = std::chrono::milliseconds(2);
    {
        const process one(seldom);
        while (stand_in::num_calls("MPI_Isend") < 3) std::this_thread::yield();
    }
    CHECK(stand_in::look().wrong.empty());
}

TEST_CASE("a time after which all ranks are dead at once is refused") {
    stand_in::reset();
    world_options how;
    how.failures.dead_after = {};
    CHECK_THROWS_WITH(world(how), ContainsSubstring("failure_options::dead_after is 0 or less"));
    CHECK(stand_in::called().empty());
}
