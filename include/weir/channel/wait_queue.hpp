// weir channel, internal: a queue of coroutines, each of which waits until a rule admits it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_WAIT_QUEUE_HPP
#define WEIR_CHANNEL_WAIT_QUEUE_HPP

#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/slot_accounting.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::move

namespace weir::detail {

// A rule's answer to a waiting coroutine.
enum class admission : std::uint8_t { wait, go, refused };

// Coroutines that wait until `Rule` admits or refuses each of them: as slots (workers of a stage) that wait
// until a run lets them begin with an item. `Rule` has a type `ticket`, which describes the request of one
// coroutine, and a function
//     admission ask(const ticket&) const noexcept;
// If `ask` changes the rule when it admits, `Rule` also has a const function `judge`, which gives the same
// answer without the change. The change must not let coroutines in front of the admitted one go. The rule is
// used only under the lock of the queue. `update` changes the rule, then asks the rule about the waiting
// coroutines, in the order of the line, and wakes those that are admitted or refused. The line is first come,
// first served.
//
// With many waiting coroutines, `update` is fast if the rule has one of these functions:
//     bool may_answer() const noexcept;
//     bool goes_before(const ticket&, const ticket&) const noexcept;
// `may_answer`: `update` stops asking when this function returns false. `goes_before`: another order of the
// line, a strict weak order. If one coroutine has to wait, all behind it have to wait. After a change that
// breaks this promise, the caller calls `ask_all`.
template <class Rule>
class wait_queue final : public wait_site {
  public:
    using ticket = typename Rule::ticket;

    // `what`: ends the sentence "stage 'x', slot 0 waits ..." of a deadlock report. `kind`: what can end a
    // wait.
    explicit wait_queue(Rule rule, const char* what, wait_kind kind = wait_kind::turn)
        : rule_(std::move(rule)), what_(what), kind_(kind) {}
    ~wait_queue() { this->leave_registry(); }

    // Returns an awaitable of bool: true = admitted, false = refused. `me`: the slot (worker of a stage) that
    // waits; if it is measured, it is in state `as` meanwhile. Resumes on the coroutine's executor.
    template <class Slot>
    class [[nodiscard("co_await this, or nobody waits")]] awaiter;
    template <class Slot>
    awaiter<Slot> wait(ticket t, Slot& me, slot_state as) noexcept {
        return awaiter<Slot>(*this, std::move(t), me, as);
    }

    template <class Change>
    void update(Change change) noexcept {
        wake(apply(change));
    }
    // As above, for a call by slot `me`. The time of the wake-ups counts as `overhead` (the library's work)
    // of this slot.
    template <class Change, class Slot>
    WEIR_NOINLINE void update(Change change, Slot& me) noexcept {
        waiter* const woken = apply(change);
        if (woken == nullptr) return;
        detail::wake_others(me, [woken] { wake(woken); });
    }
    // Asks the rule about each waiting coroutine, without `may_answer` and `goes_before`.
    void ask_all() noexcept {
        const auto no_change = [](Rule&) {};
        wake(apply(no_change, true));
    }

    template <class Function>
    auto read(Function function) const noexcept {  // calls it with the rule, under the lock
        const std::lock_guard guard(lock_);
        return function(rule_);
    }

    // Lists the waiting coroutines, for deadlock reports.
    void inspect(site_seen& seen) const override {
        const std::lock_guard guard(lock_);
        seen.site = this;
        for (const waiter* w = line_.front(); w != nullptr; w = w->next) {
            seen.waiting.push_back({w->number, kind_, what_, w->owner});
        }
    }

    // Called by simulations (tests on one thread): a sentence if a coroutine waits without need; else null.
    const char* contradiction() const noexcept override {
        for (const waiter* w = line_.front(); w != nullptr; w = w->next) {
            if (judge(w->request) != admission::wait) return "somebody waits who may go";
        }
        return nullptr;
    }

  private:
    struct waiter {  // a coroutine in the line; a base of its awaiter
        waiter(ticket t, slot& me) noexcept : request(std::move(t)), owner(&me) {}
        ticket request;
        slot* owner;
        std::uint64_t number = 0;  // the number of this wait, counted in this queue
        bool measured = false;
        bool linked = false;
        admission answer = admission::wait;
        weir::executor* executor = nullptr;
        std::coroutine_handle<> coroutine;
        waiter* next = nullptr;
        waiter* previous = nullptr;
    };

