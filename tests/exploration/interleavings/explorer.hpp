// Runs threads of a program's own one at a time, on one thread of the system, and decides at each of their
// accesses to an atomic who goes on: so that what threads may do to each other is tried on purpose, and can be
// had again. Knows nothing of the library; include/weir/platform/platform.hpp puts this under it.
//
// Explored: the order of accesses to atomics (sequentially consistent: weak memory is for tests/exploration/models), locks,
// wakes that hit any one of those who wait, waits that end early, timed waits that end while others still run,
// fences that aren't to be had. Noticed: threads that all wait (a wake-up was lost), or go on without end; an
// access to an atomic after its end; memory that nobody freed; what ends the program.
//
// Time is virtual. In a strict schedule it moves by what clock reads and spinning cost, and else only when
// nobody can run: what a scenario takes is then exact but for some microseconds, so that a timed wait that had
// to save a lost wake-up shows. In others, deadlines also pass while threads run, as if those were slow.
//
// Sources: S. Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding bugs" (ASPLOS
// 2010), for the priorities; M. Musuvathi and S. Qadeer, "Iterative context bounding" (PLDI 2007), for the few
// preemptions.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_EXPLORER_HPP
#define WEIR_TESTS_INTERLEAVINGS_EXPLORER_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <source_location>
#include <type_traits>
#include <utility>

namespace interleavings {

using where = std::source_location;

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// ---- for the platform -------------------------------------------------------------------------------------

// What is asked at each access: cheap where nothing is to be decided.
struct counters {
    bool active = false;      // threads of this program run
    std::uint64_t steps = 0;  // of this schedule
    std::uint64_t next_decision = 0;
    std::int64_t now = 0;  // ns
    std::int64_t next_deadline = never;
};
inline constinit counters count;

// Somebody else may go on now.
void decide(const char* what, const where& at) noexcept;
inline void step(const char* what, const where& at) noexcept {
    if (++count.steps >= count.next_decision && count.active) decide(what, at);
}

// The schedule is shown, and the program ends.
[[noreturn]] void fail(const char* what, const where& at = where::current()) noexcept;

void wait(const void* word, std::int64_t timeout_ns, const where& at) noexcept;
void wake(const void* word, bool all, const where& at) noexcept;
// The thread can do nothing useful now; takes time.
void spin(const where& at) noexcept;
std::int64_t read_clock() noexcept;
std::uint64_t draw(std::uint64_t below) noexcept;
bool fences_work() noexcept;
int this_thread() noexcept;

int start(std::function<void()> body, const where& at);
void join(int thread, const where& at) noexcept;

// What each thread, or all of them together, have one of. `type` is a number for its type.
using maker = void* (*)();
using breaker = void (*)(void*);
void* of_thread(int type, maker make, breaker destroy, bool trivial) noexcept;
void* of_process(int type, maker make, breaker destroy) noexcept;
void keep_for_good(void* object, breaker destroy) noexcept;
int next_type() noexcept;
template <class T>
inline const int type_number = next_type();

// std::atomic, in one order for all threads. Whether it is there is asked at each access.
template <class T>
class atomic {
    using difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;
    static constexpr std::uint32_t alive = 0xa11fe000, dead = 0xdeadbeef;

  public:
    constexpr atomic() noexcept : value_{} {}
    constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() { const_cast<volatile std::uint32_t&>(mark_) = dead; }

