#include <weir/mpi/process.hpp>

#include "mpi/support.hpp"

using namespace mpi_tests;
using weir::mpi::detail::process;

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
    CHECK_THROWS_WITH(process(world_options{}), "weir: MPI_Comm_dup failed");
}
