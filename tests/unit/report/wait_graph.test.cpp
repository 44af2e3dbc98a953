#include <weir/report/wait_graph.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using numbers = std::vector<std::size_t>;
using weir::detail::registry;
using weir::detail::run_seen;
using weir::detail::site_seen;
using weir::detail::slot;
using weir::detail::slot_state;
using weir::detail::steps_to_cause;
using weir::detail::wait_graph;
using weir::detail::wait_kind;
using weir::detail::wait_seen;
using weir::detail::wait_site;
using weir::detail::watched_run;

namespace {

class site final : public wait_site {
  public:
    const char* contradiction() const noexcept override { return nullptr; }
    void inspect(site_seen& seen) const override {
        seen.site = this;
        seen.waiting = waiting;
    }
    void add(wait_kind kind, const slot* who = nullptr, bool has_limit = false) {
        wait_seen w;
        w.number = waiting.size() + 1;
        w.kind = kind;
        w.who = who;
        w.has_limit = has_limit;
        waiting.push_back(w);
    }
    std::vector<wait_seen> waiting;
};

// A run of stages in a row, with a queue behind each: queue i is between stage i and the next one.
class row final : public watched_run {
  public:
    explicit row(std::vector<std::size_t> slots, registry* into = nullptr)
        : list(into != nullptr ? *into : own_list), queues(slots.size()) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            stages.emplace_back();
            for (std::size_t k = 0; k < slots[i]; ++k) {
                stages[i].push_back(std::make_unique<slot>(name, k, time));
            }
        }
        list.add(*this);
    }
    ~row() { leave_registry(); }

    void inspect(run_seen& seen, bool states) const override {
        for (std::size_t i = 0; i < stages.size(); ++i) {
            auto& s = seen.stages.emplace_back();
            if (i > 0) s.from.push_back(&queues[i - 1]);
            s.to.push_back(&queues[i]);
            if (i == 0 && circle) s.from.push_back(&queues.back());
            for (const auto& each : stages[i]) {
                const bool runs = states && each.get() == running;
                s.per_slot.push_back(
                    {each.get(), each->gone.load(), runs ? slot_state::run : slot_state::off});
            }
        }
        seen.last = &queues.back();
        seen.has_failed = has_failed;
    }

    weir::pipeline_stats stats() const override { return {}; }

    // How many wait for ever.
    std::size_t stuck(bool anybody, std::vector<const wait_site*> others = {}) const {
        return dead(anybody, std::move(others)).size();
    }
    std::vector<wait_graph::wait> dead(bool anybody, std::vector<const wait_site*> others = {}) const {
        const registry::reader runs(list);
        wait_graph graph;
        graph.read(runs, true);
        graph.each_queue([&](const wait_site& p) { graph.read(p); });
        for (const wait_site* p : others) graph.read(*p);
        graph.find_alive(anybody);
        lives = graph.is_anything_alive();
        std::vector<wait_graph::wait> found;
        for (const auto& w : graph.waits) {
            if (!w.alive) found.push_back(w);
        }
        return found;
    }
    const slot* of(std::size_t stage, std::size_t k = 0) const { return stages[stage][k].get(); }

    weir::virtual_time time;
    const std::string name = "s";
    registry own_list;
    registry& list;
    std::vector<site> queues;
    std::vector<std::vector<std::unique_ptr<slot>>> stages;
    bool circle = false;
    bool has_failed = false;
    const slot* running = nullptr;
    mutable bool lives = false;
};

}  // namespace

TEST_CASE("a wait for a stage with a living slot is alive, and so are waits for the waiter") {
    row r({1, 2, 1});
    r.queues[1].add(wait_kind::get, r.of(2));
    r.queues[0].add(wait_kind::get, r.of(1, 0));
    CHECK(r.stuck(true) == 0);  // the source works
    CHECK(r.stuck(false) == 0);
    CHECK(r.lives);
}

TEST_CASE("a circle of slots is dead, whatever else there is, until one of its slots is alive") {
    row r({1, 2});
    r.circle = true;
    r.queues[1].add(wait_kind::get, r.of(0));
    r.queues[0].add(wait_kind::get, r.of(1, 0));
    CHECK(r.stuck(true) == 0);  // slot 1 of the second stage
    r.queues[0].add(wait_kind::get, r.of(1, 1));
    CHECK(r.stuck(true) == 3);
    CHECK(r.lives);
    CHECK(r.stuck(false) == 3);
    CHECK_FALSE(r.lives);
    const auto dead = r.dead(true);
    CHECK(dead[0].group == dead[1].group);
    CHECK(dead[1].group == dead[2].group);
}

TEST_CASE("a slot that has ended, or is out of service, keeps no wait alive") {
    row r({1, 2});
    r.circle = true;
    site bench;
    r.queues[1].add(wait_kind::get, r.of(0));
    r.queues[0].add(wait_kind::get, r.of(1, 0));
    SECTION("ended") {
        r.stages[1][1]->gone = true;
        CHECK(r.stuck(true) == 2);
    }
    SECTION("out of service") {
        bench.add(wait_kind::bench, r.of(1, 1));
        CHECK(r.stuck(true, {&bench}) == 2);
    }
}

