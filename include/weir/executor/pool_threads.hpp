// weir executor, internal: starts, replaces and joins the threads of a pool
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_THREADS_HPP
#define WEIR_EXECUTOR_POOL_THREADS_HPP

#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_thread.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::function
#include <memory>       // for std::construct_at
#include <mutex>        // for std::lock_guard
#include <string>       // for std::string
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// A pool has a number of places, each held by one thread at a time. A thread that blocks leaves its place to
// another thread; when it comes back, it waits as a spare until that place needs a thread again. Any thread
// may change the number of places. The pool's destructor calls `join` or `leave`, once, before it destroys
// members that the threads use.
template <class Platform = standard_platform>
class basic_pool_threads {
    using thread = typename Platform::thread;

    struct member {
        thread handle{};
        typename Platform::template atomic<bool> over{false};  // the thread is about to end
        // acquire; pairs with the release in begin(): the thread has stopped using the pool
        bool is_over() const noexcept { return over.load(std::memory_order_acquire); }
    };
    // A thread without a place that waits for one; the object is on its stack.
    struct spare {
        unsigned place;
        spare* next;
        bool is_to_work = false;  // false: it has to end
        basic_parker<Platform> called{};
        spare(unsigned p, spare* n) noexcept : place(p), next(n) {}
    };

  public:
    // Threads are named `name` and the number of their place, and first call `on_start` with this number.
    explicit basic_pool_threads(const char* name, std::function<void(unsigned)> on_start = nullptr)
        : name_(name), on_start_(std::move(on_start)) {}
    basic_pool_threads(const basic_pool_threads&) = delete;
    basic_pool_threads& operator=(const basic_pool_threads&) = delete;

    // Sets the number of places to `n`, plus the extra places of `add_extra`. First calls `prepare` with this
    // sum, to make what the threads need; then `expect` with the number of places that have no thread, to
    // count threads as active before they begin. For each such place `i`, a new thread, or a spare, calls
    // `work(i)`; if some can't begin, calls `expect` with their number negated. A surplus thread sees by
    // `wants` that it has to end. After `close`: no effect. `work` may return whether the place was taken.
    // Errors: exceptions of `prepare`, of `on_start`, or of starting a thread: threads started before stay.
    template <class Prepare, class Expect, class Work>
    void set(unsigned n, Prepare prepare, Expect expect, Work work) {
        const std::lock_guard guard(lock_);
        if (closed_) return;
        const auto start = [&] {
            asked_.store(smaller(apply(n + extra_, prepare, expect, work), n), std::memory_order_relaxed);
            if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        };
        thread_shortage::start_threads(name_, n, start, [this] { return asked(); });
    }
    // Adds an extra place to those of `set` (`change` 1), or removes an extra place (-1). Used while all
    // threads are stuck: see threaded_executor::sleep. False after `close`, or if `prepare` or a start fails.
    template <class Prepare, class Expect, class Work>
    bool add_extra(int change, Prepare prepare, Expect expect, Work work) noexcept {
        const std::lock_guard guard(lock_);
        if (closed_) return false;
        const unsigned extra = extra_ + static_cast<unsigned>(change);
        bool done = false;
        try {
            done = apply(asked() + extra, prepare, expect, work) == asked() + extra;
        } catch (...) {
            done = false;
        }
        failure_ = nullptr;
        if (done) extra_ = extra;
        return done;
    }
    template <class Work>
    void set(unsigned n, Work work) {  // as above; nothing to prepare, nothing counted
        set(n, [](unsigned) {}, [](int) {}, work);
    }

    // Called by the thread of place `i` before it blocks: another thread calls `work(i)`, even after `close`,
    // and sees everything that the caller wrote before.
    // Errors: those of `set`; the caller then keeps the place.
    template <class Work>
    void replace(unsigned i, Work work) {
        const std::lock_guard guard(lock_);
        fill(i, work);
    }

    // The numbers of places. `asked`: without the extra ones; `wanted`: with them, but 0 after `dismiss`.
    // relaxed: a count
    unsigned asked() const noexcept { return asked_.load(std::memory_order_relaxed); }
    unsigned wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
    bool wants(unsigned i) const noexcept { return i < wanted_.load(std::memory_order_seq_cst); }

    // Called by the thread of place `i` when the place is surplus. False: the place is wanted again. True:
    // the thread has to end; `last()` was called before another thread can take the place.
    template <class Last>
    bool let_go(unsigned i, Last last) noexcept {
        const std::lock_guard guard(lock_);
        if (wants(i)) return false;
        last();
        if (i < has_thread_.size()) has_thread_[i] = false;
        return true;
    }

    // From now on `set` and `add_extra` change nothing. Spares end, as do threads that would become spares.
    void close() noexcept {
        const std::lock_guard guard(lock_);
        closed_ = true;
        while (spares_ != nullptr) wake_spare(*std::exchange(spares_, spares_->next), false);
    }
    // As `close`; besides, all threads are surplus from now on.
    void dismiss() noexcept {
        close();
        wanted_.store(0, std::memory_order_seq_cst);  // pairs with wants()
    }

    // Whether this process was forked after the object was made.
    bool are_elsewhere() const noexcept { return !born_.is_here(); }
    // Called after close(). Joins all threads, also those that begin meanwhile in the places of blocked ones.
    void join() noexcept {
        if (!are_elsewhere()) {
            while (const owned<member> one = take_last()) one->handle.join();
            return;
        }
        // Overwrites the handles: the system may have reused the ids of the parent's threads.
        for (const auto& m : members_) std::construct_at(&m->handle);
    }

