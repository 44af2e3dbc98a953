// weir channel, internal: the two ends of a channel, their locks, and the order of puts that have numbers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_END_HPP
#define WEIR_CHANNEL_CHANNEL_END_HPP

#include <weir/channel/item_size.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/thread_record.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint64_t
#include <vector>   // for std::vector

namespace weir::detail {

// A coroutine whose channels are always ready would keep its thread for ever. So its time is cut into slices:
// a slice ends after a number of operations at an end of a channel; for a slot (a worker of a stage), also
// after some time. At the end of a slice the coroutine yields: it goes to the end of its executor's queue.

// After `count` operations at an end: the number of operations before the next one that ends a slice. Gets
// end slices 64 operations after puts.
constexpr std::uint64_t operations_left_in_slice(bool puts, std::uint64_t count) noexcept {
    constexpr std::uint64_t slice_length = 128;
    return (slice_length / (puts ? 2 : 1) - 1 - count) % slice_length;
}

// Whether the operation after `count` operations at an end ends a slice. `measured`: its slot; null: none.
// `ends_every_turn`: the policy of a simulation, in which each operation yields.
template <class Policy>
WEIR_ALWAYS_INLINE bool is_end_of_slice(bool puts, std::uint64_t count, const slot* measured) noexcept {
    if (ends_every_turn<Policy> || operations_left_in_slice(puts, count) == 0) return true;
    return Policy::statistics && measured != nullptr && measured->has_used_time_slice();
}
// Whether this operation needs `await_suspend`: it ends a slice, or puts an item that a trace follows.
template <class Policy>
WEIR_ALWAYS_INLINE bool needs_suspend(bool puts, std::uint64_t count, const slot* measured) noexcept {
    if (!puts) return is_end_of_slice<Policy>(puts, count, measured);
    if (ends_every_turn<Policy> || operations_left_in_slice(puts, count) == 0) return true;
    return Policy::statistics && measured != nullptr && measured->needs_slow_path();
}

// The state of a channel with numbered puts, for a stage that preserves the order of its input: item `n`
// goes in after item `n - 1`. An item is early if a put with a lower number is missing. An early item is
// stored in the ring of the channel, where no get sees the item yet; its index in the ring is the next free
// index plus `number - next()`. When its turn has come, the item becomes visible to gets in its place. A
// stage may drop an item: then the place of its number holds nothing, and the channel moves the items behind
// that place forward. (Rings whose places are claimed by number and published in order: M. Thompson et al.,
// "Disruptor", LMAX 2011; the buffer of a serial filter in oneTBB's parallel_pipeline.)
//
// This class holds the numbers and the state of each place; the channel holds the items. Guarded by the put
// lock; `block`, `set_window` and `resize` by the put lock and the get lock.
class put_order {
  public:
    enum class place : std::uint8_t { empty, item, nothing };  // `nothing`: of a dropped item

    // `window`: how many places, from the place of `next()` on, may be filled. `places`: the number of places
    // in the ring, a power of two.
    put_order(std::size_t window, std::size_t places) : window_(window), places_(places) {}

    std::uint64_t next() const noexcept { return next_; }
    bool is_within_window(std::uint64_t number) const noexcept { return number - next_ < window_; }
    bool refuses(std::uint64_t number) const noexcept { return number > blocked_; }
    bool has_early() const noexcept { return filled_ != 0; }
    place at(std::uint64_t number) const noexcept { return places_[position(number)]; }
    bool is_next_filled() const noexcept {  // and so `pass_early` may be called
        return filled_ != 0 && next_ <= blocked_ && at(next_) != place::empty;
    }

    void fill(std::uint64_t number, bool with_item) noexcept {  // `with_item` false: the item was dropped
        places_[position(number)] = with_item ? place::item : place::nothing;
        ++filled_;
    }
    // Advances to the next number, past a place that is empty.
    void pass() noexcept { ++next_; }
    // Advances past a filled place, and empties it. Returns true if the place held an item.
    bool pass_early() noexcept {
        place& mine = places_[position(next_++)];
        const bool is_item = mine == place::item;
        mine = place::empty;
        --filled_;
        return is_item;
    }
    // No number above `last` goes in any more: the stage ends at that item.
    void block(std::uint64_t last) noexcept { blocked_ = smaller(blocked_, last); }

    // Calls `function(number)` for each early item, in the order of the numbers.
    template <class Function>
    void each_item(Function function) const {
        std::uint64_t number = next_;
        for (std::size_t left = filled_; left != 0; ++number) {
            const place seen = at(number);
            if (seen == place::empty) continue;
            --left;
            if (seen == place::item) function(number);
        }
    }
    // Marks all places as empty. Destroys no item.
    void clear() noexcept {
        places_.assign(places_.size(), place::empty);
        filled_ = 0;
    }

