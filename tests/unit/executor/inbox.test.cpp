#include <weir/executor/inbox.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>

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

TEST_CASE("who takes several from an inbox leaves half of them, but takes one at least") {
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
