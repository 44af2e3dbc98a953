// weir measure: the states of a slot of a stage, the time that it spent in each, and their names in reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_TIMES_HPP
#define WEIR_MEASURE_SLOT_TIMES_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/biased_lock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t, std::uint8_t
#include <string_view>  // for std::string_view
#include <utility>      // for std::pair

namespace weir {

/// The time that one slot of a stage, one of its workers, spent in each state during a run of the pipeline. A
/// slot is always in exactly one state, so the times sum to the elapsed time.
struct slot_times {
    duration off{};        ///< not at work: not started yet, ended, or taken out of service; or the run is
                           ///< paused, or the stages are measured one by one (`profile`, `WEIR_DIAGNOSE`)
    duration wait_get{};   ///< from suspending in get until an item is handed over or get fails: starved
    duration runnable{};   ///< from being ready to run until a thread runs it: short of threads
    duration run{};        ///< the stage's function has a thread
    duration await{};      ///< the stage's function is itself suspended: a sleep, I/O, a copy
    duration wait_put{};   ///< from suspending in put until there is room or put fails: held back
    duration wait_turn{};  ///< done with an item that may not leave yet: earlier items have to leave
                           ///< first, and the queue has no place for it meanwhile; or it is not the
                           ///< slot's turn, as in a merge; or, in `batch_slots`, no begun batch has a place
                           ///< for the item. Of a source: the queues hold more than
                           ///< `run_options::max_bytes`
    duration overhead{};   ///< the library wakes other threads, or calls the program's hooks (before and
                           ///< after each invocation) or `on_failure`

    /// \returns the sum of all states.
    [[nodiscard]] constexpr duration total() const noexcept;
    /// \returns `run` + `await`: the time in which the stage's function had a thread, or was itself
    ///          suspended.
    [[nodiscard]] constexpr duration busy() const noexcept { return detail::sum(run, await); }

    /// The sum, state by state. Lifetime: the result refers to this object.
    constexpr slot_times& operator+=(const slot_times& other) noexcept;
    /// A lap: the times since the snapshot `earlier`; nothing becomes negative. Lifetime: the result refers
    /// to this object.
    constexpr slot_times& operator-=(const slot_times& earlier) noexcept;
    [[nodiscard]] friend constexpr slot_times operator+(slot_times a, const slot_times& b) noexcept {
        a += b;
        return a;
    }
    [[nodiscard]] friend constexpr slot_times operator-(slot_times later,
                                                        const slot_times& earlier) noexcept {
        later -= earlier;
        return later;
    }
    [[nodiscard]] friend constexpr bool operator==(const slot_times&, const slot_times&) = default;
};

namespace detail {

// What a worker of a stage, a slot, is doing. `slot_times` above explains each state.
enum class slot_state : std::uint8_t { off, wait_get, runnable, run, await, wait_put, wait_turn, overhead };

inline constexpr std::size_t slot_states = 8;

// Whether a thread runs the slot's coroutine.
constexpr bool has_thread(slot_state s) noexcept { return s == slot_state::run || s == slot_state::overhead; }
// Whether the slot waits for an item, for room or for its turn, or is off.
constexpr bool is_idle(slot_state s) noexcept {
    return !has_thread(s) && s != slot_state::await && s != slot_state::runnable;
}

// The last 32 states of a slot, for traces (records of the steps of single items). Written by the thread that
// changes the slot's state. Read by the slot's coroutine while it runs, when no other thread changes the
// state.
class state_journal {
  public:
    struct entry {
        std::int64_t since;  // ns
        slot_state state;
    };

    void add(slot_state state, std::int64_t now) noexcept { entries_[count_++ % kept] = {now, state}; }

    std::uint64_t count() const noexcept { return count_; }
    // The number of the oldest entry that is kept.
    std::uint64_t first() const noexcept { return count_ < kept ? 0 : count_ - kept; }
    const entry& operator[](std::uint64_t i) const noexcept { return entries_[i % kept]; }

  private:
    static constexpr std::size_t kept = 32;
    std::uint64_t count_ = 0;
    std::array<entry, kept> entries_{};
};

// Measures how long a slot is in each state, in nanoseconds of the run's clock.
//
// Written by the slot's coroutine, and, while the coroutine is suspended, by the thread that wakes it. The
// lock is for snapshots by any thread. A snapshot adds the time since the last change of state, up to its
// own instant. If a change of state was timed before that instant but takes the lock after the snapshot, it
// counts at that instant. So a lap splits every interval exactly, and no part counts twice or is negative.
template <class Platform = standard_platform>
class basic_state_meter {
    using lock_type = basic_biased_lock<Platform, 2>;

