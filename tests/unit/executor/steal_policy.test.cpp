#include <weir/executor/steal_policy.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <cstdint>

namespace {

struct platform : weir::detail::standard_platform {
    static std::int64_t now() noexcept { return time; }
    static inline std::int64_t time = 0;
};
using queues = weir::detail::basic_worker_queues<platform>;
using steal_policy = weir::detail::basic_steal_policy<platform>;
using record = weir::detail::basic_thread_record<platform>;

// A victim, a thief that has been idle since 0, and a clock that the test moves.
struct scene {
    queues victim, thief;
    steal_policy known;
    std::int64_t& now = platform::time;
    int items[8] = {};

    scene() {
        now = 0;
        thief.set_thread(record::acquire(), this);
    }
    void* steal_after(std::int64_t ns, std::int64_t idle_since = 0) {
        now += ns;
        return known.steal_from(victim, thief, now, idle_since,
                                [this] { return victim.done() + thief.resumed(); });
    }
    // The victim resumes `times` coroutines in each of `count` microseconds, while the thief looks on.
    void* watch(int count, int times) {
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < times; ++k) victim.count_resumption();
            if (void* const caught = steal_after(1'000)) return caught;
        }
        return nullptr;
    }
    // What is stolen in a row, with so many nanoseconds for each of the two things that are done meanwhile.
    int steal_on(int ns_for_each) {
        int stolen = 0;
        for (; stolen < 2'000; ++stolen) {
            victim.queue.push_bottom(&items[0]);
            victim.count_resumption();
            thief.count_resumption();
            // The thief is never idle for long enough to study the victim anew.
            if (steal_after(2 * ns_for_each, now) == nullptr) break;
        }
        while (victim.queue.steal() != nullptr) {
        }
        return stolen;
    }
    void queue_all() {
        for (int& item : items) victim.queue.push_bottom(&item);
    }
};

}  // namespace

TEST_CASE("coroutines of a worker with short resumptions are not stolen for 40 us") {
    scene s;
    s.watch(100, 100);
    s.queue_all();
    CHECK(s.watch(35, 100) == nullptr);
    CHECK(s.watch(100, 100) == &s.items[0]);
}

TEST_CASE("coroutines of a slow worker are stolen at once, the oldest first, and its next-to-run slot last") {
    scene s;
    s.watch(100, 1);
    s.victim.exchange_next(&s.items[7], s.thief.thread());
    s.victim.queue.push_bottom(&s.items[0]);
    s.victim.queue.push_bottom(&s.items[1]);
    s.victim.forks.push_bottom(&s.items[2]);
    for (const int i : {0, 1, 2, 7}) CHECK(s.steal_after(1) == &s.items[i]);
    CHECK(s.steal_after(1) == nullptr);
}

TEST_CASE("the slot of a worker that is stuck is taken, that of one that chats is not") {
    scene s;
    s.victim.exchange_next(&s.items[0], s.thief.thread());
    s.watch(100, 100);
    CHECK(s.victim.has_next());
    CHECK(s.watch(20, 0) == &s.items[0]);
}

