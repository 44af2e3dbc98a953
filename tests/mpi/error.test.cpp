#include <weir/mpi/error.hpp>

#include "support/catch.hpp"

#include <string>

TEST_CASE("an error of MPI names the call, the other rank and the class of the error") {
    const weir::mpi::error e(MPI_ERR_TRUNCATE, "MPI_Irecv", 3);
    CHECK(std::string(e.what()) == "weir: MPI_Irecv with rank 3 failed: MPI_ERR_TRUNCATE");
    CHECK(e.error_class() == MPI_ERR_TRUNCATE);
    CHECK(std::string(e.call()) == "MPI_Irecv");
    CHECK(e.peer() == 3);
    CHECK(e.code().category() == weir::mpi::error_category());
    CHECK(std::string(weir::mpi::error(1000, "MPI_Ibarrier").what()) ==
          "weir: MPI_Ibarrier failed: an error of class 1000");
}

TEST_CASE("the failure of a rank has the rank and its message") {
    const weir::mpi::rank_failed e(2, "disk full");
    CHECK(e.rank() == 2);
    CHECK(std::string(e.what()) == "weir: rank 2 failed: disk full");
}
