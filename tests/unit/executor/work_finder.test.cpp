#include <weir/executor/work_finder.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>

using weir::detail::executor_view;
using weir::detail::inspect_pool;

// In what order all is found while a pool runs: tests/unit/executor/thread_pool.test.cpp.
namespace {

// Whose threads do nothing: the test is the worker.
class finder final : public weir::detail::basic_work_finder<weir::detail::standard_platform> {
  public:
    finder() : basic_work_finder(2, 4, "too few", "finder", nullptr) { start(); }
    ~finder() {
        idle_.expect(-static_cast<int>(workers_.size()));
        end(false);
    }
    void post(std::coroutine_handle<> h) noexcept override { post_from_outside(h); }
    bool drive(flag&, weir::time_point) override { return false; }
    bool work(unsigned) noexcept override { return false; }

    std::size_t size() const { return workers_.size(); }
    worker& first() { return workers_[0]; }
    using basic_work_finder::find;
    using basic_work_finder::most;
    using basic_work_finder::push;
    using basic_work_finder::set_threads;
    using basic_work_finder::wanted;
};

}  // namespace

TEST_CASE("there are as many workers as threads, and room for more") {
    finder f;
    CHECK(f.size() == 2);
    CHECK(f.wanted() == 2);
}

TEST_CASE("beside as many workers as were asked for at most there is room for 64 while some block") {
    finder f;
    CHECK(f.most() == 4);
    f.set_threads(4 + 64);
    CHECK(f.size() == 4 + 64);
    CHECK_THROWS_AS(f.set_threads(4 + 64 + 1), std::bad_alloc);
    CHECK(f.size() == 4 + 64);
}

TEST_CASE("something waits outside while a timer is set, or anything was posted") {
    finder f;
    CHECK_FALSE(f.has_outside_work());
    weir::timer later(weir::time_point::max() - weir::duration(1), std::noop_coroutine());
    f.add(later);
    CHECK(f.has_outside_work());
    f.cancel(later);
    CHECK(f.has_outside_work());  // its waiter was posted
    CHECK(f.find(f.first()) == std::noop_coroutine().address());
    CHECK_FALSE(f.has_outside_work());
}

TEST_CASE("a worker searches its slot, then its queue, then the inbox") {
    finder f;
    auto& me = f.first();
    int slot = 0, queued = 0, outside = 0;
    f.push(me, &queued);
    me.exchange_next(&slot, nullptr);
    CHECK(f.find(me) == &slot);
    CHECK(f.find(me) == &queued);
    CHECK(f.find(me) == nullptr);
    f.post(std::coroutine_handle<>::from_address(&outside));
    weir::detail::executor_view view;
    f.inspect(view);
    CHECK(view.pending);
    CHECK(f.find(me) == &outside);
}

TEST_CASE("posts from outside don't starve a worker's queue, however long each resumption takes") {
    finder f;
    auto& me = f.first();
    int queued = 0, outside = 0;
    f.push(me, &queued);
    std::uint64_t before = 0;
    for (; before <= 4; ++before) {
        f.post(std::coroutine_handle<>::from_address(&outside));
        me.looked = -1;  // the clock has advanced
        if (f.find(me) == &queued) break;
        me.count_resumption();
    }
    CHECK(before <= 4);
    while (f.find(me) != nullptr) {
    }
}

TEST_CASE("a coroutine posted from outside behind n others is taken after at most 61 (n + 1) resumptions") {
    const std::size_t n = GENERATE(0U, 31U, 32U, 100U);
    finder f;
    auto& me = f.first();
    std::array<char, 200> busy{};
    for (char& each : busy) f.push(me, &each);
    std::array<char, 101> outside{};
    for (std::size_t i = 0; i <= n; ++i) f.post(std::coroutine_handle<>::from_address(&outside[i]));
    std::uint64_t taken = 0;  // the number of resumptions until the inbox is empty
    for (std::uint64_t resumptions = 0; taken == 0; ++resumptions) {
        void* const found = f.find(me);
        if (!f.has_outside_work()) taken = resumptions + 1;
        me.count_resumption();
        if (found >= busy.data() && found < busy.data() + busy.size()) f.push(me, found);  // a yield
    }
    CHECK(taken <= 61 * (n + 1));
    while (f.find(me) != nullptr) {
    }
}

TEST_CASE("a coroutine behind n others starts after at most 5 n + 8 resumptions, if its worker has forks") {
    const std::size_t n = GENERATE(0U, 1U, 20U, 100U);
    const unsigned phase = GENERATE(range(0U, 16U));
    finder f;
    auto& me = f.first();
    char last = 0, other = 0, in_slot = 0, outside = 0;
    me.passed_over = phase;
    for (std::size_t i = 0; i < n; ++i) f.push(me, &other);
    f.push(me, &last);
    std::uint64_t before = 0;
    for (; before <= 5 * n + 8; ++before) {
        me.fork(std::coroutine_handle<>::from_address(&other));
        f.post(std::coroutine_handle<>::from_address(&outside));
        me.exchange_next(&in_slot, nullptr);
        me.looked = -1;
        if (f.find(me) == &last) break;
        me.count_resumption();
    }
    CHECK(before <= 5 * n + 8);
    while (f.find(me) != nullptr) {
    }
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
        bool is_searching() const { return search; }
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

TEST_CASE("an idle pool has nothing pending and reports what its workers do") {
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

TEST_CASE("queued coroutines, timers and searching workers count as pending") {
    pool p;
    SECTION("a worker's") { p.workers[1].has_some = true; }
    SECTION("from outside") { p.inbox_.has_some = true; }
    SECTION("a timer") { p.timers_.at = 5; }
    SECTION("searched for") { p.workers[0].search = true; }
    CHECK(p.inspect().pending);
}

TEST_CASE("a coroutine that moves on during an inspection counts as pending") {
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

TEST_CASE("a pool is crowded if something is queued and no worker is idle") {
    pool p;
    p.workers[1].has_some = true;
    p.watch_.busy = 1;
    CHECK_FALSE(p.inspect().crowded);
    p.watch_.busy = 2;
    CHECK(p.inspect().crowded);
    p.workers[1].has_some = false;
    CHECK_FALSE(p.inspect().crowded);
}
