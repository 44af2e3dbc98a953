#include <weir/task/external_wait.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>

#include <atomic>
#include <coroutine>
#include <optional>
#include <thread>
#include <utility>

using weir::external_wait;
using weir::detail::async_completion;

TEST_CASE("external_wait counts objects that were constructed, and objects that were destroyed") {
    const auto begun = external_wait::num_begun();
    const auto ended = external_wait::num_ended();
    {
        const external_wait one;
        std::optional<external_wait> other(std::in_place);
        CHECK(external_wait::num_begun() == begun + 2);
        CHECK(external_wait::num_ended() == ended);
        other.reset();
        CHECK(external_wait::num_ended() == ended + 1);
    }
    CHECK(external_wait::num_begun() == begun + 2);
    CHECK(external_wait::num_ended() == ended + 2);
}

namespace {

class counting final : public weir::executor {
  public:
    std::atomic<int> posts{0};
    void post(std::coroutine_handle<>) noexcept override { ++posts; }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

std::uint64_t promised() { return external_wait::num_begun() - external_wait::num_ended(); }

}  // namespace

TEST_CASE("answer() posts the coroutine that waits; wait() returns false if the answer is there already") {
    counting home;
    async_completion late(home, nullptr, std::noop_coroutine());
    CHECK(late.wait());
    CHECK(late.is_waited_for());
    late.answer();
    CHECK(home.posts == 1);
    CHECK_FALSE(late.is_waited_for());

    async_completion early(home, nullptr, std::noop_coroutine());
    early.answer();
    CHECK_FALSE(early.wait());
    CHECK(home.posts == 1);
}

TEST_CASE("a coroutine that has left isn't posted") {
    counting home;
    async_completion pending(home, nullptr, std::noop_coroutine());
    CHECK(pending.wait());
    pending.leave();
    CHECK_FALSE(pending.is_waited_for());
    pending.answer();
    CHECK(home.posts == 0);
}

TEST_CASE("leave_and_wait returns after the answer") {
    counting home;
    async_completion pending(home, nullptr, std::noop_coroutine());
    CHECK(pending.wait());
    std::atomic<bool> about{false};
    std::atomic<bool> answers{false};
    bool answered_before = false;
    std::thread leaves([&] {
        about = true;
        pending.leave_and_wait();
        answered_before = answers;
    });
    while (!about) std::this_thread::yield();
    while (pending.is_waited_for()) std::this_thread::yield();
    answers = true;
    pending.answer();
    leaves.join();
    CHECK(answered_before);
    CHECK(home.posts == 0);

    async_completion over(home, nullptr, std::noop_coroutine());
    CHECK(over.wait());
    over.answer();
    over.leave_and_wait();  // nothing to wait for
    CHECK(home.posts == 1);
}

TEST_CASE("an external_wait exists from the construction of an async_completion to its answer") {
    counting home;
    const std::uint64_t before = promised();
    std::optional<async_completion> pending(std::in_place, home, nullptr, std::noop_coroutine());
    CHECK(promised() == before + 1);
    pending->answer();
    CHECK(promised() == before);
    pending.emplace(home, nullptr, std::noop_coroutine());
    CHECK(promised() == before + 1);
    pending.reset();
    CHECK(promised() == before);
}
