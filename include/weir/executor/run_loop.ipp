// weir executor, internal: bodies of the functions of executor/run_loop.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_RUN_LOOP_IPP
#define WEIR_EXECUTOR_RUN_LOOP_IPP

#include <weir/executor/run_loop.hpp>

#include <weir/platform/config.hpp>

#include <cstddef>       // for std::ptrdiff_t
#include <mutex>         // for std::lock_guard
#include <system_error>  // for std::system_error
#include <utility>       // for std::exchange

namespace weir::detail {

WEIR_INLINE loop_turns::~loop_turns() {
    if (!born_.is_here()) return;
    while (spares_ != nullptr) wake_spare(nullptr);
    // acquire; pairs with the release in run(), after which a stand-in does not use this object
    for (int i = 0; i < 1000 && stand_ins_.load(std::memory_order_acquire) > blocked_.size(); ++i) {
        parker().wait(100'000);
    }
}

WEIR_INLINE bool loop_turns::is_held_here() const noexcept {
    // relaxed: only this thread stores its own id
    return holder_.load(std::memory_order_relaxed) == standard_platform::this_thread();
}

WEIR_INLINE void loop_turns::drive(loop& l, parker& done, time_point limit) {
    if (is_held_here()) return block(l, done, limit);
    blocked* const next = next_ready(l);
    if (next == nullptr) return run_turn(l, done, limit);
    parker back;
    own_thread_ = &back;
    next->go.set();
    thread_place::leave_here();
    while (!back.wait()) continue;
}

WEIR_INLINE void loop_turns::block(loop& l, parker& done, time_point limit) {
    blocked me(done, limit);
    blocked_.push_back(&me);
    hold_no_more();
    if (!pass_on(l)) {  // no thread could be started: runs a turn on top of the caller
        hold();
        blocked_.pop_back();
        return l.turn(done, limit);
    }
    thread_place::leave_here();
    l.sleep(done, limit);
    while (!me.go.wait()) continue;
    hold();
    if (me.error) std::rethrow_exception(me.error);
}

WEIR_INLINE void loop_turns::run_turn(loop& l, parker& done, time_point limit) {
    for (const blocked* each : blocked_) limit = smaller(limit, each->limit);
    hold();
    try {
        l.turn(done, limit);
    } catch (const deadlock_error&) {
        hold_no_more();
        if (blocked_.empty()) throw;
        blocked_.back()->error = std::current_exception();
    } catch (...) {
        hold_no_more();
        throw;
    }
    hold_no_more();
}

WEIR_INLINE auto loop_turns::next_ready(const loop& l) noexcept -> blocked* {
    for (std::size_t i = 0; i < blocked_.size(); ++i) {
        blocked* const each = blocked_[i];
        if (!each->done->is_set() && !each->error && l.instant() < each->limit) continue;
        blocked_.erase(blocked_.begin() + static_cast<std::ptrdiff_t>(i));
        return each;
    }
    return nullptr;
}

WEIR_INLINE bool loop_turns::pass_on(loop& l) noexcept {
    if (own_thread_ != nullptr) {
        std::exchange(own_thread_, nullptr)->set();
        return true;
    }
    if (spares_ != nullptr) {
        wake_spare(&l);
        return true;
    }
    first_ = &l;
    stand_ins_.fetch_add(1, std::memory_order_relaxed);  // before the thread can count itself out
    if (begin_thread<&loop_turns::run>(this)) return true;
    stand_ins_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: no thread has begun
    return false;
}

WEIR_INLINE void loop_turns::wake_spare(loop* l) noexcept {
    spare* const one = std::exchange(spares_, spares_->next);
    one->next_loop = l;
    one->called.set();
}

WEIR_INLINE void loop_turns::run(void* turns) noexcept {
    standard_platform::name_thread("weir loop");
    static_cast<void>(basic_thread_record<standard_platform>::acquire());
    auto& all = *static_cast<loop_turns*>(turns);
    for (loop* l = all.first_; l != nullptr;) l = all.stand_in(*l);
    all.stand_ins_.fetch_sub(1, std::memory_order_release);  // pairs with the destructor
}

WEIR_INLINE auto loop_turns::stand_in(loop& l) noexcept -> loop* {
    parker never_set;      // this thread waits for nothing: a turn only sleeps on the flag, until it is poked
    parker* to = nullptr;  // wakes the thread that gets the loop
    while (to == nullptr) {
        if (own_thread_ != nullptr) {
            to = std::exchange(own_thread_, nullptr);
        } else if (blocked* const next = next_ready(l)) {
            to = &next->go;
        } else {
            run_turn(l, never_set, (time_point::max)());
        }
    }
    spare me(spares_);
    spares_ = &me;
    to->set();
    while (!me.called.wait()) continue;
    return me.next_loop;
}

WEIR_INLINE void loop_turns::hold_no_more() noexcept {
    holder_.store({}, std::memory_order_relaxed);  // relaxed: see is_held_here()
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE run_loop::run_loop() : run_loop(executor_traits{.passing = true, .counts_wakes = true}) {}

WEIR_INLINE void run_loop::post(std::coroutine_handle<> h) noexcept {
    const std::lock_guard guard(lock_);
    ready_.push_back(h);
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE void run_loop::add(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (!timers_.add(t)) ready_.push_back(t.waiter());
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE void run_loop::cancel(timer& t) noexcept {
    const std::lock_guard guard(lock_);
    if (!timers_.cancel(t, now())) return;
    ready_.push_back(t.waiter());
    if (sleeper_ != nullptr) sleeper_->poke();
}

WEIR_INLINE bool run_loop::polls(detail::pollable& source) noexcept {
    if (!users().is_process_of_origin() || !sources_.add(source)) return false;
    const std::lock_guard guard(lock_);
    if (sleeper_ != nullptr) sleeper_->poke();
    return true;
}

WEIR_INLINE bool run_loop::drive(detail::parker& done, time_point limit) {
    if (!turns_.is_held_here() && detail::standard_platform::this_thread() != thread_) return false;
    turns_.drive(*this, done, limit);
    return true;
}

WEIR_INLINE void run_loop::turn(detail::parker& done, time_point limit) {
    std::coroutine_handle<> next;
    time_point until = limit;
    {
        const std::lock_guard guard(lock_);
        if (!timers_.empty()) {
            const time_point t = now();
            while (timer* const due = timers_.pop_due(t)) ready_.push_back(due->waiter());
            if (!timers_.empty()) until = detail::smaller(until, timers_.next()->deadline());
        }
        if (!ready_.empty()) {
            next = ready_.take_front();
        } else {
            if (std::exchange(looks_again_, false)) return;
            until = detail::smaller(until, time_point(duration(next_poll())));
            sleeper_ = &done;  // post() and others poke it
        }
    }
    if (next) {
        lender_ = nullptr;
        return resume(next);
    }
    detail::thread_place::leave_here();
    if (until == (time_point::max)() && lender_ != nullptr && lender_->lend_place(done)) {
        done.wait(0);  // clears the poke, if a poke ended the wait
    } else if (until == (time_point::max)()) {
        const detail::basic_blocked_thread<detail::standard_platform> here(&done);
        here.wait(done);
    } else {
        const time_point t = now();
        if (until > t) {
            done.wait((until - t).count());
        } else if (next_poll() <= t.time_since_epoch().count()) {
            sources_.poll(*this, t.time_since_epoch().count());
            detail::standard_platform::pause();
        }
    }
    const std::lock_guard guard(lock_);
    sleeper_ = nullptr;
}

WEIR_INLINE std::int64_t run_loop::next_poll() noexcept {
    return users().is_process_of_origin() ? sources_.next() : detail::pollable::never;
}

WEIR_INLINE void run_loop::sleep(detail::parker& done, time_point limit) noexcept {
    while (!done.is_set()) {
        const bool has_no_limit = limit == (time_point::max)();
        const std::int64_t left = has_no_limit ? -1 : (limit - now()).count();
        if (!has_no_limit && left <= 0) break;
        done.wait(left);
    }
    const std::lock_guard guard(lock_);
    looks_again_ = true;
    if (sleeper_ != nullptr) sleeper_->poke();
}

namespace detail {

WEIR_INLINE executor& foreign_run_loop::get() {
    static foreign_run_loop* const only = new foreign_run_loop;  // its thread never ends
    if (!only->process_.is_here()) throw forked_error();
    return *only->loop_;
}

WEIR_INLINE foreign_run_loop::foreign_run_loop() {
    starting() = this;
    if (!begin_thread<&run>(nullptr)) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                "weir: no thread for the coroutines that no executor runs");
    }
    while (!started_.wait()) {
    }
}

WEIR_INLINE void foreign_run_loop::run(void*) {
    run_loop loop{executor_traits()};
    starting()->loop_ = &loop;
    starting()->started_.set();
    parker never_set;  // the loop never ends: a turn only sleeps on the flag, until it is poked
    while (true) loop.drive(never_set, (time_point::max)());
}

WEIR_INLINE foreign_run_loop*& foreign_run_loop::starting() noexcept {
    static foreign_run_loop* loop = nullptr;
    return loop;
}

}  // namespace detail

}  // namespace weir

#endif
