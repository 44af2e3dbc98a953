// weir mpi, internal: the awaitable of an operation of MPI
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_AWAITED_CALL_HPP
#define WEIR_MPI_AWAITED_CALL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/slot.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::current_exception
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::invoke_result_t
#include <utility>      // for std::exchange, std::move

namespace weir::mpi::detail {

// Awaits an operation. `Begin`: int(MPI_Request&, bool& again, MPI_Status&); begins the operation, as
// `operation::begin` does. `Result`: called with the operation that has ended; returns the result of the
// await, or throws `error`. Both are called under the lock of the `reactor`, which begins and polls
// operations.
template <class Begin, class Result>
class [[nodiscard("co_await this, or nothing is done")]] awaited_call final : operation {
    using value = std::invoke_result_t<Result&, const operation&>;
    struct cancel_now {  // called at a stop request
        awaited_call* it;
        void operator()() const noexcept { it->loop_->cancel(*it); }
    };

  public:
    // `may_cancel`: a stop request for `stop` cancels the operation. So does the token in
    // `coroutine_env::ends`, which ends waits after a stop, a time limit, or in a `when_any`.
    awaited_call(std::shared_ptr<reactor> loop, const char* name, int peer, Begin begin, Result result,
                 bool may_cancel = false, stop_token stop = {})
        : operation(name, peer, may_cancel), loop_(std::move(loop)), begin_(std::move(begin)),
          result_(std::move(result)), may_stop_(may_cancel), stop_(std::move(stop)) {}
    awaited_call(const awaited_call&) = delete;
    awaited_call& operator=(const awaited_call&) = delete;

    // If the coroutine is destroyed while it waits: cancels the operation if `may_cancel` was set, and blocks
    // until the operation is over, because MPI uses the caller's memory.
    ~awaited_call() {
        if (!waiting_ || resumed_) return;
        stop_listening();
        loop_->locked([this]() noexcept { waiting_->leave(); });
        loop_->cancel(*this);
        while (!is_over_.load(std::memory_order_acquire)) {  // pairs with ended()
            static_cast<void>(loop_->poll());
            standard_platform::yield();
        }
        loop_->locked([]() noexcept {});  // waits until the thread that called ended() has released the lock
    }

    bool await_ready() const noexcept { return false; }

    // Resumes on the coroutine's executor: the thread that finds the operation complete posts the coroutine.
    // Returns false, and the coroutine continues at once, if the operation is complete already.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        loop_->check_world();
        if (std::exchange(resumed_, false)) {  // this is a second await
            this->begin_anew();
            is_over_.store(false, std::memory_order_relaxed);  // relaxed: ended() comes after submit(), below
        }
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        executor& ex = weir::detail::executor_of(env);
        waiting_.emplace(ex, env.measured, h);
        if (may_stop_ && stop_.stop_possible()) on_stop_.emplace(stop_, cancel_now{this});
        if (may_stop_ && env.ends != nullptr) on_end_.emplace(*env.ends->stop, cancel_now{this});
        loop_->submit(*this, &ex);
        return waiting_->wait();
    }

    value await_resume() {
        resumed_ = true;
        stop_listening();
        if (this->is_cancelled() && loop_->failure() != nullptr) {
            throw rank_failed(*loop_->failure());
        }
        if (this->error_class() != MPI_SUCCESS) throw error(this->error_class(), this->call(), this->peer());
        if (this->is_cancelled() && !stop_.stop_requested()) throw stopped();
        return value_.take();
    }

    // When the coroutine was posted, by the clock of its slot (worker of a stage); 0: not posted, or no slot.
    std::int64_t ready_at() const noexcept { return waiting_->ready_at(); }

  private:
    int begin(MPI_Request& request, bool& again) noexcept override {
        return begin_(request, again, this->status_);
    }
    void ended() noexcept override {
        try {
            if constexpr (!std::is_void_v<value>) value_.set_value(result_(*this));
        } catch (const error&) {
            value_.set_exception(std::current_exception());
        }
        is_over_.store(true, std::memory_order_release);  // pairs with the destructor
        waiting_->answer();
    }
    // Unregisters the stop callbacks: the operation is no longer cancelled.
    void stop_listening() noexcept {
        on_stop_.reset();
        on_end_.reset();
    }

    std::shared_ptr<reactor> loop_;
    Begin begin_;
    Result result_;
    weir::detail::result<value> value_;
    bool may_stop_;
    stop_token stop_;
    bool resumed_ = false;                                   // the coroutine has gone on
    standard_platform::atomic<bool> is_over_{false};         // ended() was called
    std::optional<weir::detail::async_completion> waiting_;  // resumes the coroutine; none: not awaited
    std::optional<stop_callback<cancel_now>> on_stop_;       // called at a stop request for `stop_`
    std::optional<stop_callback<cancel_now>> on_end_;  // called at a stop request for `coroutine_env::ends`
};

// For operations that have no result.
struct no_result {
    void operator()(const operation&) const noexcept {}
};

}  // namespace weir::mpi::detail

#endif
