// weir asio, internal: an executor on any of Asio's, while a coroutine of Asio's waits for us
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_GUEST_EXECUTOR_HPP
#define WEIR_ASIO_GUEST_EXECUTOR_HPP

#include <weir/asio/io_timers.hpp>
#include <weir/asio/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <memory>     // for std::make_shared
#include <utility>    // for std::move

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

// Its clock is that of `executor::now`, as that of whatever is passing.
class guest_executor final : public executor {
  public:
    explicit guest_executor(lib::any_io_executor on)
        : executor({.passing = true}), on_(std::move(on)), timers_(std::make_shared<io_timers>(*this, on_)) {}

    // For the thread that is one of Asio's executor now.
    void begin(std::coroutine_handle<> h) { resume(h); }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const lib::any_io_executor on = on_;  // once it was posted it may have ended, and this be gone
        lib::post(on, [this, h] { resume(h); });
    }
    void add(timer& t) noexcept override { timers_->add(t); }
    void cancel(timer& t) noexcept override {
        if (timers_) timers_->cancel(t);
    }
    // Who runs Asio's executor, and how, is not known.
    bool drive(flag&, time_point) override { return false; }

    // Its context is being destroyed. What waits here is destroyed without being resumed, also after this
    // call; it may still cancel timers.
    void retire() noexcept {
        timers_.reset();
        on_ = lib::any_io_executor();
    }

    const void* runs_on(const void* library) const noexcept override {
        return library == &this_library ? &on_ : nullptr;
    }

  private:
    lib::any_io_executor on_;
    std::shared_ptr<io_timers> timers_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#endif
