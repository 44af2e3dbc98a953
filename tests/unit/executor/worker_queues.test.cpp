#include <weir/executor/worker_queues.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using platform = weir::detail::standard_platform;
using queues = weir::detail::basic_worker_queues<platform>;
using record = weir::detail::basic_thread_record<platform>;

}  // namespace

TEST_CASE("the slot holds one, and gives back who was there") {
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

TEST_CASE("a worker that goes hands over what it has, of each kind the oldest first") {
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

TEST_CASE("what a worker has done is its resumptions and its thread's operations") {
    queues q;
    CHECK(q.done() == 0);
    q.count_resumption();
    CHECK(q.done() == 1);
    record* const me = record::acquire();
    const auto before = me->operations();
    q.set_thread(me, nullptr);
    me->count_operation();
    CHECK(q.done() == 1 + before + 1);
    CHECK(q.resumed() == 1);
}

TEST_CASE("whoever looks sees what a worker runs, and whether it looks for something") {
    queues q;
    CHECK(q.running() == nullptr);
    CHECK_FALSE(q.searches());
    int coroutine = 0;
    q.runs(&coroutine);
    q.searches(true);
    CHECK(q.running() == &coroutine);
    CHECK(q.searches());
    q.runs(nullptr);
    q.searches(false);
    CHECK(q.running() == nullptr);
    CHECK_FALSE(q.searches());
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
