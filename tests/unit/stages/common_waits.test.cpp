#include <weir/stages/common_waits.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <string>

using namespace weir::detail;

namespace {

// Writes what happens to it.
template <class Answer>
class logged {
  public:
    logged(std::string& log, bool ready) noexcept : log_(log), ready_(ready) {}
    logged(const logged&) = delete;
    logged& operator=(const logged&) = delete;
    ~logged() { log_ += "gone;"; }
    bool await_ready() const noexcept { return ready_; }
    bool await_suspend(worker_handle) const noexcept {
        log_ += "waits;";
        return true;
    }
    Answer await_resume() const noexcept {
        log_ += "resumed;";
        return Answer(0);
    }

  private:
    std::string& log_;
    const bool ready_;
};

}  // namespace

TEST_CASE("an awaiter that a worker seldom needs gives its answer once, and goes") {
    std::string log;
    seldom_awaiter waits;
    CHECK(waits.begin([&] { return logged<bool>(log, true); }) == nullptr);
    CHECK_FALSE(waits.resume());
    CHECK(log == "resumed;gone;");

    any_awaiter* const next = waits.begin([&] { return logged<void>(log, false); });
    REQUIRE(next != nullptr);
    CHECK(next->suspend(worker_handle()) != nullptr);
    CHECK(waits.resume());
    CHECK(log == "resumed;gone;waits;resumed;gone;");
}

TEST_CASE("who has nothing to wait for goes on") {
    seldom_awaiter waits;
    CHECK(waits.resume());
}

TEST_CASE("a wait that nobody ends is destroyed with its worker") {
    std::string log;
    {
        seldom_awaiter waits;
        waits.begin([&] { return logged<bool>(log, false); });
    }
    CHECK(log == "gone;");
}

TEST_CASE("a coroutine that yields goes behind all that can run, and is runnable meanwhile") {
    weir::virtual_time time;
    const std::string stage = "walk";
    slot plain(stage, 0, time);
    timed_slot<true> timed(stage, 1, time);
    timed.begin(0);
    timed.enter(slot_state::run, 0);
    std::string seen;
    bool was_runnable = false;
    const auto yields = [&](auto& slot, const char* name) -> weir::task<> {
        seen += name;
        yield_awaiter turn(slot);
        co_await turn;
        seen += name;
    };
    const auto looks = [&]() -> weir::task<> {
        seen += "-";
        was_runnable = timed.state() == slot_state::runnable;
        co_return;
    };
    weir::sync_wait(time, weir::when_all(yields(plain, "a"), yields(timed, "b"), looks()));
    CHECK(seen == "ab-ab");
    CHECK(was_runnable);
    CHECK(timed.state() == slot_state::run);
}