TEST_CASE("a put into the last queue waits for a consumer, who may be anybody") {
    row r({1});
    r.queues[0].add(wait_kind::put, r.of(0));
    CHECK(r.stuck(true) == 0);
    CHECK(r.stuck(false) == 1);
}

TEST_CASE("anybody could use a channel of which nothing is known") {
    row r({1});
    site other;
    other.add(wait_kind::get);
    r.stages[0][0]->gone = true;
    CHECK(r.stuck(true, {&other}) == 0);
    CHECK(r.stuck(false, {&other}) == 1);
    r.stages[0][0]->gone = false;  // a slot that is alive might use it
    CHECK(r.stuck(false, {&other}) == 0);
}

TEST_CASE(
    "a wait with a time limit, or for the end of a pause, ends by itself, and so do waits that need it") {
    row r({1, 1});
    site room;
    SECTION("a pause") {
        room.add(wait_kind::outside, r.of(0));
        r.queues[0].add(wait_kind::get, r.of(1));
        CHECK(r.stuck(false, {&room}) == 0);
    }
    SECTION("a limit") {
        r.queues[0].add(wait_kind::get, r.of(1));
        room.add(wait_kind::get, r.of(0), true);
        CHECK(r.stuck(false, {&room}) == 0);
    }
}

TEST_CASE("a turn is given by another slot of the stage, and bytes by anyone in the run") {
    row r({1, 2});
    site room;
    SECTION("turn") {
        room.add(wait_kind::turn, r.of(1, 0));
        CHECK(r.stuck(true, {&room}) == 0);
        r.queues[0].add(wait_kind::get, r.of(1, 1));
        r.stages[0][0]->gone = true;
        CHECK(r.stuck(true, {&room}) == 2);
    }
    SECTION("bytes") {
        room.add(wait_kind::others, r.of(0));
        r.queues[0].add(wait_kind::get, r.of(1, 0));
        r.queues[0].add(wait_kind::get, r.of(1, 1));
        CHECK(r.stuck(true, {&room}) == 0);  // the consumer takes something
        CHECK(r.stuck(false, {&room}) == 3);
    }
}

TEST_CASE("only slots of the same run can end a wait for bytes") {
    row first({1}), second({1, 1}, &first.list), third({1, 1}, &first.list);
    first.stages[0][0]->gone = true;
    site room;
    room.add(wait_kind::others, second.of(0));
    second.queues[0].add(wait_kind::get, second.of(1));
    third.circle = true;
    third.queues[1].add(wait_kind::get, third.of(0));
    third.queues[0].add(wait_kind::get, third.of(1));
    const auto dead = first.dead(false, {&room});
    REQUIRE(dead.size() == 4);
    const auto group_of = [&dead](const slot* who) {
        for (const auto& w : dead) {
            if (w.seen.who == who) return w.group;
        }
        return dead.size() + 1;
    };
    CHECK(group_of(second.of(0)) == group_of(second.of(1)));
    CHECK(group_of(third.of(0)) == group_of(third.of(1)));
    CHECK(group_of(second.of(0)) != group_of(third.of(0)));
}

TEST_CASE("the stages of a run that has failed end each other in more ways") {
    row r({1, 1});
    r.circle = r.has_failed = true;
    r.queues[1].add(wait_kind::get, r.of(0));
    r.queues[0].add(wait_kind::get, r.of(1));
    CHECK(r.stuck(true) == 0);
    CHECK(r.stuck(false) == 2);
}

TEST_CASE("if all threads are blocked, a function that has a thread waits, too") {
    row r({1, 1});
    r.running = r.of(0);
    r.queues[0].add(wait_kind::get, r.of(1));
    CHECK(r.stuck(true) == 0);
    const auto dead = r.dead(false);
    REQUIRE(dead.size() == 2);
    CHECK(dead[1].seen.who == r.of(0));
    CHECK(dead[1].seen.kind == wait_kind::thread);
}

TEST_CASE("a node that needs nothing is a cause, and the others follow by their distance") {
    CHECK(steps_to_cause({}) == numbers{});
    CHECK(steps_to_cause({{1}, {2}, {}}) == numbers{2, 1, 0});
    CHECK(steps_to_cause({{1, 3}, {2}, {}, {}}) == numbers{1, 1, 0, 0});
}

TEST_CASE("all nodes of a circle are causes, and nodes that lead into it are not") {
    CHECK(steps_to_cause({{0}}) == numbers{0});
    CHECK(steps_to_cause({{1}, {2}, {1}}) == numbers{1, 0, 0});
    CHECK(steps_to_cause({{1}, {0, 2}, {3}, {4}, {3}}) == numbers{3, 2, 1, 0, 0});
}

TEST_CASE("a circle with a node that needs a cause is no cause") {
    CHECK(steps_to_cause({{1}, {0, 2}, {}}) == numbers{2, 1, 0});
}
