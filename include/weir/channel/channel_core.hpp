// weir channel, internal: the lines of waiters of a channel, and how waiters are woken
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_CORE_HPP
#define WEIR_CHANNEL_CHANNEL_CORE_HPP

#include <weir/channel/channel_accounts.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir::detail {

// The waiters of a channel of any item type. Derived classes move the items. `Policy`: what the channel
// measures: `measured`, `summed` or `unmeasured`.
template <class Policy>
class channel_core : public wait_site, public channel_accounts<Policy> {
    using ends = channel_ends<Policy>;
    using accounts = channel_accounts<Policy>;

  public:
    using typename ends::platform;
    using typename ends::record;
    using typename ends::side;
    using typename ends::waiter;
    using typename ends::whole_lock;
    using parker = basic_parker<platform>;

    // Lists the waiters, for deadlock reports.
    void inspect(site_seen& seen) const override {
        const whole_lock held(*this);
        seen.site = this;
        seen.channel = merged_name_ == nullptr ? &name_ : merged_name_.get();
        seen.size = size();
        seen.capacity = capacity_;
        seen.closed = closed_;
        for (const side line : {side::put, side::get}) {
            const bool puts = line == side::put;
            const waiter* w = (puts ? putters_ : getters_).front();
            for (; w != nullptr; w = w->next) {
                seen.waiting.push_back({w->wait, puts ? wait_kind::put : wait_kind::get,
                                        puts ? "to put" : "to get",
                                        w->measured != nullptr ? w->measured : w->work_of,
                                        w->measured == nullptr, w->thread != nullptr, w->has_limit});
            }
        }
        for (const waiter* w = early_.front(); w != nullptr; w = w->next) {
            seen.waiting.push_back(
                {w->wait, wait_kind::turn, "for its turn to give an item on", w->measured});
        }
    }

    // The number of puts and gets so far. While it changes, no deadlock is reported.
    std::uint64_t moved() const noexcept override {
        return put_end_.count.load(std::memory_order_relaxed) +
               get_end_.count.load(std::memory_order_relaxed);
    }

    // Stops an operation: wakes it if it waits. An operation that was served before keeps its outcome, so
    // that no item is lost. An operation that is not yet in line will not wait.
    void stop(waiter& w, side line) noexcept {
        {
            const whole_lock held(*this);
            if (!w.linked) {
                w.stop_seen = true;
                return;
            }
            remove_waiter(w, line, outcome::stopped, reading(nullptr));
        }
        wake(w);
    }

    // Ends the get of a slot (a worker of a stage) without an item, if the slot waits. The caller has set the
    // flag `recalled` of the slot: the slot has to put its incomplete batch, or to leave service (end), as
    // the stage is to have fewer slots.
    void recall(const slot& getter) noexcept {
        waiter* found = nullptr;
        {
            const whole_lock held(*this);
            // Searched from both ends: slots mostly leave service in the order of their numbers, or in the
            // reverse order.
            found = getters_.front();
            for (waiter* back = getters_.back(); found != nullptr; found = found->next) {
                if (found->measured == &getter) break;
                if (back->measured == &getter) {
                    found = back;
                    break;
                }
                back = back->previous;
            }
            if (found == nullptr) return;
            remove_waiter(*found, side::get, outcome::stopped, reading(nullptr));
        }
        wake(*found);
    }

    // Removes a waiter that is not to be served any more: its frame is destroyed, its thread gives up, or its
    // choice (such as a `select`) has ended. False: the waiter was not in line.
    bool forget(waiter& w, side line) noexcept {
        const whole_lock held(*this);
        if (!w.linked) return false;
        remove_waiter(w, line, outcome::timed_out, reading(nullptr));
        return true;
    }

