// weir channel, internal: what a channel does whatever its items are: lock, lines of waiters, clock, figures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_CORE_HPP
#define WEIR_CHANNEL_CHANNEL_CORE_HPP

#include <weir/channel/byte_budget.hpp>
#include <weir/channel/channel_clock.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/channel_meter.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir::detail {

// A slot of a stage whose queues have this policy.
template <class Policy>
using slot_of = std::conditional_t<Policy::statistics, timed_slot<keeps_histograms<Policy>>, slot>;

// Each end has a lock (M. Michael, M. Scott, the two-lock queue of "Simple, fast, and practical
// non-blocking and blocking concurrent queue algorithms", PODC 1996; here with a ring). An operation
// that concerns its own end only takes that one: so a thread that puts and one that gets don't meet
// but at the items. Whatever changes something else (who waits, whether the channel is closed or, if
// that is measured, empty) takes both, first the one for putting; either is enough to look at it. Items
// are added and taken by `channel<T>`; here is who waits, and since when.
//
// ns an item on one worker, 1 to 1, at capacity 1 / 64: one spin lock 40 / 28; the same reserved
// (biased_lock.hpp) 22 / 12; an end each 22 / 9. Three stages of 500 ns on two workers (ideal 750): one
// lock 917, an end each 850.
template <class Policy>
class channel_core : public wait_site {
    static_assert(policy_like<Policy>,
                  "weir: what measures a channel or a run, or doesn't, is a policy, and this is none: "
                  "weir::measured, weir::summed or weir::unmeasured");

  public:
    using platform = typename Policy::platform;
    using waiter = basic_waiter<platform>;
    using parker = basic_parker<platform>;
    using put_guard = typename channel_end<platform, 0>::lock_type::guard;
    using get_guard = typename channel_end<platform, 1>::lock_type::guard;
    using slot_type = slot_of<Policy>;
    enum class side : bool { put, get };

    // Holds both locks, and leaves word for those who will hold only one.
    class [[nodiscard]] both_ends {
      public:
        explicit both_ends(const channel_core& core) noexcept
            : core_(core), put_(core.put_end_.lock), get_(core.get_end_.lock) {}
        // For a thread that knows its record.
        WEIR_ALWAYS_INLINE both_ends(const channel_core& core, basic_thread_record<platform>* me) noexcept
            : core_(core), put_(core.put_end_.lock, me), get_(core.get_end_.lock, me) {}
        both_ends(const both_ends&) = delete;
        both_ends& operator=(const both_ends&) = delete;
        WEIR_ALWAYS_INLINE ~both_ends() { core_.leave_word(); }

      private:
        const channel_core& core_;
        put_guard put_;
        get_guard get_;
    };

    void look(place_seen& seen) const override {
        const both_ends held(*this);
        seen.place = this;
        seen.channel = &name_;
        seen.size = size();
        seen.capacity = capacity_;
        seen.closed = closed_;
        for (const side line : {side::put, side::get}) {
            const bool puts = line == side::put;
            const waiter* w = (puts ? putters_ : getters_).front();
            for (; w != nullptr; w = w->next) {
                seen.waiting.push_back({w->wait, puts ? wait_kind::put : wait_kind::get,
                                        puts ? "to put into channel" : "to get from channel",
                                        w->measured != nullptr ? w->measured : w->work_of,
                                        w->measured == nullptr, w->thread != nullptr, w->has_limit});
            }
        }
    }

    std::uint64_t moved() const noexcept override {
        return put_end_.count.load(std::memory_order_relaxed) +
               get_end_.count.load(std::memory_order_relaxed);
    }

    // An operation asked to stop: wakes it if it still waits. If it was answered already, that
    // stands: nothing is lost. If it does not wait yet, it won't.
    void stop(waiter& w, side line) noexcept {
        {
            const both_ends held(*this);
            if (!w.linked) {
                w.stop_seen = true;
                return;
            }
            take_out(w, line, outcome::stopped, reading(nullptr));
        }
        wake(w);
    }

    // A slot that was marked as recalled need not wait for an item any longer.
    void recall(const slot& who) noexcept {
        waiter* found = nullptr;
        {
            const both_ends held(*this);
            found = getters_.front();
            while (found != nullptr && found->measured != &who) found = found->next;
            if (found == nullptr) return;
            take_out(*found, side::get, outcome::stopped, reading(nullptr));
        }
        wake(*found);
    }

    // A frame is destroyed, or a thread gives up, while it may still wait: true if it was still in
    // the line.
    bool forget(waiter& w, side line) noexcept {
        const both_ends held(*this);
        if (!w.linked) return false;
        take_out(w, line, outcome::timed_out, reading(nullptr));
        return true;
    }

    // The last thing done to a waiter that was taken out of its line.
    static void wake(waiter& w) noexcept {
        if (w.thread != nullptr) {
            w.thread->set();
        } else {
            executor* const home = w.home;
            home->post(w.coroutine);
        }
    }

