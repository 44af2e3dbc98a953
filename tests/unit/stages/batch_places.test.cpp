#include <weir/stages/batch_places.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

using weir::detail::admission;
using weir::detail::open_batch;
using weir::detail::place_request;
using weir::detail::place_rule;

namespace {

place_request item(std::uint64_t number, std::uint64_t epoch = 0) {
    place_request t;
    t.number = number;
    t.epoch = epoch;
    return t;
}
place_request mark(std::uint64_t number, std::uint64_t epoch) {
    place_request t = item(number, epoch);
    t.cause = place_request::event::mark;
    return t;
}
void add_batch(place_rule& rule, place_request& t, std::size_t places) {
    rule.add(std::make_unique<open_batch>(places), t);
}

}  // namespace

TEST_CASE("the first item fetches memory, and others wait for it") {
    place_rule rule(false, 0);
    place_request a = item(0), b = item(1);
    REQUIRE(rule.ask(&a) == admission::go);
    CHECK(a.fetches);
    CHECK(rule.judge(&b) == admission::wait);
    add_batch(rule, a, 2);
    CHECK_FALSE(a.fetches);
    CHECK(a.place == 0);
    REQUIRE(rule.ask(&b) == admission::go);
    CHECK_FALSE(b.fetches);
    CHECK(b.place == 1);
    CHECK(b.batch == a.batch);
}

TEST_CASE("in order, places go by the numbers of items") {
    place_rule rule(true, 0);
    place_request a = item(0), b = item(1);
    CHECK(rule.ask(&b) == admission::wait);
    CHECK(rule.ask(&a) == admission::go);
    CHECK(rule.ask(&b) == admission::wait);
    add_batch(rule, a, 2);
    CHECK(rule.ask(&b) == admission::go);
    CHECK(b.place == 1);
}

TEST_CASE("the slot that fills the last place gives the batch, and then no more") {
    place_rule rule(false, 0);
    place_request a = item(0), b = item(1);
    rule.ask(&a);
    add_batch(rule, a, 2);
    rule.ask(&b);
    rule.fill(b);
    CHECK_FALSE(b.gives);
    rule.fill(a);
    REQUIRE(a.gives);
    const place_rule::next_output first = rule.take(a);
    REQUIRE(first.batches);
    CHECK(first.batches->number_at(0) == 0);
    CHECK(first.batches->number_at(1) == 1);
    CHECK(a.gives);
    const place_rule::next_output second = rule.take(a);
    CHECK_FALSE(second.batches);
    CHECK_FALSE(a.gives);
}

TEST_CASE("batches leave as they become full; what is left at the end leaves as it was begun") {
    place_rule rule(false, 0);
    place_request t[4] = {item(0), item(1), item(2), item(3)};
    for (place_request& each : t) {
        rule.ask(&each);
        REQUIRE(each.fetches);
        add_batch(rule, each, 1);
    }
    for (const std::size_t i : {2U, 0U}) rule.fill(t[i]);
    REQUIRE(t[2].gives);
    CHECK_FALSE(t[0].gives);
    for (const std::uint64_t number : {2U, 0U}) {
        const place_rule::next_output next = rule.take(t[2]);
        REQUIRE(next.batches);
        CHECK(next.batches->number_at(0) == number);
        CHECK_FALSE(next.batches->next);
    }
    place_request more = item(4);
    rule.ask(&more);
    add_batch(rule, more, 2);
    rule.fill(more);
    rule.fill(t[3]);
    place_request end;
    end.cause = place_request::event::at_end;
    REQUIRE(rule.ask(&end) == admission::go);
    place_rule::next_output rest = rule.take(t[2]);
    std::size_t sizes = 0;
    for (const open_batch* each = rest.batches.get(); each != nullptr; each = each->next.get()) {
        sizes = 10 * sizes + each->size();
    }
    CHECK(sizes == 112);  // of the items 1, 3 and 4
    CHECK_FALSE(rule.take(t[2]).batches);
}

TEST_CASE("a place that was freed is given out before those of later batches") {
    place_rule rule(false, 0);
    place_request a = item(0), b = item(1), c = item(2), d = item(3), e = item(4);
    rule.ask(&a);
    add_batch(rule, a, 2);
    rule.ask(&b);
    rule.ask(&c);
    add_batch(rule, c, 2);
    rule.leave_out(a);
    rule.ask(&d);
    CHECK(d.batch == b.batch);
    CHECK(d.place == 0);
    rule.ask(&e);
    CHECK(e.batch == c.batch);
    CHECK(e.place == 1);
    place_request more = item(5);
    rule.ask(&more);
    CHECK(more.fetches);
}