    void set_window(std::size_t window) noexcept { window_ = window; }
    // Called when the ring gets more places: copies the states to `more`, all `empty` before, and swaps.
    void resize(std::vector<place>& more) noexcept {
        for (std::uint64_t number = next_; number != next_ + places_.size(); ++number) {
            more[number_as<std::size_t>(number) & (more.size() - 1)] = at(number);
        }
        places_.swap(more);
    }

  private:
    std::size_t position(std::uint64_t number) const noexcept {
        return number_as<std::size_t>(number) & (places_.size() - 1);
    }

    std::uint64_t next_ = 0;              // the number of the put whose turn it is
    std::uint64_t blocked_ = UINT64_MAX;  // numbers above this one are refused
    std::size_t window_;                  // see the constructor
    std::size_t filled_ = 0;              // the number of places that are not `empty`
    std::vector<place> places_;           // the state of number `n`: at `position(n)`
};

// One of the two ends of a channel, for putting or for getting. Each end has its own cache line: a putting
// and a getting thread share a line only when one reads the count of the other.
template <class Platform, int Level>
struct alignas(64) channel_end {
    // Cheap for the thread that mostly takes it. A thread may hold locks of different `Level` at once.
    using lock_type = basic_biased_lock<Platform, Level>;
    lock_type lock;
    // The number of items that have passed this end. Written under the lock, with release, when the item is
    // in its place or out of it; read by the other end with acquire. (Relaxed is enough under both locks.)
    typename Platform::template atomic<std::uint64_t> count{0};
    std::uint64_t seen = 0;  // the count of the other end when it was last read: a lower bound
};

// The two ends of a channel, with a lock each (M. Michael, M. Scott, the two-lock queue of "Simple, fast, and
// practical non-blocking and blocking concurrent queue algorithms", PODC 1996; here with a ring). An
// operation that concerns only one end takes the lock of that end. Other changes take both locks, first the
// one for putting: changes of the lines of waiters, of whether the channel is closed and, if measured, of
// whether it is empty. Either lock is enough to read these.
//
// A channel of capacity 1 or 2, or merged with the last stage (the sink) and its queue, has one lock: the
// lock for putting guards both ends. In such a channel most operations concern both ends (bench/results.md).
template <class Policy>
class channel_ends {
  public:
    using platform = typename Policy::platform;
    using waiter = basic_waiter<platform>;
    using record = basic_thread_record<platform>;
    using put_guard = typename channel_end<platform, 0>::lock_type::guard;
    enum class side : bool { put, get };  // the end for putting, or that for getting

    // Locks both ends. Before it unlocks them, updates `put_needs_both_` and `get_needs_both_`.
    class [[nodiscard]] whole_lock {
      public:
        // `ends_apart`: takes both locks even if one is enough. For a caller that changes `one_lock_`.
        explicit whole_lock(const channel_ends& core, bool ends_apart = false) noexcept
            : whole_lock(core, record::mine(), ends_apart) {}
        // `me`: the record of the calling thread, which a biased lock needs; null: the thread has none.
        WEIR_ALWAYS_INLINE whole_lock(const channel_ends& core, record* me, bool ends_apart = false) noexcept
            : core_(core), put_owner_(core.put_end_.lock.enter(me)),
              two_locks_(ends_apart || !core.has_one_lock()),
              get_owner_(two_locks_ ? core.get_end_.lock.enter(me) : nullptr) {}
        whole_lock(const whole_lock&) = delete;
        whole_lock& operator=(const whole_lock&) = delete;
        WEIR_ALWAYS_INLINE ~whole_lock() {
            core_.update_hints();
            if (two_locks_) core_.get_end_.lock.leave(get_owner_);
            core_.put_end_.lock.leave(put_owner_);
        }

      private:
        const channel_ends& core_;
        record* const put_owner_;  // the results of `enter`, for `leave`
        const bool two_locks_;
        record* const get_owner_;
    };

    // Locks the end for getting, or both ends if they share a lock.
    class [[nodiscard]] get_guard {
      public:
        explicit get_guard(const channel_ends& core) noexcept
            : core_(core), one_lock_(core.has_one_lock()),
              owner_(one_lock_ ? core.put_end_.lock.enter() : core.get_end_.lock.enter()) {}
        // `me`: the record of the calling thread, which a biased lock needs; null: the thread has none.
        WEIR_ALWAYS_INLINE get_guard(const channel_ends& core, record* me) noexcept
            : core_(core), one_lock_(core.has_one_lock()),
              owner_(one_lock_ ? core.put_end_.lock.enter(me) : core.get_end_.lock.enter(me)) {}
        get_guard(const get_guard&) = delete;
        get_guard& operator=(const get_guard&) = delete;
        WEIR_ALWAYS_INLINE ~get_guard() {
            one_lock_ ? core_.put_end_.lock.leave(owner_) : core_.get_end_.lock.leave(owner_);
        }
        // False: the ends began or ceased to share a lock before this guard had locked; the caller then takes
        // both locks.
        bool is_valid() const noexcept { return one_lock_ == core_.has_one_lock(); }

