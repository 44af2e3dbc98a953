#include <weir/platform/biased_lock.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using weir::detail::basic_biased_lock;
using weir::detail::basic_thread_record;

namespace {

// Counts what a lock that is not reserved, and one whose reservation is revoked, costs; and how
// often a thread has to wait. Each test has records and counts of its own.
template <int Test, bool HeavyFence = true>
struct counting : weir::detail::standard_platform {
    static inline std::atomic<int> exchanges{0}, fences{0}, waits{0}, sleeps{0};
    static inline void (*at_sleep)() = nullptr;
    template <class T>
    struct atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T exchange(T value, std::memory_order order) noexcept {
            ++exchanges;
            return std::atomic<T>::exchange(value, order);
        }
    };
    // A pair of fences that any machine has: each sees what was before those that it comes after.
    static inline std::atomic<unsigned> fence{0};
    static bool has_heavy_fence() noexcept { return HeavyFence; }
    static void light_fence() noexcept { fence.fetch_add(1, std::memory_order_acq_rel); }
    static void heavy_fence() noexcept {
        ++fences;
        fence.fetch_add(1, std::memory_order_acq_rel);
    }
    static void pause() noexcept { ++waits; }
    static void yield() noexcept {
        ++waits;
        std::this_thread::yield();
    }
    static void wait(std::atomic<std::uint32_t>&, std::uint32_t, std::int64_t) noexcept {
        ++sleeps;
        if (at_sleep != nullptr) at_sleep();
        std::this_thread::yield();
    }
};

// So that no later exchange is that for a record.
template <class Platform, int Level>
bool has_record(const basic_biased_lock<Platform, Level>&) {
    return basic_thread_record<Platform>::acquire() != nullptr;
}

template <class Lock>
void take(Lock& lock) {
    const typename Lock::guard held(lock);
}

template <class Lock>
void take_elsewhere(Lock& lock) {
    std::thread([&] { take(lock); }).join();
}

// How many times it has to be taken in a row until that costs no exchange.
template <class Platform, int Level>
int takes_until_reserved(basic_biased_lock<Platform, Level>& lock) {
    for (int i = 0; i < 10'000; ++i) {
        const int before = Platform::exchanges;
        take(lock);
        if (Platform::exchanges == before) return i;
    }
    return -1;
}

// What it costs to take a lock.
template <class Platform, int Level>
std::pair<int, int> cost(basic_biased_lock<Platform, Level>& lock) {
    const std::pair<int, int> before(Platform::exchanges, Platform::fences);
    take(lock);
    return {Platform::exchanges - before.first, Platform::fences - before.second};
}
using costs = std::pair<int, int>;
const costs nothing{0, 0}, an_exchange{1, 0};

}  // namespace

