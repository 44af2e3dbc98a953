#include <weir/stages/traversal_rule.hpp>

#include "support/catch.hpp"

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/stages/pending_items.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

using weir::detail::admission;
using weir::detail::idle_step;
using weir::detail::traversal_rule;

namespace {

const std::string walk = "walk";

struct worker : weir::detail::slot {
    worker(std::size_t number, weir::executor& clock) : slot(walk, number, clock) {}
};
struct one_slot final : private worker, public weir::detail::traversal_slot {
    one_slot(std::size_t number, weir::executor& clock)
        : worker(number, clock),
          traversal_slot(weir::detail::item_type_of<int>, static_cast<worker&>(*this)) {}
    void cancel_wait() noexcept override {}
    void clear_cancel() noexcept override {}
    weir::detail::slot& me() noexcept { return *this; }
};

struct four_slots {
    four_slots() {
        for (one_slot& each : slots) rule.enter(each);
    }
    void add(std::size_t to, int n) { static_cast<void>(slots[to].pending.push(&n, items)); }
    // The item, or -1.
    int take(std::size_t by) {
        int n = -1;
        return rule.take_from_others(slots[by], &n, items, number) ? n : -1;
    }

    weir::virtual_time time;
    weir::detail::item_counts items{100};
    traversal_rule::count idle{0};
    traversal_rule rule{idle, items};
    std::array<one_slot, 4> slots{one_slot(0, time), one_slot(1, time), one_slot(2, time), one_slot(3, time)};
    std::uint64_t number = 0;
};

}  // namespace

TEST_CASE(
    "a slot finds an item in the deque of any slot that has begun and has not ended, and itself there") {
    four_slots t;
    one_slot late(4, t.time);
    CHECK(t.rule.slot_of(late.me()) == nullptr);
    t.rule.enter(late);
    t.rule.enter(late);
    CHECK(t.rule.slot_of(late.me()) == &late);
    for (std::size_t i = 0; i < 4; ++i) CHECK(t.rule.slot_of(t.slots[i].me()) == &t.slots[i]);
    for (std::size_t i = 0; i < 4; ++i) {
        t.add(i, static_cast<int>(i));
        CHECK(t.take(3 - i) == static_cast<int>(i));
        CHECK(t.take(i) == -1);
    }
    CHECK(t.rule.leave(late));  // out of service: its items are found
    int n = 9;
    static_cast<void>(late.pending.push(&n, t.items));
    CHECK(t.take(0) == 9);
}

TEST_CASE("slots end in any order, and the others remain") {
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    do {
        four_slots t;
        for (std::size_t gone = 0; gone < order.size(); ++gone) {
            for (std::size_t i = 0; i < order.size(); ++i) {
                one_slot& each = t.slots[order[i]];
                CHECK(t.rule.slot_of(each.me()) == (i < gone ? nullptr : &each));
            }
            for (std::size_t i = gone; i < order.size(); ++i) {
                t.add(order[i], 7);
                CHECK(t.take(order[gone]) == 7);
            }
            t.rule.end(&t.slots[order[gone]]);
        }
        CHECK(t.take(0) == -1);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE(
    "waiting slots have an answer if one may lead, is to take an item, or puts a mark, and at the end") {
    four_slots t;
    auto& [a, b, c, d] = t.slots;
    CHECK(t.rule.may_answer());  // there is no leader
    REQUIRE(t.rule.become_idle(a) == idle_step::lead);
    CHECK_FALSE(t.rule.may_answer());
    REQUIRE(t.rule.become_idle(b) == idle_step::wait);
    CHECK_FALSE(t.rule.may_answer());
    t.rule.wake_one(c);
    CHECK(t.rule.may_answer());
    CHECK(t.rule.ask(&b) == admission::go);
    CHECK_FALSE(t.rule.may_answer());

    t.rule.leader_resumed(a, true, true, false);  // with a mark
    CHECK_FALSE(t.rule.may_answer());
    for (one_slot* const each : {&b, &c}) REQUIRE(t.rule.become_idle(*each) == idle_step::wait);
    t.add(3, 1);
    CHECK(t.rule.become_idle(d) == idle_step::search);
    CHECK_FALSE(t.rule.may_answer());
    REQUIRE(t.take(3) == 1);
    REQUIRE(t.rule.become_idle(d) == idle_step::wait);
    CHECK(t.rule.may_answer());
    CHECK(t.rule.ask(&b) == admission::wait);
    CHECK(t.rule.ask(&a) == admission::go);
    t.rule.mark_has_left(a);
    CHECK(t.rule.may_answer());
    CHECK(t.rule.ask(&b) == admission::go);  // leads
    CHECK_FALSE(t.rule.may_answer());
    t.rule.end(&c);
    CHECK(t.rule.may_answer());
    CHECK(t.rule.ask(&d) == admission::refused);
}

TEST_CASE("a slot goes out of service only if another slot is certain to take what is pending") {
    four_slots t;
    auto& [a, b, c, d] = t.slots;
    REQUIRE(t.rule.become_idle(a) == idle_step::lead);
    REQUIRE(t.rule.become_idle(b) == idle_step::wait);
    t.add(3, 1);
    CHECK(t.rule.leave(d));  // `c` is not idle; `b` is woken besides
    CHECK(t.rule.ask(&b) == admission::go);
    CHECK(t.rule.leave(b));
    CHECK_FALSE(t.rule.leave(c));  // `a` is the leader, and may take a mark
    t.rule.leader_resumed(a, true, true, false);
    CHECK_FALSE(t.rule.leave(c));
    CHECK(t.rule.ask(&a) == admission::wait);
    REQUIRE(t.take(2) == 1);
    CHECK(t.rule.leave(c));
    CHECK(t.rule.ask(&a) == admission::go);
}

TEST_CASE("a slot that goes out of service passes its wake-up on, once") {
    four_slots t;
    auto& [a, b, c, d] = t.slots;
    REQUIRE(t.rule.become_idle(a) == idle_step::lead);
    for (one_slot* const each : {&b, &c}) REQUIRE(t.rule.become_idle(*each) == idle_step::wait);
    t.add(3, 1);
    t.rule.wake_one(d);
    CHECK(t.rule.leave(d));
    b.me().recalled = true;
    CHECK(t.rule.ask(&b) == admission::go);
    CHECK(t.rule.leave(b));
    CHECK(t.rule.ask(&c) == admission::go);
    CHECK_FALSE(t.rule.may_answer());
    CHECK_FALSE(t.rule.leave(c));
}

TEST_CASE("a slot that may lead, and finds an item, lets another slot lead") {
    four_slots t;
    auto& [a, b, c, d] = t.slots;
    REQUIRE(t.rule.become_idle(a) == idle_step::lead);
    for (one_slot* const each : {&b, &c}) REQUIRE(t.rule.become_idle(*each) == idle_step::wait);
    t.rule.leader_resumed(a, true, false, false);
    CHECK(t.rule.ask(&b) == admission::go);
    CHECK(t.rule.ask(&c) == admission::wait);
    t.rule.found_item(d);  // is no leader
    CHECK(t.rule.ask(&c) == admission::wait);
    t.rule.found_item(b);
    CHECK(t.rule.ask(&c) == admission::go);
}
