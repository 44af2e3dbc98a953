// weir executor, internal: bodies of the functions of executor/threaded_executor.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREADED_EXECUTOR_IPP
#define WEIR_EXECUTOR_THREADED_EXECUTOR_IPP

#include <weir/executor/threaded_executor.hpp>

#include <weir/platform/config.hpp>

#include <cstdio>     // for std::fprintf
#include <cstring>    // for std::memcpy
#include <exception>  // for std::exception
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::exchange, std::move

namespace weir::detail {

inline void* left_executor::functions() {
    static const left_executor& one = *new left_executor;
    void* table = nullptr;
    std::memcpy(static_cast<void*>(&table), static_cast<const void*>(&one), sizeof table);
    return table;
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::add(timer& t) noexcept {
    using added = typename basic_locked_timers<Platform>::added;
    const std::int64_t deadline = t.deadline().time_since_epoch().count();
    const std::coroutine_handle<> waiter = t.waiter();
    wake_up wake;
    const added result = timers_.add(t, [&] { wake = wake_up_for_timer(deadline); });
    if (result == added::refused) return post(waiter);
    wake();
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::cancel(timer& t) noexcept {
    const std::coroutine_handle<> waiter = t.waiter();
    if (timers_.cancel(t, now())) post(waiter);
}

template <class Platform>
WEIR_INLINE threaded_executor<Platform>::threaded_executor(unsigned threads, const char* refusal,
                                                           bool goes_on_with_forks, const char* name,
                                                           std::function<void(unsigned)> on_start)
    : executor({.parallelism =
                    threads != 0 && !was_negative(threads) ? threads : throw std::invalid_argument(refusal),
                .has_threads = true,
                .continues_with_forks = goes_on_with_forks,
                .counts_wakes = true}),
      threads_(name, std::move(on_start)) {}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE void threaded_executor<Platform>::post_from_outside(
    std::coroutine_handle<> h) noexcept {
    if (orphaned()) return;  // no thread would take it, and a thread of the parent may hold the lock
    inbox_.push(h.address(), [this] { return wake_up_for_post(); })();
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::check_threads() const {
    if (orphaned()) throw forked_error();
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::start() {
    try {
        set_threads(static_cast<unsigned>(traits().parallelism));
    } catch (...) {
        join();
        throw;
    }
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::set_threads(unsigned n) {
    threads_.set(
        n, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
        [this](unsigned i) { return work(i); });
}

template <class Platform>
WEIR_INLINE bool threaded_executor<Platform>::leave_place(unsigned place) noexcept {
    expect(1);
    try {
        threads_.replace(place, [this](unsigned i) { return work(i); });
        return true;
    } catch (const std::exception& e) {
        expect(-1);
        if (!has_complained_.exchange(true, std::memory_order_relaxed)) {
            std::fprintf(stderr,
                         "weir: a coroutine blocks its thread of a pool, and no other thread can be "
                         "started in its place (%s): what is queued there waits\n",
                         e.what());
        }
        return false;
    } catch (...) {
        expect(-1);
        return false;
    }
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::sleep(parker& done, time_point limit, bool has_left) noexcept {
    auto* const me = basic_thread_record<Platform>::mine();
    if (me != nullptr) me->set_sleeping(true);
    int added = 0;
    std::uint64_t seen = num_resumed();
    for (std::int64_t nap = has_left ? first_nap : retry;; nap = smaller(2 * nap, longest_nap)) {
        std::int64_t left = nap;
        if (limit != (time_point::max)()) {
            left = smaller(left, time_between(Platform::now(), limit.time_since_epoch().count()));
        }
        if (left <= 0 || done.wait(left) || !has_left) break;
        const std::uint64_t resumed = num_resumed();
        if (std::exchange(seen, resumed) == resumed && is_crowded() && add(1)) ++added;
    }
    if (me != nullptr) me->set_sleeping(false);
    for (; added > 0; --added) add(-1);
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::end(bool is_mine) noexcept {
    const bool exits = process_end::has_begun();
    if (is_mine && !exits) {
        executor_users::fail(
            "weir: a pool is destroyed by a coroutine that runs on it, and would wait for itself; let "
            "the thread that made the pool destroy it, after what runs there has ended");
    }
    if (exits && (is_mine || users().has_any() || has_timer())) return leave(is_mine);
    join();
    users().abort_if_any(has_timer());
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::join() noexcept {
    if (!orphaned()) {
        threads_.close();
        stopping_.store(true, std::memory_order_seq_cst);
        wake_all();
    }
    threads_.join();
}

template <class Platform>
WEIR_INLINE void threaded_executor<Platform>::leave(bool is_mine) noexcept {
    users().leave_behind(static_cast<executor*>(this), left_executor::functions());
    if (orphaned()) return threads_.join();
    threads_.dismiss();
    stopping_.store(true, std::memory_order_seq_cst);
    wake_all();
    threads_.leave(is_mine ? 1 : 0, longest_leave);
    let_consumers_block();
}

template <class Platform>
WEIR_INLINE bool threaded_executor<Platform>::add(int places) noexcept {
    const bool done = threads_.add_extra(
        places, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
        [this](unsigned i) { return work(i); });
    if (done && places < 0) wake_all();
    return done;
}

}  // namespace weir::detail

#endif
