// The seam of include/weir/platform/platform.hpp under the model checker relacy: each access to an atomic
// is a step, before which another thread may go on, and a load may return any value that the memory
// model allows. To be included after the library's headers, since relacy defines macros.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MODELS_PLATFORM_HPP
#define WEIR_TESTS_MODELS_PLATFORM_HPP

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <relacy/relacy.hpp>
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

namespace models {

inline constexpr int most_threads = 4;

// A memory order of the library that is to be weaker than it is written, as a fault that is put in: that
// of the accesses that begin in these lines of a file.
struct weakening {
    static weakening& asked_for() {
        static weakening it;
        return it;
    }
    std::memory_order of(std::memory_order written, const std::source_location& w) {
        if (w.line() < first_line || w.line() > last_line || written != from) return written;
        const std::string_view name = w.file_name();
        if (!name.ends_with(file)) return written;
        was_met = true;
        return to;
    }

    std::string file;
    unsigned first_line = 1;
    unsigned last_line = 0;
    std::memory_order from = std::memory_order_seq_cst;
    std::memory_order to = std::memory_order_seq_cst;
    bool was_met = false;
};

// std::atomic in terms of the checker's. It follows C++11, in which a later relaxed store of the same
// thread continues a release sequence; C++20 doesn't say so.
template <class T>
class atomic {
    using where = std::source_location;
    using kept = typename std::conditional_t<
        std::is_pointer_v<T>, std::type_identity<std::uintptr_t>,
        std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>>::type;

  public:
    atomic() : value_(kept{}) {}
    atomic(T value) : value_(in(value)) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order o = std::memory_order_seq_cst, where w = where::current()) const {
        return out(value_.load(order(o, w), w));
    }
    void store(T value, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        value_.store(in(value), order(o, w), w);
    }
    T exchange(T value, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        return out(value_.exchange(in(value), order(o, w), w));
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success, std::memory_order failure,
                                 where w = where::current()) {
        kept seen = in(expected);
        const bool done =
            value_.compare_exchange_strong(seen, in(value), order(success, w), order(failure, w), w);
        expected = out(seen);
        return done;
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order o = std::memory_order_seq_cst,
                                 where w = where::current()) {
        const std::memory_order success = weakening::asked_for().of(o, w);
        const std::memory_order failure = success == std::memory_order_acq_rel   ? std::memory_order_acquire
                                          : success == std::memory_order_release ? std::memory_order_relaxed
                                                                                 : success;
        return compare_exchange_strong(expected, value, success, failure, w);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure,
                               where w = where::current()) {
        kept seen = in(expected);
        const bool done =
            value_.compare_exchange_weak(seen, in(value), order(success, w), order(failure, w), w);
        expected = out(seen);
        return done;
    }
    T fetch_add(T n, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        return value_.fetch_add(n, order(o, w), w);
    }
    T fetch_sub(T n, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        return value_.fetch_sub(n, order(o, w), w);
    }
    T fetch_or(T n, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        return value_.fetch_or(n, order(o, w), w);
    }
    T fetch_and(T n, std::memory_order o = std::memory_order_seq_cst, where w = where::current()) {
        return value_.fetch_and(n, order(o, w), w);
    }

  private:
    static rl::memory_order order(std::memory_order o, const where& w) {
        switch (weakening::asked_for().of(o, w)) {
            case std::memory_order_relaxed:
                return rl::mo_relaxed;
            case std::memory_order_acquire:
                return rl::mo_acquire;
            case std::memory_order_release:
                return rl::mo_release;
            case std::memory_order_acq_rel:
                return rl::mo_acq_rel;
            default:
                return rl::mo_seq_cst;
        }
    }
    static kept in(T value) {
        if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<std::uintptr_t>(value);
        } else {
            return static_cast<kept>(value);
        }
    }
    static T out(kept value) {
        if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<T>(value);
        } else {
            return static_cast<T>(value);
        }
    }

    rl::atomic<kept> value_;
};

