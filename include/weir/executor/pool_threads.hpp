// weir executor, internal: the threads of a pool: how many there are to be, how each begins, and their end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_THREADS_HPP
#define WEIR_EXECUTOR_POOL_THREADS_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/shortage.hpp>
#include <weir/platform/system_thread.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::function
#include <memory>       // for std::construct_at, std::unique_ptr
#include <mutex>        // for std::lock_guard
#include <string>       // for std::string
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// Joined once, by one thread, before the other members of its owner go, which the threads use. Until then
// any may change how many places there are to be. A place is what one thread at a time has; one that blocks
// leaves its place to another, and later stands by for the next that blocks there.
template <class Platform = standard_platform>
class basic_pool_threads {
    using thread = typename Platform::thread;

    struct member {
        thread it{};
        typename Platform::template atomic<bool> over{false};  // nothing is left to do but to end
        // acquire; pairs with the release in begin()
        bool is_over() const noexcept { return over.load(std::memory_order_acquire); }
    };
    // Of one that stands by, on its stack.
    struct spare {
        unsigned place;
        spare* next;
        bool is_to_work = false;
        basic_parker<Platform> called{};
        spare(unsigned p, spare* n) noexcept : place(p), next(n) {}
    };

  public:
    // Each is called `name` and the number of its place, and first calls `on_start`, if any, with that.
    explicit basic_pool_threads(const char* name, std::function<void(unsigned)> on_start = nullptr)
        : name_(name), on_start_(std::move(on_start)) {}
    basic_pool_threads(const basic_pool_threads&) = delete;
    basic_pool_threads& operator=(const basic_pool_threads&) = delete;

    // Makes the places `n`: for each that has no thread one is started, and calls `work(i)`; those too many
    // find out by `wants`. Before that, `prepare(n)` may throw; then `expect` is told how many begin, and, by
    // a negative number, how many could not. Nothing once this was closed.
    // `work` returns whether its place was left to another thread: see `replace`; or nothing.
    // Errors: what `on_start` throws, or that a thread can't be started: those before it stay.
    template <class Prepare, class Expect, class Work>
    void set(unsigned n, Prepare prepare, Expect expect, Work work) {
        const std::lock_guard guard(lock_);
        if (closed_) return;
        const auto start = [&] {
            asked_.store(smaller(apply(n + extra_, prepare, expect, work), n), std::memory_order_relaxed);
            if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        };
        thread_shortage::told_of(name_, n, start, [this] { return asked(); });
    }
    // The same for one place more than were asked for, or, later, one less. False where a thread can't be
    // started, or `prepare` throws.
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
    // The same where there is nothing to prepare.
    template <class Work>
    void set(unsigned n, Work work) {
        set(n, [](unsigned) {}, [](int) {}, work);
    }

    // On the thread that has place `i`, and is about to block: another thread calls `work(i)` in its place,
    // also where this was closed meanwhile. What the thread wrote before is seen there.
    // Errors: as of `set`; then the place is still its own.
    template <class Work>
    void replace(unsigned i, Work work) {
        const std::lock_guard guard(lock_);
        fill(i, work);
    }

    // How many places were asked for, and how many there are to be. relaxed: nothing else depends on them
    unsigned asked() const noexcept { return asked_.load(std::memory_order_relaxed); }
    unsigned wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
    bool wants(unsigned i) const noexcept { return i < wanted_.load(std::memory_order_seq_cst); }

    // On the thread that has place `i`, if that isn't wanted. False: it is again. True: it has to end, and
    // has called `last()` before another thread can have the place.
    template <class Last>
    bool let_go(unsigned i, Last last) noexcept {
        const std::lock_guard guard(lock_);
        if (wants(i)) return false;
        last();
        if (i < has_thread_.size()) has_thread_[i] = false;
        return true;
    }

    // From now on no place is added, and who stands by ends.
    void close() noexcept {
        const std::lock_guard guard(lock_);
        closed_ = true;
        while (spares_ != nullptr) call(*std::exchange(spares_, spares_->next), false);
    }
    // The same, and no place is wanted any more.
    void dismiss() noexcept {
        close();
        wanted_.store(0, std::memory_order_seq_cst);  // pairs with wants()
    }

    bool are_elsewhere() const noexcept { return !born_.is_here(); }

    // After close(). Some may begin meanwhile in place of those that block.
    void join() noexcept {
        if (are_elsewhere()) return forget();
        while (const std::unique_ptr<member> one = take_last()) one->it.join();
    }

