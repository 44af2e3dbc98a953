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
    std::coroutine_handle<> task_ended(weir::executor* here,
                                       std::coroutine_handle<> which) noexcept override {
        where = here;
        it = which;
        return std::noop_coroutine();
    }
    weir::executor* where = nullptr;
    std::coroutine_handle<> it;
};

weir::task<int> seven() { co_return 7; }

}  // namespace

TEST_CASE("a task that is joined tells the join where it ended, and keeps its result until it is taken") {
    weir::run_loop loop;
    join j;
    detail::joined_task<int> t(seven());
    const std::coroutine_handle<> h = t.start(j, loop);
    CHECK(j.where == nullptr);
    h.resume();
    CHECK(j.where == &loop);
    CHECK(j.it == h);
    CHECK_FALSE(t.has_exception());
    CHECK(t.take() == 7);
}
