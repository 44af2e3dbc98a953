// weir executor, internal: the threads of a pool: how many there are to be, how each begins, and their end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_THREADS_HPP
#define WEIR_EXECUTOR_POOL_THREADS_HPP

#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_thread.hpp>

#include <exception>   // for std::exception_ptr
#include <functional>  // for std::function
#include <memory>      // for std::construct_at
#include <mutex>       // for std::lock_guard
#include <string>      // for std::string
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir::detail {

// Joined once, by one thread, before the other members of its owner go: those who run in the threads use
// them. Until then any may change how many there are to be. One that has gone meanwhile is joined when its
// place is taken again.
template <class Platform = standard_platform>
class basic_pool_threads {
    using thread = typename Platform::thread;

    struct place {
        thread it{};
        bool has_thread = false;
        bool at_work = false;  // or about to be
    };

  public:
    // Each is called `name` and its number, and calls `on_start`, if that is something, before all else.
    explicit basic_pool_threads(const char* name, std::function<void(unsigned)> on_start = nullptr)
        : name_(name), on_start_(std::move(on_start)) {}
    basic_pool_threads(const basic_pool_threads&) = delete;
    basic_pool_threads& operator=(const basic_pool_threads&) = delete;

    // Makes them `n`: each that lacks is started, and calls `work(i)`; those too many find out by `wants`.
    // Before that, `prepare(n)` may throw; then `expect` is told how many begin, and, by a negative number,
    // how many could not. Nothing once this was closed.
    // Errors: what `on_start` throws, or that a thread can't be started: those before it stay.
    template <class Prepare, class Expect, class Work>
    void set(unsigned n, Prepare prepare, Expect expect, Work work) {
        const std::lock_guard guard(lock_);
        if (closed_) return;
        if (places_.size() < n) places_.resize(n);
        prepare(n);
        int lacking = 0;
        for (unsigned i = 0; i < n; ++i) lacking += places_[i].at_work ? 0 : 1;
        expect(lacking);
        wanted_.store(n, std::memory_order_seq_cst);  // pairs with wants(): who goes to sleep asks after that
        for (unsigned i = 0; i < n; ++i) {
            if (places_[i].at_work) continue;
            try {
                begin(i, work);
            } catch (...) {
                wanted_.store(i, std::memory_order_seq_cst);
                expect(-lacking);
                throw;
            }
            --lacking;
        }
    }

    // The same where there is nothing to prepare.
    template <class Work>
    void set(unsigned n, Work work) {
        set(n, [](unsigned) {}, [](int) {}, work);
    }

    // How many there are to be. relaxed: nothing else depends on it
    unsigned wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
    bool wants(unsigned i) const noexcept { return i < wanted_.load(std::memory_order_seq_cst); }

    // On thread `i`, if it isn't wanted. False: it is again. True: it has to end.
    bool let_go(unsigned i) noexcept {
        const std::lock_guard guard(lock_);
        places_[i].at_work = wants(i);
        return !places_[i].at_work;
    }

    // From now on nothing is changed.
    void close() noexcept {
        const std::lock_guard guard(lock_);
        closed_ = true;
    }

    // True in a process that was forked from theirs: there is none of them here.
    bool are_elsewhere() const noexcept { return !born_.is_here(); }

    // When nobody changes them any more. Where they are elsewhere, their handles are written over: to detach
    // them would touch what the system may have given to another thread of this process.
    void join() noexcept {
        for (place& p : places_) {
            if (p.has_thread) are_elsewhere() ? void(std::construct_at(&p.it)) : p.it.join();
        }
    }

  private:
    struct beginning {
        basic_parker<Platform> over{};
        std::exception_ptr failure{};
    };

    template <class Work>
    void begin(unsigned i, Work work) {
        place& p = places_[i];
        if (p.has_thread) p.it.join();
        p.has_thread = false;
        beginning first;
        beginning* const told = on_start_ ? &first : nullptr;
        p.it = thread([this, i, work, told, name = name_ + (" " + std::to_string(i))] {
            Platform::name_thread(name.c_str());
            if (told == nullptr || is_begun(*told, i)) work(i);
        });
        while (told != nullptr && !first.over.wait()) continue;
        if (first.failure) {
            p.it.join();
            std::rethrow_exception(first.failure);
        }
        p.has_thread = p.at_work = true;
    }
    bool is_begun(beginning& told, unsigned i) noexcept {
        try {
            on_start_(i);
        } catch (...) {
            told.failure = std::current_exception();
        }
        const bool begun = told.failure == nullptr;
        told.over.set();  // it is gone from now on
        return begun;
    }

    const std::string name_;
    const std::function<void(unsigned)> on_start_;
    typename Platform::template atomic<unsigned> wanted_{0};
    typename Platform::mutex lock_;  // guards the two below
    std::vector<place> places_;
    bool closed_ = false;
    process_of_origin born_;
};

WEIR_COMPILED(class basic_pool_threads<standard_platform>);

}  // namespace weir::detail

#endif