    T load(std::memory_order = std::memory_order_seq_cst, where w = where::current()) const noexcept {
        begin("loads", w);
        return value_;
    }
    void store(T value, std::memory_order = std::memory_order_seq_cst, where w = where::current()) noexcept {
        begin("stores", w);
        value_ = value;
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst, where w = where::current()) noexcept {
        begin("exchanges", w);
        return std::exchange(value_, value);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order,
                                 where w = where::current()) noexcept {
        return compare_exchange(expected, value, w);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order = std::memory_order_seq_cst,
                                 where w = where::current()) noexcept {
        return compare_exchange(expected, value, w);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order, std::memory_order,
                               where w = where::current()) noexcept {
        return compare_exchange(expected, value, w);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order = std::memory_order_seq_cst,
                               where w = where::current()) noexcept {
        return compare_exchange(expected, value, w);
    }
    T fetch_add(difference n, std::memory_order = std::memory_order_seq_cst,
                where w = where::current()) noexcept {
        begin("adds to", w);
        return std::exchange(value_, static_cast<T>(value_ + n));
    }
    T fetch_sub(difference n, std::memory_order = std::memory_order_seq_cst,
                where w = where::current()) noexcept {
        begin("takes from", w);
        return std::exchange(value_, static_cast<T>(value_ - n));
    }
    T fetch_or(T n, std::memory_order = std::memory_order_seq_cst, where w = where::current()) noexcept {
        begin("changes", w);
        return std::exchange(value_, static_cast<T>(value_ | n));
    }
    T fetch_and(T n, std::memory_order = std::memory_order_seq_cst, where w = where::current()) noexcept {
        begin("changes", w);
        return std::exchange(value_, static_cast<T>(value_ & n));
    }

    // Without being an access of the program.
    T look(const where& w) const noexcept {
        if (mark_ != alive) fail("waits on an atomic that is not there any more, or not yet", w);
        return value_;
    }

  private:
    void begin(const char* what, const where& w) const noexcept {
        step(what, w);
        if (mark_ != alive) fail("an access to an atomic that is not there any more, or not yet", w);
    }
    bool compare_exchange(T& expected, T value, const where& w) noexcept {
        begin("compares and exchanges", w);
        if (value_ == expected) {
            value_ = value;
            return true;
        }
        expected = value_;
        return false;
    }

    T value_;
    std::uint32_t mark_ = alive;
};

class mutex {
    atomic<bool> held_{false};

  public:
    constexpr mutex() noexcept = default;
    void lock() noexcept {
        while (held_.exchange(true)) wait(this, -1, where::current());
    }
    bool try_lock() noexcept { return !held_.exchange(true); }
    void unlock() noexcept {
        held_.store(false);
        wake(this, false, where::current());
    }
};

class thread {
    int number_ = 0;

  public:
    thread() noexcept = default;
    template <class F>
    explicit thread(F body, where w = where::current())
        : number_(start(std::function<void()>(std::move(body)), w)) {}
    thread(thread&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
    thread& operator=(thread&& other) noexcept {
        if (joinable()) fail("a thread is replaced that was not joined");
        number_ = std::exchange(other.number_, 0);
        return *this;
    }
    ~thread() {
        if (joinable()) fail("a thread is destroyed that was not joined");
    }
    bool joinable() const noexcept { return number_ != 0; }
    void join(where w = where::current()) noexcept { interleavings::join(std::exchange(number_, 0), w); }
    void detach() noexcept { number_ = 0; }
};

// ---- for the scenarios ------------------------------------------------------------------------------------

inline void require(bool right, const char* what, const where& at = where::current()) noexcept {
    if (!right) fail(what, at);
}

// Whether time moves only when nobody can run.
bool strict() noexcept;
// In a strict schedule no more than `ns` have passed since `since`.
inline void require_by(std::int64_t since, std::int64_t ns, const char* what,
                       const where& at = where::current()) noexcept {
    if (strict()) require(count.now - since <= ns, what, at);
}

struct options {
    std::uint64_t schedules = 3'000;
    std::uint64_t seed = 1;
    std::uint64_t length = 0;  // in steps, of the one schedule that has `seed`, to see it again; 0: of many
    std::uint64_t most_steps = 400'000;
};
struct explored {
    std::uint64_t schedules = 0;
    std::uint64_t steps = 0;
    std::uint64_t switches = 0;
    int threads = 0;
};
// Ends the program at the first schedule that fails.
explored explore(const char* name, const std::function<void()>& scenario, const options& how);

}  // namespace interleavings

#endif
