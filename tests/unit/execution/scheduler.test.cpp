#include <weir/execution/scheduler.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/execution.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

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

namespace lib = weir::execution::lib;
using namespace std::chrono_literals;

namespace {

weir::task<int> gives(int n) { co_return n; }

// Destroys the operation that tells it.
class destroys {
  public:
    using operation = weir::execution::detail::coroutine_operation<weir::task<int>, destroys>;
    using receiver_concept = lib::receiver_t;
    destroys(std::unique_ptr<operation>& it, int& got) noexcept : it_(&it), got_(&got) {}
    void set_value(int n) noexcept {
        int& got = *got_;
        it_->reset();
        got = n;
    }
    void set_error(const std::exception_ptr&) noexcept {}
    void set_stopped() noexcept {}

  private:
    std::unique_ptr<operation>* it_;
    int* got_;
};

}  // namespace

TEST_CASE("a receiver may destroy the operation that completes") {
    weir::virtual_time time;
    int got = 0;
    std::unique_ptr<destroys::operation> it;
    it = std::make_unique<destroys::operation>(gives(6), &time, destroys(it, got));
    lib::start(*it);
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(it == nullptr);
    CHECK(got == 6);
}

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
