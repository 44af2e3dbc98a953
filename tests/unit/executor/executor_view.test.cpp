#include <weir/executor/executor_view.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>

#include <array>
#include <coroutine>
#include <cstdint>
#include <functional>

using weir::detail::executor_view;
using weir::detail::inspect_pool;

namespace {

// Says nothing of itself.
class taciturn final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

}  // namespace

TEST_CASE(
    "of an executor that tells nothing it is supposed that something will run, and that it is free to") {
    weir::detail::executor_view view;
    taciturn().inspect(view);
    CHECK(view.pending);
    CHECK_FALSE(view.crowded);
    CHECK(view.busy == 0);
    CHECK(view.resumed == 0);
    CHECK(view.workers.empty());
    const weir::detail::worker_view idle;
    CHECK_FALSE(idle.runs);
    CHECK(idle.done == 0);
}

namespace {

// Two workers, and all that can be asked of a pool. `then` happens as somebody asks for the inbox: in the
// middle of a look.
struct pool {
    struct worker {
        std::uint64_t count = 0;
        bool search = false;
        bool has_some = false;
        void* at = nullptr;
        std::uint64_t resumed() const { return count; }
        bool searches() const { return search; }
        bool empty() const { return !has_some; }
        void* running() const { return at; }
        std::uint64_t done() const { return 10 * count; }
    };
    struct watch {
        std::uint64_t busy = 0;
        std::uint64_t active() const { return busy; }
        bool none_idle() const { return busy == 2; }
    };
    struct inbox {
        pool* all;
        bool has_some = false;
        bool empty() const {
            if (all->then) all->then();
            return !has_some;
        }
    };
    struct timers {
        static constexpr std::int64_t never = 99;
        std::int64_t at = never;
        std::int64_t next() const { return at; }
    };

    executor_view inspect() {
        executor_view view;
        inspect_pool(view, workers, watch_, inbox_, timers_);
        return view;
    }

    struct two : std::array<worker, 2> {
        unsigned size() const { return 2; }
    } workers{};
    watch watch_;
    inbox inbox_{this};
    timers timers_;
    std::function<void()> then;
};

}  // namespace

TEST_CASE("a pool without work has nothing pending, and says what its workers do") {
    pool p;
    p.workers[1].count = 3;
    p.workers[1].at = &p;
    p.watch_.busy = 1;
    const executor_view view = p.inspect();
    CHECK_FALSE(view.pending);
    CHECK_FALSE(view.crowded);
    CHECK(view.busy == 1);
    CHECK(view.resumed == 3);
    REQUIRE(view.workers.size() == 2);
    CHECK_FALSE(view.workers[0].runs);
    CHECK(view.workers[1].runs);
    CHECK(view.workers[1].done == 30);
}

TEST_CASE("what is queued, or timed, or in the hands of who searches, is pending") {
    pool p;
    SECTION("a worker's") { p.workers[1].has_some = true; }
    SECTION("from outside") { p.inbox_.has_some = true; }
    SECTION("a timer") { p.timers_.at = 5; }
    SECTION("searched for") { p.workers[0].search = true; }
    CHECK(p.inspect().pending);
}

TEST_CASE("what moves on during a look is pending all the same") {
    pool p;
    SECTION("somebody begins to search") {
        p.then = [&] { p.workers[0].search = true; };
    }
    SECTION("somebody has found something") {
        p.workers[0].search = true;
        p.then = [&] {
            p.watch_.busy = 1;
            p.workers[0].search = false;
        };
    }
    SECTION("somebody begins to work") {
        p.then = [&] { p.watch_.busy = 1; };
    }
    SECTION("somebody has worked, and rests again") {
        p.then = [&] { p.workers[1].count = 1; };
    }
    CHECK(p.inspect().pending);
}

TEST_CASE("it is crowded when something is queued and no worker is idle") {
    pool p;
    p.workers[1].has_some = true;
    p.watch_.busy = 1;
    CHECK_FALSE(p.inspect().crowded);
    p.watch_.busy = 2;
    CHECK(p.inspect().crowded);
    p.workers[1].has_some = false;
    CHECK_FALSE(p.inspect().crowded);
}