    // Wakes the owner of a waiter that was unlinked. The owner may then destroy the waiter at any time.
    static void wake(waiter& w) noexcept {
        if (executor* const ex = w.executor) {
            detail::post_woken(*ex, std::coroutine_handle<>::from_address(w.coroutine));
        } else if (w.choice != nullptr) {
            w.choice->wake();
        } else {
            // Counted as an expensive wake-up by the calling thread (`wake_others`: its time is `overhead`)
            // even if the woken thread still spins: a spinning thread takes long to continue, too.
            ++standard_platform::num_wakes();
            w.thread->set();
        }
    }

    WEIR_ALWAYS_INLINE static void wake_all(wake_list<platform>& list) noexcept {  // under no lock
        while (!list.empty()) wake(*list.pop());
        if (list.budget != nullptr) list.budget->wake_sources();
    }

    // Called under a whole_lock: `w`, the waiter of a coroutine of `ex`, joins the line. Registers the
    // channel for deadlock reports, unless `ex` may be destroyed before the channel. A channel without a
    // clock gets that of `ex`. If waiting threads may work for the channel's executor (`consumers_help_`),
    // `ex` is told so: its thread may do that, too.
    WEIR_ALWAYS_INLINE void wait_in_line(waiter& w, side line, executor& ex) noexcept {
        if (!is_registered() && !ex.traits().passing) register_site(*this, ex);
        if (!clock_.bound()) bind(ex);
        if (consumers_help_ && line == side::get && clock_.owner() != &ex) ex.waits_for(*clock_.owner());
        add_waiter(w, line, reading(w.measured));
    }

