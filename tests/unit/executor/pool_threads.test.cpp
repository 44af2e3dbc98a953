#include <weir/executor/pool_threads.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace {

// A thread that counts the handles which had to be joined, and were not.
struct handle {
    inline static int left_alone = 0;

    handle() noexcept = default;
    template <class Function>
    explicit handle(Function&& run) : joinable(true) {
        std::forward<Function>(run)();
    }
    handle(handle&& other) noexcept : joinable(std::exchange(other.joinable, false)) {}
    handle& operator=(handle&& other) noexcept {
        left_alone += joinable ? 1 : 0;
        joinable = std::exchange(other.joinable, false);
        return *this;
    }
    ~handle() { left_alone += joinable ? 1 : 0; }
    void join() noexcept { joinable = false; }

    bool joinable = false;
};
struct platform : weir::detail::standard_platform {
    using thread = handle;
};

const auto prepares_nothing = [](unsigned) {};
const auto does_nothing = [](unsigned) {};

}  // namespace

TEST_CASE("the threads of a pool are started, and joined once") {
    std::vector<int> expected;
    std::vector<unsigned> prepared;
    std::atomic<unsigned> run = 0;
    weir::detail::basic_pool_threads<> threads("t");
    threads.set(
        3, [&](unsigned n) { prepared.push_back(n); }, [&](int more) { expected.push_back(more); },
        [&](unsigned i) { run += 1U << (4 * i); });
    CHECK(threads.wanted() == 3);
    CHECK(prepared == std::vector<unsigned>{3});
    CHECK(expected == std::vector<int>{3});
    CHECK_FALSE(threads.are_elsewhere());
    threads.close();
    threads.join();
    CHECK(run == 0x111);
}

TEST_CASE(
    "surplus threads of a pool end if they still are surplus, and other threads take their places later") {
    handle::left_alone = 0;
    std::vector<unsigned> begun;
    std::vector<int> expected;
    weir::detail::basic_pool_threads<platform> threads("t");
    const auto set = [&](unsigned n) {
        threads.set(
            n, prepares_nothing, [&](int more) { expected.push_back(more); },
            [&](unsigned i) { begun.push_back(i); });
    };
    set(3);
    set(1);
    CHECK(threads.wanted() == 1);
    CHECK(threads.wants(0));
    CHECK_FALSE(threads.wants(1));
    CHECK(threads.let_go(2, [] {}));
    set(3);  // 1 has not looked, and stays
    CHECK_FALSE(threads.let_go(1, [] {}));
    CHECK(begun == std::vector<unsigned>{0, 1, 2, 2});
    CHECK(expected == std::vector<int>{3, 0, 1});
    threads.close();
    set(5);
    CHECK(threads.wanted() == 3);
    threads.join();
    CHECK(handle::left_alone == 0);
}

TEST_CASE(
    "each thread calls the hook first; if the hook throws, the exception leaves set and earlier threads "
    "stay") {
    handle::left_alone = 0;
    std::vector<unsigned> hooked;
    std::vector<unsigned> begun;
    std::vector<int> expected;
    weir::detail::basic_pool_threads<platform> threads("t", [&](unsigned i) {
        hooked.push_back(i);
        if (hooked.size() == 3) throw std::runtime_error("no such device");
    });
    const auto set = [&](unsigned n) {
        threads.set(
            n, prepares_nothing, [&](int more) { expected.push_back(more); },
            [&](unsigned i) { begun.push_back(i); });
    };
    CHECK_THROWS_WITH(set(4), "no such device");
    CHECK(threads.wanted() == 2);
    CHECK(begun == std::vector<unsigned>{0, 1});
    CHECK(expected == std::vector<int>{4, -2});
    set(3);
    CHECK(hooked == std::vector<unsigned>{0, 1, 2, 2});
    CHECK(begun == std::vector<unsigned>{0, 1, 2});
    threads.close();
    threads.join();
    CHECK(handle::left_alone == 0);
}

TEST_CASE("if the places can't be made, nothing changes") {
    weir::detail::basic_pool_threads<platform> threads("t");
    threads.set(1, does_nothing);
    CHECK_THROWS_AS(
        threads.set(2, [](unsigned) { throw std::bad_alloc(); }, [](int) {}, does_nothing), std::bad_alloc);
    CHECK(threads.wanted() == 1);
    threads.close();
    threads.join();
}

namespace {

// Notes that a thread sleeps on a flag.
struct watched_platform : weir::detail::standard_platform {
    static inline std::atomic<bool> watches{false};
    static inline std::atomic<int> asleep{0};
    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns = -1) noexcept {
        if (watches) ++asleep;
        standard_platform::wait(word, expected, timeout_ns);
    }
};

}  // namespace

TEST_CASE(
    "a thread that is about to block leaves its place to another, and stands by when it has come back") {
    struct shop {
        weir::detail::basic_pool_threads<watched_platform> threads{"t", [this](unsigned i) {
                                                                       hooked.push_back(i);
                                                                   }};
        std::vector<unsigned> hooked;
        std::vector<std::thread::id> who;
        weir::detail::parker over;

        // The first leaves its place and comes back. The second waits until the first stands by, and leaves it
        // the place, which that one keeps.
        bool work(unsigned i) {
            who.push_back(std::this_thread::get_id());
            if (who.size() == 3) {
                over.set();
                return false;
            }
            if (who.size() == 2) {
                while (watched_platform::asleep == 0) std::this_thread::yield();
            }
            threads.replace(i, [this](unsigned k) { return work(k); });
            watched_platform::watches = true;  // the next sleep of this thread is its stand-by
            return true;
        }
    };
    watched_platform::watches = false;
    watched_platform::asleep = 0;
    shop s;
    s.threads.set(1, [&](unsigned i) { return s.work(i); });
    while (!s.over.wait()) continue;
    s.threads.close();
    s.threads.join();
    REQUIRE(s.who.size() == 3);
    CHECK(s.who[0] == s.who[2]);
    CHECK(s.who[0] != s.who[1]);
    CHECK(s.hooked == std::vector<unsigned>{0, 0});
}

