#include <weir/task/task_promise.hpp>

#include "support/catch.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/task/task.hpp>

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
static_assert(detail::part_of_its_awaiter<weir::task<>>);

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

TEST_CASE("a task that is joined tells the join where it ended, and keeps its result until it is taken") {
    weir::run_loop loop;
    join j;
    detail::joined_task<int> t(seven());
    const std::coroutine_handle<> before = std::noop_coroutine();
    const std::coroutine_handle<> h = (*t).start(j, loop, nullptr, before);
    CHECK(j.where == nullptr);
    h.resume();
    CHECK(j.where == &loop);
    REQUIRE(j.it != nullptr);
    CHECK(j.it->forked_before() == before);
    CHECK(&std::coroutine_handle<detail::task_promise<int>>::from_address(h.address()).promise() == j.it);
    CHECK(t.address() == h.address());
    CHECK_FALSE((*t).has_exception());
    CHECK((*t).take() == 7);
}
