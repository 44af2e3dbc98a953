// weir cuda, internal: the awaitable that waits for work on a device
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_AWAITED_WORK_HPP
#define WEIR_CUDA_AWAITED_WORK_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/ticket.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/platform/env.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t
#include <memory>     // for std::shared_ptr
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir::cuda::detail {

// Awaits an operation on a device. `Work` describes the operation. It has
//   begin(core&, ticket&, measured)  queues the operation, if there is anything to queue; submits the ticket;
//   on_host()                        does the operation without a device;
//   call                             the name of the CUDA function in an error message.
template <class Work>
class [[nodiscard("co_await this, or nothing is done")]] awaited_work {
  public:
    explicit awaited_work(std::shared_ptr<core> of, Work work) noexcept
        : core_(std::move(of)), work_(std::move(work)) {}
    awaited_work(const awaited_work&) = delete;
    awaited_work& operator=(const awaited_work&) = delete;

    // Blocks until the work is done if the coroutine is destroyed while it waits: the work may use objects in
    // the coroutine's frame.
    ~awaited_work() {
        if (completion_ == nullptr) return;
        completion_->waiting->leave_and_wait();
        completion_->disown();
    }

    bool await_ready() {
        if (!core_->on_host()) return false;
        work_.on_host();
        return true;
    }

    // Resumes on the coroutine's executor, posted by the thread that finds the work done.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        if (env.measured != nullptr) stage_ = &env.measured->stage();
        executor& ex = weir::detail::executor_of(env);
        core_->check_device(env.measured);
        ticket t(*core_, [](completion& c) noexcept { c.waiting->answer(); });
        t.get().waiting.emplace(ex, env.measured, h);
        work_.begin(*core_, t, env.measured);
        completion_ = t.keep();
        return completion_->waiting->wait();
    }

    void await_resume() const {
        if (completion_ == nullptr || completion_->result == cudaSuccess) return;
        throw error(completion_->result, work_.call, stage_ == nullptr ? std::string() : *stage_);
    }

    std::int64_t ready_at() const noexcept { return completion_->waiting->ready_at(); }

  private:
    std::shared_ptr<core> core_;
    Work work_;
    const std::string* stage_ = nullptr;
    completion* completion_ = nullptr;
};

}  // namespace weir::cuda::detail

#endif
