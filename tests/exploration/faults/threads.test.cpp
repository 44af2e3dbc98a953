// Pools that get fewer threads than they ask for, and less memory: each of them ends what it has begun.
#include "support.hpp"

#include "support/catch.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/platform/platform.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <ranges>
#include <system_error>
#include <thread>
#include <utility>

namespace {

// A system that starts so many threads and no more; it counts those that run.
struct meagre_platform : weir::detail::standard_platform {
    static inline int left = 0;
    static inline std::atomic<int> at_work{0};
    class thread {
      public:
        thread() = default;
        template <class F>
        explicit thread(F&& f) {
            if (left-- == 0) {
                throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
            }
            const faults::hushed now;  // what the standard library needs for it
            thread_ = std::thread([f = std::forward<F>(f)]() mutable {
                ++at_work;
                f();
                --at_work;
            });
        }
        void join() { thread_.join(); }
        void detach() { thread_.detach(); }

      private:
        std::thread thread_;
    };
};

// Threads keep a record each, which the next ones use: so many may stay. A leak has more.
constexpr long records = 8;

template <class Pool>
void try_all(unsigned threads) {
    const long before = faults::blocks();
    for (int attempt = 0; attempt < static_cast<int>(3 * threads); ++attempt) {
        const int available = attempt % static_cast<int>(threads);
        CAPTURE(available);
        meagre_platform::left = available;
        bool told = false;
        try {
            Pool pool(threads);
        } catch (const std::system_error& e) {
            told = e.code() == std::errc::resource_unavailable_try_again;
        }
        CHECK(told);
        CHECK(meagre_platform::at_work == 0);
        CHECK(faults::blocks() <= before + records);
    }
    // And each allocation, between two threads or before the first.
    bool has_fired = true;
    std::size_t points = 0;
    for (; has_fired; ++points) {
        CAPTURE(points);
        meagre_platform::left = 1'000;
        faults::engine::here().plan({{faults::kind::allocation, points}});
        has_fired = false;
        try {
            const faults::armed now;
            Pool pool(threads);
        } catch (const std::bad_alloc&) {
            has_fired = true;
        }
        faults::engine::here().plan({});
        CHECK(meagre_platform::at_work == 0);
        CHECK(faults::blocks() <= before + records);
    }
    CHECK(points > 2);
    // With all that it asks for it works.
    Pool pool(threads);
    auto run = (weir::source(std::views::iota(0, 100)) |
                weir::pipe([](int i) { return i + 1; }, {.concurrency = threads}) | weir::sink())
                   .start(pool);
    int sum = 0;
    while (auto each = run.get()) sum += *each;
    CHECK(sum == 5050);
}

}  // namespace

TEST_CASE("a pool that lacks threads, or memory, ends those it has, and tells") {
    for (const unsigned threads : {1U, 2U, 7U}) try_all<weir::basic_thread_pool<meagre_platform>>(threads);
}

TEST_CASE("a blocking pool that lacks threads, or memory, ends those it has, and tells") {
    for (const unsigned threads : {1U, 2U, 7U}) try_all<weir::basic_blocking_pool<meagre_platform>>(threads);
}
