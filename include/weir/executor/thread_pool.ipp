// weir executor, internal: bodies of the functions of executor/thread_pool.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_IPP
#define WEIR_EXECUTOR_THREAD_POOL_IPP

#include <weir/executor/thread_pool.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

namespace weir {

template <class Platform>
WEIR_INLINE basic_thread_pool<Platform>::basic_thread_pool(unsigned workers,
                                                           const thread_pool_options& options)
    : base(workers, detail::most_workers(workers, options.most_workers, Platform::concurrency()),
           "weir::thread_pool: 0 workers, or fewer, can run nothing; ask for at least 1, or for none to "
           "get one a core",
           "weir", options.on_thread_start),
      lease_(options.on_thread_start
                 ? nullptr
                 : new detail::basic_place_lease<Platform>(this->one_processor_, workers == 1)) {
    this->start();
}

template <class Platform>
WEIR_INLINE basic_thread_pool<Platform>::~basic_thread_pool() {
    place& mine = current();
    if (mine.of == this && mine.is_guest && detail::process_end::has_begun()) {
        // This thread is a consumer: it waits for an item of a run, and meanwhile works as a guest in the
        // place of a worker. A coroutine that it runs has called std::exit: the consumer never continues.
        static_cast<void>(mine.leave());
        idle_.expect(-1);
        mine.of = nullptr;
    }
    const bool is_mine = mine.of == this;
    this->end(is_mine);
    if (is_mine) mine.here = nullptr;
}

template <class Platform>
WEIR_INLINE void basic_thread_pool<Platform>::set_workers(unsigned workers) {
    detail::check_workers(workers, this->most());
    this->check_threads();
    this->set_threads(workers);
    wake_all();
}

template <class Platform>
WEIR_NOINLINE void basic_thread_pool<Platform>::post(std::coroutine_handle<> h) noexcept {
    place& mine = current();
    worker* const me = mine.here;
    if (me == nullptr || me->pool != this) {
        if (mine.kept_in == this && post_to_kept(mine, h)) return;
        return this->post_from_outside(h);
    }
    if (h.address() == me->running()) return this->push(*me, h.address());
    if (void* const displaced = me->exchange_next(h.address(), me->thread())) {
        return this->push(*me, displaced);
    }
    if (idle_.unwatched()) idle_.request_search();
}

template <class Platform>
WEIR_NOINLINE void basic_thread_pool<Platform>::fork(std::coroutine_handle<> h) noexcept {
    worker* const me = current().here;
    if (me == nullptr || me->pool != this) return this->post_from_outside(h);
    me->fork(h);
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::drive(detail::parker& done, time_point limit) {
    this->check_threads();
    place& mine = current();
    if (mine.of != this) {
        if (mine.kept_in == this) return_kept(mine);
        return false;
    }
    if (!mine.leave()) {
        this->sleep(done, limit, false);
        return true;
    }
    // Counts as blocked (`change` counts such changes), then as active no more; later in reverse: see ends().
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
        if (lease_ != nullptr && lease_->is_asked()) [[unlikely]]
            serve_consumer(mine, me);
        void* found = this->find(me);
        if (found == nullptr) {
            const idle_end end = idle(me);
            if (end.over) return false;
            found = end.found;
        }
        if (found == nullptr) continue;
        me.count_resumption();
        me.set_running(found);
        here.resume(std::coroutine_handle<>::from_address(found));
        if (mine.here == nullptr) [[unlikely]] {  // another thread has replaced this one
            idle_.expect(-1);
            return true;
        }
        me.set_running(nullptr);
    }
}

template <class Platform>
WEIR_NOINLINE auto basic_thread_pool<Platform>::take(worker& me) noexcept -> place& {
    place& mine = current();
    mine.here = &me;
    mine.of = this;
    mine.belong_to_thread();
    me.set_thread(record::acquire(), static_cast<executor*>(this));
    return mine;
}

template <class Platform>
WEIR_NOINLINE void basic_thread_pool<Platform>::serve_consumer(place& mine, worker& me) noexcept {
    if (lease_->give(me.number)) return stand_by(mine, me);
    if (!lease_->accept_to_give_coroutines()) return;
    me.give_queued(inbox_);
    // Waits until the guest, which searches, has the coroutines: else this worker would take them back.
    for (int looks = 0; looks != most_misses && !inbox_.empty(); ++looks) Platform::pause();
}

template <class Platform>
WEIR_NOINLINE void basic_thread_pool<Platform>::stand_by(place& mine, worker& me) noexcept {
    mine.here = nullptr;
    const auto is_needed = [&] { return this->is_over() || !this->is_wanted(me.number); };
    lease_->stand_by(is_needed, [this](std::int64_t longest) {
        return detail::smaller(longest, detail::time_between(Platform::now(), timers_.next()));
    });
    take(me);
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::lend_place(detail::parker& done) noexcept {
    if (lease_ == nullptr || detail::current_executor() != nullptr || this->orphaned() ||
        !this->users().is_for_one_run()) {
        return false;
    }
    place& mine = current();
    record* const me = record::acquire();
    if (me == nullptr || me->serves() != nullptr) return false;
    if (!lease_->enter() && !ask_for_place(done)) return false;
    worker& lent = workers_[lease_->number()];
    bool found_nothing = false;
    bool is_done = lease_->policy.template begin_visit<Platform>(me->operations());
    if (is_done) {
        mine.here = &lent;
        mine.of = this;
        mine.is_guest = true;
        mine.belong_to_thread();
        if (lent.thread() != me) lent.set_thread(me, nullptr);
        is_done = work_as_guest(mine, lent, done);
        found_nothing = !is_done;
        const bool has_left = std::exchange(mine.here, nullptr) == nullptr;  // has blocked meanwhile
        mine.of = nullptr;
        mine.is_guest = false;
        if (has_left) {
            idle_.expect(-1);
            return done.is_set_or_poked();
        }
    }
    if (is_done && lease_->policy.template end_visit<Platform>(me->operations())) {
        mine.kept_in = this;
        lease_->leave();  // nobody works in the place until this consumer waits again
    } else {
        // `back_off` delays the next request for a place; but not if another, active worker has all the work.
        if (!found_nothing || idle_.active() <= 1) lease_->policy.back_off(Platform::now());
        lease_->return_place();  // the worker's own thread continues in the place
    }
    return done.is_set_or_poked();
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::ask_for_place(const detail::parker& done) noexcept {
    const auto may_ask = [this](detail::lease_policy& policy) {
        std::uint64_t all_done = 0;
        bool has_work = !inbox_.empty();
        for (unsigned i = 0, n = workers_.size(); i < n; ++i) {
            all_done += workers_[i].done();
            has_work = has_work || !workers_[i].empty() || workers_[i].running() != nullptr;
        }
        return policy.may_ask(Platform::now(), all_done) && has_work;
    };
    return lease_->ask(may_ask, [&done] { return done.is_set_or_poked(); });
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::post_to_kept(place& mine,
                                                             std::coroutine_handle<> h) noexcept {
    if (lease_ == nullptr || this->orphaned() || !lease_->enter()) {
        mine.kept_in = nullptr;
        return false;
    }
    worker& kept = workers_[lease_->number()];
    if (void* const displaced = kept.exchange_next(h.address(), record::mine())) this->push(kept, displaced);
    lease_->leave();  // another thread may have run the coroutine, and destroy the pool from now on
    return true;
}

template <class Platform>
WEIR_INLINE void basic_thread_pool<Platform>::wake_all() noexcept {
    base::wake_all();
    if (lease_ != nullptr) lease_->wake_owner();
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::work_as_guest(place& mine, worker& me,
                                                              const detail::parker& done) noexcept {
    executor::shift here(*this, &me);
    int misses = 0;
    while (misses <= most_misses && !done.is_set_or_poked()) {
        void* const found = this->is_wanted(me.number) ? this->find(me) : nullptr;
        if (found == nullptr) {
            if (++misses == misses_before_request) lease_->ask_for_coroutines();
            Platform::pause();
            continue;
        }
        if (misses >= misses_before_request) lease_->withdraw();
        misses = 0;
        me.count_resumption();
        me.set_running(found);
        here.resume(std::coroutine_handle<>::from_address(found));
        if (mine.here == nullptr) [[unlikely]]
            return false;
        me.set_running(nullptr);
    }
    lease_->withdraw();
    return misses <= most_misses;
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::leave_to_another(place& mine) noexcept {
    worker& me = *mine.here;
    void* const running = me.running();
    detail::trampoline::leave(me);  // coroutines on this stack use the worker's forks no more
    me.set_running(nullptr);
    mine.here = nullptr;
    if (mine.is_guest) {
        idle_.expect(1);  // both threads are active now
        lease_->return_place();
        return true;
    }
    if (this->leave_place(me.number)) return true;
    take(me).here->set_running(running);
    return false;
}

template <class Platform>
WEIR_NOINLINE bool basic_thread_pool<Platform>::end_if_surplus(worker& me) noexcept {
    if (!this->let_go(me.number, [&] { me.hand_over(inbox_); })) return false;
    current().here = nullptr;
    idle_.expect(-1);
    return true;
}

template <class Platform>
WEIR_NOINLINE auto basic_thread_pool<Platform>::idle(worker& me) noexcept -> idle_end {
    const auto is_surplus = [&] { return !this->is_wanted(me.number); };
    const bool took_watch = idle_.go_idle();  // this worker is the watcher
    if (!took_watch) {
        const auto why = idle_.sleep(is_surplus);
        if (why != watch::woken::to_watch) return {nullptr, why == watch::woken::by_the_end};
    }
    // A worker that has just run out of work spins first; one that was woken to watch does not.
    const idle_end end = idle_.keep_watch(
        me, took_watch && !this->one_processor_ ? Platform::now() + spin : 0, this->due(),
        [this] { return ends(); }, is_surplus,
        [&](std::int64_t now, std::int64_t since) { return this->search(me, now, since); });
    if (end.over) {
        idle_.close();
        return end;
    }
    idle_.leave();
    me.set_searching(false);
    if (idle_.unwatched() && (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
        idle_.request_search();
    }
    return end;
}

}  // namespace weir

#endif
