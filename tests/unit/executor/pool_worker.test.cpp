#include <weir/executor/pool_worker.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/platform.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using platform = weir::detail::standard_platform;
using queues = weir::detail::basic_worker_queues<platform>;
using record = weir::detail::basic_thread_record<platform>;

}  // namespace

TEST_CASE("the slot holds one coroutine and returns the previous one") {
    queues q;
    record* const me = record::acquire();
    int a = 0, b = 0;
    CHECK(q.empty());
    CHECK(q.take_next(me) == nullptr);
    CHECK(q.exchange_next(&a, me) == nullptr);
    CHECK_FALSE(q.empty());
    CHECK(q.exchange_next(&b, me) == &a);
    CHECK(q.take_next(me) == &b);
    CHECK(q.empty());
}

TEST_CASE("a worker that ends hands over its coroutines, of each kind the oldest first") {
    struct list {
        std::vector<void*> items;
        void push(void* item) { items.push_back(item); }
    };
    queues q;
    record* const me = record::acquire();
    q.set_thread(me, nullptr);
    int queued[2] = {}, forks[2] = {}, next = 0;
    for (int& each : forks) q.forks.push_bottom(&each);
    for (int& each : queued) q.queue.push_bottom(&each);
    q.exchange_next(&next, me);
    list to;
    q.hand_over(to);
    CHECK(to.items == std::vector<void*>{&queued[0], &queued[1], &next, &forks[0], &forks[1]});
    CHECK(q.empty());
    CHECK(q.thread() == nullptr);
}

TEST_CASE("done() counts a worker's resumptions, and its thread's channel operations since the thread came") {
    queues q;
    CHECK(q.done() == 0);
    q.count_resumption();
    CHECK(q.done() == 1);
    record* const me = record::acquire();
    me->count_operation();
    q.set_thread(me, nullptr);
    CHECK(q.done() == 1);
    me->count_operation();
    CHECK(q.done() == 2);
    CHECK(q.resumed() == 1);
}

TEST_CASE("other threads see which coroutine a worker runs and whether it searches") {
    queues q;
    CHECK(q.running() == nullptr);
    CHECK_FALSE(q.is_searching());
    int coroutine = 0;
    q.set_running(&coroutine);
    q.set_searching(true);
    CHECK(q.running() == &coroutine);
    CHECK(q.is_searching());
    q.set_running(nullptr);
    q.set_searching(false);
    CHECK(q.running() == nullptr);
    CHECK_FALSE(q.is_searching());
}

TEST_CASE("each coroutine in the slot goes to the owner or to a thief, never to both") {
    queues q;
    constexpr int n = 20'000;
    std::atomic<bool> over{false};
    int stolen = 0;
    std::thread thief([&] {
        record* const me = record::acquire();
        while (!over.load()) {
            if (q.take_next(me) != nullptr) ++stolen;
        }
        if (q.take_next(me) != nullptr) ++stolen;
    });
    record* const me = record::acquire();
    int taken = 0, displaced = 0;
    int places[2];
    for (int i = 0; i < n; ++i) {
        if (q.exchange_next(&places[i % 2], me) != nullptr) ++displaced;
        if (i % 3 == 0 && q.take_next(me) != nullptr) ++taken;
    }
    over.store(true);
    thief.join();
    CHECK(taken + displaced + stolen == n);
}

using weir::detail::check_workers;
using weir::detail::most_workers;
using weir::detail::owned;

TEST_CASE("workers are added one by one, and stay where they are") {
    weir::detail::basic_worker_places<int> places(3);
    CHECK(places.most() == 3);
    CHECK(places.size() == 0);
    places.add(owned<int>(new int(7)));
    int* const first = &places[0];
    places.add(owned<int>(new int(8)));
    CHECK(places.size() == 2);
    CHECK(&places[0] == first);
    CHECK(places[0] == 7);
    CHECK(places[1] == 8);
}

TEST_CASE("a pool can have as many workers as it was told, else one a core, and never fewer than at first") {
    CHECK(most_workers(2, 0, 8) == 8);
    CHECK(most_workers(9, 0, 8) == 9);
    CHECK(most_workers(2, 3, 8) == 3);
    CHECK(most_workers(2, 2, 1) == 2);
    CHECK_THROWS_WITH(
        most_workers(4, 3, 8),
        "weir::thread_pool: a pool that begins with 4 workers was given a .most_workers that is "
        "less, or negative; give it as many or more, or nothing");
    CHECK_THROWS_AS(most_workers(4, static_cast<unsigned>(-1), 8), std::invalid_argument);
}

TEST_CASE("no workers, a negative number, and more than a pool was made for are refused") {
    CHECK_NOTHROW(check_workers(1, 1));
    CHECK_THROWS_WITH(check_workers(3, 2),
                      "weir::thread_pool: set_workers(3) of a pool that was made for 2 at most; make it with "
                      "{.most_workers = 3}");
    for (const unsigned none : {0U, static_cast<unsigned>(-1)}) {
        CHECK_THROWS_WITH(check_workers(none, 2),
                          "weir::thread_pool: set_workers() was given 0, or a negative number; ask for at "
                          "least 1, as somebody has to run what is posted");
    }
}

namespace {

struct pool final : weir::executor {
    using worker = weir::detail::pool_worker<pool, weir::detail::standard_platform>;
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
    void wake_helper() noexcept { ++told; }
    bool has_outside_work() const noexcept { return outside; }
    static bool must_look_outside(const worker&) noexcept { return true; }
    int told = 0;
    bool outside = false;
};

std::coroutine_handle<> handle(const int& at) {
    return std::coroutine_handle<>::from_address(const_cast<int*>(&at));
}

}  // namespace

TEST_CASE("a worker takes back its latest fork, unless another coroutine has priority, and counts it") {
    const int a = 0, b = 0, other = 0;
    pool p;
    pool::worker w(p, 3);
    CHECK(w.number == 3);
    CHECK(w.are_of(&p));
    w.fork(handle(a));
    w.fork(handle(b));
    CHECK(p.told == 2);
    CHECK_FALSE(w.take_back(handle(a)));
    p.outside = true;
    CHECK_FALSE(w.take_back(handle(b)));
    p.outside = false;
    w.queue.push_bottom(handle(other).address());
    CHECK_FALSE(w.take_back(handle(b)));
    CHECK(w.queue.steal() == handle(other).address());
    CHECK(w.resumed() == 0);
    CHECK(w.take_back(handle(b)));
    CHECK(w.resumed() == 1);
    CHECK(w.running() == &b);
    CHECK(w.take_back(handle(a)));
    CHECK(w.forks.empty());
}
