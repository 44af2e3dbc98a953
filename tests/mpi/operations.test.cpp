#include <weir/mpi/operations.hpp>

#include "mpi/support.hpp"

#include <string>
#include <vector>

using namespace mpi_tests;
using weir::mpi::detail::operation;
using weir::mpi::detail::operations;

namespace {

// Receives an integer from any rank, or begins nothing but its own repetition.
class one final : public operation {
  public:
    one(MPI_Comm comm, int repetitions = -1)
        : operation("MPI_Irecv", 1, true), comm_(comm), repetitions_(repetitions) {}
    int value = 0;
    int num_ended = 0;

  private:
    int begin(MPI_Request& request, bool& again) noexcept override {
        if (repetitions_ < 0) return MPI_Irecv(&value, 1, MPI_INT32_T, 0, 0, comm_, &request);
        again = repetitions_-- > 0;
        return MPI_SUCCESS;
    }
    void ended() noexcept override { ++num_ended; }
    MPI_Comm comm_;
    int repetitions_;
};

void send(MPI_Comm comm, int x) {
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK(MPI_Isend(&x, 1, MPI_INT32_T, 0, 0, comm, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

}  // namespace

TEST_CASE("operations end once, in the order in which MPI completes them") {
    cluster ranks(1);
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one first(comm);
    one second(comm);
    one repeated(comm, 2);
    CHECK_FALSE(all.begin(first));
    CHECK_FALSE(all.begin(second));
    CHECK_FALSE(all.begin(repeated));
    CHECK(all.size() == 3);
    CHECK_FALSE(all.test());
    send(comm, 5);
    CHECK(all.test());
    CHECK(first.value == 5);
    CHECK(first.num_ended == 1);
    CHECK(repeated.num_ended == 1);
    CHECK(second.num_ended == 0);
    send(comm, 6);
    CHECK(all.test());
    CHECK(second.value == 6);
    CHECK(all.size() == 0);
    one late(comm, 0);
    CHECK(all.begin(late));
}

TEST_CASE("an error of one request is the error of its operation alone") {
    cluster ranks(1);
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one good(comm);
    one bad(comm);
    CHECK_FALSE(all.begin(good));
    stand_in::fail("MPI_Irecv", 0, MPI_ERR_TRUNCATE, true);
    CHECK_FALSE(all.begin(bad));
    send(comm, 1);
    send(comm, 2);
    CHECK(all.test());
    CHECK(good.error_class() == MPI_SUCCESS);
    CHECK(good.value == 1);
    CHECK(bad.error_class() == MPI_ERR_TRUNCATE);
}

TEST_CASE("if MPI_Testsome fails as a whole, each request is tested by itself") {
    cluster ranks(1);
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one first(comm);
    one second(comm);
    CHECK_FALSE(all.begin(first));
    CHECK_FALSE(all.begin(second));
    send(comm, 3);
    stand_in::fail("MPI_Testsome");
    CHECK(all.test());
    CHECK(first.num_ended == 1);
    CHECK(first.error_class() == MPI_SUCCESS);
    CHECK(second.num_ended == 0);
    send(comm, 4);
    CHECK(all.test());
    CHECK(second.value == 4);
}

TEST_CASE("an operation whose test fails is asked again, as MPI may still use its memory") {
    cluster ranks(1);
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one first(comm);
    stand_in::fail("MPI_Test");
    CHECK_FALSE(all.begin(first));
    CHECK(first.num_ended == 0);
    send(comm, 3);
    CHECK(all.test());
    CHECK(first.value == 3);
    CHECK(first.error_class() == MPI_SUCCESS);
}

TEST_CASE("receives that are given up are cancelled: no message is written to their memory any more") {
    cluster ranks(1);
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one first(comm);
    CHECK_FALSE(all.begin(first));
    all.give_up_all();
    CHECK(first.is_cancelled());
    send(comm, 3);
    int other = 0;
    CHECK(MPI_Recv(&other, 1, MPI_INT32_T, 0, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(first.value == 0);
    CHECK(other == 3);
}

TEST_CASE("all operations that are given up end as cancelled") {
    cluster ranks(1);
    ranks.is_broken = true;
    MPI_Comm const comm = ranks.of(0).handle();
    operations all;
    one first(comm);
    one repeated(comm, 100);
    CHECK_FALSE(all.begin(first));
    CHECK_FALSE(all.begin(repeated));
    all.give_up_all();
    CHECK(all.size() == 0);
    CHECK(first.is_cancelled());
    CHECK(repeated.is_cancelled());
    CHECK(first.num_ended + repeated.num_ended == 2);
}
