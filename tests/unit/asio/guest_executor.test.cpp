#include <weir/asio/guest_executor.hpp>

#include "support/catch.hpp"
#include "unit/asio/support.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>

#include WEIR_ASIO_FILE(any_io_executor.hpp)
#include WEIR_ASIO_FILE(strand.hpp)

using weir::asio::detail::guest_executor;
namespace lib = weir::asio::lib;

TEST_CASE("coroutines run and sleep on it where Asio's executor has it") {
    sockets::served net(2);
    const auto strand = lib::make_strand(net.io);
    guest_executor guest(strand);
    const auto sleeps = [&]() -> weir::task<int> {
        int there = strand.running_in_this_thread() ? 1 : 0;
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        there += strand.running_in_this_thread() ? 2 : 0;
        co_return sockets::runs_on(guest) ? there : 0;
    };
    CHECK(weir::sync_wait(guest, sleeps()) == 3);
}

TEST_CASE("it says on which executor of Asio's it runs, to who asks by that library") {
    lib::io_context io;
    const guest_executor guest(io.get_executor());
    const void* const native = guest.runs_on(&weir::asio::detail::this_library);
    REQUIRE(native != nullptr);
    CHECK(*static_cast<const lib::any_io_executor*>(native) == io.get_executor());
    const int another = 0;
    CHECK(guest.runs_on(&another) == nullptr);
    CHECK(weir::run_loop().runs_on(&weir::asio::detail::this_library) == nullptr);
}