  public:
    basic_state_meter() noexcept = default;
    basic_state_meter(const basic_state_meter&) = delete;
    basic_state_meter& operator=(const basic_state_meter&) = delete;

    // Not inlined: a coroutine that continues on another thread would keep an address of thread-local data.
    WEIR_NOINLINE void enter(slot_state next, std::int64_t now) noexcept {
        const typename lock_type::guard held(lock_, basic_thread_record<Platform>::mine());
        change(next, now);
    }
    // The same. Does nothing if `now`, which may be of another clock, is before the last change of state.
    WEIR_NOINLINE void enter_if_later(slot_state next, std::int64_t now) noexcept {
        const typename lock_type::guard held(lock_, basic_thread_record<Platform>::mine());
        if (now >= entered_) change(next, now);
    }
    // From now on, each change of state is added to `journal`. Called before the slot is used.
    void write_into(state_journal& journal) noexcept { journal_ = &journal; }

    // Reserves the lock for the calling thread, which then takes it faster. Called before any thread uses the
    // slot, if one thread does all work of the run (virtual time).
    void reserve() noexcept { lock_.reserve(); }

    slot_state state() noexcept {
        const typename lock_type::guard held(lock_);
        return state_;
    }

    // Returns the state, and the instant at which it was entered. Takes the lock.
    std::pair<slot_state, std::int64_t> state_since() noexcept {
        const typename lock_type::guard held(lock_);
        return entered();
    }

    // For snapshots, which lock all slots of a stage, and then read them at one instant. `spent_until`
    // returns the time in each state up to `now`, in ns.
    void lock() noexcept { holder_ = lock_.enter(); }
    void unlock() noexcept { lock_.leave(holder_); }
    std::array<std::int64_t, slot_states> spent_until(std::int64_t now) noexcept {
        settle(now);
        std::array<std::int64_t, slot_states> spent{};
        for (std::size_t i = 0; i < slot_states; ++i) spent[i] = read_sum(spent_[i]);
        return spent;
    }
    // The same as `spent_until`, for a caller that does not hold the lock.
    std::array<std::int64_t, slot_states> spent_before(std::int64_t now) noexcept {
        const typename lock_type::guard held(lock_);
        return spent_until(now);
    }
    // The instant up to which the times are counted. Under the lock.
    std::int64_t counted_until() const noexcept { return since_; }
    // The state, and the instant at which it was entered, which snapshots don't change. Under the lock.
    std::pair<slot_state, std::int64_t> entered() const noexcept { return {state_, entered_}; }

    // Sets the first state. Called before the slot is used. The states' times sum to the time since `now`.
    void begin(std::int64_t now, slot_state state) noexcept {
        since_ = entered_ = now;
        state_ = state;
    }

  private:
    void settle(std::int64_t now) noexcept {
        if (now <= since_) return;
        std::int64_t& spent = spent_[static_cast<std::size_t>(state_)];
        spent = add_interval(spent, since_, now);
        since_ = now;
    }
    void change(slot_state next, std::int64_t now) noexcept {
        settle(now);
        state_ = next;
        entered_ = since_;
        if (journal_ != nullptr) journal_->add(next, since_);
    }

    lock_type lock_;
    basic_thread_record<Platform>* holder_ = nullptr;  // the thread that takes a snapshot; under the lock
    slot_state state_ = slot_state::off;
    std::int64_t since_ = 0;    // when the state was entered, or the instant of a later snapshot
    std::int64_t entered_ = 0;  // when the state was entered
    std::array<std::int64_t, slot_states> spent_{};
    state_journal* journal_ = nullptr;  // null: no tracing
};

// Computes for how long nothing in a run has moved. The last movement is the last change of a slot's state,
// or a later movement of an item. A slot that has a thread counts as moving, as its progress can't be seen
// from outside.
class stillness {
  public:
    // Adds a slot that has been in state `is` since the instant `since`.
    void add(slot_state is, std::int64_t since) noexcept {
        is_at_work_ = is_at_work_ || has_thread(is);
        is_over_ = is_over_ && is == slot_state::off;
        moved(since);
    }
    // Adds another movement, at the instant `at`.
    void moved(std::int64_t at) noexcept { last_ = larger(last_, at); }

