#include <weir/platform/parker.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <cstdint>
#include <memory>
#include <thread>

using weir::detail::parker;

namespace {

// A platform on which nobody comes: time passes while a thread sleeps.
struct alone : weir::detail::standard_platform {
    static inline std::int64_t time = 0;
    static inline int sleeps = 0, wakes = 0;
    static std::int64_t now() noexcept { return time; }
    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout_ns) noexcept {
        ++sleeps;
        time += timeout_ns;
    }
    static void wake_all(atomic<std::uint32_t>&) noexcept { ++wakes; }
};

}  // namespace

TEST_CASE("a parker that is set doesn't block, before and after") {
    parker p;
    CHECK_FALSE(p.is_set());
    p.set();
    CHECK(p.is_set());
    CHECK(p.wait());
    CHECK(p.wait(0));
    CHECK(p.is_set());
}

TEST_CASE("waiting for a parker that nobody sets ends at the timeout") {
    parker p;
    CHECK_FALSE(p.wait(0));
    CHECK_FALSE(p.wait(1));
    CHECK_FALSE(p.wait(100'000));
    CHECK_FALSE(p.is_set());
}

TEST_CASE("a poke ends one wait and sets nothing") {
    parker p;
    p.poke();
    CHECK_FALSE(p.is_set());
    CHECK_FALSE(p.wait());
    p.poke();
    p.set();
    CHECK(p.wait());
    CHECK(p.wait());
}

TEST_CASE("a parker shows the waiter what the setter wrote, and may be destroyed at once") {
    for (int i = 0; i < 500; ++i) {
        int written = 0;
        auto p = std::make_unique<parker>();
        std::thread setter([&written, flag = p.get()] {
            written = 1;
            flag->set();
        });
        const bool set = p->wait();
        p.reset();
        REQUIRE(set);
        REQUIRE(written == 1);
        setter.join();
    }
}

TEST_CASE("a poke reaches a sleeper") {
    parker p;
    std::thread other([&] { p.poke(); });
    CHECK_FALSE(p.wait());
    other.join();
}

TEST_CASE("after a wait that a poke has ended the next one sleeps, and wakes nobody") {
    weir::detail::basic_parker<alone> p;
    alone::sleeps = alone::wakes = 0;
    p.poke();
    CHECK_FALSE(p.wait(100));
    CHECK(alone::sleeps == 0);
    CHECK_FALSE(p.wait(100));  // the poke is used up
    CHECK(alone::sleeps == 1);
    CHECK_FALSE(p.wait(100));
    CHECK(alone::sleeps == 2);
    p.poke();  // nobody sleeps now
    p.set();
    CHECK(alone::wakes == 0);
    CHECK(p.wait(100));
    CHECK(p.is_set());
}
