#include <weir/detail/transfer.hpp>

#include "support/catch.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

using weir::detail::trampoline;

namespace {

// A coroutine that waits to be resumed by hand.
struct stepper {
    struct promise_type {
        stepper get_return_object() noexcept {
            return stepper(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    explicit stepper(std::coroutine_handle<> h) noexcept : handle(h) {}
    stepper(stepper&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    stepper& operator=(stepper&&) = delete;
    ~stepper() {
        if (handle) handle.destroy();
    }
    std::coroutine_handle<> handle;
};

// Suspends and continues with another coroutine, by transfer.
class pass_to {
  public:
    explicit pass_to(std::coroutine_handle<>& other) noexcept : other_(&other) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return trampoline::transfer(*other_);
    }
    void await_resume() const noexcept {}

  private:
    std::coroutine_handle<>* other_;
};

// How far the stack reached. Not by the address of a local: AddressSanitizer puts those elsewhere.
struct depth {
    std::uintptr_t low = UINTPTR_MAX, high = 0;
    WEIR_NOINLINE void note() {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (here < low) low = here;
        if (here > high) high = here;
    }
};

stepper bounce(std::coroutine_handle<>& other, long& left, depth& d) {
    while (left > 0) {
        --left;
        d.note();
        co_await pass_to(other);
    }
}

}  // namespace

TEST_CASE("a hundred thousand transfers between two coroutines need no more stack than a few") {
    long left = 100'000;
    depth d;
    std::coroutine_handle<> first, second;
    stepper a = bounce(second, left, d);
    stepper b = bounce(first, left, d);
    first = a.handle;
    second = b.handle;
    SECTION("from a trampoline") { trampoline::run(first); }
    SECTION("from a thread without one") { first.resume(); }
    CHECK(left == 0);
    CHECK(d.high - d.low < 64 * 1024);
}

namespace {

stepper nested(std::coroutine_handle<> inner, std::vector<int>& log) {
    log.push_back(1);
    trampoline::run(inner);
    log.push_back(3);
    co_return;
}

stepper leaf(std::vector<int>& log) {
    log.push_back(2);
    co_return;
}

}  // namespace

TEST_CASE("a trampoline inside another runs its own coroutine and returns") {
    std::vector<int> log;
    stepper inner = leaf(log);
    stepper outer = nested(inner.handle, log);
    trampoline::run(outer.handle);
    CHECK(log == std::vector<int>{1, 2, 3});
}
