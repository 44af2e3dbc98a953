// A minimal coroutine type, to measure the cost of coroutines without a library.
#ifndef BENCH_COMMON_BARE_COROUTINE_HPP
#define BENCH_COMMON_BARE_COROUTINE_HPP

#include "common/check.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

namespace bench {

class bare_coroutine {
  public:
    struct promise_type {
        bare_coroutine get_return_object() {
            return bare_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };

    bare_coroutine(bare_coroutine&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    ~bare_coroutine() {
        if (handle_) handle_.destroy();
    }
    std::coroutine_handle<> handle() const { return handle_; }

  private:
    explicit bare_coroutine(std::coroutine_handle<> h) : handle_(h) {}
    std::coroutine_handle<> handle_;
};

class transfer_to {
  public:
    explicit transfer_to(const std::coroutine_handle<>& other) : other_(other) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return other_; }
    void await_resume() const noexcept {}

  private:
    const std::coroutine_handle<>& other_;
};

namespace detail {

inline bare_coroutine transfer(const std::coroutine_handle<>& other, std::uint64_t times,
                               std::uint64_t& count) {
    for (std::uint64_t i = 0; i < times; ++i) {
        ++count;
        co_await transfer_to(other);
    }
}

}  // namespace detail

// From one coroutine to another, and back.
inline void symmetric_round_trips(std::uint64_t n) {
    std::uint64_t count = 0;
    std::coroutine_handle<> first;
    std::coroutine_handle<> second;
    const bare_coroutine ping = detail::transfer(second, n, count);
    const bare_coroutine pong = detail::transfer(first, n, count);
    first = ping.handle();
    second = pong.handle();
    first.resume();
    check(count == 2 * n, "every transfer arrives");
}

}  // namespace bench

#endif
