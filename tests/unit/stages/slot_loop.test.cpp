#include <weir/stages/slot_loop.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/platform/owned.hpp>
#include <weir/stages/common_waits.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
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

// Waits for as many turns as it is told, and says what it did.
class turns final : public slot_machine {
  public:
    turns(std::string& log, int count) noexcept : log_(log), left_(count) {}
    ~turns() override { log_ += "gone;"; }

    void begin(coroutine_env& env) noexcept override {
        log_ += env.executor != nullptr ? "begin;" : "nowhere;";
    }
    std::coroutine_handle<> advance(worker_handle worker) override {
        while (true) {
            if (has_waited_) log_ += waits_.resume() ? "again;" : "refused;";
            has_waited_ = left_ > 0;
            if (!has_waited_) return nullptr;
            any_awaiter* const wait = waits_.begin([this] { return turn(--left_); });
            if (const auto next = suspend_in(wait, worker)) return next;
        }
    }

  private:
    class turn {
      public:
        explicit turn(int n) noexcept : left_(n) {}
        bool await_ready() const noexcept { return false; }
        // Resumes on the executor, or, before an even number of turns, at once.
        bool await_suspend(worker_handle h) const {
            if (left_ % 2 == 0) return false;
            h.promise().env().executor->post(h);
            return true;
        }
        bool await_resume() const noexcept { return left_ != 1; }

      private:
        int left_;
    };

    std::string& log_;
    int left_;
    bool has_waited_ = false;
    seldom_awaiter waits_;
};

// Awaits what `Make` gives, once.
template <class Make>
class awaits_once final : public slot_machine {
  public:
    awaits_once(std::string& log, Make make) : log_(log), make_(std::move(make)) {}
    void begin(coroutine_env&) noexcept override {}
    std::coroutine_handle<> advance(worker_handle worker) override {
        if (!std::exchange(has_begun_, true)) {
            const auto move = [](auto& made) -> auto&& { return std::move(made); };
            if (const auto next = suspend_in(call_.begin(make_, move, error_), worker)) return next;
        }
        call_.end([this](int n) { log_ += std::to_string(n) + ";"; }, error_);
        try {
            if (error_) std::rethrow_exception(error_);
        } catch (const std::exception& e) {
            log_ += std::string(e.what()) + ";";
        }
        return nullptr;
    }

  private:
    using awaitable = decltype(std::declval<Make&>()());
    std::string& log_;
    Make make_;
    bool has_begun_ = false;
    std::exception_ptr error_;
    erased_call<awaitable, awaitable&&> call_;
};

// Fails in the way of a take or put that cannot suspend its coroutine.
class throws_in_advance final : public slot_machine {
  public:
    explicit throws_in_advance(std::string& log) noexcept : log_(log) {}
    ~throws_in_advance() override { log_ += "gone;"; }
    void begin(coroutine_env&) noexcept override {}
    std::coroutine_handle<> advance(worker_handle) override { throw std::runtime_error("no thread"); }

  private:
    std::string& log_;
};

// Told when the coroutine of a machine has ended.
class logs_end final : public detached_task_owner {
  public:
    explicit logs_end(std::string& log) noexcept : log_(log) {}
    void ended() noexcept override { log_ += "ended;"; }

  private:
    std::string& log_;
};

void run(std::string& log, owned<slot_machine> machine) {
    weir::virtual_time time;
    logs_end owner(log);
    detached_task<void> worker = run_machine(std::move(machine));
    worker.start(time, nullptr, owner);
    time.run();
}
template <class Make>
std::string heard_of(Make make) {
    std::string log;
    run(log, owned<slot_machine>(new awaits_once<Make>(log, std::move(make))));
    return log;
}

template <class Answer>
class throws_in_suspend {
  public:
    bool await_ready() const noexcept { return false; }
    Answer await_suspend(worker_handle) const { throw std::runtime_error("not suspended"); }
    int await_resume() const noexcept { return 1; }
};

}  // namespace

TEST_CASE("a coroutine finds its own environment") {
    weir::virtual_time time;
    CHECK(weir::sync_wait(time, my_executor()) == &time);
}

TEST_CASE(
    "the coroutine of a worker waits for what its machine returns, and destroys the machine before it ends") {
    std::string log;
    run(log, owned<slot_machine>(new turns(log, 3)));
    CHECK(log == "begin;again;refused;again;gone;ended;");
}

TEST_CASE("a worker that never starts destroys its machine") {
    std::string log;
    {
        const detached_task<void> worker = run_machine(owned<slot_machine>(new turns(log, 3)));
    }
    CHECK(log == "gone;");
}

TEST_CASE("the result of an awaitable, or its exception, reaches the machine") {
    const auto after = [](bool throws) -> task<int> {
        co_await weir::sleep_for(std::chrono::milliseconds(1));
        if (throws) throw std::runtime_error("in the task");
        co_return 7;
    };
    CHECK(heard_of([&] { return after(false); }) == "7;ended;");
    CHECK(heard_of([&] { return after(true); }) == "in the task;ended;");
    CHECK(heard_of([]() -> task<int> { throw std::runtime_error("no task"); }) == "no task;ended;");
}

TEST_CASE("an exception from await_suspend is an error of the awaitable, whatever await_suspend returns") {
    CHECK(heard_of([] { return throws_in_suspend<void>(); }) == "not suspended;ended;");
    CHECK(heard_of([] { return throws_in_suspend<bool>(); }) == "not suspended;ended;");
    CHECK(heard_of([] { return throws_in_suspend<std::coroutine_handle<>>(); }) == "not suspended;ended;");
}

TEST_CASE(
    "a take or put that cannot suspend the worker ends the coroutine, which destroys the machine first") {
    std::string log;
    run(log, owned<slot_machine>(new throws_in_advance(log)));
    CHECK(log == "gone;ended;");
}
