#include <weir/executor/executor_view.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>

#include <coroutine>

namespace {

// Says nothing of itself.
class taciturn final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

}  // namespace

TEST_CASE(
    "of an executor that tells nothing it is supposed that something will run, and that it is free to") {
    weir::detail::executor_view view;
    taciturn().look(view);
    CHECK(view.pending);
    CHECK_FALSE(view.crowded);
    CHECK(view.busy == 0);
    CHECK(view.resumed == 0);
    CHECK(view.workers.empty());
    const weir::detail::worker_view idle;
    CHECK_FALSE(idle.runs);
    CHECK(idle.done == 0);
}
