#include <weir/stages/traversal.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/item_storage.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

using items::message_of;
using weir::added_stats;
using weir::task;
using weir::virtual_time;
using weir::detail::idle_step;
using weir::detail::item_type_of;
using weir::detail::slot_state;
using weir::detail::traversal;
using weir::detail::traversal_rule;
using weir::detail::traversal_slot;
using namespace std::chrono_literals;

namespace {

const std::string walk = "walk";

struct worker : weir::detail::slot {
    worker(std::size_t number, weir::executor& clock) : slot(walk, number, clock) {}
};
struct one_slot final : private worker, public traversal_slot {
    one_slot(const weir::detail::item_type& type, std::size_t number, weir::executor& clock)
        : worker(number, clock), traversal_slot(type, static_cast<worker&>(*this)) {}
    void cancel_wait() noexcept override { ++cancels; }
    void clear_cancel() noexcept override { ++clears; }
    weir::detail::slot& me() noexcept { return *this; }
    int cancels = 0;
    int clears = 0;
};

// A traversal of numbers with two slots, which have begun.
struct two_slots {
    explicit two_slots(bool first_found_first, std::size_t max_waiting = 100)
        : all(item_type_of<int>, walk, first_found_first, max_waiting) {
        for (one_slot* const each : {&a, &b}) {
            all.update([each](traversal_rule& rule) { rule.enter(*each); });
        }
    }
    void add(one_slot& to, int n) { all.add(to, &n); }
    // The number of the item, or -1.
    int take_own(one_slot& by) {
        int n = -1;
        return all.take_own(by, &n, number) ? n : -1;
    }
    int take_from_others(one_slot& by) {
        int n = -1;
        return all.take_from_others(by, &n, number) ? n : -1;
    }

    virtual_time time;
    one_slot a{item_type_of<int>, 0, time};
    one_slot b{item_type_of<int>, 1, time};
    traversal all;
    std::uint64_t number = 0;
};

}  // namespace

TEST_CASE("a slot takes the newest of its own items, and the oldest of another slot's") {
    two_slots t(false);
    CHECK(t.take_own(t.a) == -1);
    CHECK(t.take_from_others(t.b) == -1);
    for (int i = 1; i <= 4; ++i) t.add(t.a, i);
    CHECK(t.take_own(t.b) == -1);
    CHECK(t.take_own(t.a) == 4);
    CHECK(t.number == 0);
    CHECK(t.take_from_others(t.b) == 1);
    CHECK(t.number == 1);
    CHECK(t.take_from_others(t.b) == 2);
    CHECK(t.take_own(t.a) == 3);
    CHECK(t.number == 3);
    CHECK(t.take_own(t.a) == -1);
    CHECK(t.take_from_others(t.b) == -1);
}

TEST_CASE(
    "a slot first looks where an item was found last, and then at the slot that took the last one there") {
    two_slots t(false);
    one_slot c(item_type_of<int>, 2, t.time), d(item_type_of<int>, 3, t.time);
    for (one_slot* const each : {&c, &d}) {
        t.all.update([each](traversal_rule& rule) { rule.enter(*each); });
    }
    t.add(c, 1);
    CHECK(t.take_from_others(t.b) == 1);  // the last item of c
    t.add(t.a, 2);
    t.add(t.b, 3);
    t.add(t.b, 4);
    t.add(c, 5);
    CHECK(t.take_from_others(d) == 3);
    CHECK(t.take_from_others(d) == 4);  // the last item of b
    t.add(d, 6);
    CHECK(t.take_from_others(t.b) == 6);
    int sum = 0;
    for (int n = t.take_from_others(d); n != -1; n = t.take_from_others(d)) sum += n;
    CHECK(sum == 2 + 5);
    CHECK(t.number == 5);
}

TEST_CASE("an idle slot first looks at the slot whose item has woken it") {
    two_slots t(false);
    one_slot c(item_type_of<int>, 2, t.time);
    t.all.update([&c](traversal_rule& rule) { rule.enter(c); });
    REQUIRE(t.all.become_idle(t.a) == idle_step::lead);
    const auto is_found_after = [&t](one_slot& to, int n) {
        t.add(to, n);
        return t.take_from_others(t.a);
    };
    t.add(t.b, 1);
    t.add(c, 2);
    CHECK(is_found_after(t.b, 3) == 1);
    CHECK(is_found_after(c, 4) == 2);
    CHECK(is_found_after(t.b, 5) == 3);
    CHECK(is_found_after(t.b, 6) == 5);
    CHECK(is_found_after(c, 7) == 4);
}

