// What becomes of processes that end: tests/programs/exit/exit.test.cpp.
#include <weir/executor/process_exit.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor_users.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parker.hpp>

#include <coroutine>
#include <cstdlib>
#include <memory>

namespace {

class plain final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override { std::abort(); }
    void add(weir::timer&) noexcept override { std::abort(); }
    void cancel(weir::timer&) noexcept override { std::abort(); }
    bool drive(flag&, weir::time_point) override { return true; }
    using executor::users;
};

}  // namespace

TEST_CASE("a thread whose objects live is in no exit") { CHECK_FALSE(weir::detail::exits_in_a_coroutine()); }

TEST_CASE("an executor that was left takes everything, runs nothing, and drives nobody") {
    alignas(plain) unsigned char place[sizeof(plain)];
    auto* const ex = std::construct_at(reinterpret_cast<plain*>(place));
    weir::executor* volatile seen = ex;
    ex->users().join(weir::detail::executor_user::run);
    ex->users().leave(static_cast<weir::executor*>(ex), weir::detail::left_executor::functions());
    std::destroy_at(ex);

    weir::executor& left = *seen;
    left.post(std::noop_coroutine());
    weir::timer t(weir::time_point(), std::noop_coroutine());
    left.add(t);
    left.cancel(t);
    weir::detail::parker done;
    CHECK_FALSE(left.drive(done, weir::time_point::max()));
    CHECK(left.now() > weir::time_point());
}
