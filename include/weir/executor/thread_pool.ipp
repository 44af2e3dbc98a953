// weir executor, internal: bodies of the functions of executor/thread_pool.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_IPP
#define WEIR_EXECUTOR_THREAD_POOL_IPP

#include <weir/executor/thread_pool.hpp>

#include <weir/platform/config.hpp>

namespace weir {

template <class Platform>
WEIR_INLINE basic_thread_pool<Platform>::basic_thread_pool(unsigned workers,
                                                           const thread_pool_options& options)
    : base(workers, detail::most_workers(workers, options.most_workers, Platform::concurrency()),
           "weir::thread_pool: 0 workers, or fewer, can run nothing; ask for at least 1, or for none to "
           "get one a core",
           "weir", options.on_thread_start) {
    this->start();
}

template <class Platform>
WEIR_INLINE basic_thread_pool<Platform>::~basic_thread_pool() {
    const bool is_mine = current().of == this;
    this->end(is_mine);
    if (is_mine) current().here = nullptr;
}

template <class Platform>
WEIR_INLINE void basic_thread_pool<Platform>::set_workers(unsigned workers) {
    detail::check_workers(workers, this->most());
    this->check_threads();
    this->set_threads(workers);
    idle_.wake_all();
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE void basic_thread_pool<Platform>::post(std::coroutine_handle<> h) noexcept {
    worker* const me = current().here;
    if (me == nullptr || me->pool != this) return this->post_from_outside(h);
    if (h.address() == me->running()) return this->push(*me, h.address());
    if (void* const displaced = me->exchange_next(h.address(), me->thread())) {
        return this->push(*me, displaced);
    }
    if (idle_.unwatched()) idle_.call();
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE void basic_thread_pool<Platform>::fork(std::coroutine_handle<> h) noexcept {
    worker* const me = current().here;
    if (me == nullptr || me->pool != this) return this->post_from_outside(h);
    me->fork(h);
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE bool basic_thread_pool<Platform>::drive(detail::parker& done, time_point limit) {
    this->check_threads();
    place& mine = current();
    if (mine.of != this) return false;
    if (!mine.leave()) {
        this->sleep(done, limit, false);
        return true;
    }
    // In this order, and after the sleep in the reverse order: pairs with ends().
    blocked_.fetch_add(change + 1, std::memory_order_seq_cst);
    idle_.expect(-1);
    this->sleep(done, limit, true);
    idle_.expect(1);
    blocked_.fetch_add(change - 1, std::memory_order_seq_cst);
    return true;
}

template <class Platform>
WEIR_INLINE bool basic_thread_pool<Platform>::work(unsigned number) noexcept {
    worker& me = workers_[number];
    place& mine = take(me);
    executor::shift here(*this, &me);
    for (;;) {
        if (number >= this->wanted() && end_if_surplus(me)) return false;
        void* found = this->find(me);
        if (found == nullptr) {
            const idle_end end = idle(me);
            if (end.over) return false;
            found = end.found;
        }
        if (found == nullptr) continue;
        me.count_resumption();
        me.runs(found);
        here.resume(std::coroutine_handle<>::from_address(found));
        if (mine.here == nullptr) [[unlikely]] {
            idle_.expect(-1);
            return true;
        }
        me.runs(nullptr);
    }
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE auto basic_thread_pool<Platform>::take(worker& me) noexcept -> place& {
    place& mine = current();
    mine.here = &me;
    mine.of = this;
    mine.belong_to_thread();
    me.set_thread(record::acquire(), static_cast<executor*>(this));
    return mine;
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE bool basic_thread_pool<Platform>::leave_to_another(place& mine) noexcept {
    worker& me = *mine.here;
    void* const running = me.running();
    detail::trampoline::leave(me);
    me.runs(nullptr);
    mine.here = nullptr;
    if (this->leave_place(me.number)) return true;
    take(me).here->runs(running);
    return false;
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE bool basic_thread_pool<Platform>::end_if_surplus(worker& me) noexcept {
    if (!this->let_go(me.number, [&] { me.hand_over(inbox_); })) return false;
    current().here = nullptr;
    idle_.expect(-1);
    return true;
}

template <class Platform>
WEIR_INLINE auto basic_thread_pool<Platform>::ends() const noexcept -> std::uint64_t {
    const std::uint64_t waits = blocked_.load(std::memory_order_seq_cst);
    return this->is_over() && waits % change == 0 ? waits + 1 : 0;
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE auto basic_thread_pool<Platform>::idle(worker& me) noexcept -> idle_end {
    const auto is_surplus = [&] { return !this->is_wanted(me.number); };
    const bool took_watch = idle_.go_idle();
    if (!took_watch) {
        const auto why = idle_.sleep(is_surplus);
        if (why != watch::woken::to_watch) return {nullptr, why == watch::woken::by_the_end};
    }
    // A worker that has just run out of work spins first; one that was woken to watch does not.
    const idle_end end = idle_.keep(
        me, took_watch ? Platform::now() + spin : 0, timers_, [this] { return ends(); }, is_surplus,
        [&](std::int64_t now, std::int64_t since) { return this->search(me, now, since); });
    if (end.over) {
        idle_.close();
        return end;
    }
    idle_.leave();
    me.searches(false);
    if (idle_.unwatched() && (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
        idle_.call();
    }
    return end;
}

}  // namespace weir

#endif