TEST_CASE("a lock that one thread took many times in a row costs it no exchange any more") {
    using platform = counting<0>;
    basic_biased_lock<platform> lock;
    const int takes = takes_until_reserved(lock);
    CHECK(takes > 10);
    CHECK(takes < 100);
    const int before = platform::exchanges;
    for (int i = 0; i < 10'000; ++i) take(lock);
    CHECK(platform::exchanges == before);
    CHECK(platform::fences == 0);
}

TEST_CASE("where the platform has no heavy fence, a lock is never reserved") {
    using platform = counting<1, false>;
    basic_biased_lock<platform> lock;
    REQUIRE(has_record(lock));
    const int before = platform::exchanges;
    CHECK(takes_until_reserved(lock) == -1);
    CHECK(platform::exchanges == before + 10'000);
    take_elsewhere(lock);
    CHECK(platform::fences == 0);
}

TEST_CASE("a lock that threads take in turns is never reserved") {
    using platform = counting<2>;
    basic_biased_lock<platform> lock;
    REQUIRE(has_record(lock));
    for (int i = 0; i < 100; ++i) {
        CHECK(cost(lock) == an_exchange);
        take_elsewhere(lock);
    }
    CHECK(platform::fences == 0);
}

TEST_CASE("to revoke a reservation takes one heavy fence, and the next one twice the streak") {
    using platform = counting<3>;
    basic_biased_lock<platform> lock;
    int streak = takes_until_reserved(lock) - 1;  // the first only makes it the thread that may
    for (int revocations = 1; revocations <= 5; ++revocations) {
        take_elsewhere(lock);
        CHECK(platform::fences == revocations);
        take_elsewhere(lock);
        CHECK(platform::fences == revocations);
        const int next = takes_until_reserved(lock) - 1;
        CHECK(next == 2 * streak);
        streak = next;
    }
}

TEST_CASE("a thread that has no record yet, or never says which, excludes all the same") {
    using platform = counting<4>;
    basic_biased_lock<platform> lock;
    for (int i = 0; i < 100; ++i) {
        const basic_biased_lock<platform>::guard held(lock, nullptr);
    }
    CHECK(platform::exchanges >= 100);
    REQUIRE(has_record(lock));
    for (int i = 0; i < 100; ++i) {
        const basic_biased_lock<platform>::guard held(lock, basic_thread_record<platform>::mine());
    }
    CHECK(cost(lock) == nothing);
}

// ---- exclusion, step by step --------------------------------------------------------------------

namespace {

// Takes the lock on another thread while this one is inside of it, and sees it wait.
template <class Platform, class Lock, class Leave>
void check_that_another_waits(Lock& lock, Leave&& leave) {
    std::atomic<bool> inside{false};
    const int before = Platform::waits;
    std::thread other([&] {
        const typename Lock::guard held(lock);
        inside = true;
    });
    while (Platform::waits < before + 150) std::this_thread::yield();  // longer than it pauses
    CHECK_FALSE(inside);
    leave();
    other.join();
    CHECK(inside);
}

}  // namespace

TEST_CASE("a revoking thread waits until the owner is not inside") {
    using platform = counting<5>;
    using lock_type = basic_biased_lock<platform>;
    lock_type lock;
    REQUIRE(takes_until_reserved(lock) != -1);
    auto held = std::make_unique<lock_type::guard>(lock);
    check_that_another_waits<platform>(lock, [&] { held.reset(); });
    CHECK(platform::fences == 1);
    CHECK(cost(lock) == an_exchange);
}

TEST_CASE("a revoking thread spins, then yields, then sleeps, until the owner is not inside") {
    using platform = counting<13>;
    using lock_type = basic_biased_lock<platform>;
    static std::unique_ptr<lock_type::guard> owner;
    platform::at_sleep = [] {
        if (platform::sleeps == 3) owner.reset();
    };
    lock_type lock;
    REQUIRE(takes_until_reserved(lock) != -1);
    owner = std::make_unique<lock_type::guard>(lock);
    const lock_type::guard held(lock, nullptr);  // as a thread that has no record
    CHECK(owner == nullptr);
    CHECK(platform::sleeps == 3);
    CHECK(platform::waits == 200);
}

TEST_CASE("a revoking thread does not wait for an owner that is inside of another lock") {
    using platform = counting<6>;
    using lock_type = basic_biased_lock<platform>;
    lock_type one, two;
    REQUIRE(takes_until_reserved(one) != -1);
    REQUIRE(takes_until_reserved(two) != -1);
    {
        const lock_type::guard held(two);
        take_elsewhere(one);
    }
    CHECK(platform::fences == 1);
    CHECK(platform::waits == 0);
    CHECK(cost(two) == nothing);
}

TEST_CASE("an owner whose reservation was revoked waits for the current holder") {
    using platform = counting<7>;
    using lock_type = basic_biased_lock<platform>;
    lock_type lock;
    std::atomic<int> step{0};
    std::atomic<bool> inside{false};
    std::thread owner([&] {
        for (int i = 0; i < 100; ++i) take(lock);
        step = 1;
        while (step != 2) std::this_thread::yield();
        const lock_type::guard held(lock);
        inside = true;
    });
    while (step != 1) std::this_thread::yield();
    {
        const lock_type::guard held(lock);
        CHECK(platform::fences == 1);
        const int before = platform::waits;
        step = 2;
        while (platform::waits < before + 50) std::this_thread::yield();
        CHECK_FALSE(inside);
    }
    owner.join();
    CHECK(inside);
}

// ---- nested locks -------------------------------------------------------------------------------

TEST_CASE("locks of different levels that are taken inside each other all cost nothing") {
    using platform = counting<8>;
    basic_biased_lock<platform, 0> outer;
    basic_biased_lock<platform, 1> middle;
    basic_biased_lock<platform, 2> inner;
    REQUIRE(takes_until_reserved(outer) != -1);
    REQUIRE(takes_until_reserved(middle) != -1);
    REQUIRE(takes_until_reserved(inner) != -1);
    const int before = platform::exchanges;
    {
        const basic_biased_lock<platform, 0>::guard a(outer);
        const basic_biased_lock<platform, 1>::guard b(middle);
        const basic_biased_lock<platform, 2>::guard c(inner);
    }
    CHECK(platform::exchanges == before);
    auto a = std::make_unique<basic_biased_lock<platform, 0>::guard>(outer);
    auto b = std::make_unique<basic_biased_lock<platform, 1>::guard>(middle);
    check_that_another_waits<platform>(outer, [&] { a.reset(); });
    check_that_another_waits<platform>(middle, [&] { b.reset(); });
}

TEST_CASE("a lock that is taken inside of one of its level excludes, and so does the outer one") {
    using platform = counting<9>;
    using lock_type = basic_biased_lock<platform>;
    lock_type outer, inner;
    REQUIRE(takes_until_reserved(outer) != -1);
    REQUIRE(takes_until_reserved(inner) != -1);
    const int fences = platform::fences;
    auto held = std::make_unique<lock_type::guard>(outer);
    const int before = platform::exchanges;
    auto nested = std::make_unique<lock_type::guard>(inner);
    CHECK(platform::exchanges == before + 1);
    SECTION("the inner one is left first") {
        check_that_another_waits<platform>(inner, [&] { nested.reset(); });
        check_that_another_waits<platform>(outer, [&] { held.reset(); });
    }
    SECTION("the outer one is left first") {
        check_that_another_waits<platform>(outer, [&] { held.reset(); });
        check_that_another_waits<platform>(inner, [&] { nested.reset(); });
    }
    CHECK(platform::fences == fences + 1);  // the inner one's reservation its owner gave up itself
}

TEST_CASE("a lock that becomes reserved while its level is in use is taken right from then on") {
    using platform = counting<10>;
    using lock_type = basic_biased_lock<platform>;
    lock_type outer, inner;
    REQUIRE(takes_until_reserved(outer) != -1);
    const int before = platform::exchanges;
    auto held = std::make_unique<lock_type::guard>(outer);
    for (int i = 0; i < 500; ++i) take(inner);
    CHECK(platform::exchanges == before + 500);
    {
        auto nested = std::make_unique<lock_type::guard>(inner);
        check_that_another_waits<platform>(inner, [&] { nested.reset(); });
    }
    check_that_another_waits<platform>(outer, [&] { held.reset(); });
}

// ---- threads that end ---------------------------------------------------------------------------

TEST_CASE("a lock that is reserved to a thread that has ended can be taken") {
    using platform = counting<11>;
    basic_biased_lock<platform> lock;
    REQUIRE(has_record(lock));
    int takes = 0;
    std::thread([&] { takes = takes_until_reserved(lock); }).join();
    REQUIRE(takes != -1);
    SECTION("by another thread, as any that is reserved") {
        CHECK(cost(lock) == costs(1, 1));
        CHECK(takes_until_reserved(lock) > 0);
    }
    SECTION("by a thread that got its record, as by its owner") {
        costs first = an_exchange;
        std::thread([&] {
            if (has_record(lock)) first = cost(lock);
        }).join();
        CHECK(first == nothing);
        CHECK(cost(lock) == costs(1, 1));
    }
}

namespace {

// Takes a lock while its thread ends.
template <int Test>
struct late {
    using lock_type = basic_biased_lock<counting<Test>>;
    static inline lock_type lock;
    static inline long counter = 0;
    static inline std::atomic<int> destroyed{0};
    int uses = 0;
    ~late() {
        for (int i = 0; i < 200; ++i) {
            const typename lock_type::guard held(lock);
            ++counter;
        }
        ++destroyed;
    }
};

template <int Test>
void take_when_thread_ends() {
    static thread_local late<Test> here;
    ++here.uses;
}

template <int Test>
void take_now() {
    for (int i = 0; i < 200; ++i) {
        const typename late<Test>::lock_type::guard held(late<Test>::lock);
        ++late<Test>::counter;
    }
}

}  // namespace

TEST_CASE("a lock can be taken while a thread ends, also after its record has gone") {
    long expected = 0;
    for (int round = 0; round < 20; ++round) {
        std::vector<std::thread> threads;
        threads.emplace_back([] {  // the record goes first
            take_when_thread_ends<12>();
            take_now<12>();
        });
        threads.emplace_back([] {  // the record goes last
            take_now<12>();
            take_when_thread_ends<12>();
        });
        threads.emplace_back([] { take_when_thread_ends<12>(); });
        take_now<12>();
        for (std::thread& t : threads) t.join();
        expected += 3 * 200 + 3 * 200;
    }
    CHECK(late<12>::destroyed == 60);
    CHECK(late<12>::counter == expected);
}

// ---- exclusion, at random -----------------------------------------------------------------------

namespace {

// What a lock protects, without any help from the processor.
struct protected_by_lock {
    bool busy = false;
    long counter = 0;
    long violations = 0;
    void use() {
        if (busy) ++violations;
        busy = true;
        ++counter;
        busy = false;
    }
};

}  // namespace

TEST_CASE("an owner and a revoking thread are never inside together") {
    using lock_type = basic_biased_lock<>;
    for (unsigned round = 0; round < 100; ++round) {
        lock_type lock;
        protected_by_lock data;
        std::atomic<int> ready{0}, revoking{2};
        long owned = 0;
        std::vector<std::thread> threads;
        threads.emplace_back([&] {
            ++ready;
            while (ready != 3) std::this_thread::yield();
            for (int after = 0; after < 100;) {
                const lock_type::guard held(lock);
                data.use();
                ++owned;
                if (revoking == 0) ++after;
            }
        });
        for (unsigned who = 0; who < 2; ++who) {
            threads.emplace_back([&, who] {
                std::minstd_rand random(2 * round + who + 1);
                ++ready;
                while (ready != 3) std::this_thread::yield();
                for (int i = 0; i < 6; ++i) {
                    for (auto n = random() % 20; n > 0; --n) std::this_thread::yield();
                    for (auto n = random() % 50; n > 0; --n) {
                        const lock_type::guard held(lock);
                        data.use();
                    }
                    const lock_type::guard held(lock);
                    data.use();
                }
                --revoking;
            });
        }
        for (std::thread& t : threads) t.join();
        REQUIRE(data.violations == 0);
        REQUIRE(data.counter >= owned + 12);
    }
}

TEST_CASE("threads that all reserve the same locks, and nest them, are never inside together") {
    // As channels and their ends: two levels, and now and then two locks of the same one.
    struct pair {
        basic_biased_lock<weir::detail::standard_platform, 0> put;
        basic_biased_lock<weir::detail::standard_platform, 1> get;
        protected_by_lock puts, gets;
    };
    using put_guard = basic_biased_lock<weir::detail::standard_platform, 0>::guard;
    using get_guard = basic_biased_lock<weir::detail::standard_platform, 1>::guard;
    constexpr int count = 3;
    constexpr int each = 20'000;
    pair channels[count];
    std::vector<long> used(static_cast<std::size_t>(count), 0);
    std::vector<std::thread> threads;
    for (int who = 0; who < count; ++who) {
        threads.emplace_back([&, who] {
            std::minstd_rand random(static_cast<unsigned>(who) + 1);
            long uses = 0;
            int streak = 0;
            pair* mine = &channels[who];
            for (int i = 0; i < each; ++i) {
                if (streak-- == 0) {
                    streak = static_cast<int>(random() % 400);
                    mine = &channels[random() % 8 == 0 ? random() % count : static_cast<std::size_t>(who)];
                }
                switch (random() % 16) {
                    case 0: {
                        const put_guard p(mine->put);
                        const get_guard g(mine->get);
                        mine->puts.use();
                        mine->gets.use();
                        uses += 2;
                        break;
                    }
                    case 1: {
                        // In the order of their places, so that nobody waits in a circle.
                        const std::size_t other = random() % count;
                        pair* const low = mine < &channels[other] ? mine : &channels[other];
                        pair* const high = low == mine ? &channels[other] : mine;
                        if (low == high) break;
                        const put_guard p(low->put);
                        const put_guard q(high->put);
                        low->puts.use();
                        high->puts.use();
                        uses += 2;
                        break;
                    }
                    default: {
                        if (i % 2 == 0) {
                            const put_guard p(mine->put);
                            mine->puts.use();
                        } else {
                            const get_guard g(mine->get);
                            mine->gets.use();
                        }
                        ++uses;
                    }
                }
            }
            used[static_cast<std::size_t>(who)] = uses;
        });
    }
    for (std::thread& t : threads) t.join();
    long all = 0, counted = 0;
    for (const long n : used) all += n;
    for (const pair& p : channels) {
        CHECK(p.puts.violations == 0);
        CHECK(p.gets.violations == 0);
        counted += p.puts.counter + p.gets.counter;
    }
    CHECK(counted == all);
}