    WEIR_ALWAYS_INLINE static void wake_all(wake_list<platform>& list) noexcept {
        while (!list.empty()) wake(*list.pop());
        if (list.budget != nullptr) list.budget->has_room();
    }

    // Under both locks: a coroutine of `home` begins to wait. The first executor that wants to names the
    // channel's waiters in its reports; where the channel was given no clock, it uses the first's.
    WEIR_ALWAYS_INLINE void wait_in_line(waiter& w, side line, executor& home) noexcept {
        if (!is_registered() && !home.traits().passing) watch(*this, home);
        bind(home);
        put_in(w, line, reading(w.measured));
    }

    // Whether the operation after the first `count` at its end is one too many that doesn't wait. A
    // coroutine that always finds its channels ready would keep its worker from all others: once in
    // so many operations, and for a slot after so long since it last got its thread, it goes to the
    // end of its executor's queue instead.
    static bool uses_up_turn(side line, std::uint64_t count, const slot* measured) noexcept {
        // The ends take turns, for a coroutine that puts and gets.
        constexpr std::uint64_t most_without_waiting = 127;
        const std::uint64_t turn = line == side::put ? most_without_waiting / 2 : 0;
        if (ends_every_turn<Policy>) return true;
        if ((count + turn) % most_without_waiting == most_without_waiting - 1) return true;
        if constexpr (!Policy::statistics) return false;
        constexpr std::int64_t longest_turn = 1'000'000;  // ns
        return measured != nullptr && add_way(0, measured->last_resumed(), measured->mark) > longest_turn;
    }

    // Under the lock of the end: whether an operation there needs the other one, too. Under no lock: a
    // hint.
    bool put_takes_both() const noexcept { return put_takes_both_.load(std::memory_order_relaxed); }
    bool get_takes_both() const noexcept { return get_takes_both_.load(std::memory_order_relaxed); }

    // How many operations have been done at an end; under its lock.
    std::uint64_t count_at(side line) const noexcept {
        return (line == side::put ? put_end_.count : get_end_.count).load(std::memory_order_relaxed);
    }

    // An operation is done, and its coroutine is about to be posted all the same.
    void turn_ends(waiter& w) const noexcept {
        if constexpr (Policy::statistics) {
            if (w.measured != nullptr) {
                w.measured->enter(slot_state::runnable, w.measured->mark);
            } else if (w.work_of != nullptr) {
                w.ready = clock_of(*w.work_of);
            }
        }
    }

    // Its bytes count for a whole run, too. Before it is used.
    // `sources`: those whose items come through here.
    void set_budget(byte_budget* budget, std::uint64_t sources = 0) noexcept {
        const both_ends held(*this);
        bytes_.budget = budget;
        bytes_.sources = sources;
    }
    std::uint64_t sources() const noexcept { return bytes_.sources; }

    // Measures from now on, which is the beginning of the run that it belongs to.
    void start_measuring(std::int64_t now) noexcept {
        if constexpr (Policy::statistics) {
            const both_ends held(*this);
            meter_.start(now);
        }
    }

    // The same for a thread, which may be that of a coroutine. Returns the executor that it may have to
    // run meanwhile, if any.
    executor* wait_in_line(waiter& w, side line) noexcept {
        if (executor* const here = current_executor()) bind(*here);
        executor* const clock = clock_.owner();
        if (clock != nullptr && !is_registered() && !clock->traits().exclusive) watch(*this, *clock);
        put_in(w, line, reading(nullptr));
        return clock;
    }

  protected:
    mutable channel_end<platform, 0> put_end_;
    mutable channel_end<platform, 1> get_end_;

    channel_core(std::size_t capacity, executor* clock, std::string name)
        : capacity_(capacity), clock_(clock), name_(std::move(name)) {
        check(capacity);
        if (clock != nullptr && clock->traits().exclusive) {
            put_end_.lock.reserve();
            get_end_.lock.reserve();
        }
        if constexpr (Policy::statistics) {
            if (clock_.bound()) meter_.start(reading(nullptr));
        }
    }
    ~channel_core() = default;

    static void check(std::size_t capacity) {
        if (capacity != 0 && !was_negative(capacity)) return;
        throw std::invalid_argument(
            capacity == 0 ? "weir: a channel of capacity 0 could never take an item; give it 1 or more"
                          : "weir: a channel's capacity was negative; give it 1 or more");
    }

    // The instant of what happens now: a slot's last reading of the clock, which is as old as the
    // few instructions since the end of its invocation; else a reading of its own.
    std::int64_t reading(const slot* measured) const noexcept {
        if constexpr (Policy::statistics) {
            return measured != nullptr ? measured->mark : clock_.now();
        } else {
            return 0;
        }
    }

    // A channel that was built without a clock measures by that of the first coroutine that needs
    // it, from then on; not by the object where that may be gone before the channel.
    void bind(executor& ex) noexcept {
        if (!clock_.bind(ex)) return;
        if constexpr (Policy::statistics) {
            meter_.start(reading(nullptr));
        }
    }