TEST_CASE("requests wait by epochs, marks last; in order by their numbers, else as they come") {
    for (const bool in_order : {false, true}) {
        const place_rule rule(in_order, 0);
        place_request a = item(0, 0), b = item(1, 0), m = mark(2, 0), c = item(2, 1), end;
        end.cause = place_request::event::at_end;
        const auto goes_before = [&rule](place_request& x, place_request& y) {
            return rule.goes_before(&x, &y);
        };
        CHECK(goes_before(a, b) == in_order);
        CHECK_FALSE(goes_before(b, a));
        CHECK(goes_before(b, m));
        CHECK_FALSE(goes_before(m, b));
        CHECK(goes_before(m, c));
        CHECK(goes_before(b, c));
        CHECK(goes_before(c, end));
        CHECK_FALSE(goes_before(end, m));
    }
}

TEST_CASE("the place of an item that fails goes to the next one, also if that waits for memory") {
    place_rule rule(false, 0);
    place_request a = item(0), b = item(1);
    rule.ask(&a);
    add_batch(rule, a, 1);
    rule.ask(&b);
    CHECK(b.fetches);
    const weir::stop_source stop;
    CHECK(rule.wait_for_memory(b, stop));
    const auto wakes = rule.leave_out(a);
    REQUIRE(wakes);
    CHECK(*wakes == stop);
    rule.stop_fetching(b);
    CHECK(rule.ask(&b) == admission::go);
    CHECK_FALSE(b.fetches);
    CHECK(b.place == 0);
}

TEST_CASE("a slot that is about to wait for memory sees a place that was left before") {
    place_rule rule(false, 0);
    place_request a = item(0), b = item(1);
    rule.ask(&a);
    add_batch(rule, a, 1);
    rule.ask(&b);
    CHECK_FALSE(rule.leave_out(a));
    const weir::stop_source stop;
    CHECK_FALSE(rule.wait_for_memory(b, stop));
    CHECK_FALSE(b.fetches);
}

TEST_CASE("a mark waits for the items before it, and items of the next epoch for the mark") {
    place_rule rule(false, 3);
    place_request a = item(0, 3), end = mark(1, 3), b = item(1, 4);
    CHECK(rule.ask(&end) == admission::wait);
    CHECK(rule.ask(&b) == admission::wait);
    rule.ask(&a);
    add_batch(rule, a, 2);
    rule.fill(a);
    REQUIRE(rule.ask(&end) == admission::go);
    REQUIRE(end.gives);
    CHECK(rule.ask(&b) == admission::wait);
    CHECK(rule.take(end).batches);
    CHECK(rule.take(end).ended_epoch == 3);
    CHECK(rule.ask(&b) == admission::go);
}

TEST_CASE("the rest of the batches leaves when no slot works any more") {
    place_rule rule(false, 0);
    rule.begin_work();
    rule.begin_work();
    place_request a = item(0), end;
    end.cause = place_request::event::at_end;
    rule.ask(&a);
    add_batch(rule, a, 2);
    rule.end_work();
    CHECK(rule.ask(&end) == admission::wait);
    rule.fill(a);
    rule.end_work();
    REQUIRE(rule.ask(&end) == admission::go);
    CHECK(rule.take(end).batches);
    CHECK_FALSE(rule.take(end).batches);
}

TEST_CASE("behind a failure nothing leaves in order, and nothing at all if nobody takes batches any more") {
    place_rule rule(true, 0);
    place_request a = item(0), b = item(1), c = item(2);
    rule.ask(&a);
    add_batch(rule, a, 3);
    rule.ask(&b);
    static_cast<void>(rule.block(b));
    CHECK(rule.last_number() == 1);
    CHECK(rule.ask(&c) == admission::refused);
    a.gives = true;
    static_cast<void>(rule.block(a));
    place_request other = item(0);
    CHECK(rule.ask(&other) == admission::refused);
}

TEST_CASE("items of the next epoch are refused if the mark of this one will not come") {
    for (const bool in_order : {false, true}) {
        place_rule rule(in_order, 0);
        place_request end = mark(0, 0), a = item(0, 1);
        CHECK(rule.ask(&a) == admission::wait);
        static_cast<void>(rule.block(end));
        CHECK(rule.ask(&a) == admission::refused);
    }
}
