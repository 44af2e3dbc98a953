#include <weir/detail/waiter.hpp>

#include "support/catch.hpp"

#include <weir/detail/platform.hpp>

#include <type_traits>
#include <vector>

namespace {

using platform = weir::detail::standard_platform;
using waiter = weir::detail::basic_waiter<platform>;
using line = weir::detail::waiter_line<platform>;
using wake_list = weir::detail::wake_list<platform>;

static_assert(!std::is_copy_constructible_v<waiter>);

std::vector<const waiter*> all_in(const line& l) {
    std::vector<const waiter*> all;
    for (const waiter* w = l.front(); w != nullptr; w = w->next) all.push_back(w);
    return all;
}

// From the back, by the other links.
std::vector<const waiter*> all_backwards(const line& l) {
    const waiter* last = l.front();
    while (last != nullptr && last->next != nullptr) last = last->next;
    std::vector<const waiter*> all;
    for (; last != nullptr; last = last->previous) all.push_back(last);
    return all;
}

}  // namespace

TEST_CASE("a line serves first come, first served") {
    line l;
    CHECK(l.empty());
    waiter a, b;
    l.push(a);
    l.push(b);
    CHECK_FALSE(l.empty());
    CHECK(a.linked);
    CHECK(l.front() == &a);
    l.remove(a);
    CHECK_FALSE(a.linked);
    CHECK(l.front() == &b);
    l.remove(b);
    CHECK(l.empty());
    l.push(a);  // may come again
    CHECK(all_in(l) == std::vector<const waiter*>{&a});
}

TEST_CASE("a waiter may leave the line from any place") {
    for (int leaves = 0; leaves < 3; ++leaves) {
        CAPTURE(leaves);
        line l;
        waiter w[3];
        for (waiter& each : w) l.push(each);
        l.remove(w[leaves]);
        waiter late;
        l.push(late);
        std::vector<const waiter*> expected;
        for (int i = 0; i < 3; ++i) {
            if (i != leaves) expected.push_back(&w[i]);
        }
        expected.push_back(&late);
        CHECK(all_in(l) == expected);
        CHECK(all_backwards(l) == std::vector<const waiter*>(expected.rbegin(), expected.rend()));
    }
}

TEST_CASE("those to be woken come in their order, and each may be gone once it was popped") {
    wake_list list;
    CHECK(list.empty());
    auto* const a = new waiter;
    auto* const b = new waiter;
    waiter c;
    list.push(*a);
    list.push(*b);
    CHECK(list.pop() == a);
    delete a;
    list.push(c);
    CHECK(list.pop() == b);
    delete b;
    CHECK(list.pop() == &c);
    CHECK(list.empty());
    list.push(c);
    CHECK(list.pop() == &c);
    CHECK(list.empty());
}
