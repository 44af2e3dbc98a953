// The time that the machine needs for the unavoidable parts of a hand-over. Other benchmarks show some of these figures again,
// beside the figures that they limit.
#include "common/bare_coroutine.hpp"
#include "common/cache_line.hpp"
#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/threads.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

template <class F>
auto times(F f) {
    return [f](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) f();
    };
}

template <clockid_t Clock>
void read_clock() {
    timespec now{};
    clock_gettime(Clock, &now);
    bench::keep(now);
}

void clocks(bench::session& session) {
    bench::group group(session, "clocks", "a reading");
    group.limit("std::chrono::steady_clock", times([] { bench::keep(std::chrono::steady_clock::now()); }));
    group.limit("CLOCK_MONOTONIC_COARSE", times(read_clock<CLOCK_MONOTONIC_COARSE>));
    group.limit("CLOCK_THREAD_CPUTIME_ID", times(read_clock<CLOCK_THREAD_CPUTIME_ID>));
#ifdef __x86_64__
    group.limit("rdtsc", times([] { bench::keep(__rdtsc()); }));
#endif
    group.run();
    group.headline("clock_reading_ns", "std::chrono::steady_clock");
}

// On a cache line that no other thread reads.
template <class F>
auto on_own_line(F f) {
    return [f](std::uint64_t n) {
        alignas(128) std::atomic<std::uint64_t> line{0};
        for (std::uint64_t i = 0; i < n; ++i) {
            f(line, i);
            bench::keep(line);
        }
    };
}

void memory(bench::session& session) {
    using line = std::atomic<std::uint64_t>;
    bench::group group(session, "memory", "an operation");
    group.limit("cache line handed from core to core",
                [](std::uint64_t n) { bench::cache_line_round_trips((n + 1) / 2); });
    group.limit("atomic exchange", on_own_line([](line& l, std::uint64_t i) {
                    bench::keep(l.exchange(i, std::memory_order_acq_rel));
                }));
    group.limit("lock and unlock: an exchange, a store", on_own_line([](line& l, std::uint64_t) {
                    bench::keep(l.exchange(1, std::memory_order_acquire));
                    l.store(0, std::memory_order_release);
                }));
    group.limit("store, seq_cst", on_own_line([](line& l, std::uint64_t i) { l.store(i); }));
    group.limit("malloc and free, 64 bytes, one thread", times([] {
                    void* p = std::malloc(64);
                    bench::keep(p);
                    std::free(p);
                }));
    group.run();
    group.headline("cache_line_hand_over_ns", "cache line handed from core to core");
    group.headline("atomic_exchange_ns", "atomic exchange");
}

[[gnu::noinline]] bench::bare_coroutine count_once(std::uint64_t& count) {
    ++count;
    co_return;
}

bench::bare_coroutine count_for_ever(std::uint64_t& count) {
    while (true) {
        ++count;
        co_await std::suspend_always();
    }
}

void create_resume_destroy(std::uint64_t n) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < n; ++i) count_once(count).handle().resume();
    bench::check(count == n, "every coroutine runs");
}

void suspend_and_resume(std::uint64_t n) {
    std::uint64_t count = 0;
    const bench::bare_coroutine coroutine = count_for_ever(count);
    std::coroutine_handle<> handle = coroutine.handle();
    for (std::uint64_t i = 0; i < n; ++i) {
        bench::keep(handle);
        handle.resume();
    }
    bench::check(count == n, "every resumption counts");
}

[[gnu::noinline]] void count_call(std::uint64_t& count) { ++count; }

void call_through_pointer(std::uint64_t n) {
    void (*function)(std::uint64_t&) = count_call;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        bench::keep(function);
        function(count);
    }
    bench::check(count == n, "every call counts");
}

void coroutines(bench::session& session) {
    bench::group group(session, "calls and coroutines", "an operation");
    group.limit("indirect call", call_through_pointer);
    group.limit("suspend and resume", suspend_and_resume);
    group.limit("symmetric transfer", [](std::uint64_t n) { bench::symmetric_round_trips((n + 1) / 2); });
    group.limit("coroutine: create, resume, destroy", create_resume_destroy);
    group.run();
    group.headline("coroutine_resume_ns", "suspend and resume");
}

using word = std::atomic<std::uint32_t>;

void futex(word& w, int operation, std::uint32_t value) {
    syscall(SYS_futex, &w, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

void await_turn(word& turn, std::uint32_t mine) {
    for (std::uint32_t now = turn.load(); now != mine; now = turn.load()) {
        futex(turn, FUTEX_WAIT, now);
    }
}

// Two threads sleep and wake each other.
void sleeping_round_trips(std::uint64_t n) {
    word turn{0};
    bench::on_threads(2, [&](std::size_t side) {
        const auto mine = static_cast<std::uint32_t>(side);
        for (std::uint64_t i = 0; i < n; ++i) {
            await_turn(turn, mine);
            turn.store(1 - mine);
            futex(turn, FUTEX_WAKE, 1);
        }
    });
}

void threads(bench::session& session) {
    bench::group group(session, "threads", "an operation");
    group.limit("futex wake, nobody waits", [](std::uint64_t n) {
        word w{0};
        for (std::uint64_t i = 0; i < n; ++i) futex(w, FUTEX_WAKE, 1);
    });
    group.limit("std::atomic notify_one, nobody waits", [](std::uint64_t n) {
        word w{0};
        for (std::uint64_t i = 0; i < n; ++i) w.notify_one();
    });
    group.limit("wake of a sleeping thread, and back", sleeping_round_trips);
    group.limit("std::thread, create and join", times([] { std::thread([] {}).join(); }));
    group.limit("sched_yield", times([] { std::this_thread::yield(); }));
    group.run();
    group.headline("thread_wake_and_back_ns", "wake of a sleeping thread, and back");
    group.headline("thread_create_ns", "std::thread, create and join");
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("limits", argc, argv);
    clocks(session);
    memory(session);
    coroutines(session);
    threads(session);
}
