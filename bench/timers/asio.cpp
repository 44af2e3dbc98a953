#include <asio/awaitable.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error_code.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <memory>
#include <vector>

#include "scenario.hpp"

namespace timers {
namespace {

// Like asio::steady_timer, but with a static executor type, which is faster.
using executor = asio::thread_pool::executor_type;
using clock = std::chrono::steady_clock;
using timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, executor>;

struct place {
    explicit place(unsigned workers) : pool(workers) {}
    ~place() { pool.join(); }
    asio::thread_pool pool;
    bench::tally tally;
};

std::vector<timer> wait_all(place& here, const scenario& s, std::latch& left) {
    std::vector<timer> all;
    all.reserve(s.size);
    for (std::uint64_t i = 0; i < s.size; ++i) {
        all.emplace_back(here.pool.get_executor(), delay(s, i));
        all.back().async_wait([&here, &left, &s](asio::error_code error) {
            if (static_cast<bool>(error) == (s.what == shape::cancel)) here.tally.count();
            left.count_down();
        });
    }
    if (s.what == shape::cancel) {
        for (timer& t : all) t.cancel();
    }
    return all;
}

std::uint64_t run_handlers(place& here, const scenario& s) {
    std::vector<timer> all;
    std::latch left(static_cast<std::ptrdiff_t>(s.size) + 1);
    asio::post(here.pool, [&] {
        all = wait_all(here, s, left);
        left.count_down();
    });
    left.wait();
    return here.tally.take();
}

asio::awaitable<void, executor> sleep(place& here, std::chrono::nanoseconds delay) {
    timer one(here.pool.get_executor(), delay);
    co_await one.async_wait(asio::use_awaitable_t<executor>());
    here.tally.count();
}

std::uint64_t run_coroutines(place& here, const scenario& s) {
    std::latch left(static_cast<std::ptrdiff_t>(s.size));
    asio::post(here.pool, [&] {
        for (std::uint64_t i = 0; i < s.size; ++i) {
            asio::co_spawn(here.pool.get_executor(), sleep(here, delay(s, i)),
                           [&left](std::exception_ptr) { left.count_down(); });
        }
    });
    left.wait();
    return here.tally.take();
}

const bench::contestants<scenario> asio_timers([](bench::group& group, const scenario& s) {
    if (s.what == shape::virtual_time) return;
    const auto handlers = std::make_shared<place>(s.workers);
    group.peer("asio, async_wait with a handler",
               repeat(s, [handlers, s] { return run_handlers(*handlers, s); }));
    if (s.what == shape::cancel) return;
    const auto coroutines = std::make_shared<place>(s.workers);
    group.peer("asio, async_wait in coroutines",
               repeat(s, [coroutines, s] { return run_coroutines(*coroutines, s); }));
});

}  // namespace
}  // namespace timers
