// weir stages, internal: the rule by which the idle slots of a traversal wait
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
#include <utility>  // for std::exchange

namespace weir::detail {

// A slot of a traversal, with its pending items: those that its function has added and that no slot has
// taken. With a deque that all slots share, no slot has pending items of its own.
class traversal_slot {
  public:
    traversal_slot(const item_type& type, const slot& me) noexcept : pending(type), worker_slot(&me) {}
    traversal_slot(const traversal_slot&) = delete;
    traversal_slot& operator=(const traversal_slot&) = delete;

    pending_items pending;
    const slot* const worker_slot;  // its slot in the run, which has the flag `recalled`
    // The rest is guarded by the lock of the queue in which idle slots wait.
    bool is_present = false;         // in service: has begun, and is within the concurrency of the stage
    bool has_mark = false;           // has taken an end-of-epoch mark; puts it when all other slots are idle
    bool is_listed = false;          // the slot is in the rule's ring of slots
    traversal_slot* next = nullptr;  // in the ring of slots
    traversal_slot* previous = nullptr;  // likewise

    // For `wake_one`: ends the leader's wait for an item of the queue before the stage. If the slot does not
    // wait yet, its next wait ends at once. `clear_cancel` withdraws the request.
    virtual void cancel_wait() noexcept = 0;
    virtual void clear_cancel() noexcept = 0;

  protected:
    ~traversal_slot() = default;
};

// The next step of a slot that has found no pending item: to search again, to take from the queue before the
// stage, to wait, or to end.
enum class idle_step : std::uint8_t { search, lead, wait, end };

// A slot that finds no pending item is idle. One idle slot at a time, the leader, takes from the queue before
// the stage; the others wait until an item is added or the leader has got an item. A leader that takes an
// end-of-epoch mark (the message at the end of a pass over the data) takes nothing more until the mark has
// left the stage. The stage ends when the queue has ended, all slots are idle and no item is pending: only a
// slot that is not idle adds items.
// Invariant: while an item is pending, at least one slot is sure to look for items: a slot in service that is
// not idle, or a waiting slot that has a wake-up. Both look before they become idle, and leave service only
// if another slot is sure to look. The leader does not count: with a mark, the leader takes no item, and a
// mark may come before `wake_one` ends its wait.
class traversal_rule {
  public:
    using ticket = traversal_slot*;
    using count = standard_platform::atomic<std::size_t>;

    // `idle`: the number of idle slots, which `traversal::add` reads without the lock. `items`: the deques
    // change these counts without the lock.
    traversal_rule(count& idle, const item_counts& items) noexcept : idle_(&idle), items_(&items) {}

    // Whether a waiting slot may go on. A slot with a mark goes on when all slots are idle and no item is
    // pending. Another slot goes on if the slot is `recalled` (has to go out of service), if a wake-up is
    // left, or if the slot can become the leader. `refused`: the stage has ended. `judge` changes nothing;
    // `ask` also records that the slot goes on. relaxed: `recalled` is set before `recall_idle` takes the
    // lock.
    admission judge(ticket t) const noexcept {
        if (has_ended_) return admission::refused;
        if (t->has_mark) return all_idle() && nothing_pending() ? admission::go : admission::wait;
        const bool recalled = t->worker_slot->recalled.load(std::memory_order_relaxed);
        return recalled || num_wakeups_ > 0 || may_lead() ? admission::go : admission::wait;
    }
    admission ask(ticket t) noexcept {
        const admission answer = judge(t);
        if (answer != admission::go) return answer;
        leave_idle();
        if (t->has_mark) return answer;
        --num_waiting_;
        if (num_wakeups_ > 0) {  // never more wake-ups than slots that wait
            --num_wakeups_;
        } else if (may_lead() && !t->worker_slot->recalled.load(std::memory_order_relaxed)) {
            leader_ = t;
        }
        return answer;
    }

    // Whether the rule may admit or refuse a waiting slot now. Ignores that slots may be `recalled`:
    // `recall_idle` has the rule asked for every waiting slot.
    bool may_answer() const noexcept {
        if (has_ended_ || num_wakeups_ > 0 || may_lead()) return true;
        return leader_ != nullptr && leader_->has_mark && all_idle() && nothing_pending();
    }

    // Counts the slot as present, and lists it. Called when the slot begins, or comes back into service.
    void enter(traversal_slot& s) noexcept {
        if (s.is_present) return;
        s.is_present = true;
        ++num_present_;
        if (std::exchange(s.is_listed, true)) return;
        if (any_ == nullptr) any_ = s.previous = &s;
        s.next = any_;
        s.previous = any_->previous;
        s.previous->next = any_->previous = &s;
    }
    // A slot that is not idle goes out of service: other slots take its pending items. Returns false if the
    // slot has to stay, as an item is pending, and no other slot is certain to take the item.
    bool leave(traversal_slot& s) noexcept {
        if (!nothing_pending()) {
            wake_one(s);  // `s` may have used up a wake-up in ask(): another slot gets one
            const bool is_last_active = num_present_ - idle_->load(std::memory_order_relaxed) == 1;
            if (is_last_active && num_wakeups_ == 0) return false;
        }
        remove(s);
        end_if_done();
        return true;
    }
    // The slot, which is not idle, has found a pending item. If the slot is the leader, it gives up the lead,
    // so that another slot can become the leader.
    void found_item(traversal_slot& s) noexcept {
        if (leader_ == &s) leader_ = nullptr;
    }
    // The worker of a slot has ended: the stage ends. Null: the slot has never begun.
    void end(traversal_slot* s) noexcept {
        has_ended_ = true;
        if (s == nullptr) return;
        remove(*s);
        if (!std::exchange(s->is_listed, false)) return;
        s->previous->next = s->next;
        s->next->previous = s->previous;
        if (any_ == s) any_ = s->next != s ? s->next : nullptr;
    }

