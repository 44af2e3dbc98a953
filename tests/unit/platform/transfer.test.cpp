#include <weir/platform/transfer.hpp>

#include "support/catch.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <stdexcept>
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

TEST_CASE("a trampoline resumes any number of coroutines, each from an empty stack") {
    long left = 0;
    depth d;
    std::coroutine_handle<> first, second;
    trampoline t;
    for (int round = 0; round < 10; ++round) {
        left = 10'000;
        stepper a = bounce(second, left, d);
        stepper b = bounce(first, left, d);
        first = a.handle;
        second = b.handle;
        t.resume(first);
        CHECK(left == 0);
    }
    CHECK(d.high - d.low < 64 * 1024);
}

TEST_CASE("trampolines nest: the inner one runs its own transfers, then the outer one continues") {
    std::vector<int> log;
    trampoline outer;
    {
        trampoline inner;
        stepper leaf_inside = leaf(log);
        inner.resume(leaf_inside.handle);
    }
    long left = 10'000;
    depth d;
    std::coroutine_handle<> first, second;
    stepper a = bounce(second, left, d);
    stepper b = bounce(first, left, d);
    first = a.handle;
    second = b.handle;
    outer.resume(first);
    CHECK(log == std::vector<int>{2});
    CHECK(left == 0);
    CHECK(d.high - d.low < 64 * 1024);
}

namespace {

// Of another library: lets out what it throws.
struct throwing {
    struct promise_type {
        throwing get_return_object() noexcept {
            return throwing(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { throw; }
    };
    explicit throwing(std::coroutine_handle<> h) noexcept : handle(h) {}
    throwing(const throwing&) = delete;
    throwing& operator=(const throwing&) = delete;
    ~throwing() { handle.destroy(); }
    std::coroutine_handle<> handle;
};

throwing throw_out() {
    throw std::runtime_error("out");
    co_return;
}

}  // namespace

TEST_CASE("after an exception that leaves a coroutine, a trampoline resumes others as before") {
    throwing first = throw_out(), second = throw_out();
    std::vector<int> log;
    stepper last = leaf(log);
    {
        trampoline t;
        CHECK_THROWS_AS(t.resume(first.handle), std::runtime_error);
        CHECK_THROWS_AS(trampoline::run(second.handle), std::runtime_error);
        t.resume(last.handle);
    }
    CHECK(log == std::vector<int>{2});
    // And the thread is without one again: a transfer becomes one itself.
    long left = 10'000;
    depth d;
    std::coroutine_handle<> one, two;
    stepper a = bounce(two, left, d);
    stepper b = bounce(one, left, d);
    one = a.handle;
    two = b.handle;
    one.resume();
    CHECK(left == 0);
    CHECK(d.high - d.low < 64 * 1024);
}

TEST_CASE("a thread knows for whom it works, until that suspends, and what lies below") {
    struct at_work {
        struct promise_type : stepper::promise_type {
            at_work get_return_object() noexcept {
                return at_work(std::coroutine_handle<promise_type>::from_promise(*this));
            }
        };
        explicit at_work(std::coroutine_handle<> h) noexcept : it(h) {}
        stepper it;
    };
    const auto below = [](const int& who) { return trampoline::is_below(&who); };
    const auto inner = [&below](const int& mine, const int& outer) -> at_work {
        CHECK(below(outer));
        CHECK_FALSE(below(mine));
        trampoline::set_work_here(&mine);
        CHECK(below(mine));
        co_await std::suspend_always();
        CHECK_FALSE(below(mine));  // nobody has said so again
    };
    const int one = 0, two = 0;
    const at_work in = inner(two, one);
    const auto outer = [&]() -> at_work {
        trampoline::set_work_here(&one);
        trampoline::run(in.it.handle);
        CHECK(below(one));
        CHECK_FALSE(below(two));
        co_await std::suspend_always();
    };
    const at_work out = outer();
    trampoline t;
    t.resume(out.it.handle);
    CHECK_FALSE(below(one));
    t.resume(out.it.handle);
    CHECK(out.it.handle.done());
    t.resume(in.it.handle);
    CHECK(in.it.handle.done());
}

namespace {
struct join final : weir::detail::owed_join {
    void settle() noexcept override { ++settled; }
    int settled = 0;
};
}  // namespace

TEST_CASE("a trampoline settles each owed join once, when its coroutine suspends") {
    join paid, first, second;
    const int task = 0;
    const auto owing = [&](trampoline& t) -> stepper {
        t.owe(first);
        t.owe(second);
        CHECK(t.owes(second));
        CHECK_FALSE(t.owes(first));  // only the last one is asked for
        t.owe(paid);
        t.owe_no_more(paid);
        CHECK(t.owes(second));
        co_await std::suspend_always();
        t.set_begun(&task);
        CHECK(t.has_begun(&task));
        {
            const trampoline above;  // something else runs here meanwhile
        }
        CHECK_FALSE(t.has_begun(&task));
        t.set_begun(&task);
    };
    trampoline t;
    const stepper it = owing(t);
    t.resume(it.handle);
    CHECK(first.settled == 1);
    CHECK(second.settled == 1);
    CHECK(paid.settled == 0);
    t.resume(it.handle);
    CHECK(it.handle.done());
    CHECK_FALSE(t.has_begun(&task));
    CHECK(first.settled == 1);
}
