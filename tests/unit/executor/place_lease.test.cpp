#include <weir/executor/place_lease.hpp>

#include "support/catch.hpp"

#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using lease = weir::detail::basic_place_lease<>;
using weir::detail::lease_policy;

// A clock that the test moves.
struct manual {
    static inline std::int64_t time = 0;
    static std::int64_t now() noexcept { return time; }
};

constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000'000;

// A policy for which a consumer has just got a place. `visit` returns whether the consumer keeps the place.
struct scene {
    lease_policy policy;
    std::uint64_t operations = 100;

    explicit scene(bool one_processor = false, bool one_worker = true) : policy(one_processor, one_worker) {
        manual::time = 0;
        policy.got_place();
    }
    // The consumer uses `items` items for `use`, then works for `work` in the place.
    bool visit(std::uint64_t items, std::int64_t use, std::int64_t work) {
        manual::time += use;
        operations += items;
        if (!policy.begin_visit<manual>(operations)) return false;
        manual::time += work;
        return policy.end_visit<manual>(operations);
    }
    int visits_kept(std::uint64_t items, std::int64_t use, std::int64_t work) {
        int kept = 0;
        while (kept < 1'000 && visit(items, use, work)) ++kept;
        return kept;
    }
};

bool always(lease_policy&) { return true; }
bool goes_on() { return false; }
std::int64_t whole(std::int64_t nap) { return nap; }

// Notes each sleep, which takes no time.
struct noting : weir::detail::standard_platform {
    static inline std::vector<std::int64_t> sleeps;
    static std::int64_t now() noexcept { return manual::time; }
    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout) noexcept {
        sleeps.push_back(timeout);
        manual::time += timeout;
    }
};

// A worker's own thread: gives the place as soon as it is asked for it, and stands by, until there was a guest: a
// consumer that asks no longer when its place comes misses it.
template <class IsNeeded>
std::thread owner_of(lease& l, std::atomic<int>& returns, std::atomic<bool>& was_guest, IsNeeded is_needed) {
    was_guest = false;
    return std::thread([&l, &returns, &was_guest, is_needed] {
        while (!was_guest) {
            while (!l.is_asked() || !l.give(7)) std::this_thread::yield();
            l.stand_by(is_needed, whole);
        }
        ++returns;
    });
}
void ask_until_given(lease& l, std::atomic<bool>& was_guest) {
    while (!l.ask(always, goes_on)) std::this_thread::yield();
    was_guest = true;
}

}  // namespace

