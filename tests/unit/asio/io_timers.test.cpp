#include <weir/asio/io_timers.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>
#include <memory>
#include <vector>

#include WEIR_ASIO_FILE(io_context.hpp)

using weir::asio::detail::io_timers;

namespace {

// Notes what is posted, and resumes nothing.
class noting final : public weir::executor {
  public:
    std::vector<std::coroutine_handle<>> posted;
    void post(std::coroutine_handle<> h) noexcept override { posted.push_back(h); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

class one_timer {
  public:
    explicit one_timer(weir::duration after) : it(home.now() + after, std::noop_coroutine()) {}

    noting home;
    weir::asio::lib::io_context io;
    std::shared_ptr<io_timers> timers = std::make_shared<io_timers>(home, io.get_executor());
    weir::timer it;
};

constexpr weir::duration day = weir::duration(86'400'000'000'000);

}  // namespace

TEST_CASE("a timer that is due is posted where the context runs, and none is left then") {
    one_timer due(weir::duration(1));
    due.timers->add(due.it);
    CHECK(due.home.posted.empty());
    due.io.run();
    CHECK(due.home.posted.size() == 1);
    CHECK_FALSE(due.it.cancelled());
}

TEST_CASE("one that is cancelled is posted at once, and keeps the context no longer") {
    one_timer late(day);
    late.timers->add(late.it);
    late.io.poll();
    late.timers->cancel(late.it);
    CHECK(late.home.posted.size() == 1);
    late.io.run();
    CHECK(late.it.cancelled());
}

TEST_CASE("one that was cancelled before is posted instead of added") {
    one_timer late(day);
    late.timers->cancel(late.it);
    CHECK(late.home.posted.empty());
    late.timers->add(late.it);
    CHECK(late.home.posted.size() == 1);
}
