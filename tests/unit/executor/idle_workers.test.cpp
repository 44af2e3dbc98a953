#include <weir/executor/idle_workers.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

using watch = weir::detail::basic_idle_workers<>;

namespace {

// A worker that is not too many.
bool stays() { return false; }

// Before its n-th access to what threads share, the calling thread is interrupted: another one does
// something in the meantime. Time passes in a futex only, and nobody is woken there.
struct interrupted_platform : weir::detail::standard_platform {
    static inline int accesses_left = 0;
    static inline std::function<void()> interruption;
    static inline std::int64_t time = 0;
    static inline bool slept = false;

    static void access() {
        if (--accesses_left == 0) std::exchange(interruption, nullptr)();
    }

    template <class T>
    class atomic {
        std::atomic<T> value_;

      public:
        atomic(T value) noexcept : value_(value) {}
        T load(std::memory_order order) const { return access(), value_.load(order); }
        void store(T value, std::memory_order order) { access(), value_.store(value, order); }
        T exchange(T value, std::memory_order order) { return access(), value_.exchange(value, order); }
        T fetch_add(T value, std::memory_order order) { return access(), value_.fetch_add(value, order); }
        T fetch_sub(T value, std::memory_order order) { return access(), value_.fetch_sub(value, order); }
    };

    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout_ns) {
        slept = true;
        time += timeout_ns;
    }
    static void wake_one(atomic<std::uint32_t>&) {}
    static void wake_all(atomic<std::uint32_t>&) {}
    static std::int64_t now() { return time; }
};

}  // namespace

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
        w.request_search();
        CHECK_FALSE(w.unwatched());
        CHECK(w.sleep(stays) == watch::woken::to_watch);
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
    CHECK(w.sleep(stays) == watch::woken::to_watch);
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
        w.request_search();
        w.nap(ticket, -1);
        CHECK_FALSE(w.listening());
    }
    SECTION("from another thread") {
        std::thread other;
        const auto ticket = w.announce(watch::never, false);
        CHECK_FALSE(w.listening());
        other = std::thread([&] { w.request_search(); });
        w.nap(ticket, -1);
        other.join();
    }
    SECTION("but not if it wakes in time by itself") {
        const auto ticket = w.announce(100, true);
        w.request_search(100);
        CHECK(w.listening());
        w.request_search(99);
        w.nap(ticket, -1);
    }
    SECTION("and goes unheard if there is none") {
        static_cast<void>(w.announce(watch::never, true));
        w.stay_up();
        w.request_search();
        CHECK_FALSE(w.listening());
    }
}

// Two calls: one may come at any moment of the announcement, the other finds the nap ended by it.
TEST_CASE("a call after the watcher's last look is not lost, whenever another one ended the nap") {
    using platform = interrupted_platform;
    using interrupted_watch = weir::detail::basic_idle_workers<platform>;
    const int moments = 16;
    int interrupted = 0;
    for (int moment = 1; moment <= moments; ++moment) {
        interrupted_watch w(1);
        REQUIRE(w.go_idle());
        platform::interruption = [&] { w.request_search(); };
        platform::accesses_left = moment;
        const auto ticket = w.announce(interrupted_watch::never, true);
        if (platform::interruption == nullptr) ++interrupted;
        platform::accesses_left = 0;
        // The last look, which finds nothing; then something is queued.
        w.request_search();
        platform::slept = false;
        w.nap(ticket, 1);
        INFO("interrupted before access " << moment);
        CHECK_FALSE(platform::slept);
    }
    CHECK(interrupted > 2);
    CHECK(interrupted < moments);
}

TEST_CASE("sleepers are let go when the watch closes") {
    watch w(2);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    w.close();
    CHECK(w.sleep(stays) == watch::woken::by_the_end);
}

TEST_CASE(
    "a sleeper that has to go is active again when it wakes, but one that was chosen to watch watches") {
    const auto goes = [] { return true; };
    watch w(2);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    CHECK(w.all_idle());
    SECTION("without the watch") {
        CHECK(w.sleep(goes) == watch::woken::surplus);
        CHECK(w.active() == 1);
        CHECK_FALSE(w.none_idle());
        w.leave();  // the watcher
        CHECK(w.none_idle());
    }
    SECTION("chosen") {
        w.leave();
        w.request_search();
        CHECK(w.sleep(goes) == watch::woken::to_watch);
    }
}

TEST_CASE("wake_all wakes the sleepers and the napping watcher") {
    watch w(3);
    CHECK(w.go_idle());
    CHECK_FALSE(w.go_idle());
    CHECK_FALSE(w.go_idle());
    std::atomic<bool> goes{false};
    std::atomic<bool> went{false};
    std::thread sleeper([&] { went = w.sleep([&] { return goes.load(); }) == watch::woken::surplus; });
    const auto ticket = w.announce(watch::never, false);
    goes = true;
    w.wake_all();
    w.nap(ticket, -1);
    sleeper.join();
    CHECK(went);
    CHECK(w.active() == 1);
}

