#include <weir/executor/pool_threads.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <utility>

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
    handle& operator=(handle&&) = delete;
    ~handle() { left_alone += joinable ? 1 : 0; }
    void join() noexcept { joinable = false; }

    bool joinable = false;
};
struct platform : weir::detail::standard_platform {
    using thread = handle;
};

}  // namespace

TEST_CASE("the threads of a pool are started, and joined once") {
    std::atomic<int> run = 0;
    weir::detail::basic_pool_threads<> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) threads.start([&] { ++run; });
    CHECK(threads.size() == 3);
    CHECK_FALSE(threads.are_elsewhere());
    threads.join();
    CHECK(run == 3);
}

TEST_CASE("threads of another process are forgotten, not joined") {
    handle::left_alone = 0;
    {
        weir::detail::basic_pool_threads<platform> threads;
        threads.reserve(2);
        threads.start([] {});
        threads.start([] {});
        weir::detail::forks.fetch_add(1);
        CHECK(threads.are_elsewhere());
        threads.join();
        CHECK(threads.size() == 2);
    }
    weir::detail::forks.fetch_sub(1);
    CHECK(handle::left_alone == 0);
}
