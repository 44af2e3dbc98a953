#include <weir/detail/watch.hpp>

#include "support/catch.hpp"

#include <thread>

using watch = weir::detail::basic_watch<>;

TEST_CASE("the first worker that goes idle has the watch, the next ones sleep") {
    watch w(3);
    CHECK_FALSE(w.unwatched());
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    CHECK_FALSE(w.all_idle());
    CHECK_FALSE(w.go_idle());
    CHECK(w.all_idle());
    CHECK_FALSE(w.unwatched());
}

TEST_CASE("a watcher that goes to work while nobody else does leaves the watch free") {
    watch w(2);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    w.leave();
    CHECK(w.unwatched());
    SECTION("and the first to make work calls the sleeper") {
        w.call();
        CHECK_FALSE(w.unwatched());
        CHECK(w.sleep());
    }
    SECTION("and takes it again when it is done") {
        CHECK(w.go_idle());
        CHECK_FALSE(w.unwatched());
    }
}

TEST_CASE("a watcher that goes to work while others do passes the watch on") {
    watch w(3);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    w.leave();
    CHECK_FALSE(w.unwatched());
    CHECK(w.sleep());
    w.leave();  // nobody is idle now
    CHECK_FALSE(w.unwatched());
    CHECK(w.go_idle());
}

TEST_CASE("a call ends the watcher's nap, or keeps it from falling asleep") {
    watch w(1);
    CHECK(w.go_idle());
    CHECK(w.all_idle());
    SECTION("after it was announced") {
        const auto ticket = w.announce(watch::never, true);
        CHECK(w.listening());
        w.call();
        w.nap(ticket, -1);
        CHECK_FALSE(w.listening());
    }
    SECTION("from another thread") {
        std::thread other;
        const auto ticket = w.announce(watch::never, false);
        CHECK_FALSE(w.listening());
        other = std::thread([&] { w.call(); });
        w.nap(ticket, -1);
        other.join();
    }
    SECTION("but not if it wakes in time by itself") {
        const auto ticket = w.announce(100, true);
        w.call(100);
        CHECK(w.listening());
        w.call(99);
        w.nap(ticket, -1);
    }
    SECTION("and goes unheard if there is none") {
        static_cast<void>(w.announce(watch::never, true));
        w.stay_up();
        w.call();
        CHECK_FALSE(w.listening());
    }
}

TEST_CASE("sleepers are let go when the watch closes") {
    watch w(2);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    w.close();
    CHECK_FALSE(w.sleep());
}

TEST_CASE("workers that were never started count no more") {
    watch w(3);
    CHECK(w.go_idle());
    CHECK_FALSE(w.all_idle());
    w.forget(2);
    CHECK(w.all_idle());
}