TEST_CASE("a worker that did nothing because it is idle is not taken for a slow one") {
    scene s;
    s.watch(100, 0);
    s.queue_all();
    for (int i = 0; i < 100; ++i) s.victim.count_resumption();
    CHECK(s.steal_after(1'000) == nullptr);
}

TEST_CASE("a study that began before the thief was idle does not count") {
    scene s;
    s.watch(10, 100);
    // The thief had work of its own, and the two contended: the victim was slow.
    s.now += 100'000;
    for (int i = 0; i < 50; ++i) s.victim.count_resumption();
    const std::int64_t idle_since = s.now;
    s.queue_all();
    for (int look = 0; look < 10; ++look) {
        for (int i = 0; i < 100; ++i) s.victim.count_resumption();
        CHECK(s.steal_after(1'000, idle_since) == nullptr);
    }
}

TEST_CASE("resumptions before the thief was idle don't make a worker look fast") {
    scene s;
    s.watch(10, 100);
    s.now += 10'000;
    for (int i = 0; i < 10'000; ++i) s.victim.count_resumption();
    const std::int64_t idle_since = s.now;
    s.queue_all();
    int looks = 0;
    for (void* caught = nullptr; caught == nullptr; ++looks) {
        s.victim.count_resumption();
        caught = s.steal_after(1'000, idle_since);
    }
    CHECK(looks == 6);  // the study takes 5 us
}

TEST_CASE("a worker that looks slow for 5 us, because it fetches what the thief had, is left alone") {
    scene s;
    s.queue_all();
    CHECK(s.watch(8, 7) == nullptr);
    CHECK(s.watch(20, 100) == nullptr);
}

TEST_CASE("a worker that takes 200 ns for each is slow beyond doubt, and one that takes less is not") {
    scene s;
    s.queue_all();
    CHECK(s.watch(5, 5) == &s.items[0]);
    scene other;
    other.queue_all();
    CHECK(other.watch(4, 5) == nullptr);
    CHECK(other.watch(1, 6) == nullptr);
}

TEST_CASE("a worker that keeps looking a little slow is helped") {
    scene s;
    s.queue_all();
    CHECK(s.watch(20, 7) == &s.items[0]);
}

TEST_CASE(
    "a worker whose resumptions last for 3 us, of 30 ns for each operation, is helped, and no other one") {
    const auto caught_in = [](int operations, int turns) {
        scene s;
        s.victim.set_thread(record::acquire(), &s);
        s.queue_all();
        for (int us = 1; us <= 60; ++us) {
            for (int i = 0; i < operations - turns; ++i) record::mine()->count_operation();
            if (us % 3 == 0 || turns > 1) {
                for (int i = 0; i < turns; ++i) s.victim.count_resumption();
            }
            if (s.steal_after(1'000) != nullptr) return us;
        }
        return 0;
    };
    CHECK(caught_in(30, 1) == 5);
    CHECK(caught_in(40, 1) == 0);
    CHECK(caught_in(30, 2) == 0);
}

TEST_CASE("a verdict is good for so many thefts, then it is looked into again") {
    scene s;
    s.watch(100, 1);
    CHECK(s.steal_on(5) == 65);  // after the first trial the victim rests
    s.watch(300, 1);
    CHECK(s.steal_on(5) == 1'025);
}

TEST_CASE("a worker rests for a moment now and then, so that one sees how fast it is alone") {
    scene s;
    s.watch(100, 1);
    CHECK(s.steal_on(500) == 65);
    CHECK(s.watch(245, 2) == nullptr);
    for (int verdicts = 0; verdicts < 2; ++verdicts) {
        s.watch(20, 2);
        CHECK(s.steal_on(500) == 1'025);
    }
    s.watch(100'000, 2);
    CHECK(s.steal_on(500) == 65);
}

TEST_CASE(
    "a worker that is slower together with its thief than alone is left alone for 2 ms, then 6 and 14") {
    scene s;
    s.watch(100, 1);
    CHECK(s.steal_on(100) == 65);
    s.watch(300, 50);  // 20 ns for each, alone
    for (const int ms : {2, 6, 14}) {
        // Slow as it fetches what the thief had; so it looks as if thefts were worthwhile.
        s.watch(10, 4);
        CHECK(s.steal_on(100) == 65);
        s.watch(ms * 1'000 - 50, 40);
        s.watch(10, 4);
        CHECK(s.steal_on(100) == 0);
        s.watch(100, 40);
    }
    SECTION("unless each thing takes it 300 ns alone") {
        s.watch(10, 4);
        CHECK(s.steal_on(100) == 65);
        s.watch(16'100, 3);
        CHECK(s.steal_on(400) == 1'025);
    }
    SECTION("and what it does alone meanwhile is what the next trial is compared with") {
        s.watch(10, 4);
        CHECK(s.steal_on(100) == 65);
        s.watch(16'100, 4);
        CHECK(s.steal_on(100) > 65);
    }
}

TEST_CASE("the first of several forks is taken at once, the only one is not") {
    scene s;
    s.watch(10, 100);
    s.victim.forks.push_bottom(&s.items[0]);
    CHECK(s.steal_after(10) == nullptr);
    s.victim.forks.push_bottom(&s.items[1]);
    CHECK(s.steal_after(10) == &s.items[0]);
}

TEST_CASE("forks that turn out small are left alone, for longer each time, large ones are not") {
    enum class part { small, of_many_coroutines, long_one };
    const part each = GENERATE(part::small, part::of_many_coroutines, part::long_one);
    scene s;
    for (int i = 0; i < 10'000; ++i) s.victim.forks.push_bottom(&s.items[0]);
    int stolen = 0;
    for (int i = 0; i < 1'000; ++i) {
        for (int k = 0; k < 25; ++k) s.victim.count_resumption();
        if (s.steal_after(250) == nullptr) continue;
        ++stolen;
        for (int k = 0; k < (each == part::of_many_coroutines ? 100 : 1); ++k) s.thief.count_resumption();
        if (each == part::long_one) s.now += 3'000;
    }
    if (each == part::small) {
        CHECK(stolen < 50);
    } else {
        CHECK(stolen == 1'000);
    }
}

TEST_CASE("of a worker that makes small forks in one long resumption few are stolen, but also the only one") {
    scene s;
    s.victim.forks.push_bottom(&s.items[0]);
    CHECK(s.watch(20, 0) == &s.items[0]);
    s.thief.count_resumption();
    for (int i = 0; i < 10'000; ++i) s.victim.forks.push_bottom(&s.items[0]);
    int stolen = 0;
    for (int i = 0; i < 1'000; ++i) {
        if (s.steal_after(1'000) == nullptr) continue;
        ++stolen;
        s.thief.count_resumption();
    }
    CHECK(stolen < 20);
    while (s.victim.forks.steal() != nullptr) {
    }
    s.victim.forks.push_bottom(&s.items[1]);
    CHECK(s.watch(600, 0) == &s.items[1]);
}

TEST_CASE("the time that a theft itself takes doesn't make a fork large") {
    scene s;
    for (int i = 0; i < 10'000; ++i) s.victim.forks.push_bottom(&s.items[0]);
    int stolen = 0;
    for (int i = 0; i < 1'000; ++i) {
        for (int k = 0; k < 500; ++k) s.victim.count_resumption();
        const std::int64_t now = s.now;
        s.now += 5'000;  // when the theft has been made
        const bool any = s.known.steal_from(s.victim, s.thief, now, 0, [] { return 0U; }) != nullptr;
        if (!any) continue;
        ++stolen;
        s.thief.count_resumption();
    }
    CHECK(stolen < 50);
}
