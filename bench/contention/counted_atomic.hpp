// An atomic that counts its read-modify-writes by their place in the source, for each thread apart.
#ifndef BENCH_CONTENTION_COUNTED_ATOMIC_HPP
#define BENCH_CONTENTION_COUNTED_ATOMIC_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bench::contention {

// Whether a lock may be reserved for one thread (weir/platform/biased_lock.hpp). If not, each entry into a lock is a
// read-modify-write, as where threads take turns. Changed only while no pool exists.
inline std::atomic<bool> reserves_locks{true};

enum class access : std::uint8_t { read_modify_write, load, store };

// How often one place in the source was passed.
struct site {
    std::source_location where;
    access how = access::load;
    std::uint64_t count = 0;

    bool is_in(std::string_view part) const {
        return std::string_view(where.function_name()).find(part) != std::string_view::npos;
    }
};

// The counts of all threads that have ended, and of the calling thread.
class counts {
  public:
    // Not inlined: a coroutine would keep the thread-local address when it continues on another thread.
    [[gnu::noinline]] static void add(access how, const std::source_location& where) noexcept {
        if (!mine_.registered) enlist();
        const auto key = reinterpret_cast<std::uintptr_t>(where.function_name()) + where.line();
        for (std::size_t i = key * 0x9e3779b97f4a7c15U >> 56U;; i = (i + 1) % size) {
            site& s = mine_.sites[i];
            if (s.count != 0 && (s.where.function_name() != where.function_name() ||
                                 s.where.line() != where.line() || s.how != how)) {
                continue;
            }
            if (s.count++ == 0) {
                s.where = where;
                s.how = how;
            }
            return;
        }
    }

    // Returns the counts since the last call. All other threads that count have ended.
    static std::vector<site> take() {
        gather();
        const std::lock_guard guard(mutex_);
        std::vector<site> all;
        all.swap(ended_);
        return all;
    }

  private:
    static constexpr std::size_t size = 256;  // more than there are places
    struct table {
        std::array<site, size> sites;
        bool registered;
    };
    struct at_end {
        ~at_end() { gather(); }
    };

    [[gnu::noinline]] static void enlist() noexcept {
        mine_.registered = true;
        static thread_local at_end end;
        static_cast<void>(&end);
    }
    static void gather() {
        const std::lock_guard guard(mutex_);
        for (site& s : mine_.sites) {
            if (s.count != 0) ended_.push_back(s);
            s = site{};
        }
    }

    // Trivially destructible, as threads count until their very end.
    static inline thread_local constinit table mine_{};
    static inline std::mutex mutex_;
    static inline std::vector<site> ended_;
};

// Also counts loads and stores of pointers, from which `locks_of` tells the kinds of locks apart. A seq_cst store is a
// read-modify-write on most processors.
template <class T>
class counted_atomic : public std::atomic<T> {
    using base = std::atomic<T>;
    using order = std::memory_order;
    using where = std::source_location;
    static constexpr order strongest = std::memory_order_seq_cst;

  public:
    using base::base;
    counted_atomic() noexcept = default;

    T load(order o = strongest, where w = where::current()) const noexcept {
        if constexpr (std::is_pointer_v<T>) counts::add(access::load, w);
        return base::load(o);
    }
    void store(T value, order o = strongest, where w = where::current()) noexcept {
        if (o == strongest) {
            counts::add(access::read_modify_write, w);
        } else if constexpr (std::is_pointer_v<T>) {
            counts::add(access::store, w);
        }
        base::store(value, o);
    }
    T exchange(T value, order o = strongest, where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::exchange(value, o);
    }
    bool compare_exchange_strong(T& expected, T value, order o = strongest,
                                 where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::compare_exchange_strong(expected, value, o);
    }
    bool compare_exchange_strong(T& expected, T value, order o, order failed,
                                 where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::compare_exchange_strong(expected, value, o, failed);
    }
    bool compare_exchange_weak(T& expected, T value, order o = strongest,
                               where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::compare_exchange_weak(expected, value, o);
    }
    bool compare_exchange_weak(T& expected, T value, order o, order failed,
                               where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::compare_exchange_weak(expected, value, o, failed);
    }
    template <class U>
    T fetch_add(U value, order o = strongest, where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::fetch_add(value, o);
    }
    template <class U>
    T fetch_sub(U value, order o = strongest, where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::fetch_sub(value, o);
    }
    T fetch_or(T value, order o = strongest, where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::fetch_or(value, o);
    }
    T fetch_and(T value, order o = strongest, where w = where::current()) noexcept {
        counts::add(access::read_modify_write, w);
        return base::fetch_and(value, o);
    }
};

}  // namespace bench::contention

#endif
