#include <weir/mpi/awaited_call.hpp>

#include "mpi/support.hpp"

#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <span>
#include <stdexcept>

using namespace mpi_tests;

namespace {

weir::task<> receive_for_ever(communicator c, int& x) { co_await c.recv(std::span(&x, 1), 0, 9); }

weir::task<> receive_twice(communicator c, int& x) {
    const int sent = 5;
    co_await c.send(std::span(&sent, 1), 0, 9);
    auto message = c.recv(std::span(&x, 1), 0, 9);
    co_await message;
    co_await message;
}

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

TEST_CASE("a receive that is awaited once more is as new: so a coroutine destroyed meanwhile cancels it") {
    cluster ranks(1);
    int x = 0;
    {
        steps loop(0);
        loop.polled = ranks.all.polled;
        weir::task<> waiting = receive_twice(ranks.of(0), x);
        const auto waits = [&]() -> weir::task<> { co_await std::move(waiting); };
        CHECK_THROWS_WITH(weir::sync_wait(loop, waits()), "the ranks wait for ever");
    }
    CHECK(x == 5);
    CHECK(stand_in::num_calls("MPI_Cancel") == 1);
    CHECK(stand_in::look().requests == 0);
}

TEST_CASE("a stop of the run ends a receive in the function of a stage, which does not go on") {
    cluster ranks(1);
    bool goes_on = false;
    const auto receive = [&, c = ranks.of(0)](int) -> weir::task<int> {
        int x = 0;
        co_await c.recv(std::span(&x, 1), 0, 9);
        goes_on = true;
        co_return x;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(receive) | weir::sink()).start(ranks.all);
    for (int i = 0; i < 50; ++i) weir::sync_wait(ranks.all, weir::yield());
    run.request_stop();
    run.drain();
    CHECK_FALSE(goes_on);
    CHECK(stand_in::num_calls("MPI_Cancel") == 1);
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
