#include <weir/asio/stoppable.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>

#include <coroutine>
#include <tuple>
#include <utility>

#include WEIR_ASIO_FILE(associated_cancellation_slot.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)

namespace lib = weir::asio::lib;
using weir::asio::detail::shared;
using weir::asio::detail::stop_request;

namespace {

class nobody final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

using state = weir::asio::detail::stoppable<std::tuple<>, lib::io_context::executor_type>;
using handler = weir::asio::detail::stoppable_handler<state>;

class one_operation {
  public:
    one_operation() {
        lib::get_associated_cancellation_slot(then).assign([this](lib::cancellation_type) { ++signals; });
    }

    int signals = 0;
    lib::io_context io;
    nobody home;
    shared<state> waits{new state(io.get_executor(), home, nullptr, std::noop_coroutine())};
    handler then{waits};
};

}  // namespace

TEST_CASE("a stop sends the signal where the operation's handlers run, not on the thread that asks") {
    one_operation op;
    const stop_request stop(op.waits);
    stop();
    CHECK(op.signals == 0);
    op.io.run();
    CHECK(op.signals == 1);
}

TEST_CASE("an operation that has ended meanwhile, or that nobody waits for, gets no signal") {
    one_operation ended;
    stop_request(ended.waits)();
    ended.then();
    ended.io.run();
    CHECK(ended.signals == 0);

    one_operation left;
    stop_request(left.waits)();
    left.waits->leave();
    left.io.run();
    CHECK(left.signals == 0);
}
