#include <weir/mpi/world.hpp>

#include "mpi/support.hpp"

#include <chrono>
#include <span>
#include <stdexcept>

using namespace mpi_tests;
using weir::mpi::world;

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