// What one execution has beside the objects under test. It is made before them and ends after them.
class world {
  public:
    world() { current_ = this; }
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        while (!kept_.empty()) drop_last();
    }

    static world& here() { return *current_; }

    // The calling thread: from 0. Until the threads run, whichever `plays` says.
    int thread() const { return playing_ >= 0 ? playing_ : static_cast<int>(rl::thread_index()); }
    template <class F>
    void plays(int thread, F what) {
        playing_ = thread;
        what();
        playing_ = -1;
    }

    // A thread is over: what it kept for itself ends, but for what needs no destructor.
    void thread_ends() {
        const int me = thread();
        for (std::size_t i = kept_.size(); i-- > 0;) {
            if (kept_[i].thread != me || kept_[i].trivial) continue;
            const keepsake it = kept_[i];
            kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
            it.destroy(it.object);
        }
        over_[me] = true;
    }
    bool is_over(int thread) const { return over_[thread]; }

    // `thread`: -1 for all.
    template <class T>
    T& of(int thread) {
        struct cache {
            T* object = nullptr;
            std::uint64_t world = 0;
        };
        static cache made[most_threads + 1];
        cache& c = made[thread + 1];
        if (c.world != number_) {
            T* const object = keep<T>(thread);
            c = {object, number_};
        }
        return *c.object;
    }
    template <class T>
    T* keep(int thread) {
        T* const object = new T;
        kept_.push_back({object, [](void* p) { delete static_cast<T*>(p); }, thread,
                         std::is_trivially_destructible_v<T> || thread < 0});
        return object;
    }

    // ---- the system's part of wait and wake -----------------------------------------------------

    // The kernel compares the word and queues the thread in one step, under a lock that the one who
    // wakes takes, too: who finds the word unchanged is found by a wake-up that comes later, and who
    // comes after a wake-up sees what was written before it.
    void sleep(const void* word, auto unchanged, std::int64_t timeout_ns) {
        rl::context& c = rl::ctx();
        const std::int64_t end = timeout_ns < 0 ? 0 : now + timeout_ns;
        c.sched();
        {
            rl::preemption_disabler held(c);
            kernel_.fetch_add(0, rl::mo_acquire);
            if (!unchanged()) return;
        }
        sleepers_.push_back({word, rl::thread_index()});
        const rl::unpark_reason why =
            c.park_current_thread(timeout_ns >= 0, true, false, std::source_location::current());
        if (why == rl::unpark_reason_normal) return;
        for (std::size_t i = 0; i < sleepers_.size(); ++i) {
            if (sleepers_[i].thread == rl::thread_index()) {
                sleepers_.erase(sleepers_.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
        }
        if (why == rl::unpark_reason_timeout && now < end) now = end;
    }
    void wake(const void* word, bool all) {
        rl::context& c = rl::ctx();
        c.sched();
        rl::preemption_disabler held(c);
        kernel_.fetch_add(0, rl::mo_release);
        unsigned there = 0;
        for (const sleeper& s : sleepers_) there += s.word == word;
        unsigned skip = all || there < 2 ? 0 : rl::rand(there);
        for (std::size_t i = 0; i < sleepers_.size();) {
            if (sleepers_[i].word != word || skip-- > 0) {
                ++i;
                continue;
            }
            const unsigned thread = sleepers_[i].thread;
            sleepers_.erase(sleepers_.begin() + static_cast<std::ptrdiff_t>(i));
            c.unpark_thread(thread, false, std::source_location::current());
            if (!all) return;
            skip = 0;
        }
    }

    // Of P1202, "Asymmetric fences": each light fence is in full before a heavy one or after it. Two
    // light ones order nothing.
    void light_fence() {
        light_.fetch_add(0, rl::mo_release);
        heavy_.fetch_add(0, rl::mo_acquire);
    }
    void heavy_fence() {
        heavy_.fetch_add(0, rl::mo_acq_rel);
        light_.fetch_add(0, rl::mo_acquire);
    }

    // Moves on when a thread has slept for as long as it wanted.
    std::int64_t now = 1;

  private:
    struct keepsake {
        void* object;
        void (*destroy)(void*);
        int thread;
        bool trivial;
    };
    struct sleeper {
        const void* word;
        unsigned thread;
    };

    void drop_last() {
        const keepsake it = kept_.back();
        kept_.pop_back();
        it.destroy(it.object);
    }

    static inline world* current_ = nullptr;
    static inline std::uint64_t made_ = 0;

    const std::uint64_t number_ = ++made_;
    int playing_ = -1;
    bool over_[most_threads] = {};
    std::vector<keepsake> kept_;
    std::vector<sleeper> sleepers_;
    rl::atomic<unsigned> light_{0};
    rl::atomic<unsigned> heavy_{0};
    rl::atomic<unsigned> kernel_{0};
};

// A thread that the library starts; a suite says how many it does (dynamic_thread_count).
class thread {
    struct work {
        virtual ~work() = default;
        virtual void run() = 0;
    };
    template <class F>
    struct work_of final : work {
        explicit work_of(F f) : what(std::move(f)) {}
        void run() override { what(); }
        F what;
    };

  public:
    thread() = default;
    template <class F>
    explicit thread(F f) : work_(new work_of<F>(std::move(f))), thread_(new rl::dyn_thread) {
        thread_->start(&begin, work_.get());
    }
    thread(thread&&) = default;
    thread& operator=(thread&&) = default;
    void join() { thread_->join(); }
    void detach() noexcept { static_cast<void>(thread_.release()), static_cast<void>(work_.release()); }

  private:
    static void* begin(void* it) {
        static_cast<work*>(it)->run();
        world::here().thread_ends();
        return nullptr;
    }

    std::unique_ptr<work> work_;
    std::unique_ptr<rl::dyn_thread> thread_;
};

struct platform {
    template <class T>
    using atomic = models::atomic<T>;
    using thread = models::thread;
    using mutex = weir::detail::basic_spin_lock<platform>;

    static void wait(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns = -1) {
        world::here().sleep(
            &word, [&] { return word.load(std::memory_order_relaxed) == expected; }, timeout_ns);
    }
    // By the address only: the word may be gone.
    static void wake_one(atomic<std::uint32_t>& word) { world::here().wake(&word, false); }
    static void wake_all(atomic<std::uint32_t>& word) { world::here().wake(&word, true); }

    static bool has_heavy_fence() { return true; }
    static void light_fence() { world::here().light_fence(); }
    static void heavy_fence() { world::here().heavy_fence(); }

    // Time passes while a thread spins.
    static void pause() {
        world::here().now += 5'000;
        yield();
    }
    static void yield() { rl::ctx().yield(1, std::source_location::current()); }

    static std::int64_t now() { return world::here().now; }
    static std::int64_t coarse_now() { return now(); }
    static std::uint64_t seed() { return 1; }
    static unsigned concurrency() { return 2; }
    static void name_thread(const char*) {}
    static int this_thread() { return world::here().thread() + 1; }

    template <class T>
    static T& of_thread() {
        return world::here().of<T>(world::here().thread());
    }
    template <class T>
    static T& of_process() {
        return world::here().of<T>(-1);
    }
    template <class T>
    static T* make_for_good() {
        return world::here().keep<T>(-1);
    }

    // As small as they can be: what follows after them is of interest.
    static constexpr int looks_before_sleep = 1;
    static constexpr int looks_before_yield = 1;
    static constexpr int yields_before_sleep = 1;
    static constexpr std::uint32_t streak_before_reservation = 1;
    static constexpr std::size_t first_capacity = 2;
    static constexpr std::size_t most_under_one_lock = 1;
};

}  // namespace models

#endif