TEST_CASE("workers that were never started count no more") {
    watch w(3);
    CHECK(w.go_idle());
    CHECK_FALSE(w.all_idle());
    w.expect(-2);
    CHECK(w.all_idle());
}

namespace {

// Something happens right after the next read-modify-write of a word; and nobody sleeps, but time passes.
struct interrupted : weir::detail::standard_platform {
    static inline std::function<void()> happens;
    static inline std::int64_t time = 0;
    static inline int sleeps = 0;

    template <class T>
    struct atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T fetch_add(T n, std::memory_order order) noexcept {
            const T before = std::atomic<T>::fetch_add(n, order);
            if (auto what = std::exchange(happens, nullptr)) what();
            return before;
        }
    };
    static void wait(atomic<std::uint32_t>&, std::uint32_t, std::int64_t timeout_ns) noexcept {
        ++sleeps;
        time += timeout_ns;
    }
    static void wake_one(atomic<std::uint32_t>&) noexcept {}
    static void wake_all(atomic<std::uint32_t>&) noexcept {}
    static std::int64_t now() noexcept { return time; }
    static void pause() noexcept { time += 100; }
};

struct no_worker {
    void set_searching(bool) const noexcept {}
};
struct no_timers {
    static constexpr std::int64_t never = weir::detail::basic_idle_workers<>::never;
    std::int64_t next() const noexcept { return never; }
};
struct look {
    void* found = nullptr;
    bool too_young = false;
};

}  // namespace

TEST_CASE("a watcher that saw a worker empty its own queue is not called for that queue") {
    weir::detail::basic_idle_workers<interrupted> w(2);
    REQUIRE(w.go_idle());
    interrupted::sleeps = 0;
    bool listened[2] = {};  // for each nap
    int looks = 0;
    int item = 0;
    no_worker me;
    const auto search = [&](std::int64_t, std::int64_t) {
        if (interrupted::sleeps == 2) return look{&item};
        if (w.listening()) listened[interrupted::sleeps] = true;
        return look{nullptr, ++looks == 1};
    };
    CHECK(
        w.keep_watch(me, interrupted::time, no_timers{}, [] { return false; }, stays, search).found == &item);
    CHECK(looks == 5);
    CHECK_FALSE(listened[0]);
    CHECK(listened[1]);
}

TEST_CASE("a call that comes while the watcher announces a nap keeps no later one from ending it") {
    weir::detail::basic_idle_workers<interrupted> w(1);
    CHECK(w.go_idle());
    interrupted::sleeps = 0;
    interrupted::happens = [&] { w.request_search(); };
    const auto ticket = w.announce(weir::detail::basic_idle_workers<interrupted>::never, true);
    // Here the watcher looks for work, and finds that of the first call taken already.
    w.request_search();
    w.nap(ticket, 1'000);
    CHECK(interrupted::sleeps == 0);
}

TEST_CASE("a watcher that has to go, or expects that somebody works, doesn't nap for good") {
    using idle = weir::detail::basic_idle_workers<interrupted>;
    int item = 0;
    no_worker me;
    SECTION("it goes") {
        idle w(1);
        REQUIRE(w.go_idle());
        const auto r = w.keep_watch(
            me, interrupted::time, no_timers{}, [] { return false; }, [] { return true; },
            [](std::int64_t, std::int64_t) { return look{}; });
        CHECK(r.found == nullptr);
        CHECK_FALSE(r.over);
    }
    SECTION("it naps for a while, and finds what it found") {
        idle w(1);
        REQUIRE(w.go_idle());
        interrupted::happens = [&] { w.expect(1); };  // as the first nap is announced
        const std::int64_t begin = interrupted::time;
        interrupted::sleeps = 0;
        const auto r = w.keep_watch(
            me, interrupted::time, no_timers{}, [] { return false; }, stays,
            [&](std::int64_t, std::int64_t) { return look{interrupted::sleeps == 1 ? &item : nullptr}; });
        CHECK(r.found == &item);
        CHECK(interrupted::time > begin);
    }
    SECTION("nor ends it while somebody is expected, though the pool is to end") {
        idle w(1);
        REQUIRE(w.go_idle());
        w.expect(1);
        interrupted::sleeps = 0;
        const auto r = w.keep_watch(
            me, interrupted::time, no_timers{}, [] { return true; }, stays,
            [&](std::int64_t, std::int64_t) {
                if (interrupted::sleeps == 1) w.expect(-1);
                return look{};
            });
        CHECK(r.over);
        CHECK(interrupted::sleeps >= 1);
    }
}
