// weir stages, internal: the pending items of a traversal, and the rule by which its idle slots wait
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_RULE_HPP
#define WEIR_STAGES_TRAVERSAL_RULE_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard

namespace weir::detail {

// A deque of pending items: of one slot (worker), or, with `traverse_order::as_found`, of all slots. A slot
// takes the newest item of its own deque, as depth-first search does. A slot whose deque is empty takes the
// oldest item of another slot, usually the root of the largest subtree. (Source: Blumofe and Leiserson,
// Scheduling Multithreaded Computations by Work Stealing, JACM 1999.) From a shared deque, slots take the
// oldest item.
class pending_items {
  public:
    using counter = standard_platform::atomic<std::uint64_t>;

    explicit pending_items(const item_type& type) noexcept : type_(type), items_(type) {}
    pending_items(const pending_items&) = delete;
    pending_items& operator=(const pending_items&) = delete;
    ~pending_items() { destroy_items(items_, type_, first_, last_); }

    // Moves the item in. The item is unchanged if `push` throws, std::bad_alloc or memory_shortage.
    void push(void* item) {
        const std::lock_guard guard(lock_);
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
    }

    // Moves an item into the uninitialised memory `into`, and sets its number from `taken`, which counts all
    // items that slots of the stage have taken. Returns false if the deque is empty.
    bool take_newest(void* into, counter& taken, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(--last_, into);
        number = next_of(taken);
        return true;
    }
    bool take_oldest(void* into, counter& taken, std::uint64_t& number) noexcept {
        const std::lock_guard guard(lock_);
        if (size() == 0) return false;
        items_.take(first_++, into);
        number = next_of(taken);
        return true;
    }
    // Moves the oldest item into `into`, and `item` to the end of the deque. Returns false if the deque is
    // empty: `item` then stays where it is, and gets the number. Throws as `push` does.
    bool exchange_oldest(void* item, void* into, counter& taken, std::uint64_t& number) {
        const std::lock_guard guard(lock_);
        if (size() == 0) {
            number = next_of(taken);
            return false;
        }
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
        items_.take(first_++, into);
        number = next_of(taken);
        return true;
    }
    // relaxed: gives each item a number of its own, and orders no data. With one shared deque, the lock of
    // that deque makes the numbers follow the order of the items. With a deque for each slot, the order is
    // free.
    static std::uint64_t next_of(counter& taken) noexcept {
        return taken.fetch_add(1, std::memory_order_relaxed);
    }

    bool empty() const noexcept {
        const std::lock_guard guard(lock_);
        return size() == 0;
    }
    // Destroys all items, and returns their number.
    std::size_t clear() noexcept {
        const std::lock_guard guard(lock_);
        const std::size_t n = size();
        for (; first_ != last_; ++first_) items_.destroy(first_);
        return n;
    }

  private:
    std::size_t size() const noexcept { return number_as<std::size_t>(last_ - first_); }
    void grow() {
        ring more(type_, larger<std::size_t>(items_.places() * 2, 8));
        for (std::uint64_t i = first_; i != last_; ++i) items_.move(i, more);
        items_.swap(more);
    }

    mutable spin_lock lock_;
    const item_type& type_;
    ring items_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

// A slot of a traversal, with its pending items: those that its function has added and that no slot has
// taken. With a deque that all slots share, no slot has pending items of its own.
class traversal_slot {
  public:
    traversal_slot(const item_type& type, const slot& me) noexcept : pending(type), worker_slot(&me) {}
    traversal_slot(const traversal_slot&) = delete;
    traversal_slot& operator=(const traversal_slot&) = delete;

    pending_items pending;
    const slot* const worker_slot;
    // The rest is guarded by the lock of the traversal's wait queue.
    bool is_present = false;  // in service: has begun, and is within the concurrency of the stage
    bool has_mark = false;    // has taken an end-of-epoch mark; puts it when all other slots are idle
    traversal_slot* next = nullptr;

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
// end-of-epoch mark takes nothing more until the mark has left the stage. The stage ends when the queue has
// ended, all slots are idle and no item is pending: only a slot that is not idle adds items.
class traversal_rule {
  public:
    using ticket = traversal_slot*;
    using count = standard_platform::atomic<std::size_t>;

