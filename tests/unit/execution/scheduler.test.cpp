#include <weir/execution/scheduler.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>

#include <type_traits>

namespace lib = weir::execution::lib;
using weir::execution::get_scheduler;

static_assert(std::is_same_v<weir::execution::detail::schedule_sender::completion_signatures,
                             lib::completion_signatures<lib::set_value_t()>>);

TEST_CASE("what is scheduled on an executor completes there") {
    weir::thread_pool pool(1);
    senders::outcome<int> ended;
    auto operation = lib::connect(lib::schedule(get_scheduler(pool)), senders::noting(ended));
    lib::start(operation);
    ended.wait();
    CHECK(ended.value == 0);
    CHECK(ended.where == &pool);
}

TEST_CASE("schedulers are equal where their executor is the same") {
    weir::run_loop one, other;
    CHECK(get_scheduler(one) == get_scheduler(one));
    CHECK(get_scheduler(one) != get_scheduler(other));
}
