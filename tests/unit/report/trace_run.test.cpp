#include <weir/report/trace_run.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace weir::detail;

TEST_CASE("a ring holds the last events, the oldest first") {
    trace_ring r;
    r.add({0, 0, 1, 0, 0, trace_kind::came, 0});
    CHECK(r.kept() == 0);  // it has no room yet
    CHECK(r.count() == 1);
    trace_ring three;
    three.reserve(3);
    for (std::uint64_t n = 0; n < 2; ++n) three.add({0, 0, n, 0, 0, trace_kind::came, 0});
    CHECK(three.kept() == 2);
    CHECK(three[0].number == 0);
    for (std::uint64_t n = 2; n < 8; ++n) three.add({0, 0, n, 0, 0, trace_kind::came, 0});
    CHECK(three.kept() == 3);
    CHECK(three.count() == 8);
    for (std::uint64_t i = 0; i < 3; ++i) CHECK(three[i].number == 5 + i);
}

namespace {

struct watched {
    trace_settings how{.every = 10, .most = 100, .after = 0, .until = INT64_MAX};
    std::int64_t begins = 1000;
    slot_trace slot{how, begins, 3};
    watched() { slot.events.reserve(100); }
    std::vector<trace_kind> kinds() const {
        std::vector<trace_kind> all;
        for (std::size_t i = 0; i < slot.events.kept(); ++i) all.push_back(slot.events[i].kind);
        return all;
    }
};

}  // namespace

TEST_CASE("a tag holds the stage and the number; every n-th item is chosen, also after a gap") {
    watched w;
    const std::uint64_t tag = w.slot.chosen(0, 1000);
    CHECK(slot_trace::stage_of(tag) == 3);
    CHECK(slot_trace::number_of(tag) == 0);
    CHECK(w.slot.chosen(9, 1000) == 0);
    CHECK(slot_trace::number_of(w.slot.chosen(12, 1000)) == 12);
    CHECK_FALSE(w.slot.may_choose(21));
}

TEST_CASE("no item is chosen outside of the time span") {
    watched w;
    w.how.after = 50;
    w.how.until = 60;
    CHECK(w.slot.chosen(0, 1049) == 0);
    CHECK(w.slot.chosen(0, 1050) != 0);
    CHECK(w.slot.chosen(10, 1060) == 0);
}

TEST_CASE("a visit ends with its last event, and the next one begins no earlier") {
    watched w;
    w.slot.came(5, 17, 99);
    w.slot.begin(17, 2, 100);
    w.slot.journal.add(slot_state::await, 110);
    w.slot.journal.add(slot_state::run, 130);
    w.slot.end_step(140);
    w.slot.left(6, 4);
    w.slot.end_step(150);
    w.slot.came(5, 18, 98);
    w.slot.begin(18, 2, 149);
    w.slot.end();
    using enum trace_kind;
    CHECK(w.kinds() == std::vector{came, state, left, visit, came, visit});
    const trace_event& first = w.slot.events[3];
    CHECK((first.begin == 100 && first.end == 150 && first.number == 17 && first.tag == 99));
    CHECK((w.slot.events[1].begin == 110 && w.slot.events[1].end == 130));
    CHECK(w.slot.events[2].begin == 140);
    CHECK(w.slot.events[5].begin == 150);
}

TEST_CASE("kept items are in the next result, which has the tag of the first of them") {
    watched w;
    for (const std::uint64_t tag : {7U, 8U}) {
        w.slot.came(0, tag, tag);
        w.slot.begin(tag, 0, 100);
        w.slot.keep(100);
        w.slot.end();
    }
    CHECK(w.slot.has_kept());
    CHECK(w.slot.gives(true, 9, 0, 200) == 7);
    CHECK_FALSE(w.slot.has_kept());
    w.slot.end();
    using enum trace_kind;
    CHECK(w.kinds() == std::vector{came, kept, visit, came, kept, visit, gathered, visit});
    CHECK((w.slot.events[6].number == 0 && w.slot.events[6].tag == 1));
    CHECK(w.slot.gives(true, 9, 0, 200) == 0);
}

TEST_CASE("the end of a source is not an item") {
    watched w;
    w.slot.begin_new(w.slot.chosen(20, 1000), 20, 0, 1000);
    w.slot.did_not_begin();
    w.slot.end();
    CHECK(w.slot.events.kept() == 0);
    CHECK(w.slot.may_choose(20));
}

TEST_CASE("all stages have the same share of the events, and so have their slots, also later ones") {
    run_trace run({.every = 1, .most = 100, .after = 0, .until = 1});
    const auto a = run.add_stage("a");
    const auto b = run.add_stage("b");
    auto& slot = static_cast<slot_trace&>(run.add_slot(a));
    run.add_slot(b);
    run.add_slot(b);
    run.reserve();
    auto& late = static_cast<slot_trace&>(run.add_slot(b));
    for (int i = 0; i < 100; ++i) {
        slot.depth(0, 1, 0, i);
        late.depth(0, 1, 0, i);
    }
    CHECK(slot.events.kept() == 50);
    CHECK(late.events.kept() == 16);  // as if it had been the third of three from the start
    CHECK(run.read([](const auto& stages) { return stages[1]->per_slot.size(); }) == 3);
}

TEST_CASE("many slots that are added later keep little more than the events of their stage") {
    constexpr std::size_t most = 10'000, slots = 1'000;
    run_trace run({.every = 1, .most = most, .after = 0, .until = 1});
    const auto a = run.add_stage("a");
    run.add_slot(a);
    run.reserve();
    for (std::size_t i = 1; i < slots; ++i) run.add_slot(a);
    const std::size_t kept = run.read([](const auto& stages) {
        std::size_t sum = 0;
        for (const auto& slot : stages[0]->per_slot) {
            for (std::size_t i = 0; i < most; ++i) slot->depth(0, 1, 0, 0);
            sum += slot->events.kept();
        }
        return sum;
    });
    CHECK(kept > 7 * most);
    CHECK(kept < 8 * most);
}

TEST_CASE("a queue has a number, and counts the items that were lost from sight") {
    run_trace run({});
    CHECK(run.add_queue("a", 2, true).queue() == 0);
    trail_marks& marks = run.add_queue("b", 2, true);
    CHECK(marks.queue() == 1);
    CHECK(run.queue_names().at(1) == "b");
    CHECK(marks.set(0, 1));
    CHECK_FALSE(marks.set(1 << 20, 1));
    CHECK(run.lost() == 1);
}