    // `idle`: the number of idle slots, which `traversal::add` reads without the lock. `shared`: the deque of
    // all slots, or null if each slot has its own.
    traversal_rule(count& idle, const pending_items* shared) noexcept : idle_(&idle), shared_(shared) {}

    // Whether a waiting slot may go on. A slot with a mark goes on when all slots are idle and no item is
    // pending. Another slot goes on if the slot is `recalled`, if a wake-up is left, or if the slot can
    // become the leader. `refused`: the stage has ended. `judge` changes nothing; `ask` also records that the
    // slot goes on. relaxed: `recalled` is set before `recall_idle` takes the lock.
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
        if (t->worker_slot->recalled.load(std::memory_order_relaxed)) return answer;
        if (num_wakeups_ > 0) {
            --num_wakeups_;
        } else if (may_lead()) {  // false if judge() saw the slot recalled, and it no longer is
            leader_ = t;
        }
        return answer;
    }

    // The slot begins, or comes back into service.
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
    // The slot goes out of service: other slots take its pending items.
    void leave(traversal_slot& s) noexcept {
        remove(s);
        num_wakeups_ = s.pending.empty() ? num_wakeups_ : num_waiting_;
        end_if_done();
    }
    // The worker of the slot has ended, and so has the stage.
    void end(traversal_slot* s) noexcept {
        has_ended_ = true;
        if (s == nullptr) return;  // the slot never began
        remove(*s);
        traversal_slot** place = &first_;
        while (*place != nullptr && *place != s) place = &(*place)->next;
        if (*place != nullptr) *place = s->next;
    }

    // The slot has found no pending item.
    idle_step become_idle(traversal_slot& s) noexcept {
        if (has_ended_) return idle_step::end;
        // relaxed: nothing_pending() locks each deque, so a slot that adds an item later sees the count
        idle_->fetch_add(1, std::memory_order_relaxed);
        if (!nothing_pending()) {
            leave_idle();
            if (leader_ == &s) leader_ = nullptr;
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
    // The leader has stopped waiting for the queue before the stage. `came`: it got an item, or, with `mark`,
    // an end-of-epoch mark. `ended`: the queue is closed and empty.
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
    // The end-of-epoch mark of this slot has left the stage.
    void mark_has_left(traversal_slot& s) noexcept {
        s.has_mark = false;
        leader_ = nullptr;
    }

    // An item was added while slots were idle: lets one of them take it.
    void wake_one() noexcept {
        if (num_wakeups_ < num_waiting_) {
            ++num_wakeups_;
        } else if (is_taking_) {
            leader_->cancel_wait();
        }
    }

    traversal_slot* first() const noexcept { return first_; }

  private:
    // relaxed, also in leave_idle(): the number changes only under the lock of the rule
    bool all_idle() const noexcept { return idle_->load(std::memory_order_relaxed) == num_present_; }
    bool may_lead() const noexcept { return leader_ == nullptr && !queue_has_ended_; }
    bool nothing_pending() const noexcept {
        for (const traversal_slot* each = first_; each != nullptr; each = each->next) {
            if (!each->pending.empty()) return false;
        }
        return shared_ == nullptr || shared_->empty();
    }
    void leave_idle() noexcept { idle_->fetch_sub(1, std::memory_order_relaxed); }
    void remove(traversal_slot& s) noexcept {
        if (s.is_present) --num_present_;
        s.is_present = false;
        if (leader_ != &s) return;
        leader_ = nullptr;
        is_taking_ = false;
    }
    void end_if_done() noexcept {
        has_ended_ = has_ended_ || (queue_has_ended_ && all_idle() && nothing_pending());
    }

    count* idle_;
    const pending_items* shared_;
    traversal_slot* first_ = nullptr;
    traversal_slot* leader_ = nullptr;  // takes from the queue, was admitted to do so, or has a mark
    bool is_taking_ = false;            // the leader waits for the queue, or is about to: see wake_one()
    std::size_t num_present_ = 0;
    std::size_t num_waiting_ = 0;  // number of idle slots that wait, without the leader
    std::size_t num_wakeups_ = 0;  // number of waiting slots that are to take a pending item
    bool queue_has_ended_ = false;
    bool has_ended_ = false;
};

}  // namespace weir::detail

#endif
