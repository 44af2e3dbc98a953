// weir asio, internal: a weir executor on any executor of Asio, for what a coroutine of Asio awaits
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

// Its clock is that of `executor::now`, as executor_traits::passing requires.
class guest_executor final : public executor {
  public:
    explicit guest_executor(lib::any_io_executor on)
        : executor({.passing = true}), on_(std::move(on)), timers_(std::make_shared<io_timers>(*this, on_)) {}

    // Called on a thread of Asio's executor.
    void begin(std::coroutine_handle<> h) { resume(h); }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const lib::any_io_executor on = on_;  // when `h` is posted, it may end and destroy this executor
        lib::post(on, [this, h] { resume(h); });
    }
    void add(timer& t) noexcept override { timers_->add(t); }
    void cancel(timer& t) noexcept override {
        if (timers_) timers_->cancel(t);
    }
    // Returns false, because it is not known which threads run Asio's executor.
    bool drive(flag&, time_point) override { return false; }

    // Called while the context is destroyed. Coroutines that wait here are destroyed without being resumed,
    // perhaps after this call; they may still cancel timers.
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
