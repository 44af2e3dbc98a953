#include <weir/asio/pending.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/task/external_wait.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include WEIR_ASIO_FILE(associated_cancellation_slot.hpp)
#include WEIR_ASIO_FILE(error.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)
#include WEIR_ASIO_FILE(system_error.hpp)

using weir::external_wait;
using weir::asio::detail::handler;
using weir::asio::detail::pending;
using weir::asio::detail::was_aborted;
using weir::asio::detail::without_error;

namespace {

class counting final : public weir::executor {
  public:
    int posts = 0;
    void post(std::coroutine_handle<>) noexcept override { ++posts; }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

using state = pending<std::tuple<int>>;

class one_operation {
  public:
    counting executor;
    std::shared_ptr<state> waits = std::make_shared<state>(executor, nullptr, std::noop_coroutine());
};

class throws_when_copied {
  public:
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::runtime_error("no copy"); }
};

}  // namespace

TEST_CASE("an answer posts who waits for it, once; one that was there before is not waited for") {
    one_operation late;
    handler<state> then(late.waits);
    CHECK(late.waits->wait());
    then(7);
    CHECK(late.executor.posts == 1);
    CHECK(late.waits->values == std::tuple(7));

    one_operation early;
    handler<state> at_once(early.waits);
    at_once(8);
    CHECK_FALSE(early.waits->wait());
    CHECK(early.executor.posts == 0);
    CHECK(early.waits->values == std::tuple(8));
}

TEST_CASE("a handler that is destroyed answers without a result; one that was moved from does not") {
    one_operation op;
    {
        handler<state> first(op.waits);
        CHECK(op.waits->wait());
        const handler<state> second(std::move(first));
        CHECK(op.executor.posts == 0);
    }
    CHECK(op.executor.posts == 1);
    CHECK_FALSE(op.waits->values.has_value());
}

TEST_CASE("who has left is not posted, and what it left behind is freed by the handler") {
    one_operation op;
    handler<state> then(op.waits);
    CHECK(op.waits->wait());
    op.waits->leave();
    CHECK_FALSE(op.waits->is_waited_for());
    op.waits = {};
    then(7);
    CHECK(op.executor.posts == 0);
}

TEST_CASE("it is an external wait until it is answered") {
    const auto open = [] { return external_wait::num_begun() - external_wait::num_ended(); };
    const auto before = open();
    one_operation op;
    handler<state> then(op.waits);
    CHECK(open() == before + 1);
    then(7);
    CHECK(open() == before);
}

TEST_CASE("a value that can't be copied is an error of the operation, not of the context") {
    counting executor;
    using other = pending<std::tuple<throws_when_copied>>;
    const auto waits = std::make_shared<other>(executor, nullptr, std::noop_coroutine());
    const throws_when_copied value;
    handler<other> then(waits);
    then(value);
    CHECK_FALSE(waits->wait());
    CHECK_FALSE(waits->values.has_value());
    CHECK_THROWS_AS(std::rethrow_exception(waits->error), std::runtime_error);
}

TEST_CASE("of several values an error that comes first is thrown, and the others are given") {
    using code = std::decay_t<decltype(make_error_code(weir::asio::lib::error::eof))>;
    static_assert(std::is_void_v<decltype(without_error(std::tuple<>()))>);
    static_assert(std::is_void_v<decltype(without_error(std::tuple<code>()))>);
    CHECK(without_error(std::tuple(code(), 3)) == 3);
    CHECK(without_error(std::tuple(code(), 3, std::string("x"))) == std::tuple(3, std::string("x")));
    CHECK(without_error(std::tuple(std::exception_ptr(), 3)) == 3);
    CHECK(*without_error(std::tuple(std::make_unique<int>(4))) == 4);
    const code eof = make_error_code(weir::asio::lib::error::eof);
    try {
        without_error(std::tuple(eof, 3));
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == static_cast<std::error_code>(eof));
    }
    CHECK_THROWS_AS(without_error(std::tuple(std::make_exception_ptr(std::logic_error("x")))),
                    std::logic_error);
}

TEST_CASE("only the error of a cancelled operation counts as aborted, as a code or as an exception") {
    namespace lib = weir::asio::lib;
    const auto code = [](auto e) { return make_error_code(e); };
    const auto thrown = [](auto e) { return std::make_exception_ptr(e); };
    CHECK(was_aborted(std::tuple(code(lib::error::operation_aborted), 3)));
    CHECK(was_aborted(std::tuple(thrown(lib::system_error(code(lib::error::operation_aborted))), 3)));
    CHECK_FALSE(was_aborted(std::tuple(code(lib::error::eof), 3)));
    CHECK_FALSE(was_aborted(std::tuple(thrown(lib::system_error(code(lib::error::eof))))));
    CHECK_FALSE(was_aborted(std::tuple(thrown(std::logic_error("x")))));
    CHECK_FALSE(was_aborted(std::tuple(std::exception_ptr())));
    CHECK_FALSE(was_aborted(std::tuple(3)));
    CHECK_FALSE(was_aborted(std::tuple()));
}

namespace lib = weir::asio::lib;
using weir::asio::detail::stop_request;

namespace {

class nobody final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

using stoppable_state = weir::asio::detail::stoppable<std::tuple<>, lib::io_context::executor_type>;
using stoppable_handler = weir::asio::detail::stoppable_handler<stoppable_state>;

class stoppable_operation {
  public:
    stoppable_operation() {
        lib::get_associated_cancellation_slot(then).assign([this](lib::cancellation_type) { ++signals; });
    }

    int signals = 0;
    lib::io_context io;
    nobody home;
    std::shared_ptr<stoppable_state> waits =
        std::make_shared<stoppable_state>(io.get_executor(), home, nullptr, std::noop_coroutine());
    stoppable_handler then{waits};
};

}  // namespace

TEST_CASE("a stop sends the signal where the operation's handlers run, not on the thread that asks") {
    stoppable_operation op;
    const stop_request stop(op.waits);
    stop();
    CHECK(op.signals == 0);
    op.io.run();
    CHECK(op.signals == 1);
}

TEST_CASE("an operation that has ended meanwhile, or that nobody waits for, gets no signal") {
    stoppable_operation ended;
    stop_request(ended.waits)();
    ended.then();
    ended.io.run();
    CHECK(ended.signals == 0);

    stoppable_operation left;
    stop_request(left.waits)();
    left.waits->leave();
    left.io.run();
    CHECK(left.signals == 0);
}
