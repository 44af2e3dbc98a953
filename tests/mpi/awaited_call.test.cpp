#include <weir/mpi/awaited_call.hpp>

#include "mpi/support.hpp"

#include <weir/task/stop_token.hpp>

#include <span>
#include <stdexcept>

using namespace mpi_tests;

namespace {

weir::task<> receive_for_ever(communicator c, int& x) { co_await c.recv(std::span(&x, 1), 0, 9); }

}  // namespace

TEST_CASE("a receive whose coroutine is destroyed is cancelled before its memory is gone") {
    cluster ranks(1);
    {
        int x = 0;
        steps loop(0);
        loop.polled = ranks.all.polled;
        weir::task<> waiting = receive_for_ever(ranks.of(0), x);
        const auto waits = [&]() -> weir::task<> { co_await std::move(waiting); };
        CHECK_THROWS_WITH(weir::sync_wait(loop, waits()), "the ranks wait for ever");
    }
    CHECK(stand_in::num_calls("MPI_Cancel") == 1);
    CHECK(stand_in::look().requests == 0);
}

TEST_CASE("all awaits throw the failure of a rank, those that wait and those that begin later") {
    cluster ranks(2);
    ranks.is_broken = true;
    const int num_failed = ranks.run<weir::mpi::rank_failed>([&](communicator c) -> weir::task<> {
        int x = 0;
        if (c.rank() == 1) {
            co_await c.recv(std::span(&x, 1), 0);
        } else {
            ranks.at(0).fail("no disk");
            co_await c.barrier();
        }
    });
    CHECK(num_failed == 2);
    CHECK(ranks.message == "weir: rank 0 failed: no disk");
}