TEST_CASE("a thread may be replaced after the pool was closed, and all threads are joined") {
    weir::detail::basic_pool_threads<> threads("t");
    std::atomic<int> worked = 0;
    weir::detail::parker closed;
    struct left {
        static bool work(weir::detail::basic_pool_threads<>& all, std::atomic<int>& count,
                         weir::detail::parker& when, unsigned i) {
            if (count == 0) when.wait();
            if (++count == 4) return false;
            all.replace(i, [&](unsigned k) { return work(all, count, when, k); });
            return true;
        }
    };
    threads.set(1, [&](unsigned i) { return left::work(threads, worked, closed, i); });
    threads.close();
    closed.set();
    threads.join();
    CHECK(worked == 4);
}

TEST_CASE(
    "a place more than was asked for is there until it is taken back, whatever is asked for meanwhile") {
    handle::left_alone = 0;
    std::vector<unsigned> begun;
    weir::detail::basic_pool_threads<platform> threads("t");
    const auto work = [&](unsigned i) { begun.push_back(i); };
    const auto nothing = [](int) {};
    threads.set(1, work);
    CHECK(threads.add_extra(1, prepares_nothing, nothing, work));
    CHECK(threads.asked() == 1);
    CHECK(threads.wanted() == 2);
    threads.set(2, work);
    CHECK(threads.asked() == 2);
    CHECK(threads.wanted() == 3);
    CHECK_FALSE(threads.add_extra(1, [](unsigned) { throw std::bad_alloc(); }, nothing, work));
    CHECK(threads.wanted() == 3);
    CHECK(threads.add_extra(-1, prepares_nothing, nothing, work));
    CHECK(threads.wanted() == 2);
    CHECK(threads.let_go(2, [] {}));
    CHECK(begun == std::vector<unsigned>{0, 1, 2});
    threads.close();
    CHECK_FALSE(threads.add_extra(1, prepares_nothing, nothing, work));
    threads.join();
    CHECK(handle::left_alone == 0);
}

TEST_CASE("threads that have not ended when their pool is left are not joined, the others are") {
    weir::detail::parker never, begun;
    std::atomic<int> ended = 0;
    {
        weir::detail::basic_pool_threads<> threads("t");
        threads.set(2, [&](unsigned i) {
            if (i == 1) {
                begun.set();
                while (!never.wait()) continue;
            }
            ++ended;
        });
        while (!begun.wait()) continue;
        threads.dismiss();
        CHECK(threads.wanted() == 0);
        threads.leave(1, 60'000'000'000);
        CHECK(ended == 1);
    }
    never.set();
    while (ended != 2) std::this_thread::yield();
}

#if defined(__linux__)
TEST_CASE("a thread is called by its pool's name and its number") {
    char name[16] = {};
    weir::detail::basic_pool_threads<> threads("weir");
    threads.set(1, [&](unsigned) { prctl(PR_GET_NAME, name); });
    threads.close();
    threads.join();
    CHECK(name == std::string("weir 0"));
}
#endif

TEST_CASE("threads of another process are forgotten, not joined") {
    handle::left_alone = 0;
    {
        weir::detail::basic_pool_threads<platform> threads("t");
        threads.set(2, does_nothing);
        weir::detail::forks.fetch_add(1);
        CHECK(threads.are_elsewhere());
        threads.join();
    }
    weir::detail::forks.fetch_sub(1);
    CHECK(handle::left_alone == 0);
}

namespace {

// Of such a platform a pool gets two threads, and no third.
struct two_threads : weir::detail::standard_platform {
    struct thread : handle {
        inline static int left = 2;
        thread() noexcept = default;
        template <class Function>
        explicit thread(Function&& run) : handle(take(std::forward<Function>(run))) {}
        void detach() noexcept { joinable = false; }

      private:
        template <class Function>
        static Function&& take(Function&& run) {
            if (left-- == 0) {
                throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
            }
            return std::forward<Function>(run);
        }
    };
};

}  // namespace

TEST_CASE("a pool that can't have all its threads says how many were asked for, and how many could be had") {
    weir::detail::basic_pool_threads<two_threads> threads("reader");
    CHECK_THROWS_WITH(threads.set(5, does_nothing),
                      Catch::Matchers::ContainsSubstring(
                          "weir: of 5 threads 'reader 0', 'reader 1', ... 2 could be started: "));
    CHECK(threads.asked() == 2);
    threads.close();
    threads.join();
    weir::detail::basic_pool_threads<platform> no_memory("reader");
    CHECK_THROWS_WITH(
        no_memory.set(
            500, [](unsigned) { throw std::bad_alloc(); }, [](int) {}, does_nothing),
        "weir: no memory for all threads of a pool: of 500 threads 'reader 0', 'reader 1', ... 0 are there");
}