    // After dismiss(), where not all may ever end, as the process does: waits until all but `others` have, or
    // for so many nanoseconds. Those that have not are never joined.
    void leave(std::size_t others, std::int64_t limit) noexcept {
        const std::int64_t end = Platform::now() + limit;
        basic_parker<Platform> nobody;
        while (num_left() > others && Platform::now() < end) nobody.wait(100'000);
        while (std::unique_ptr<member> one = take_last()) {
            if (one->is_over()) {
                one->it.join();
            } else {
                one->it.detach();
                static_cast<void>(one.release());  // the thread may still write there
            }
        }
        const std::lock_guard guard(lock_);
        has_thread_.clear();  // nor does one that comes back write into what is freed
    }

  private:
    // Under the lock. Returns the first place that could not be filled, or `n`; why is in `failure_`.
    template <class Prepare, class Expect, class Work>
    unsigned apply(unsigned n, Prepare& prepare, Expect& expect, Work& work) {
        if (has_thread_.size() < n) has_thread_.resize(n);
        prepare(n);
        int lacking = 0;
        for (unsigned i = 0; i < n; ++i) lacking += has_thread_[i] ? 0 : 1;
        expect(lacking);
        wanted_.store(n, std::memory_order_seq_cst);  // pairs with wants(): who goes to sleep asks after that
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

    struct beginning {
        basic_parker<Platform> over{};
        std::exception_ptr failure{};
    };
    // A thread for place `i`: one that stands by there, or a new one. Under the lock.
    template <class Work>
    void fill(unsigned i, Work work) {
        for (spare** at = &spares_; *at != nullptr; at = &(*at)->next) {
            if ((*at)->place == i) return call(*std::exchange(*at, (*at)->next), true);
        }
        begin(i, work);
    }
    static void call(spare& s, bool is_to_work) noexcept {
        s.is_to_work = is_to_work;
        s.called.set();  // its frame may be gone after this
    }

    template <class Work>
    void begin(unsigned i, Work work) {
        join_ended();
        members_.push_back(std::make_unique<member>());
        member* const me = members_.back().get();
        beginning first;
        beginning* const told = on_start_ ? &first : nullptr;
        try {
            me->it = thread_shortage::told_by<thread>(
                [this, i, work, me, told, name = name_ + (" " + std::to_string(i))]() mutable {
                    Platform::name_thread(name.c_str());
                    if (told == nullptr || is_begun(*told, i)) serve(i, work);
                    me->over.store(true, std::memory_order_release);  // pairs with is_over()
                });
        } catch (...) {
            members_.pop_back();
            throw;
        }
        while (told != nullptr && !first.over.wait()) continue;
        if (first.failure) {
            me->it.join();
            members_.pop_back();
            std::rethrow_exception(first.failure);
        }
    }
    bool is_begun(beginning& told, unsigned i) noexcept {
        try {
            on_start_(i);
        } catch (...) {
            told.failure = std::current_exception();
        }
        const bool begun = !told.failure;
        told.over.set();  // it is gone from now on
        return begun;
    }

    template <class Work>
    void serve(unsigned i, Work& work) {
        if constexpr (std::is_void_v<decltype(work(i))>) {
            work(i);
        } else {
            while (work(i) && stand_by(i)) continue;
        }
    }
    // Until it is called. False: to end.
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

    // Their handles are written over: to detach them would touch what the system may have given to another
    // thread of this process.
    void forget() noexcept {
        for (const auto& m : members_) std::construct_at(&m->it);
    }
    void join_ended() noexcept {  // under the lock
        for (std::size_t i = members_.size(); i-- > 0;) {
            if (!members_[i]->is_over()) continue;
            members_[i]->it.join();
            members_[i] = std::move(members_.back());
            members_.pop_back();
        }
    }
    std::unique_ptr<member> take_last() noexcept {
        const std::lock_guard guard(lock_);
        if (members_.empty()) return nullptr;
        std::unique_ptr<member> last = std::move(members_.back());
        members_.pop_back();
        return last;
    }
    std::size_t num_left() noexcept {
        const std::lock_guard guard(lock_);
        std::size_t n = 0;
        for (const auto& m : members_) n += m->is_over() ? 0U : 1U;
        return n;
    }

    const std::string name_;
    const std::function<void(unsigned)> on_start_;
    typename Platform::template atomic<unsigned> asked_{0};
    typename Platform::template atomic<unsigned> wanted_{0};  // with those that are extra
    typename Platform::mutex lock_;                           // guards what follows, but the last
    std::vector<std::unique_ptr<member>> members_;
    std::vector<bool> has_thread_;  // by place: or is about to have one
    spare* spares_ = nullptr;
    unsigned extra_ = 0;
    std::exception_ptr failure_;
    bool closed_ = false;
    process_of_origin born_;
};

WEIR_COMPILED(class basic_pool_threads<standard_platform>);

}  // namespace weir::detail

#endif