    // Sets the slot's state to runnable: the operation is done, and the coroutine yields, by a post.
    static void record_yield(waiter& w) noexcept {
        if constexpr (Policy::statistics) {
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, reading_of(*w.measured));
        }
    }

    // The waiter `w` of a thread joins the line. If the thread runs a coroutine, a channel without a clock
    // gets the clock of that coroutine's executor. Returns the executor of the channel's clock, which the
    // thread may have to run meanwhile; null: none. Registers the channel for deadlock reports, except on
    // an `exclusive` executor (virtual time).
    executor* wait_in_line(waiter& w, side line) noexcept {
        if (executor* const here = current_executor()) bind(*here);
        executor* const clock = clock_.owner();
        if (clock != nullptr && !is_registered() && !clock->traits().exclusive) register_site(*this, *clock);
        add_waiter(w, line, reading(nullptr));
        return clock;
    }

    // Returns a different number at each call. A choice (choice.hpp) calls this function of its first
    // channel: the number decides which operation is tried first.
    std::uint64_t next_choice_number() noexcept {
        return choices_.fetch_add(1, std::memory_order_relaxed);  // relaxed: orders nothing
    }

  protected:
    using accounts::bind;
    using accounts::clock_;
    using accounts::meter_;
    using accounts::reading;
    using accounts::reading_of;
    using ends::bytes_;
    using ends::capacity_;
    using ends::closed_;
    using ends::early_;
    using ends::get_end_;
    using ends::getters_;
    using ends::order_;
    using ends::put_end_;
    using ends::putters_;
    using ends::size;

    channel_core(std::size_t capacity, executor* clock, std::string name)
        : accounts(capacity, clock), name_(std::move(name)) {
        if (clock != nullptr && clock->traits().exclusive) {  // virtual time: used mostly by this thread
            put_end_.lock.reserve();
            get_end_.lock.reserve();
        }
    }
    ~channel_core() = default;

    // An operation begins to wait: adds the waiter to its line (an early put to `early_`), and records when.
    void add_waiter(waiter& w, side line, std::int64_t now) noexcept {
        if (line == side::put && is_early(w)) return add_early(w, now);
        line_of(line).push(w);
        w.wait = ++waits_;
        if constexpr (Policy::statistics) {
            w.since = meter_.settle(now);
            ++side_of(line).waiting;
            if (w.measured != nullptr) {
                w.measured->enter(line == side::put ? slot_state::wait_put : slot_state::wait_get, w.since);
            }
        }
    }

    // A wait ends: removes the waiter from its line, and sets the outcome. Slot and channel record the same
    // instants, so that their sums agree. For an early put, calls `remove_early`.
    // `counts`: false if the wait moved a mark of the end of an epoch (a pass over the data), which does not
    // count as an operation.
    void remove_waiter(waiter& w, side line, detail::outcome result, std::int64_t now,
                       [[maybe_unused]] bool counts = true) noexcept {
        if (line == side::put && is_early(w)) return remove_early(w, result, now);
        line_of(line).remove(w);
        w.outcome = result;
        if constexpr (Policy::statistics) {
            w.ready = meter_.settle(now);
            --side_of(line).waiting;
            if (result == outcome::done && counts && meter_.started()) {
                // A thread may have begun to wait before the channel had a clock.
                meter_.record_wait(side_of(line), time_between(larger(w.since, meter_.begin()), w.ready));
            }
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, w.ready);
        }
    }

    // Ends the wait of an early put, for which a put with a lower number is missing. The slot was in state
    // `wait_turn`; the statistics of the channel do not count the wait.
    void remove_early(waiter& w, detail::outcome result, [[maybe_unused]] std::int64_t now) noexcept {
        early_.remove(w);
        w.outcome = result;
        if constexpr (Policy::statistics) {
            w.ready = now;
            w.measured->enter(slot_state::runnable, now);
        }
    }
    // The turn of an early put (see `is_early`) has come without room: the put joins the line of waiting
    // puts.
    void wait_for_room(waiter& w, std::int64_t now) noexcept {
        early_.remove(w);
        add_waiter(w, side::put, now);
    }

    // Whether `w` may be served. If `w` belongs to a choice (a `select`), claims the choice. False: the
    // choice was claimed before, by another operation, a stop or the time limit; `w` has left the line.
    bool claim_waiter(waiter& w, side line) noexcept {
        if (w.choice == nullptr || w.choice->claim(&w)) return true;
        remove_waiter(w, line, outcome::stopped, reading(nullptr));
        return false;
    }
    // The first waiter that may be served; null: none.
    WEIR_ALWAYS_INLINE waiter* claim_first_waiter(side line) noexcept {
        waiter* w = line_of(line).front();
        while (w != nullptr && !claim_waiter(*w, line)) w = line_of(line).front();
        return w;
    }

    std::uint64_t waits_ = 0;      // the number of waits that have begun
    bool consumers_help_ = false;  // waiting threads run the executor: `any_channel::let_consumers_help`
    std::string name_;             // set before the channel is used
    // The name in reports if the last stage of a pipeline (the sink) was merged with this queue; else null.
    owned<const std::string> merged_name_;

  private:
    // Whether the put waits for its turn, in `early_`: a put with a lower number is missing.
    bool is_early(const waiter& w) const noexcept { return order_ != nullptr && w.number != order_->next(); }
    void add_early(waiter& w, [[maybe_unused]] std::int64_t now) noexcept {
        // Searched from both ends: behind a slow item, the puts mostly come in the order of their numbers.
        waiter* behind = early_.front();  // `w` is inserted in front of it; null: at the end
        waiter* before = early_.back();
        for (; behind != nullptr && behind->number < w.number; before = before->previous) {
            if (before->number < w.number) {
                behind = before->next;
                break;
            }
            behind = behind->next;
        }
        early_.insert(w, behind);
        w.wait = ++waits_;
        if constexpr (Policy::statistics) w.measured->enter(slot_state::wait_turn, now);
    }

    waiter_line<waiter>& line_of(side line) noexcept { return line == side::put ? putters_ : getters_; }
    typename platform::template atomic<std::uint64_t> choices_{0};  // for next_choice_number()

    auto& side_of(side line) noexcept { return line == side::put ? meter_.puts : meter_.gets; }
};

WEIR_COMPILED(class channel_core<measured>);
WEIR_COMPILED(class channel_core<summed>);

}  // namespace weir::detail

#endif