    // The time since the last movement; 0 if a slot has a thread, or if all slots are off.
    duration until(std::int64_t now) const noexcept {
        return duration(is_at_work_ || is_over_ ? 0 : time_between(last_, now));
    }

  private:
    bool is_at_work_ = false;
    bool is_over_ = true;
    std::int64_t last_ = INT64_MIN;
};

// A state and its texts in reports.
struct state_in_reports {
    slot_state state;
    duration slot_times::* time;
    const char* name;     // of the member of `slot_times`; also a JSON key, a label, a column and a CSS class
    const char* is;       // a short form, as in "83 % is starved"
    const char* meaning;  // the explanation on an HTML page
    const char* note;     // the explanation below a table; empty: none needed
    char sign;            // the character in a text bar
    const char* ansi;     // the SGR parameters of the colour in a terminal with 256 colours
    const char* colour;   // the colour on an HTML page

    // For narrow columns: `get` for `wait_get`.
    [[nodiscard]] constexpr std::string_view short_name() const noexcept {
        const std::string_view whole = name;
        return whole.starts_with("wait_") ? whole.substr(5) : whole;
    }
};

// All states, in the order of charts and tables. All reports take names, order and colours from here. The
// colours can be told apart with red-green colour blindness.
inline constexpr auto states_in_reports = std::to_array<state_in_reports>({
    {slot_state::run, &slot_times::run, "run", "at work", "the stage's function has a thread", "", '#',
     "38;5;33", "#0072b2"},
    {slot_state::await, &slot_times::await, "await", "awaiting",
     "the function itself waits: a sleep, I/O, a copy", "", '~', "38;5;45", "#56b4e9"},
    {slot_state::runnable, &slot_times::runnable, "runnable", "no thread",
     "it could go on, but no thread was free", "no thread was free", '!', "38;5;201", "#d55e00"},
    {slot_state::wait_get, &slot_times::wait_get, "wait_get", "starved",
     "waits for an item of the stage before", "starved by the stage before", '.', "38;5;245", "#cc79a7"},
    {slot_state::wait_put, &slot_times::wait_put, "wait_put", "held back",
     "waits for room: the stage behind is slower", "held back by the stage after", '=', "38;5;214",
     "#e69f00"},
    {slot_state::wait_turn, &slot_times::wait_turn, "wait_turn", "in line",
     "is done, and waits for others to leave before it", "done, others leave first", '-', "38;5;229",
     "#009e73"},
    {slot_state::overhead, &slot_times::overhead, "overhead", "handing over",
     "the library wakes other threads, or calls hooks or on_failure", "to wake threads, hooks", '+',
     "38;5;141", "#8b6fb5"},
    {slot_state::off, &slot_times::off, "off", "off", "not begun, ended, or taken out of service", "", '_',
     "38;5;240", "#9aa1a9"},
});

// The elements of `states_in_reports` in the order of `slot_state`, which is the order of the members of
// `slot_times`.
inline constexpr auto states_by_number = [] {
    std::array<state_in_reports, slot_states> all{};
    for (const state_in_reports& each : states_in_reports) all[static_cast<std::size_t>(each.state)] = each;
    return all;
}();
// Each state has one row.
static_assert([] {
    for (const state_in_reports& each : states_by_number) {
        if (each.name == nullptr) return false;
    }
    return states_in_reports.size() == slot_states;
}());

}  // namespace detail

constexpr duration slot_times::total() const noexcept {
    duration all{};
    for (const auto& each : detail::states_by_number) all = detail::sum(all, this->*each.time);
    return all;
}
constexpr slot_times& slot_times::operator+=(const slot_times& other) noexcept {
    for (const auto& each : detail::states_by_number) {
        this->*each.time = detail::sum(this->*each.time, other.*each.time);
    }
    return *this;
}
constexpr slot_times& slot_times::operator-=(const slot_times& earlier) noexcept {
    for (const auto& each : detail::states_by_number) {
        this->*each.time = detail::since(earlier.*each.time, this->*each.time);
    }
    return *this;
}

}  // namespace weir

#endif
