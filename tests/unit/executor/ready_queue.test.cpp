#include <weir/executor/ready_queue.hpp>

#include "support/catch.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>

using weir::detail::ready_queue;

namespace {

// Told apart by their addresses alone: nobody resumes them.
char frames[1000];
std::coroutine_handle<> handle(std::size_t i) {
    return std::coroutine_handle<>::from_address(&frames[i % 1000]);
}

}  // namespace

TEST_CASE("handles leave a ready queue in the order in which they came, while it grows and wraps around") {
    ready_queue q;
    std::deque<std::coroutine_handle<>> expected;
    std::size_t came = 0;
    bool right = true;
    // Longer and shorter again, up to some hundreds.
    for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t comes = round * 7 % 31;
        const std::size_t goes = round < 100 ? round * 5 % 23 : round * 5 % 53;
        for (std::size_t i = 0; i < comes; ++i, ++came) {
            q.push_back(handle(came));
            expected.push_back(handle(came));
        }
        for (std::size_t i = 0; i < goes && !expected.empty(); ++i) {
            right = right && q.take_front() == expected.front();
            expected.pop_front();
        }
        right = right && q.size() == expected.size() && q.empty() == expected.empty();
        for (std::size_t i = 0; i < expected.size(); ++i) right = right && q[i] == expected[i];
        if (!expected.empty()) right = right && q.back() == expected.back();
    }
    CHECK(came > 2000);
    CHECK(right);
}

using inbox = weir::detail::basic_inbox<>;

namespace {
void* item(std::uintptr_t i) { return reinterpret_cast<void*>(i); }
}  // namespace

TEST_CASE("an empty inbox gives nothing") {
    inbox q;
    CHECK(q.empty());
    CHECK(q.pop() == nullptr);
    void* out = nullptr;
    CHECK(q.pop(&out, 1) == 0);
}

TEST_CASE("an inbox is first in, first out, also after it has grown") {
    inbox q;
    std::uintptr_t in = 0, out = 0;
    bool right = true;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 200; ++i) q.push(item(++in));
        for (int i = 0; i < 100; ++i) right = q.pop() == item(++out) && right;
    }
    while (void* const p = q.pop()) right = p == item(++out) && right;
    CHECK(right);
    CHECK(out == in);
    CHECK(q.empty());
}

TEST_CASE("taking a batch from an inbox leaves half of the items, but takes at least one") {
    inbox q;
    for (std::uintptr_t i = 1; i <= 7; ++i) q.push(item(i));
    void* out[8] = {};
    CHECK(q.pop(out, 8) == 4);
    CHECK(out[0] == item(1));
    CHECK(out[3] == item(4));
    CHECK(q.pop(out, 1) == 1);
    CHECK(out[0] == item(5));
    CHECK(q.pop(out, 8) == 1);
    CHECK(q.pop(out, 8) == 1);
    CHECK(out[0] == item(7));
    CHECK(q.empty());
}
