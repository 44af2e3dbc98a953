#include <weir/channel/waiter.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/platform/platform.hpp>

#include <chrono>
#include <coroutine>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using weir::virtual_time;
using platform = weir::detail::standard_platform;
using waiter = weir::detail::basic_waiter<platform>;
using line = weir::detail::waiter_line<weir::detail::basic_waiter<platform>>;
using wake_list = weir::detail::wake_list<platform>;
using choice = weir::detail::basic_choice<weir::detail::standard_platform>;
using waiter = choice::waiter;

namespace {

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

TEST_CASE("a new waiter is pending, and in no line") {
    int item = 0;
    const waiter w(&item, nullptr);
    CHECK(w.item == &item);
    CHECK(w.measured == nullptr);
    CHECK_FALSE(w.linked);
    CHECK_FALSE(w.stop_seen);
    CHECK(w.outcome == weir::detail::outcome::pending);
}

TEST_CASE("a waiter is a coroutine or a thread, and not both") {
    anybody w;
    weir::detail::basic_parker<platform> flag;
    w.set_thread(&flag);
    CHECK(w.thread == &flag);
    CHECK(w.executor == nullptr);
    CHECK(w.work_of == nullptr);
    CHECK(w.ready == 0);
    w.ready = 1;
    const std::coroutine_handle<> h = std::noop_coroutine();
    w.set_coroutine(h, nullptr, nullptr);
    CHECK(std::coroutine_handle<>::from_address(w.coroutine) == h);
    CHECK(w.thread == nullptr);
    CHECK(w.ready == 0);
}

TEST_CASE("a waiter of a choice is neither a coroutine nor a thread") {
    anybody w;
    weir::detail::basic_choice<platform> all;
    w.set_choice(all, true, nullptr);
    CHECK(w.choice == &all);
    CHECK(w.executor == nullptr);
    CHECK(w.thread == nullptr);
    CHECK(w.has_limit);
    w.set_coroutine(std::noop_coroutine(), nullptr, nullptr);
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

TEST_CASE("a wake list keeps the order, and a popped waiter may be destroyed") {
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

namespace {

const weir::time_point t0{};

// Is posted by what is tested.
actor counts(int& runs) {
    ++runs;
    co_return;
}

}  // namespace

TEST_CASE("only the first claim of a choice succeeds") {
    choice c;
    waiter a(nullptr, nullptr), b(nullptr, nullptr);
    CHECK_FALSE(c.is_claimed());
    CHECK(c.claim(&a));
    CHECK(c.is_claimed());
    CHECK_FALSE(c.claim(&b));
    CHECK_FALSE(c.claim(nullptr));
    CHECK(c.winner() == &a);
}

TEST_CASE("a choice woken before all waiters are in line continues at once; woken later, it is posted") {
    for (const bool before : {true, false}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        c.begin(a.handle, time, nullptr);
        CHECK_FALSE(c.has_limit());
        waiter w(nullptr, nullptr);
        CHECK(c.claim(&w));
        if (before) {
            c.wake();
            CHECK_FALSE(c.try_suspend());
        } else {
            CHECK(c.try_suspend());
            c.wake();
        }
        time.run_until(t0);
        CHECK(runs == (before ? 0 : 1));
        CHECK(c.winner() == &w);
        CHECK(c.timed_out_at() == 0);
    }
}

TEST_CASE("with a limit only the timer posts the coroutine, once, when it fires or is cancelled") {
    enum class order { woken_before, woken_in_time, never, claimed_too_late };
    for (const order when :
         {order::woken_before, order::woken_in_time, order::never, order::claimed_too_late}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        const weir::time_point limit = t0 + 5ms;
        c.begin(a.handle, time, &limit);
        CHECK(c.has_limit());
        waiter w(nullptr, nullptr);
        const auto answer = [&] {
            CHECK(c.claim(&w));
            c.wake();
        };
        if (when == order::woken_before) answer();
        CHECK(c.try_suspend());
        time.run_until(t0 + 1ms);
        CHECK(runs == (when == order::woken_before ? 1 : 0));
        if (when == order::woken_in_time) answer();
        time.run_until(t0 + 1s);
        CHECK(runs == 1);
        if (when == order::claimed_too_late) answer();  // it was posted, and doesn't know yet
        CHECK(c.winner() == (when == order::never ? nullptr : &w));
        const bool fired = when == order::never || when == order::claimed_too_late;
        CHECK(c.timed_out_at() == (fired ? 5'000'000 : 0));
        CHECK_FALSE(c.claim(&w));
    }
}

TEST_CASE("a stop claims a choice that nobody has claimed") {
    using weir::detail::stopped_by;
    for (const auto& [answered, by] : {std::pair(false, stopped_by::run), std::pair(true, stopped_by::run),
                                       std::pair(false, stopped_by::request)}) {
        virtual_time time;
        int runs = 0;
        actor a = counts(runs);
        choice c;
        c.begin(a.handle, time, nullptr);
        CHECK(c.try_suspend());
        waiter w(nullptr, nullptr);
        if (answered) CHECK(c.claim(&w));
        c.stop(by);
        time.run_until(t0);
        CHECK(c.was_stopped(by) == !answered);
        CHECK(c.was_stopped(weir::detail::stopped_by::nobody) == answered);
        CHECK(runs == (answered ? 0 : 1));
    }
}

TEST_CASE("an abandoned choice is not served, and its timer posts nothing") {
    virtual_time time;
    int runs = 0;
    choice c;
    const weir::time_point limit = t0 + 5ms;
    {
        actor a = counts(runs);
        c.begin(a.handle, time, &limit);
        CHECK(c.try_suspend());
        c.abandon();
    }
    waiter w(nullptr, nullptr);
    CHECK_FALSE(c.claim(&w));
    time.run_until(t0 + 1s);
    CHECK(runs == 0);
}
