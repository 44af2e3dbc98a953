#include <weir/mpi/process.hpp>

#include "mpi/support.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

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
#endif
