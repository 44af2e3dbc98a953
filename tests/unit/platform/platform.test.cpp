#include <weir/platform/platform.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <type_traits>

using weir::detail::standard_platform;

static_assert(std::is_same_v<standard_platform::atomic<int>, std::atomic<int>>);

namespace {

struct mine {
    int value = 0;
    static inline std::atomic<int> ended{0};
    ~mine() { ++ended; }
};
struct ours {
    std::atomic<int> value{0};
};

std::int64_t steady() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TEST_CASE("of_thread has one object for each type and thread, of_process one for each type") {
    mine::ended = 0;
    standard_platform::of_thread<mine>().value = 1;
    standard_platform::of_process<ours>().value = 1;
    int seen = -1, seen_by_all = -1;
    std::thread([&] {
        seen = standard_platform::of_thread<mine>().value;
        seen_by_all = standard_platform::of_process<ours>().value++;
    }).join();
    CHECK(seen == 0);
    CHECK(seen_by_all == 1);
    CHECK(mine::ended == 1);
    CHECK(standard_platform::of_thread<mine>().value == 1);
    CHECK(standard_platform::of_process<ours>().value == 2);
}

TEST_CASE("an object of make_for_good is never destroyed") {
    mine::ended = 0;
    mine* const kept = standard_platform::make_for_good<mine>();
    REQUIRE(kept != nullptr);
    CHECK(kept->value == 0);
    CHECK(mine::ended == 0);
    delete kept;
}

TEST_CASE("the platform's time goes forward with the steady clock, and the quick look is never ahead") {
    constexpr std::int64_t inexact = 1'000'000;  // far more than the two differ
    std::int64_t before = standard_platform::now();
    bool forwards = true, behind = true, same = true;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t earlier = steady();
        const std::int64_t coarse = standard_platform::coarse_now();
        const std::int64_t now = standard_platform::now();
        forwards = forwards && before <= now;
        behind = behind && coarse <= now + inexact;
        same = same && earlier - inexact <= now && now <= steady() + inexact;
        before = now;
    }
    CHECK(forwards);
    CHECK(behind);
    CHECK(same);
}

TEST_CASE("seeds differ from call to call") {
    std::set<std::uint64_t> seeds;
    for (int i = 0; i < 1'000; ++i) seeds.insert(standard_platform::seed());
    CHECK(seeds.size() > 100);
}

TEST_CASE("a thread waits at a word until it is woken, one or all, unless the word holds something else") {
    std::atomic<std::uint32_t> word{1};
    standard_platform::wait(word, 0);
    standard_platform::wait(word, 1, 1);
    for (const bool all : {false, true}) {
        std::atomic<std::uint32_t> gate{0};
        std::atomic<bool> begun{false}, through{false};
        std::thread waits([&] {
            begun = true;
            while (gate == 0) standard_platform::wait(gate, 0);
            through = true;
        });
        while (!begun) standard_platform::yield();
        CHECK_FALSE(through);
        gate = 1;
        while (!through) {
            all ? standard_platform::wake_all(gate) : standard_platform::wake_one(gate);
            standard_platform::yield();
        }
        waits.join();
    }
}
