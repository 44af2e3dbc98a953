#include <weir/execution/scheduler.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
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
