#include <weir/stages/any_function.hpp>

#include "support/catch.hpp"

#include <weir/channel/epoch_item.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

using weir::invocation;
using weir::task;
using weir::detail::any_function;
using weir::detail::is_erasable;
using weir::detail::keep_function;
using weir::detail::kept_function_t;

namespace {

using twice = decltype([](int n) { return 2 * n; });
using thrice = decltype([](int n) { return 3 * n; });

struct with_member {
    int operator()(int n) const { return n; }
    void left_out(const invocation&) noexcept {}
};
struct with_transfers {
    int operator()(int n) const { return n; }
    int transfers() const { return 0; }
};
struct measured_one {
    int operator()(int n) const { return n; }
    void measure_nothing() noexcept {}
};
struct maker {
    twice operator()() const { return {}; }
};

static_assert(is_erasable<int (*)(int)>);
static_assert(!is_erasable<with_member>);
static_assert(!is_erasable<with_transfers>);
static_assert(!is_erasable<measured_one>);
static_assert(!is_erasable<weir::detail::slot_factory<maker>>);
static_assert(std::is_same_v<kept_function_t<with_member, int>, with_member>);

template <class F, class T>
using kept = kept_function_t<F, T>;

// Two functions with the same types have one type as kept.
static_assert(std::is_same_v<kept<twice, int>, kept<thrice, int>>);
static_assert(!std::is_same_v<kept<twice, int>, kept<twice, short>>);
static_assert(std::is_same_v<kept<twice, int>, any_function<int, int, false>>);
// In a run with epochs the function sees the item only.
static_assert(std::is_same_v<kept<twice, weir::detail::epoch_item<int>>, any_function<int, int, false>>);

}  // namespace

TEST_CASE("a kept function is called with the item, which is moved, and gives what the function returns") {
    auto text_of = [](std::unique_ptr<int> n) { return std::to_string(*n); };
    auto kept = keep_function<decltype(text_of), std::unique_ptr<int>>(text_of);
    CHECK(kept(std::make_unique<int>(42)) == "42");
}

TEST_CASE("a kept function gives a reference if the function does") {
    int there = 1;
    auto f = [&there](int n) -> int& {
        there += n;
        return there;
    };
    auto kept = keep_function<decltype(f), int>(f);
    static_assert(std::is_same_v<decltype(kept(2)), int&>);
    CHECK(&kept(2) == &there);
    CHECK(there == 3);
}

TEST_CASE("a kept function takes the invocation if the function needs it") {
    auto f = [](int n, const invocation& call) { return n + static_cast<int>(call.item()); };
    auto kept = keep_function<decltype(f), int>(f);
    static_assert(std::is_same_v<decltype(kept), any_function<int, int, true>>);
    const std::string stage = "pipe";
    CHECK(kept(5, invocation(stage, 2, 0, 0, {})) == 7);
}

TEST_CASE("a pointer to a member can be kept as a function") {
    auto size = &std::string::size;
    auto kept = keep_function<decltype(size), std::string>(size);
    CHECK(kept("four") == 4);
}

TEST_CASE("a kept function may return a task") {
    auto f = [](int n) -> task<int> { co_return n + 1; };
    auto kept = keep_function<decltype(f), int>(f);
    CHECK(weir::sync_wait(kept(1)) == 2);
}

TEST_CASE("a kept function has its own state, keeps it when it is moved, and destroys it once") {
    auto alive = std::make_shared<int>(0);
    {
        auto f = [alive, n = 0](int by) mutable { return n += by; };
        auto kept = keep_function<decltype(f), int>(std::as_const(f));
        CHECK(alive.use_count() == 3);
        CHECK(kept(2) == 2);
        auto moved = std::move(kept);
        CHECK(moved(2) == 4);
        CHECK(f(1) == 1);
        CHECK(alive.use_count() == 3);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE("a function that can't be copied is moved") {
    auto f = [p = std::make_unique<int>(3)](int n) { return n + *p; };
    auto kept = keep_function<decltype(f), int>(std::move(f));
    CHECK(kept(1) == 4);
}

TEST_CASE("a function may be aligned to 64 bytes") {
    struct alignas(64) aligned {
        std::uintptr_t operator()(int) const { return reinterpret_cast<std::uintptr_t>(this) % 64; }
    };
    auto kept = keep_function<aligned, int>(aligned{});
    CHECK(kept(0) == 0);
}

TEST_CASE("a function with members for its stage stays as it is") {
    const with_member f;
    static_assert(std::is_same_v<decltype(keep_function<with_member, int>(f)), const with_member&>);
    CHECK(keep_function<with_member, int>(f)(7) == 7);
}