    // Called after dismiss() while the process ends and some threads may never end: waits until all but
    // `others` threads have ended, for at most `limit` ns. Detaches the threads that have not ended.
    void leave(std::size_t others, std::int64_t limit) noexcept {
        const std::int64_t end = Platform::now() + limit;
        while (num_left() > others && Platform::now() < end) basic_parker<Platform>().wait(100'000);
        while (owned<member> one = take_last()) {
            if (one->is_over()) {
                one->handle.join();
            } else {
                one->handle.detach();
                static_cast<void>(one.release());  // the thread may still write to it
            }
        }
        const std::lock_guard guard(lock_);
        has_thread_.clear();  // a detached thread that comes back finds no place to write to
    }

  private:
    // Under the lock. Gives each of `n` places a thread. Returns `n`, or the place that failed (`failure_`).
    template <class Prepare, class Expect, class Work>
    unsigned apply(unsigned n, Prepare& prepare, Expect& expect, Work& work) {
        if (has_thread_.size() < n) has_thread_.resize(n);
        prepare(n);
        int lacking = 0;  // the number of places without a thread
        for (unsigned i = 0; i < n; ++i) lacking += has_thread_[i] ? 0 : 1;
        expect(lacking);
        wanted_.store(n, std::memory_order_seq_cst);  // pairs with wants(), called before a sleep
        for (unsigned i = 0; i < n; ++i) {
            if (has_thread_[i]) continue;
            try {
                fill(i, work);
            } catch (...) {
                failure_ = std::current_exception();
                wanted_.store(i, std::memory_order_seq_cst);
                expect(-lacking);
                return i;
            }
            has_thread_[i] = true;
            --lacking;
        }
        return n;
    }

    struct beginning {  // how `on_start` has ended on a new thread, for the thread that starts it
        basic_parker<Platform> over{};
        std::exception_ptr failure{};
    };
    // Under the lock. Gives place `i` a thread: the spare that waits for this place, or a new one.
    template <class Work>
    void fill(unsigned i, Work work) {
        for (spare** at = &spares_; *at != nullptr; at = &(*at)->next) {
            if ((*at)->place == i) return wake_spare(*std::exchange(*at, (*at)->next), true);
        }
        begin(i, work);
    }
    static void wake_spare(spare& s, bool is_to_work) noexcept {
        s.is_to_work = is_to_work;
        s.called.set();  // its frame may be gone after this
    }

    template <class Work>
    void begin(unsigned i, Work work) {  // under the lock: a new thread; returns after `on_start`
        join_ended();
        member* const me = members_.emplace_back(owned<member>(new member())).get();
        beginning first;
        beginning* const result = on_start_ ? &first : nullptr;
        try {
            me->handle = thread_shortage::start_thread<thread>(
                [this, i, work, me, result, name = name_ + ' ' + std::to_string(i)]() mutable {
                    Platform::name_thread(name.c_str());
                    if (result == nullptr || is_begun(*result, i)) serve(i, work);
                    me->over.store(true, std::memory_order_release);  // pairs with is_over()
                });
        } catch (...) {
            members_.pop_back();
            throw;
        }
        while (result != nullptr && !first.over.wait()) continue;
        if (first.failure) {
            me->handle.join();
            members_.pop_back();
            std::rethrow_exception(first.failure);
        }
    }
    bool is_begun(beginning& result, unsigned i) noexcept {  // on the new thread
        try {
            on_start_(i);
        } catch (...) {
            result.failure = std::current_exception();
        }
        const bool begun = !result.failure;
        result.over.set();  // `result` may be destroyed from now on
        return begun;
    }

    template <class Work>
    void serve(unsigned i, Work& work) {  // the new thread works, and stands by between two times
        if constexpr (std::is_void_v<decltype(work(i))>) {
            work(i);
        } else {
            while (work(i) && stand_by(i)) continue;
        }
    }
    // Waits as a spare until the thread is needed. False: the thread has to end.
    bool stand_by(unsigned i) noexcept {
        spare me(i, nullptr);
        {
            const std::lock_guard guard(lock_);
            if (closed_) return false;
            me.next = std::exchange(spares_, &me);
        }
        while (!me.called.wait()) continue;
        return me.is_to_work;
    }

    void join_ended() noexcept {  // under the lock
        for (std::size_t i = members_.size(); i-- > 0;) {
            if (!members_[i]->is_over()) continue;
            members_[i]->handle.join();
            members_[i] = std::move(members_.back());
            members_.pop_back();
        }
    }
    owned<member> take_last() noexcept {  // to be joined or detached
        const std::lock_guard guard(lock_);
        if (members_.empty()) return nullptr;
        owned<member> last = std::move(members_.back());
        members_.pop_back();
        return last;
    }
    std::size_t num_left() noexcept {  // threads that have not ended
        const std::lock_guard guard(lock_);
        std::size_t n = 0;
        for (const auto& m : members_) n += m->is_over() ? 0U : 1U;
        return n;
    }

    const std::string name_;
    const std::function<void(unsigned)> on_start_;
    typename Platform::template atomic<unsigned> asked_{0};   // without extra places; written under the lock
    typename Platform::template atomic<unsigned> wanted_{0};  // with the extra places
    typename Platform::mutex lock_;                           // guards the members below, except `born_`
    std::vector<owned<member>> members_;  // the threads that have not been joined or detached
    std::vector<bool> has_thread_;        // for each place: it has a thread, or will have one at once
    spare* spares_ = nullptr;             // a list of the threads in stand_by()
    unsigned extra_ = 0;                  // places of `add_extra`
    std::exception_ptr failure_;          // why apply() could not start a thread
    bool closed_ = false;
    process_of_origin born_;
};

WEIR_COMPILED(class basic_pool_threads<standard_platform>);

}  // namespace weir::detail

#endif
