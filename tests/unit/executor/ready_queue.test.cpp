#include <weir/executor/ready_queue.hpp>

#include "support/catch.hpp"

#include <coroutine>
#include <cstddef>
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
