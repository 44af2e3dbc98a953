// weir stages, internal: which slot of a traversal waits, for what, and when all of them have ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_RULE_HPP
#define WEIR_STAGES_TRAVERSAL_RULE_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/stages/pending_items.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// A slot of a traversal, with the items that its function added and nobody has begun.
class traversal_slot {
  public:
    traversal_slot(const item_type& type, const slot& me) noexcept : found(type), who(&me) {}
    traversal_slot(const traversal_slot&) = delete;
    traversal_slot& operator=(const traversal_slot&) = delete;

    pending_items found;
    const slot* const who;
    // The rest is guarded by the lock of the traversal's wait queue.
    bool is_present = false;  // it is in service
    bool has_mark = false;    // it has taken the end of an epoch, which it gives on when all others are idle
    traversal_slot* next = nullptr;

    // Ends its wait for an item of the queue before the stage, also one that is about to begin; and forgets
    // that.
    virtual void call_off() noexcept = 0;
    virtual void forget_call() noexcept = 0;

  protected:
    ~traversal_slot() = default;
};

// What a slot does that has found no item.
enum class idle_step : std::uint8_t { search, lead, wait, end };

// A slot that finds no pending item is idle. One idle slot at a time, the leader, takes from the queue before
// the stage; the others wait until an item is added or the leader has got one. The leader that takes the end
// of an epoch takes nothing more until that has left the stage. The stage has ended when that queue has, all
// slots are idle and no item is pending: only a slot that is not idle adds items.
class traversal_rule {
  public:
    using ticket = traversal_slot*;
    using count = standard_platform::atomic<std::size_t>;

    // `idle`: how many slots are, for who adds an item without the lock. `shared`: null, or the items of all
    // slots.
    traversal_rule(count& idle, const pending_items* shared) noexcept : idle_(&idle), shared_(shared) {}

    admission judge(ticket t) const noexcept {
        if (over_) return admission::refused;
        if (t->has_mark) return all_idle() && nothing_pending() ? admission::go : admission::wait;
        const bool recalled = t->who->recalled.load(std::memory_order_relaxed);
        return recalled || num_calls_ > 0 || may_lead() ? admission::go : admission::wait;
    }
    admission ask(ticket t) noexcept {
        const admission answer = judge(t);
        if (answer != admission::go) return answer;
        works();
        if (t->has_mark) return answer;
        --num_waiting_;
        if (t->who->recalled.load(std::memory_order_relaxed)) return answer;
        if (num_calls_ > 0) {
            --num_calls_;
        } else if (may_lead()) {  // not, if it was recalled until just now
            leader_ = t;
        }
        return answer;
    }

    // It begins, or comes back into service.
    void enter(traversal_slot& s) noexcept {
        if (s.is_present) return;
        s.is_present = true;
        ++num_present_;
        for (const traversal_slot* each = first_; each != nullptr; each = each->next) {
            if (each == &s) return;
        }
        s.next = first_;
        first_ = &s;
    }
    // It goes out of service: others take what it has added.
    void leave(traversal_slot& s) noexcept {
        is_absent(s);
        num_calls_ = s.found.empty() ? num_calls_ : num_waiting_;
        settle();
    }
    // It has ended, and with it the stage.
    void end(traversal_slot* s) noexcept {
        over_ = true;
        if (s == nullptr) return;  // it never began
        is_absent(*s);
        traversal_slot** place = &first_;
        while (*place != nullptr && *place != s) place = &(*place)->next;
        if (*place != nullptr) *place = s->next;
    }

    // A slot has looked for pending items, and has seen none.
    idle_step look(traversal_slot& s) noexcept {
        if (over_) return idle_step::end;
        // relaxed; whoever adds an item after this slot has looked at its deque sees it: by the deque's lock
        idle_->fetch_add(1, std::memory_order_relaxed);
        if (!nothing_pending()) {
            works();
            if (leader_ == &s) leader_ = nullptr;
            return idle_step::search;
        }
        if (may_lead()) leader_ = &s;
        if (leader_ == &s) {
            s.forget_call();
            is_taking_ = true;
            return idle_step::lead;
        }
        settle();
        if (over_) return idle_step::end;
        ++num_waiting_;
        return idle_step::wait;
    }
    // The leader's wait has ended. `came`: with an item, or with the end of an epoch, a `mark`; `ended`: with
    // nothing, as nothing will come.
    void heard(traversal_slot& s, bool came, bool mark, bool ended) noexcept {
        is_taking_ = false;
        if (came && mark) {
            s.has_mark = true;  // it stays idle, and leader
            return;
        }
        works();
        leader_ = nullptr;
        queue_has_ended_ = queue_has_ended_ || ended;
    }
    // The end of an epoch has left.
    void forget_mark(traversal_slot& s) noexcept {
        s.has_mark = false;
        leader_ = nullptr;
    }

    // An item was added while some were idle: one of them is to take it.
    void call_one() noexcept {
        if (num_calls_ < num_waiting_) {
            ++num_calls_;
        } else if (is_taking_) {
            leader_->call_off();
        }
    }

    traversal_slot* first() const noexcept { return first_; }

  private:
    bool all_idle() const noexcept { return idle_->load(std::memory_order_relaxed) == num_present_; }
    bool may_lead() const noexcept { return leader_ == nullptr && !queue_has_ended_; }
    bool nothing_pending() const noexcept {
        for (const traversal_slot* each = first_; each != nullptr; each = each->next) {
            if (!each->found.empty()) return false;
        }
        return shared_ == nullptr || shared_->empty();
    }
    void works() noexcept { idle_->fetch_sub(1, std::memory_order_relaxed); }
    void is_absent(traversal_slot& s) noexcept {
        if (s.is_present) --num_present_;
        s.is_present = false;
        if (leader_ != &s) return;
        leader_ = nullptr;
        is_taking_ = false;
    }
    void settle() noexcept { over_ = over_ || (queue_has_ended_ && all_idle() && nothing_pending()); }

    count* idle_;
    const pending_items* shared_;
    traversal_slot* first_ = nullptr;
    traversal_slot* leader_ = nullptr;  // takes from the queue, will look whether it has to, or has a mark
    bool is_taking_ = false;            // it waits at the queue, or begins to, and may be called off
    std::size_t num_present_ = 0;
    std::size_t num_waiting_ = 0;  // of those who are idle, without the leader
    std::size_t num_calls_ = 0;    // so many of them are to take a pending item
    bool queue_has_ended_ = false;
    bool over_ = false;
};

}  // namespace weir::detail

#endif
