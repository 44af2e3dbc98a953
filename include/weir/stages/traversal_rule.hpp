// weir stages, internal: the pending items of a traversal, and which of its slots waits, for what
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_RULE_HPP
#define WEIR_STAGES_TRAVERSAL_RULE_HPP

#include <weir/channel/item_storage.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard

namespace weir::detail {

// A deque of items. Its slot takes the newest one, as depth-first search does; a slot that has none takes the
// oldest one, which is the root of the largest subtree as a rule (Blumofe and Leiserson, Scheduling
// Multithreaded Computations by Work Stealing, JACM 1999).
class pending_items {
  public:
    using counter = standard_platform::atomic<std::uint64_t>;

    explicit pending_items(const item_type& type) noexcept : type_(type), items_(type) {}
    pending_items(const pending_items&) = delete;
    pending_items& operator=(const pending_items&) = delete;
    ~pending_items() { destroy_items(items_, type_, first_, last_); }

    // Moves the item in. Throws only std::bad_alloc and memory_shortage; the item stays as it was then.
    void push(void* item) {
        const std::lock_guard guard(lock_);
        if (size() == items_.places()) grow();
        type_.move(item, items_[last_++]);
    }

    // Moves an item to where nothing is constructed, and numbers it by `taken`, which counts what all deques
    // of the stage gave. False: there is none.
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
    // Gives the oldest item for one that comes from elsewhere and goes to the end. False: there is none; the
    // other item stays where it is, and has the number. Throws as `push`.
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
    // relaxed: a number; the lock orders those whose order counts
    static std::uint64_t next_of(counter& taken) noexcept {
        return taken.fetch_add(1, std::memory_order_relaxed);
    }

    bool empty() const noexcept {
        const std::lock_guard guard(lock_);
        return size() == 0;
    }
    // Returns how many were destroyed.
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
