#include <weir/stages/slot_loop.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace weir::detail;
using weir::task;

namespace {

task<weir::executor*> my_executor() {
    const coroutine_env* env = co_await my_env();
    co_return env->executor;
}

// Ends after as many turns of the executor as it is told, and says what it did.
class turns final : public slot_machine {
  public:
    turns(std::string& log, int count) noexcept : log_(log), left_(count) {}
    ~turns() override { log_ += "gone;"; }

    void begin(coroutine_env& env) noexcept override {
        log_ += env.executor != nullptr ? "begin;" : "nowhere;";
    }
    any_awaiter* advance() noexcept override {
        if (left_ > 0) log_ += waits_.resume() ? "again;" : "refused;";
        if (left_-- == 0) return nullptr;
        return waits_.begin([this] { return turn{left_}; });
    }

  private:
    struct turn {
        explicit turn(int n) noexcept : left(n) {}
        bool await_ready() const noexcept { return false; }
        bool await_suspend(worker_handle h) const {
            if (left % 2 == 0) return false;
            h.promise().env().executor->post(h);
            return true;
        }
        bool await_resume() const noexcept { return left != 1; }
        int left;
    };

    std::string& log_;
    int left_;
    seldom_awaiter waits_;
};

// Told when the coroutine of a machine has ended.
struct told_of_end final : detached_task_owner {
    void ended() noexcept override { has_ended = true; }
    bool has_ended = false;
};

}  // namespace

TEST_CASE("a coroutine finds its own environment") {
    weir::virtual_time time;
    CHECK(weir::sync_wait(time, my_executor()) == &time);
}