    // An operation begins to wait.
    void put_in(waiter& w, side line, std::int64_t now) noexcept {
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

    // A wait ends. Slot and channel get the same instants, so their sums agree.
    // `counts`: false for a mark, whose wait is no operation's.
    void take_out(waiter& w, side line, detail::outcome how, std::int64_t now,
                  [[maybe_unused]] bool counts = true) noexcept {
        line_of(line).remove(w);
        w.outcome = how;
        if constexpr (Policy::statistics) {
            w.ready = meter_.settle(now);
            --side_of(line).waiting;
            if (how == outcome::done && counts && meter_.started()) {
                // A thread may have begun to wait before there was a clock.
                side_of(line).waits.record(time_between(larger(w.since, meter_.begin()), w.ready));
            }
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, w.ready);
        }
    }

    // The first item comes, or the last one goes, without anybody waiting for it.
    void now_empty([[maybe_unused]] bool empty, [[maybe_unused]] const slot* measured) noexcept {
        if constexpr (Policy::statistics) {
            if (!clock_.bound()) {
                if (executor* const here = current_executor()) bind(*here);
            } else {
                meter_.settle(reading(measured));
            }
            meter_.set_empty(empty);
        }
    }

    void fill(channel_stats& s, [[maybe_unused]] std::int64_t now) noexcept {
        s.capacity = capacity_;
        s.num_put = put_end_.count.load(std::memory_order_relaxed) - put_marks_;
        s.num_get = get_end_.count.load(std::memory_order_relaxed) - discarded_ - get_marks_;
        s.size = size() - static_cast<std::size_t>(put_marks_ - get_marks_);
        s.bytes = bytes_.bytes;
        s.max_bytes = bytes_.most;
        if constexpr (Policy::statistics) {
            // With the lock held, so that they agree with the counts.
            s.put_waits = with_the_rest(histogram(meter_.puts.waits), s.num_put);
            s.get_waits = with_the_rest(histogram(meter_.gets.waits), s.num_get);
            if (!meter_.started()) return;
            meter_.settle(now);
            s.elapsed = duration(meter_.elapsed());
            s.empty = duration(meter_.empty());
            s.put_wait = duration(meter_.puts.wait);
            s.get_wait = duration(meter_.gets.wait);
            s.put_blocked = duration(meter_.puts.blocked());
            s.get_blocked = duration(meter_.gets.blocked());
        }
    }

    // A mark was handed over.
    void count_mark() noexcept {
        ++put_marks_;
        ++get_marks_;
    }
    // All that are inside are taken out, and don't count as got.
    void discard(std::uint64_t items) noexcept {
        discarded_ += items - (put_marks_ - get_marks_);
        get_marks_ = put_marks_;
    }

    std::size_t size() const noexcept {
        return static_cast<std::size_t>(put_end_.count.load(std::memory_order_relaxed) -
                                        get_end_.count.load(std::memory_order_relaxed));
    }

    // Written under both locks; what follows from the rest for an operation that holds one.
    mutable typename platform::template atomic<bool> put_takes_both_{Policy::statistics};
    mutable typename platform::template atomic<bool> get_takes_both_{false};
    bool closed_ = false;
    std::size_t capacity_;
    waiter_line<platform> putters_;
    waiter_line<platform> getters_;
    channel_clock<platform> clock_;
    std::uint64_t waits_ = 0;             // how many operations have begun to wait
    std::uint64_t discarded_ = 0;  // items that were cancelled; at the end for getting, they have passed
    // How many of the items were none, but marks (channel/epoch_item.hpp). Each under the lock of its end.
    std::uint64_t put_marks_ = 0;
    std::uint64_t get_marks_ = 0;
    byte_gauge bytes_;  // under both locks
    std::conditional_t<Policy::statistics, channel_meter<platform, keeps_histograms<Policy>>, no_meter>
        meter_;
    const std::string name_;

  private:
    // Relaxed: both are read under a lock that is held here; where they aren't, as a hint.
    WEIR_ALWAYS_INLINE void leave_word() const noexcept {
        const bool put_both =
            closed_ || bytes_.counts() || !getters_.empty() || (Policy::statistics && size() == 0);
        put_takes_both_.store(put_both, std::memory_order_relaxed);
        get_takes_both_.store(bytes_.counts() || !putters_.empty(), std::memory_order_relaxed);
    }

    waiter_line<platform>& line_of(side line) noexcept { return line == side::put ? putters_ : getters_; }
    auto& side_of(side line) noexcept { return line == side::put ? meter_.puts : meter_.gets; }

    // Operations that didn't wait are not recorded one by one: they waited 0.
    static histogram with_the_rest(histogram h, std::uint64_t operations) noexcept {
        if (operations <= h.count()) return h;
        const std::uint64_t rest = operations - h.count();
        if constexpr (keeps_histograms<Policy>) {
            h.record(duration(0), rest);
        } else {
            h += histogram::without_quantiles(rest, duration(0), duration(0));
        }
        return h;
    }
};

WEIR_COMPILED(class channel_core<measured>);
WEIR_COMPILED(class channel_core<summed>);

}  // namespace weir::detail

#endif