TEST_CASE("in the order as found each slot takes the oldest item, whichever slot has added it") {
    two_slots t(true);
    t.add(t.a, 1);
    t.add(t.b, 2);
    t.add(t.a, 3);
    CHECK(t.take_from_others(t.b) == -1);
    CHECK(t.take_own(t.b) == 1);
    CHECK(t.take_own(t.a) == 2);
    CHECK(t.take_own(t.b) == 3);
    CHECK(t.number == 2);
    CHECK(t.take_own(t.a) == -1);
}

TEST_CASE("an item too many is refused with a sentence, and stays the caller's") {
    for (const bool first_found_first : {false, true}) {
        virtual_time time;
        items::ledger book(10);
        {
            one_slot a(item_type_of<items::counted>, 0, time);
            traversal all(item_type_of<items::counted>, walk, first_found_first, 2);
            items::counted one(book), two(book), three(book);
            all.add(a, &one);
            all.add(a, &two);
            CHECK(message_of([&] { all.add(a, &three); }) ==
                  "weir: stage 'walk' has 2 items that its function added and that no slot has begun, and "
                  ".max_waiting allows no more: give it more, or add fewer at a time");
            CHECK_THROWS_AS(all.add(a, &three), std::length_error);
            CHECK(all.stats() == added_stats{.num_added = 2, .num_waiting = 2, .most_waiting = 2});
            weir::detail::uninitialised_slot<items::counted> place;
            std::uint64_t number = 0;
            REQUIRE(all.take_own(a, place.address(), number));
            place.destroy();
            CHECK_NOTHROW(all.add(a, &three));
            CHECK(all.stats() == added_stats{.num_added = 3, .num_waiting = 2, .most_waiting = 2});
        }
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
    two_slots none(false, 0);
    CHECK_THROWS_AS(none.add(none.a, 1), std::length_error);
    CHECK(none.all.stats() == added_stats());
}

TEST_CASE("an item for which there is no memory is not counted") {
    virtual_time time;
    weir::detail::item_type huge = item_type_of<int>;
    huge.size = (std::numeric_limits<std::size_t>::max)();
    for (const bool first_found_first : {false, true}) {
        one_slot a(huge, 0, time);
        traversal all(huge, walk, first_found_first, 1);
        int item = 1;
        for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(all.add(a, &item), weir::detail::memory_shortage);
        CHECK(all.stats() == added_stats());
    }
}

TEST_CASE("an item of the queue is numbered as those that were added, and does not count as added") {
    two_slots t(false);
    int came = 7, into = -1;
    t.add(t.a, 1);
    CHECK_FALSE(t.all.exchange(&came, &into, t.number));
    CHECK(t.number == 0);
    CHECK(into == -1);
    CHECK_FALSE(t.all.exchange(&came, &into, t.number));
    CHECK(t.number == 1);
    CHECK(t.take_own(t.a) == 1);
    CHECK(t.number == 2);
    CHECK(t.all.stats() == added_stats{.num_added = 1, .num_waiting = 0, .most_waiting = 1});
}

TEST_CASE("in the order as found an item of the queue waits behind those that were added before") {
    two_slots t(true);
    int came = 7, into = -1;
    CHECK_FALSE(t.all.exchange(&came, &into, t.number));
    CHECK(t.number == 0);
    t.add(t.a, 1);
    t.add(t.a, 2);
    CHECK(t.all.exchange(&came, &into, t.number));
    CHECK(into == 1);
    CHECK(t.number == 1);
    CHECK(t.take_own(t.b) == 2);
    CHECK(t.take_own(t.b) == 7);
    CHECK(t.number == 3);
    CHECK(t.all.stats() == added_stats{.num_added = 2, .num_waiting = 0, .most_waiting = 2});
}

TEST_CASE("the most items that waited are those of all slots, also when fewer wait later") {
    two_slots t(false);
    CHECK(t.all.stats() == added_stats());
    t.add(t.a, 1);
    t.add(t.b, 2);
    t.add(t.b, 3);
    CHECK(t.take_own(t.b) == 3);
    CHECK(t.take_from_others(t.b) >= 0);
    t.add(t.a, 4);
    CHECK(t.all.stats() == added_stats{.num_added = 4, .num_waiting = 2, .most_waiting = 3});
}

TEST_CASE("the end of one slot ends the stage, and destroys the items of that slot, once") {
    virtual_time time;
    items::ledger book(10);
    one_slot a(item_type_of<items::counted>, 0, time), b(item_type_of<items::counted>, 1, time);
    traversal all(item_type_of<items::counted>, walk, false, 10);
    for (one_slot* const each : {&a, &b}) {
        all.update([each](traversal_rule& rule) { rule.enter(*each); });
    }
    for (one_slot* const to : {&a, &a, &b}) {
        items::counted one(book);
        all.add(*to, &one);
    }
    CHECK_FALSE(all.is_over());
    all.end(a.me());
    CHECK(all.is_over());
    CHECK(book.alive() == 1);
    CHECK(all.stats() ==
          added_stats{.num_added = 3, .num_waiting = 1, .most_waiting = 3, .num_discarded = 2});
    CHECK(all.become_idle(b) == idle_step::end);
    all.end(a.me());  // it is no slot of the stage any more
    CHECK(all.stats().num_discarded == 2);
    all.end(b.me());
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
    CHECK(all.stats() ==
          added_stats{.num_added = 3, .num_waiting = 0, .most_waiting = 3, .num_discarded = 3});
}

TEST_CASE("in the order as found the end of a slot destroys all items, also of a slot that never began") {
    two_slots t(true);
    one_slot late(item_type_of<int>, 2, t.time);
    t.add(t.a, 1);
    t.add(t.b, 2);
    t.all.end(late.me());
    CHECK(t.all.is_over());
    CHECK(t.all.stats() ==
          added_stats{.num_added = 2, .num_waiting = 0, .most_waiting = 2, .num_discarded = 2});
    CHECK(t.take_own(t.a) == -1);
}

TEST_CASE("one idle slot leads; with an item pending an idle slot searches") {
    two_slots t(false);
    t.add(t.a, 1);
    CHECK(t.all.become_idle(t.b) == idle_step::search);
    CHECK(t.take_from_others(t.b) == 1);
    CHECK(t.all.become_idle(t.b) == idle_step::lead);
    CHECK(t.b.clears == 1);
    CHECK(t.all.become_idle(t.a) == idle_step::wait);
    CHECK(t.a.clears == 0);
}

TEST_CASE("an item that is added calls the leader away from the queue, if no other slot is idle") {
    two_slots t(false);
    t.add(t.a, 1);
    CHECK(t.take_own(t.a) == 1);
    CHECK(t.b.cancels == 0);
    REQUIRE(t.all.become_idle(t.b) == idle_step::lead);
    t.add(t.a, 2);
    CHECK(t.b.cancels == 1);
    CHECK(t.a.cancels == 0);
}

TEST_CASE("an item that is added wakes one slot that waits, and the end of the stage all") {
    two_slots t(false);
    one_slot c(item_type_of<int>, 2, t.time), d(item_type_of<int>, 3, t.time);
    for (one_slot* const each : {&c, &d}) {
        t.all.update([each](traversal_rule& rule) { rule.enter(*each); });
    }
    std::string seen;
    const auto waits = [&](one_slot& s, const char* name) -> task<> {
        const bool goes_on = co_await t.all.wait(s, s.me(), slot_state::wait_get);
        seen += name;
        seen += goes_on ? " took " + std::to_string(t.take_from_others(s)) + "; " : " ended; ";
    };
    REQUIRE(t.all.become_idle(t.a) == idle_step::lead);
    for (one_slot* const each : {&t.b, &c}) REQUIRE(t.all.become_idle(*each) == idle_step::wait);
    const auto adds = [&]() -> task<> {  // slot d
        co_await weir::sleep_for(1s);
        seen += "add; ";
        t.add(d, 5);
        co_await weir::sleep_for(1s);
        seen += "end; ";
        t.all.end(d.me());
    };
    weir::sync_wait(t.time, weir::when_all(waits(t.b, "b"), waits(c, "c"), adds()));
    CHECK(seen == "add; b took 5; end; c ended; ");
    CHECK(t.a.cancels == 0);
}