    // What `ask` would answer now; does not change the rule.
    admission judge(const ticket& t) const noexcept {
        if constexpr (requires { rule_.judge(t); }) {
            return rule_.judge(t);
        } else {
            return rule_.ask(t);
        }
    }

    // Whether the rule gives the order of the line.
    static constexpr bool is_sorted = requires(const Rule& r, const ticket& t) { r.goes_before(t, t); };

    // Inserts `w` in the order of the line. Most coroutines come in this order, or in the reverse order: so
    // the place is searched at the front, and then from the back.
    void link(waiter& w) noexcept {
        waiter* behind = nullptr;
        if constexpr (is_sorted) {
            const auto precedes = [&](const waiter* other) {
                return other != nullptr && rule_.goes_before(w.request, other->request);
            };
            if (precedes(line_.front())) {
                behind = line_.front();
            } else {
                for (waiter* last = line_.back(); precedes(last); last = last->previous) behind = last;
            }
        }
        line_.insert(w, behind);
    }

    bool may_answer() const noexcept {
        if constexpr (requires { rule_.may_answer(); }) {
            return rule_.may_answer();
        } else {
            return true;
        }
    }

    // Unlinks the waiters that are now admitted or refused. Returns them as a list.
    waiter* unlink_answered(bool asks_all) noexcept {
        waiter* woken = nullptr;
        waiter** end = &woken;
        for (waiter* w = line_.front(); w != nullptr && (asks_all || may_answer());) {
            waiter* const next = w->next;
            w->answer = rule_.ask(w->request);
            if (w->answer != admission::wait) {
                line_.remove(*w);
                if (w->measured) w->owner->enter(slot_state::runnable, detail::clock_of(*w->owner));
                *end = w;
                end = &w->next;
            } else if (is_sorted && !asks_all) {
                break;
            }
            w = next;
        }
        return woken;
    }

    waiter* apply(auto& change, bool asks_all = false) noexcept {  // changes the rule; returns those to wake
        const std::lock_guard guard(lock_);
        change(rule_);
        return unlink_answered(asks_all);
    }
    static void wake(waiter* woken) noexcept {
        while (woken != nullptr) {
            waiter* const w = woken;
            woken = w->next;  // its frame may be gone after the post
            detail::post_woken(*w->executor, w->coroutine);
        }
    }

    void forget(waiter& w) noexcept {  // its frame is destroyed while it waits
        const std::lock_guard guard(lock_);
        if (w.linked) line_.remove(w);
    }

    mutable spin_lock lock_;  // guards all members but the constants
    Rule rule_;
    const char* const what_;
    const wait_kind kind_;
    std::uint64_t waits_ = 0;  // the number of waits that have begun
    waiter_line<waiter> line_;
};

template <class Rule>
template <class Slot>
class wait_queue<Rule>::awaiter : waiter {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };  // the slot adds up times

  public:
    using updates_slot_itself = void;  // tag for `co_await`: the awaiter records its wait in the slot

    awaiter(wait_queue& queue, ticket t, Slot& me, slot_state as) noexcept
        : waiter(std::move(t), me), queue_(queue), slot_(me), state_(as) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;

    // The waiter is linked here only if the frame of a suspended coroutine is destroyed.
    ~awaiter() {
        if (this->linked) queue_.forget(*this);
    }

    bool await_ready() noexcept {
        const std::lock_guard guard(queue_.lock_);
        this->answer = queue_.rule_.ask(this->request);
        return this->answer != admission::wait;
    }

    // Resumes on the coroutine's executor: the `update` that admits or refuses the coroutine posts it. False:
    // the rule answered in this call.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        this->coroutine = h;
        this->executor = detail::env_of(h).executor;
        this->measured = is_measured;
        if constexpr (is_measured) {
            slot_.catch_up(detail::clock_of(slot_));
        }
        const std::lock_guard guard(queue_.lock_);
        this->answer = queue_.rule_.ask(this->request);
        if (this->answer != admission::wait) return false;
        suspended_ = true;
        if (!queue_.is_registered()) register_site(queue_, *this->executor);
        if constexpr (is_measured) slot_.enter(state_, slot_.last_reading);
        this->number = ++queue_.waits_;
        queue_.link(*this);
        return true;  // this frame may be running elsewhere once the lock is released
    }

    bool await_resume() noexcept {
        if (suspended_) detail::slot_resumed(slot_);
        return this->answer == admission::go;
    }

  private:
    wait_queue& queue_;
    Slot& slot_;
    const slot_state state_;  // of the slot while it waits
    bool suspended_ = false;
};

}  // namespace weir::detail

#endif
