#include <weir/mpi/reactor.hpp>

#include "mpi/support.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/mpi/awaited_call.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace mpi_tests;
using weir::mpi::detail::operation;
using weir::mpi::detail::periodic_work;
using weir::mpi::detail::reactor;

namespace {

// Ends when `is_over` is set. Counts.
class until final : public operation {
  public:
    explicit until(bool may_cancel = true) : operation("MPI_Iprobe", 0, may_cancel) {}
    std::atomic<bool> is_over{false};
    std::atomic<int> num_ended{0};
    std::atomic<std::thread::id> begun_by{};

  private:
    int begin(MPI_Request&, bool& again) noexcept override {
        if (begun_by.load() == std::thread::id()) begun_by = std::this_thread::get_id();
        again = !is_over;
        return MPI_SUCCESS;
    }
    void ended() noexcept override { ++num_ended; }
};

}  // namespace

TEST_CASE("the thread that submits an operation begins it") {
    reactor r({});
    r.set_thread(false);
    until o;
    r.submit(o);
    CHECK(o.begun_by.load() == std::this_thread::get_id());
    CHECK_FALSE(r.poll());
    o.is_over = true;
    CHECK(r.poll());
    CHECK(o.num_ended == 1);
    CHECK_FALSE(r.poll());
}

TEST_CASE("an operation that is submitted while a caller has the lock begins when that caller releases it") {
    reactor r({});
    r.set_thread(false);
    until o;
    r.locked([&]() noexcept { std::thread([&] { r.submit(o); }).join(); });
    CHECK(o.begun_by.load() == std::this_thread::get_id());
    o.is_over = true;
    CHECK(r.poll());
}

TEST_CASE("an idle worker of the pool whose coroutine waits polls") {
    const auto polled = std::make_shared<reactor>(weir::mpi::polling_options());
    polled->set_thread(false);
    weir::thread_pool pool(1);
    std::thread::id polled_by;
    const auto waits = [&]() -> weir::task<std::thread::id> {
        auto begin = [&, left = 100](MPI_Request&, bool& again, MPI_Status&) mutable {
            polled_by = std::this_thread::get_id();
            again = --left > 0;
            return MPI_SUCCESS;
        };
        using call = weir::mpi::detail::awaited_call<decltype(begin), weir::mpi::detail::no_result>;
        co_await call(polled, "MPI_Iprobe", 0, begin, {});
        co_return std::this_thread::get_id();
    };
    // There is no other thread that could poll.
    const std::thread::id resumed_by = weir::sync_wait(pool, waits());
    CHECK(resumed_by == polled_by);
    CHECK(resumed_by != std::this_thread::get_id());
}

TEST_CASE("an operation may begin others, for whose ends an idle worker of the pool polls") {
    const auto polled = std::make_shared<reactor>(weir::mpi::polling_options());
    polled->set_thread(false);
    weir::thread_pool pool(1);
    until inner;
    struct outer final : operation {
        outer(reactor& r, operation& o, weir::executor& e)
            : operation("MPI_Isend", 0, false), of(r), other(o), waits(e) {}
        int begin(MPI_Request&, bool&) noexcept override {
            of.begin_here(other, waits);
            return MPI_SUCCESS;
        }
        void ended() noexcept override { ++num_ended; }
        reactor& of;
        operation& other;
        weir::executor& waits;
        int num_ended = 0;
    } first(*polled, inner, pool);
    polled->call(first);
    CHECK(first.num_ended == 1);
    CHECK(inner.begun_by.load() == std::this_thread::get_id());
    inner.is_over = true;
    while (inner.num_ended == 0) std::this_thread::yield();  // there is no other thread that could poll
    CHECK(inner.num_ended == 1);
}

TEST_CASE("with funnelled threads only the reactor's thread begins and polls") {
    reactor r({});
    until o;
    std::atomic<bool> is_ready{false};
    std::thread loop([&] {
        r.set_thread(true);
        is_ready = true;
        r.run();
    });
    const std::thread::id its = loop.get_id();
    while (!is_ready) std::this_thread::yield();
    r.submit(o);
    CHECK_FALSE(r.poll());
    while (o.begun_by.load() == std::thread::id()) std::this_thread::yield();
    o.is_over = true;
    while (o.num_ended == 0) std::this_thread::yield();
    r.end();
    loop.join();
    CHECK(o.begun_by.load() == its);
}

TEST_CASE("threads that submit, poll and cancel at once lose no operation") {
    reactor r({});
    r.set_thread(false);
    std::thread loop([&] { r.run(); });
    constexpr int num_each = 2000;
    std::atomic<int> num_ended{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < num_each; ++i) {
                until o;
                o.is_over = t == 0;
                r.submit(o);
                if (t == 1) r.cancel(o);
                if (t == 2) o.is_over = true;
                while (o.num_ended == 0) static_cast<void>(r.poll());
                r.locked([]() noexcept {});
                num_ended += o.num_ended;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    r.end();
    loop.join();
    CHECK(num_ended == 3 * num_each);
}

TEST_CASE("a cancelled operation ends as cancelled, unless it can't be cancelled") {
    reactor r({});
    r.set_thread(false);
    until can;
    until cannot(false);
    r.submit(can);
    r.submit(cannot);
    r.cancel(can);
    r.cancel(cannot);
    CHECK(can.num_ended == 1);
    CHECK(can.is_cancelled());
    CHECK(cannot.num_ended == 0);
    cannot.is_over = true;
    CHECK(r.poll());
    CHECK_FALSE(cannot.is_cancelled());
}

TEST_CASE("after a failure all operations end, and new ones are not begun") {
    reactor r({});
    r.set_thread(false);
    until before;
    r.submit(before);
    r.locked([&]() noexcept { r.fail(std::make_shared<const weir::mpi::rank_failed>(3, "gone")); });
    static_cast<void>(r.poll());
    CHECK(before.num_ended == 1);
    CHECK(before.is_cancelled());
    until after;
    r.submit(after);
    CHECK(after.num_ended == 1);
    CHECK(after.begun_by.load() == std::thread::id());
    REQUIRE(r.failure() != nullptr);
    CHECK(r.failure()->rank() == 3);
}

TEST_CASE("pauses between polls are at most the longest, also if the shortest is longer") {
    weir::virtual_time time;
    const auto r =
        std::make_shared<reactor>(weir::mpi::polling_options{.spin = {}, .longest = weir::duration(10'000)});
    r->set_thread(false);
    until o;
    r->submit(o);
    static_cast<void>(r->poll_for(time, 1'000'000));
    CHECK(r->poll_for(time, 1'000'080) == 1'010'080);
    CHECK(r->poll_for(time, 9'000'000) == 9'010'000);
    o.is_over = true;
    CHECK(r->poll());
}

TEST_CASE("periodic work is called when it is due") {
    class beats final : public periodic_work {
      public:
        int num = 0;
        std::int64_t tick(std::int64_t now) noexcept override {
            ++num;
            return num < 3 ? now : now + 1'000'000'000'000;
        }
        void fail_here(const std::string&) override {}
        void abandon(const std::string&) override {}
    };
    reactor r({});
    r.set_thread(false);
    beats b;
    r.locked([&]() noexcept { r.set_periodic(&b); });
    for (int i = 0; i < 10; ++i) static_cast<void>(r.poll());
    CHECK(b.num == 3);
}