TEST_CASE("a consumer asks for a place if the workers take at most 2 us for a step") {
    lease_policy policy(false);
    CHECK_FALSE(policy.may_ask(100 * ms, 1'000));  // 1000 steps in 100 ms
    CHECK(policy.may_ask(100 * ms + 10 * us, 1'005));
    CHECK_FALSE(policy.may_ask(100 * ms + 20 * us, 1'009));
    CHECK(policy.may_ask(100 * ms + 28 * us, 1'013));
    CHECK_FALSE(policy.may_ask(100 * ms + 28 * us, 1'016));  // too few steps to tell
}

TEST_CASE("a consumer that was refused asks again after 1 ms, then after twice as long, up to 256 ms") {
    lease_policy policy(false);
    std::int64_t now = 0;
    std::uint64_t done = 0;
    for (std::int64_t pause = 1 * ms; pause < 600 * ms; pause *= 2) {
        policy.back_off(now);
        const std::int64_t longest = pause < 256 * ms ? pause : 256 * ms;
        CHECK_FALSE(policy.may_ask(now + longest - 1, done += 1'000'000));
        CHECK(policy.may_ask(now += longest, done += 1'000'000));
    }
}

TEST_CASE("a consumer keeps its place while it uses an item for 1 us at most") {
    CHECK(scene().visits_kept(4, 4 * us, 1 * us) == 1'000);
    CHECK(scene().visits_kept(4, 4 * us + 1, 1 * us) <= 17);
    CHECK(scene().visits_kept(0, 2 * us, 1 * us) <= 17);
}

TEST_CASE("on one processor a consumer keeps its place however long it uses its items") {
    CHECK(scene(true).visits_kept(1, 100 * ms, 1 * us) == 1'000);
}

TEST_CASE("a consumer returns its place after a visit of more than 50 us") {
    CHECK(scene().visits_kept(4, 1 * us, 50 * us) == 1'000);
    CHECK(scene().visits_kept(4, 1 * us, 50 * us + 1) == 1);
    CHECK(scene(true).visits_kept(4, 1 * us, 50 * us + 1) == 1);
    // One visit in 16 is measured, and the one after it if it was too long.
    scene s;
    CHECK(s.visit(4, 1 * us, 1 * us));
    CHECK(s.visits_kept(4, 1 * us, 60 * us) <= 17);
}

TEST_CASE("a consumer keeps its place if one visit or one use of items alone took too long") {
    for (const bool long_use : {false, true}) {
        scene s;
        CHECK(s.visit(4, 1 * us, 1 * us));
        for (int i = 0; i < 100; ++i) {
            const std::int64_t interrupted = i % 16 == 5 ? 1 * ms : 0;
            CHECK(s.visit(4, long_use ? 1 * us + interrupted : 1 * us,
                          long_use ? 1 * us : 1 * us + interrupted));
        }
    }
    // A measured use that was too long, and then a visit that is.
    for (int before = 0; before < 20; ++before) {
        scene s;
        for (int i = 0; i < before; ++i) CHECK(s.visit(4, 1 * us, 1 * us));
        const bool kept = s.visit(4, 1 * ms, 1 * us);
        CHECK((kept && s.visit(4, 1 * us, 1 * ms)) == (before % 16 != 0 || before == 0));
    }
}

TEST_CASE(
    "in a pool of several workers consumers take places for tiny steps only, but not on one processor") {
    lease_policy several(false, false);
    CHECK_FALSE(several.may_ask(100 * ms, 1'000));
    CHECK(several.may_ask(100 * ms + 1'500, 1'010));
    CHECK_FALSE(several.may_ask(100 * ms + 3'010, 1'020));
    lease_policy on_one_processor(true, false);
    CHECK_FALSE(on_one_processor.may_ask(100 * ms, 1'000));
    CHECK(on_one_processor.may_ask(100 * ms + 20 * us, 1'010));
    // A visit may last 25 us.
    scene s(false, false);
    CHECK(s.visits_kept(4, 1 * us, 25 * us) == 1'000);
    CHECK(s.visits_kept(4, 1 * us, 25 * us + 1) <= 16);
}

TEST_CASE("the pause after a short visit begins anew with 1 ms") {
    scene s;
    for (int i = 0; i < 5; ++i) s.policy.back_off(manual::time);
    CHECK(s.visit(1, 0, 1 * us));
    s.policy.back_off(manual::time);
    CHECK(s.policy.may_ask(manual::time + 1 * ms, 1'000'000));
}

TEST_CASE("no place is given that nobody asks for") {
    lease l(false);
    CHECK_FALSE(l.is_asked());
    CHECK_FALSE(l.give(0));
    CHECK_FALSE(l.enter());
}

TEST_CASE("a guest asks for coroutines, until a worker accepts or the guest withdraws the request") {
    lease l(false);
    CHECK_FALSE(l.accept_to_give_coroutines());
    l.ask_for_coroutines();
    CHECK(l.is_asked());
    CHECK_FALSE(l.give(0));  // this is no request for a place
    CHECK(l.is_asked());
    CHECK(l.accept_to_give_coroutines());
    CHECK_FALSE(l.accept_to_give_coroutines());
    CHECK_FALSE(l.is_asked());
    l.ask_for_coroutines();
    l.withdraw();
    CHECK_FALSE(l.is_asked());
    l.withdraw();
    CHECK_FALSE(l.is_asked());
}

TEST_CASE("a request for a place is none for coroutines") {
    lease l(false);
    CHECK_FALSE(l.ask(always, [&] {
        l.withdraw();
        return l.accept_to_give_coroutines() || !l.is_asked();
    }));
    CHECK_FALSE(l.is_asked());
}

TEST_CASE("a consumer that no worker hears, or whose item has come, gets no place") {
    lease l(false);
    CHECK_FALSE(l.ask(always, goes_on));
    CHECK_FALSE(l.ask(always, [] { return true; }));
    CHECK_FALSE(l.is_asked());
}

TEST_CASE("a consumer does not ask if the policy is against it") {
    lease l(false);
    bool was_asked_for = false;
    CHECK_FALSE(l.ask([](lease_policy&) { return false; }, [&] { return was_asked_for = l.is_asked(); }));
    CHECK_FALSE(was_asked_for);
}

TEST_CASE("a consumer works in the place, keeps it, and returns it to the worker's own thread") {
    lease l(false);
    std::atomic<int> returns = 0;
    std::atomic<bool> was_guest = false;
    std::thread owner = owner_of(l, returns, was_guest, [] { return false; });
    ask_until_given(l, was_guest);
    CHECK(l.number() == 7);
    CHECK_FALSE(l.enter());               // somebody works there
    CHECK_FALSE(l.ask(always, goes_on));  // and it is not at home
    CHECK(returns == 0);
    l.return_place();
    owner.join();
    CHECK(returns == 1);
    CHECK_FALSE(l.enter());
}

TEST_CASE("the worker's own thread takes back a place to which the consumer doesn't return") {
    lease l(false);
    std::atomic<int> returns = 0;
    std::atomic<bool> was_guest = false;
    std::thread owner = owner_of(l, returns, was_guest, [] { return false; });
    ask_until_given(l, was_guest);
    l.leave();
    owner.join();
    CHECK(returns == 1);
    CHECK_FALSE(l.enter());
    // The next consumer asks again.
    owner = owner_of(l, returns, was_guest, [] { return false; });
    ask_until_given(l, was_guest);
    l.return_place();
    owner.join();
    CHECK(returns == 2);
}

TEST_CASE("the worker's own thread sleeps while a guest works, even if a timer is due") {
    manual::time = 0;
    noting::sleeps.clear();
    weir::detail::basic_place_lease<noting> l(false);
    REQUIRE(l.ask(always, [&] {
        l.give(7);
        return false;
    }));
    int looks = 0;
    l.stand_by([] { return false; },
               [&](std::int64_t) {
                   if (++looks == 4) l.return_place();
                   return std::int64_t{0};  // until the timer
               });
    CHECK(noting::sleeps == std::vector{50 * us, 50 * us});
}

TEST_CASE("the worker's own thread takes a kept place back at its next look if it is needed") {
    lease l(false);
    std::atomic<int> returns = 0;
    std::atomic<bool> was_guest = false;
    std::atomic<bool> is_needed = false;
    std::thread owner = owner_of(l, returns, was_guest, [&] { return is_needed.load(); });
    ask_until_given(l, was_guest);
    is_needed = true;
    l.wake_owner();  // no effect: the consumer works there
    l.leave();
    l.wake_owner();
    owner.join();
    CHECK(returns == 1);
}