    // Makes a slot idle that has found no pending item, and returns its next step.
    idle_step become_idle(traversal_slot& s) noexcept {
        if (has_ended_) return idle_step::end;
        // seq_cst, here and in nothing_pending(); pairs with traversal::add(): this slot sees the pending
        // item, or the slot that adds the item sees that this slot is idle
        idle_->fetch_add(1, std::memory_order_seq_cst);
        if (!nothing_pending()) {
            leave_idle();
            found_item(s);
            return idle_step::search;
        }
        if (may_lead()) leader_ = &s;
        if (leader_ == &s) {
            s.clear_cancel();
            is_taking_ = true;
            return idle_step::lead;
        }
        end_if_done();
        if (has_ended_) return idle_step::end;
        ++num_waiting_;
        return idle_step::wait;
    }
    // Called when the leader no longer waits for the queue before the stage: ends its lead, unless it has a
    // mark. `came`: the leader has taken an item or a mark. `mark`: it is an end-of-epoch mark. `ended`: the
    // queue is closed and empty.
    void leader_resumed(traversal_slot& s, bool came, bool mark, bool ended) noexcept {
        is_taking_ = false;
        if (came && mark) {
            s.has_mark = true;  // the slot remains idle and the leader
            return;
        }
        leave_idle();
        leader_ = nullptr;
        queue_has_ended_ = queue_has_ended_ || ended;
    }
    // Called when the slot's end-of-epoch mark has left the stage: another slot may become the leader.
    void mark_has_left(traversal_slot& s) noexcept {
        s.has_mark = false;
        leader_ = nullptr;
    }

    // An item was added to the deque of slot `to`, or to the shared deque, while slots were idle. Lets one
    // idle slot continue, to take the item.
    void wake_one(traversal_slot& to) noexcept {
        if (to.is_listed) any_ = &to;
        if (num_wakeups_ < num_waiting_) {
            ++num_wakeups_;
        } else if (is_taking_) {
            leader_->cancel_wait();
        }
    }

    // Takes the oldest item of another slot for slot `me`. Returns false if all deques are empty. Begins with
    // a slot that often has an item: the slot from which an item was taken last; if its deque is empty, the
    // slot that took that item; or the slot of the latest `wake_one`.
    bool take_from_others(traversal_slot& me, void* into, item_counts& all, std::uint64_t& number) noexcept {
        traversal_slot* const begin = any_;
        if (begin == nullptr) return false;
        while (!any_->pending.take_oldest(into, all, number)) {
            any_ = any_->next;
            if (any_ == begin) return false;
        }
        if (me.is_listed && any_->pending.empty()) any_ = &me;
        return true;
    }
    // Returns the `traversal_slot` of the slot `worker`; null: the slot has not begun, or has ended. Slots
    // often end in the order of the ring or in the reverse order, so the search goes both ways.
    traversal_slot* slot_of(const slot& worker) const noexcept {
        traversal_slot* up = any_;
        traversal_slot* down = any_;
        while (up != nullptr && up->worker_slot != &worker) {
            down = down->previous;
            if (down->worker_slot == &worker) return down;
            up = up->next != any_ ? up->next : nullptr;
        }
        return up;
    }

  private:
    // relaxed, here, in leave() and in leave_idle(): the number of idle slots changes only under the lock of
    // the rule
    bool all_idle() const noexcept { return idle_->load(std::memory_order_relaxed) == num_present_; }
    bool may_lead() const noexcept { return leader_ == nullptr && !queue_has_ended_; }
    bool nothing_pending() const noexcept { return items_->pending.load(std::memory_order_seq_cst) == 0; }
    void leave_idle() noexcept { idle_->fetch_sub(1, std::memory_order_relaxed); }
    // Takes the slot out of service. If it was the leader, there is none.
    void remove(traversal_slot& s) noexcept {
        if (s.is_present) --num_present_;
        s.is_present = false;
        if (leader_ != &s) return;
        leader_ = nullptr;
        is_taking_ = false;
    }
    void end_if_done() noexcept {  // ends the stage if no item can come any more
        has_ended_ = has_ended_ || (queue_has_ended_ && all_idle() && nothing_pending());
    }

    count* idle_;  // the number of idle slots
    const item_counts* items_;
    traversal_slot* any_ = nullptr;  // a slot of the ring of all slots that have begun; null: there is none
    traversal_slot* leader_ = nullptr;  // takes from the queue, was admitted to do so, or has a mark
    // The leader waits for the queue, or is about to. Only then may wake_one() end that wait: before, the
    // leader prepares its operation without the lock.
    bool is_taking_ = false;
    std::size_t num_present_ = 0;   // number of slots in service
    std::size_t num_waiting_ = 0;   // number of idle slots that wait, without the leader
    std::size_t num_wakeups_ = 0;   // number of waiting slots that are to take a pending item
    bool queue_has_ended_ = false;  // the queue before the stage is closed and empty
    bool has_ended_ = false;        // the stage has ended: all waiting slots are refused
};

}  // namespace weir::detail

#endif
