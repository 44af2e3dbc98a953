#include <weir/channel/waiter.hpp>

#include "support/catch.hpp"

#include <weir/channel/choice.hpp>
#include <weir/platform/platform.hpp>

#include <coroutine>
#include <type_traits>
#include <vector>

namespace {

using platform = weir::detail::standard_platform;
using waiter = weir::detail::basic_waiter<platform>;
using line = weir::detail::waiter_line<platform>;
using wake_list = weir::detail::wake_list<platform>;

static_assert(!std::is_copy_constructible_v<waiter>);

// One that waits for nothing in particular.
struct anybody : waiter {
    anybody() noexcept : waiter(nullptr, nullptr) {}
};

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

TEST_CASE("a waiter is nowhere and nothing has become of it until it is in a line") {
    int item = 0;
    const waiter w(&item, nullptr);
    CHECK(w.item == &item);
    CHECK(w.measured == nullptr);
    CHECK_FALSE(w.linked);
    CHECK_FALSE(w.stop_seen);
    CHECK(w.outcome == weir::detail::outcome::pending);
}

TEST_CASE("a waiter is a coroutine to be posted, or a thread to be woken, and not both") {
    anybody w;
    weir::detail::basic_parker<platform> flag;
    w.is_thread(&flag);
    CHECK(w.thread == &flag);
    CHECK(w.executor == nullptr);
    CHECK(w.work_of == nullptr);
    CHECK(w.ready == 0);
    w.ready = 1;
    const std::coroutine_handle<> h = std::noop_coroutine();
    w.is_coroutine(h, nullptr, nullptr);
    CHECK(std::coroutine_handle<>::from_address(w.coroutine) == h);
    CHECK(w.thread == nullptr);
    CHECK(w.ready == 0);
}

TEST_CASE("a waiter of a choice is neither, and knows the choice until it is something else") {
    anybody w;
    weir::detail::basic_choice<platform> all;
    w.is_one_of(all, true, nullptr);
    CHECK(w.choice == &all);
    CHECK(w.executor == nullptr);
    CHECK(w.thread == nullptr);
    CHECK(w.has_limit);
    w.is_coroutine(std::noop_coroutine(), nullptr, nullptr);
    CHECK(w.choice == nullptr);
}

TEST_CASE("a line serves first come, first served") {
    line l;
    CHECK(l.empty());
    anybody a, b;
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
        anybody w[3];
        for (waiter& each : w) l.push(each);
        l.remove(w[leaves]);
        anybody late;
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
    auto* const a = new anybody;
    auto* const b = new anybody;
    anybody c;
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
