#include <weir/execution/library.hpp>

#include "support/catch.hpp"

#include <weir/execution.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

namespace lib = weir::execution::lib;
using weir::execution::detail::awaitable_sender;

static_assert(lib::sender<awaitable_sender<weir::task<int>>>);
static_assert(lib::scheduler<weir::execution::scheduler>);
static_assert(lib::sender<weir::execution::detail::schedule_sender>);
static_assert(lib::stoppable_token<weir::stop_token>);

TEST_CASE("the scheduler of a schedule's completion is the one that was asked") {
    weir::thread_pool pool(1);
    const auto on_pool = weir::execution::get_scheduler(pool);
    const auto schedule = lib::schedule(on_pool);
    CHECK(lib::get_completion_scheduler<lib::set_value_t>(lib::get_env(schedule)) == on_pool);
}
