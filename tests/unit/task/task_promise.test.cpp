#include <weir/task/task_promise.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>
#include <functional>
#include <memory>
#include <string>

namespace detail = weir::detail;
using detail::returnable;

namespace {

struct base {};
struct derived : base {};

static_assert(returnable<int, long>);
static_assert(returnable<const char*, std::string>);
static_assert(returnable<std::unique_ptr<int>, std::unique_ptr<int>>);
static_assert(!returnable<std::unique_ptr<int>&, std::unique_ptr<int>>);
static_assert(!returnable<std::string, int>);
// A reference is to what is still there afterwards.
static_assert(returnable<int&, const int&>);
static_assert(returnable<derived&, base&>);
static_assert(returnable<std::reference_wrapper<int>, int&>);
static_assert(!returnable<int, const int&>);
static_assert(!returnable<long&, const int&>);

static_assert(detail::is_task<weir::task<int>>);
static_assert(!detail::is_task<int>);
static_assert(detail::updates_slot_itself<weir::task<>>);

// Is told of the end, and where it was.
struct join final : detail::task_join {
    std::coroutine_handle<> task_ended(detail::task_promise_base& which) noexcept override {
        where = which.env().executor;
        it = &which;
        return std::noop_coroutine();
    }
    weir::executor* where = nullptr;
    detail::task_promise_base* it = nullptr;
};

weir::task<int> seven() { co_return 7; }

}  // namespace

TEST_CASE("a joined task tells its join that it has ended, and keeps its result until take") {
    weir::run_loop loop;
    join j;
    weir::task<int> owned = seven();
    const detail::joined_task_ref<int> t(owned);
    const std::coroutine_handle<> before = std::noop_coroutine();
    const std::coroutine_handle<> h = t.start(j, loop, nullptr, before);
    CHECK(j.where == nullptr);
    h.resume();
    CHECK(j.where == &loop);
    REQUIRE(j.it != nullptr);
    CHECK(j.it->forked_before() == before);
    CHECK(&std::coroutine_handle<detail::task_promise<int>>::from_address(h.address()).promise() == j.it);
    CHECK(t.address() == h.address());
    CHECK_FALSE(t.has_exception());
    CHECK(t.take() == 7);
}

namespace {

// Says its name when it goes, to a text of whoever awaits its coroutine.
struct named {
    named(std::string& out, char c) noexcept : to(&out), name(c) {}
    named(const named&) = delete;
    named& operator=(const named&) = delete;
    ~named() { *to += name; }
    std::string* to;
    char name;
};
struct alignas(64) aligned_result {
    int n = 1;
};

weir::task<aligned_result> waits(weir::channel<int>& never, std::string& gone) {
    const named mine(gone, 'c');
    static_cast<void>(co_await never.get());
    co_return aligned_result();
}
}  // namespace

TEST_CASE("of a chain of suspended tasks the awaited one is destroyed first") {
    weir::virtual_time time;
    weir::channel<int> never(1, time);
    std::string all;
    const auto chain = [&]() -> weir::task<> {
        const named last(all, 'a');
        const auto between = [](weir::channel<int>& c, std::string& to) -> weir::task<> {
            const named mine(to, 'b');
            static_cast<void>(co_await waits(c, to));
        };
        co_await weir::when_all(between(never, all), weir::yield());
    };
    CHECK_THROWS_AS(weir::sync_wait(time, chain()), weir::deadlock_error);
    CHECK(all == "cba");
}
