#include <weir/executor/deque.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <thread>
#include <vector>

using deque = weir::detail::work_stealing_deque;

namespace {
void* item(std::uintptr_t i) { return reinterpret_cast<void*>(i); }
}  // namespace

TEST_CASE("an empty deque gives null at both ends") {
    deque d;
    CHECK(d.empty());
    CHECK(d.pop_bottom() == nullptr);
    CHECK(d.steal() == nullptr);
    CHECK(d.pop_bottom() == nullptr);
    CHECK(d.empty());
}

TEST_CASE("the owner's end of a deque is last in, first out, the thieves' first in, first out") {
    deque d;
    for (std::uintptr_t i = 1; i <= 6; ++i) d.push_bottom(item(i));
    CHECK(d.size() == 6);
    CHECK(d.pop_bottom() == item(6));
    CHECK(d.steal() == item(1));
    CHECK(d.steal() == item(2));
    CHECK(d.pop_bottom() == item(5));
    CHECK(d.size() == 2);
    CHECK(d.steal() == item(3));
    CHECK(d.pop_bottom() == item(4));
    CHECK(d.pop_bottom() == nullptr);
    CHECK(d.steal() == nullptr);
}

TEST_CASE("a deque grows and keeps its items in order, wherever its ring begins") {
    for (std::uintptr_t taken = 0; taken < 8; ++taken) {
        CAPTURE(taken);
        deque d(4);
        for (std::uintptr_t i = 0; i < taken; ++i) {
            d.push_bottom(item(1));
            d.steal();
        }
        for (std::uintptr_t i = 1; i <= 100; ++i) d.push_bottom(item(i));
        for (std::uintptr_t i = 1; i <= 50; ++i) REQUIRE(d.steal() == item(i));
        for (std::uintptr_t i = 100; i > 50; --i) REQUIRE(d.pop_bottom() == item(i));
        CHECK(d.empty());
    }
}

TEST_CASE("a deque whose indices wrap, or turn negative, behaves as any other") {
    for (const std::uint64_t first : {UINT64_MAX - 5, (UINT64_MAX >> 1) - 5, (std::uint64_t{1} << 32) - 5}) {
        CAPTURE(first);
        deque d(4, first);
        CHECK(d.pop_bottom() == nullptr);
        for (std::uintptr_t i = 1; i <= 20; ++i) d.push_bottom(item(i));
        CHECK(d.size() == 20);
        for (std::uintptr_t i = 1; i <= 10; ++i) REQUIRE(d.steal() == item(i));
        for (std::uintptr_t i = 20; i > 10; --i) REQUIRE(d.pop_bottom() == item(i));
        CHECK(d.steal() == nullptr);
    }
}

TEST_CASE("a thief sees the owner's writes before the push") {
    deque d;
    std::vector<int> written(1'000, 0);
    long sum = 0;
    std::thread thief([&] {
        for (int got = 0; got < 1'000;) {
            if (void* const p = d.steal()) {
                sum += *static_cast<int*>(p);
                ++got;
            } else {
                std::this_thread::yield();
            }
        }
    });
    for (int i = 0; i < 1'000; ++i) {
        written[static_cast<std::size_t>(i)] = i;
        d.push_bottom(&written[static_cast<std::size_t>(i)]);
    }
    thief.join();
    CHECK(sum == 999L * 1'000 / 2);
}

TEST_CASE("the owner of a deque takes back an item only if it is the youngest") {
    deque d(2);
    CHECK_FALSE(d.pop_bottom_if(item(1)));
    for (std::uintptr_t i = 1; i <= 3; ++i) d.push_bottom(item(i));
    CHECK_FALSE(d.pop_bottom_if(item(2)));
    CHECK(d.pop_bottom_if(item(3)));
    CHECK_FALSE(d.pop_bottom_if(item(3)));
    CHECK(d.steal_with_fence() == item(1));
    CHECK(d.steal_with_fence() == item(2));
    CHECK(d.steal_with_fence() == nullptr);
    CHECK_FALSE(d.pop_bottom_if(item(2)));  // it is still in its cell
    CHECK(d.size() == 0);
}
