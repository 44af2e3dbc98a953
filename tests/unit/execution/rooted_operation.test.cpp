#include <weir/execution/rooted_operation.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace lib = weir::execution::lib;
using namespace std::chrono_literals;

namespace {

weir::task<int> gives(int n) { co_return n; }

// Destroys the operation that tells it.
class destroys {
  public:
    using operation = weir::execution::detail::rooted_operation<weir::task<int>, destroys>;
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