      private:
        const channel_ends& core_;
        const bool one_lock_;
        record* const owner_;  // the result of `enter`, for `leave`
    };

    // True: each put (each get) needs both locks. Exact under the lock of that end; else a hint.
    bool put_needs_both() const noexcept { return put_needs_both_.load(std::memory_order_relaxed); }
    bool get_needs_both() const noexcept { return get_needs_both_.load(std::memory_order_relaxed); }
    // Whether the lock for putting guards both ends. Exact under a lock of the channel; else a hint.
    bool has_one_lock() const noexcept { return one_lock_.load(std::memory_order_relaxed); }

    // The number of operations done at an end. Without a lock: a hint.
    std::uint64_t count_at(side line) const noexcept {
        return (line == side::put ? put_end_.count : get_end_.count).load(std::memory_order_relaxed);
    }

    // From now on this channel's items count towards the limit in bytes of a run (a started pipeline). Called
    // before the channel is used. `sources`: the sources whose items come through this channel, a bit mask.
    void set_budget(byte_budget* budget, std::uint64_t sources = 0) noexcept {
        const whole_lock held(*this);
        bytes_.budget = budget;
        bytes_.sources = sources;
    }
    std::uint64_t sources() const noexcept { return bytes_.sources; }

  protected:
    explicit channel_ends(std::size_t capacity)
        : put_needs_both_(Policy::statistics && !needs_one_lock(capacity)), get_needs_both_(false),
          one_lock_(needs_one_lock(capacity)), capacity_(capacity) {
        check_capacity(capacity);
    }
    ~channel_ends() = default;

    static void check_capacity(std::size_t capacity) {
        refuse_if(capacity == 0, "weir: a channel of capacity 0 could never take an item; give it 1 or more");
        refuse_negative(capacity, "weir: a channel's capacity was negative, or too large; give it 1 or more");
    }

    // Sets the capacity. Under a whole_lock with `ends_apart`. `always_one_lock`: the ends share one lock.
    void apply_capacity(std::size_t capacity, bool always_one_lock) noexcept {
        capacity_ = capacity;
        one_lock_.store(always_one_lock || needs_one_lock(capacity), std::memory_order_relaxed);
    }

    WEIR_ALWAYS_INLINE std::size_t size() const noexcept {
        return static_cast<std::size_t>(put_end_.count.load(std::memory_order_relaxed) -
                                        get_end_.count.load(std::memory_order_relaxed));
    }

    // Computes `put_needs_both_` and `get_needs_both_` from the other members.
    WEIR_ALWAYS_INLINE void update_hints() const noexcept {
        // Without branches: each would be mispredicted independently of the others.
        const bool counts = bytes_.counts();
        const bool awaited = !getters_.empty();
        const bool is_empty = Policy::statistics && size() == 0 && !has_one_lock();
        const bool is_full = !putters_.empty();
        const bool has_early = !early_.empty();
        // relaxed: exact for readers that hold one of the locks held here; a hint for others
        put_needs_both_.store(closed_ | counts | awaited | is_empty | has_early, std::memory_order_relaxed);
        get_needs_both_.store(counts | is_full | has_early | records_first_get_, std::memory_order_relaxed);
    }

    mutable channel_end<platform, 0> put_end_;
    mutable channel_end<platform, 1> get_end_;

  private:
    static constexpr bool needs_one_lock(std::size_t capacity) noexcept {
        return capacity <= platform::most_under_one_lock;
    }

    mutable typename platform::template atomic<bool> put_needs_both_;
    mutable typename platform::template atomic<bool> get_needs_both_;
    typename platform::template atomic<bool> one_lock_;  // written under both locks

  protected:
    // Written under a whole_lock.
    bool closed_ = false;
    bool records_first_get_ = false;  // the next get records its time, and so needs both locks
    std::size_t capacity_;
    waiter_line<waiter> putters_;  // puts that wait for room
    waiter_line<waiter> getters_;  // gets that wait for an item
    waiter_line<waiter> early_;    // puts whose turn has not come, by their numbers: see `channel_puts`
    byte_gauge bytes_;             // the bytes inside, and the limits in bytes
    owned<put_order> order_;       // null: puts have no numbers. Made before the channel is used
};

WEIR_COMPILED(class channel_ends<measured>);
WEIR_COMPILED(class channel_ends<summed>);
WEIR_COMPILED(class channel_ends<unmeasured>);

}  // namespace weir::detail

#endif
