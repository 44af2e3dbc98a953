#include <weir/execution/alarm.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>
#include <memory>

namespace {

class noting final : public weir::executor {
  public:
    weir::detail::parker posted;
    void post(std::coroutine_handle<>) noexcept override { posted.set(); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

constexpr weir::duration day = weir::duration(86'400'000'000'000);

}  // namespace

TEST_CASE("a timer that is due is posted, also behind one that is late") {
    noting home;
    const auto alarm = std::make_shared<weir::execution::detail::alarm>(home);
    weir::timer late(home.now() + day, std::noop_coroutine());
    weir::timer due(home.now() + weir::duration(1), std::noop_coroutine());
    alarm->add(late);
    CHECK_FALSE(home.posted.is_set());
    alarm->add(due);
    while (!home.posted.wait()) {
    }
    CHECK_FALSE(due.cancelled());
    alarm->cancel(late);
    CHECK(late.cancelled());
}

TEST_CASE("one that is cancelled is posted at once; one that was before, instead of added") {
    noting home, other;
    const auto alarm = std::make_shared<weir::execution::detail::alarm>(home);
    weir::timer late(home.now() + day, std::noop_coroutine());
    alarm->add(late);
    alarm->cancel(late);
    CHECK(home.posted.is_set());

    const auto second = std::make_shared<weir::execution::detail::alarm>(other);
    weir::timer before(other.now() + day, std::noop_coroutine());
    second->cancel(before);
    CHECK_FALSE(other.posted.is_set());
    second->add(before);
    CHECK(other.posted.is_set());
}
