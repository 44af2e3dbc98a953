// weir channel, internal: a queue of coroutines, each of which waits until a rule admits it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_WAIT_QUEUE_HPP
#define WEIR_CHANNEL_WAIT_QUEUE_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/spin_lock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::move

namespace weir::detail {

// A rule's answer to a waiting coroutine.
enum class admission : std::uint8_t { wait, go, refused };

// Coroutines that wait until `Rule` lets each go or refuses it. `Rule` has a type `ticket`, by which a
// coroutine tells what it wants, and a function
// If letting a coroutine go changes the rule, `ask` is not const, and `judge` is a const function with the
// same answer. The rule is used under the lock of the queue only. `update` changes the rule, asks it again
// for every waiting coroutine in the order in which they came, and wakes those that no longer wait.
template <class Rule>
class wait_queue final : public wait_site {
  public:
    using ticket = typename Rule::ticket;

    // `what`: ends the sentence "stage 'x', slot 0 waits ..." of a deadlock report. `kind`: what can end a
    // wait.
    explicit wait_queue(Rule rule, const char* what, wait_kind kind = wait_kind::turn)
        : rule_(std::move(rule)), what_(what), kind_(kind) {}
    ~wait_queue() { this->leave_registry(); }

    // Returns an awaitable of bool: true = admitted, false = refused. Slot `me` is in state `as` meanwhile,
    // if it is measured. Resumes on the coroutine's executor.
    template <class Slot>
    class [[nodiscard("co_await this, or nobody waits")]] visit;
    template <class Slot>
    visit<Slot> wait(ticket t, Slot& me, slot_state as) noexcept {
        return visit<Slot>(*this, std::move(t), me, as);
    }

    template <class Change>
    void update(Change change) noexcept {
        wake(apply(change));
    }
    // The same by slot `me`, which accounts the wake-ups as its overhead.
    template <class Change, class Slot>
    WEIR_NOINLINE void update(Change change, Slot& me) noexcept {
        visitor* const woken = apply(change);
        if (woken == nullptr) return;
        detail::wake_others(me, [woken] { wake(woken); });
    }

    template <class Function>
    auto read(Function function) const noexcept {
        const std::lock_guard guard(lock_);
        return function(rule_);
    }

    void inspect(site_seen& seen) const override {
        const std::lock_guard guard(lock_);
        seen.site = this;
        for (const visitor* v = first_; v != nullptr; v = v->next) {
            seen.waiting.push_back({v->number, kind_, what_, v->who});
        }
    }

    const char* contradiction() const noexcept override {
        for (const visitor* v = first_; v != nullptr; v = v->next) {
            if (judge(v->what) != admission::wait) return "somebody waits who may go";
        }
        return nullptr;
    }

  private:
    struct visitor {
        visitor(ticket t, slot& whose) noexcept : what(std::move(t)), who(&whose) {}
        ticket what;
        slot* who;
        std::uint64_t number = 0;  // of the visit
        bool measured = false;
        bool linked = false;
        admission answer = admission::wait;
        weir::executor* executor = nullptr;
        std::coroutine_handle<> coroutine;
        visitor* next = nullptr;
        visitor* previous = nullptr;
    };

    void link(visitor& v) noexcept {
        v.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &v;
        last_ = &v;
        v.linked = true;
        v.number = ++visits_;
    }
    void unlink(visitor& v) noexcept {
        (v.previous == nullptr ? first_ : v.previous->next) = v.next;
        (v.next == nullptr ? last_ : v.next->previous) = v.previous;
        v.next = v.previous = nullptr;
        v.linked = false;
    }

    admission judge(const ticket& t) const noexcept {
        if constexpr (requires(const Rule& r) { r.judge(t); }) {
            return rule_.judge(t);
        } else {
            return rule_.ask(t);
        }
    }

    // Unlinks the visitors that need not wait any more; returns them as a list.
    visitor* unlink_admitted() noexcept {
        visitor* woken = nullptr;
        visitor** end = &woken;
        for (visitor* v = first_; v != nullptr;) {
            visitor* const next = v->next;
            v->answer = rule_.ask(v->what);
            if (v->answer != admission::wait) {
                unlink(*v);
                if (v->measured) v->who->enter(slot_state::runnable, detail::clock_of(*v->who));
                *end = v;
                end = &v->next;
            }
            v = next;
        }
        return woken;
    }

    visitor* apply(auto& change) noexcept {
        const std::lock_guard guard(lock_);
        change(rule_);
        return unlink_admitted();
    }
    static void wake(visitor* woken) noexcept {
        while (woken != nullptr) {
            visitor* const v = woken;
            woken = v->next;  // its frame may be gone after the post
            detail::post_woken(*v->executor, v->coroutine);
        }
    }

    void forget(visitor& v) noexcept {
        const std::lock_guard guard(lock_);
        if (v.linked) unlink(v);
    }

    mutable spin_lock lock_;  // guards all members but the constants
    Rule rule_;
    const char* const what_;
    const wait_kind kind_;
    std::uint64_t visits_ = 0;
    visitor* first_ = nullptr;
    visitor* last_ = nullptr;
};

template <class Rule>
template <class Slot>
class wait_queue<Rule>::visit : visitor {
    static constexpr bool is_measured = requires(Slot& s) { s.meter; };

  public:
    using updates_slot_itself = void;  // tag for `co_await`: the visit itself tells the slot that it waits

    visit(wait_queue& room, ticket t, Slot& me, slot_state as) noexcept
        : visitor(std::move(t), me), room_(room), slot_(me), as_(as) {}
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    // The visitor is linked here only if its frame is destroyed while it is suspended.
    ~visit() {
        if (this->linked) room_.forget(*this);
    }

    bool await_ready() noexcept {
        const std::lock_guard guard(room_.lock_);
        this->answer = room_.rule_.ask(this->what);
        return this->answer != admission::wait;
    }

    // Resumes on the coroutine's executor, by a post of the `update` that admits or refuses it.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        this->coroutine = h;
        this->executor = detail::env_of(h).executor;
        this->measured = is_measured;
        if constexpr (is_measured) {
            slot_.catch_up(detail::clock_of(slot_));
        }
        const std::lock_guard guard(room_.lock_);
        this->answer = room_.rule_.ask(this->what);
        if (this->answer != admission::wait) return false;
        suspended_ = true;
        if (!room_.is_registered()) register_site(room_, *this->executor);
        if constexpr (is_measured) slot_.enter(as_, slot_.last_reading);
        room_.link(*this);
        return true;  // this frame may be running elsewhere once the lock is released
    }

    bool await_resume() noexcept {
        if (suspended_) detail::slot_resumed(slot_);
        return this->answer == admission::go;
    }

  private:
    wait_queue& room_;
    Slot& slot_;
    const slot_state as_;
    bool suspended_ = false;
};

}  // namespace weir::detail

#endif
