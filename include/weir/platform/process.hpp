// weir platform, internal: global objects, the registry that watchdogs inspect, and the count of forks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_HPP
#define WEIR_PLATFORM_PROCESS_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/thread_record.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::uint32_t
#include <mutex>    // for std::lock_guard
#include <new>      // for placement new

namespace weir::detail {

// Wraps an object that is never destroyed, so that destructors of other static objects may use it.
template <class T>
class no_destroy {
  public:
    constexpr no_destroy() noexcept {}
    no_destroy(const no_destroy&) = delete;
    no_destroy& operator=(const no_destroy&) = delete;
    ~no_destroy() = default;

    T& operator*() noexcept { return kept_.object; }
    T* operator->() noexcept { return &kept_.object; }

  private:
    union kept {
        constexpr kept() noexcept : object() {}
        constexpr ~kept() {}
        T object;
    };
    kept kept_;
};

// A process-wide callback that any thread may replace. `Function`: a function pointer type; null: no
// callback.
template <class Function>
class process_function {
  public:
    constexpr explicit process_function(Function first) noexcept : now_(first) {}
    process_function(const process_function&) = delete;
    process_function& operator=(const process_function&) = delete;

    // acquire; pairs with replace(): the caller sees what the caller of replace() wrote before
    Function get() const noexcept { return now_.load(std::memory_order_acquire); }
    // Returns the previous function. acq_rel; pairs with itself and with get()
    Function replace(Function by) noexcept { return now_.exchange(by, std::memory_order_acq_rel); }

  private:
    standard_platform::atomic<Function> now_;
};

// The number of forks between the program's first process and this one. Each child increments its copy, so a
// check for a fork costs one load. A lock that was held during a fork is held for ever in the child. So
// objects check for a fork before they take a lock, not only before a thread sleeps. All operations are
// relaxed: the number changes only while the process has one thread.
inline constinit std::atomic<std::uint32_t> forks{0};

// Whether this is not the program's first process.
inline bool was_forked() noexcept { return forks.load(std::memory_order_relaxed) != 0; }

// A member that tells whether its owner was constructed in this process. A fork copies all memory, but of the
// threads only the one that calls `fork`.
class process_of_origin {
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);

  public:
    bool is_here() const noexcept { return forks_ == forks.load(std::memory_order_relaxed); }
};

class registry;

// What a registered object is: a wait site (see `registry`), or a run (a started pipeline).
enum class registry_kind : bool { site, run };

// Base of objects that can be in a registry. The destructor removes the object from its registry; the
// destructor of a registry removes all objects.
class registered {
  public:
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;

  protected:
    explicit registered(registry_kind what) noexcept : what_(what) {}
    // Removes the object from its registry, if it is in one. Called by the destructor of the most derived
    // class, as other threads may inspect the whole object until then. The call in this class's destructor is
    // for objects whose constructor throws.
    void leave_registry() noexcept;
    bool is_registered() const noexcept;
    ~registered() { leave_registry(); }

  private:
    friend registry;
    const registry_kind what_;
    std::uint32_t era_ = 0;  // that of the registry when this object was added
    registry* registry_ = nullptr;
    registered* next_ = nullptr;
    registered* previous_ = nullptr;
};

// The runs and the wait sites that a watchdog inspects for deadlocks. A wait site is an object on which
// coroutines wait, such as a channel.
//
// A waiter adds a site while it holds the site's locks; a reader takes the registry's lock first, and then
// the locks of each site. To avoid a deadlock, `add` takes no lock: new objects are pushed on a lock-free
// stack (R. K. Treiber, "Systems programming: coping with parallelism", 1986). The stack is only drained as a
// whole, so there is no ABA problem.
class registry {
  public:
    constexpr registry() noexcept = default;
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;
    ~registry() {
        const std::lock_guard guard(lock_);
        take_new();
        while (first_ != nullptr) unlink(*first_);
    }

    // Adds `one`, which is in no registry.
    void add(registered& one) noexcept {
        one.registry_ = this;
        one.era_ = era_;
        one.next_ = new_.load(std::memory_order_relaxed);
        // release; pairs with the acquire in take_new(): its caller sees the members of `one`. relaxed, above
        // and on failure: only the address is used
        while (!new_.compare_exchange_weak(one.next_, &one, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
    }

    WEIR_NOINLINE void remove(registered& one) noexcept {
        const std::lock_guard guard(lock_);
        take_new();
        unlink(one);
    }

    // Called after a fork by the child's only thread. Forgets all objects, and accesses none of them: threads
    // of the parent may have held the locks of the objects. relaxed: the child has no other thread
    void forget_all() noexcept {
        new (&lock_) standard_platform::mutex;
        ++era_;
        new_.store(nullptr, std::memory_order_relaxed);
        first_ = last_ = nullptr;
    }

    // Visits all objects of type T in the order in which they were added. Takes no lock: only for a registry
    // whose objects one thread uses, and for `reader`, which holds the lock. relaxed: only tells whether
    // there are new objects; take_new() loads them with acquire
    template <class T, class Function>
    void each(Function function) {
        if (new_.load(std::memory_order_relaxed) != nullptr) take_new();
        for (const registered* r = first_; r != nullptr; r = r->next_) {
            if (r->what_ == T::registered_as) function(static_cast<const T&>(*r));
        }
    }

    // Holds the lock of the registry: any thread may call `each` of a reader. Until the reader's end, no
    // object is removed.
    class [[nodiscard]] reader {
      public:
        explicit reader(registry& all) : all_(all), guard_(all.lock_) {}
        template <class T, class Function>
        void each(Function function) const {
            all_.each<T>(function);
        }

      private:
        registry& all_;
        const std::lock_guard<standard_platform::mutex> guard_;
    };

  private:
    friend registered;

    // Moves the objects from the stack to the end of the list.
    void take_new() noexcept {
        // acquire; pairs with the release in add(): the members of the new objects are visible
        registered* const last = new_.exchange(nullptr, std::memory_order_acquire);
        registered* later = nullptr;
        for (registered* r = last; r != nullptr;) {
            registered* const earlier = r->next_;
            r->next_ = later;
            r->previous_ = earlier != nullptr ? earlier : last_;
            if (earlier == nullptr) (last_ == nullptr ? first_ : last_->next_) = r;
            later = r;
            r = earlier;
        }
        if (last != nullptr) last_ = last;
    }

    void unlink(registered& one) noexcept {
        (one.previous_ == nullptr ? first_ : one.previous_->next_) = one.next_;
        (one.next_ == nullptr ? last_ : one.next_->previous_) = one.previous_;
        one.registry_ = nullptr;
        one.next_ = one.previous_ = nullptr;
    }

    standard_platform::atomic<registered*> new_{nullptr};  // the stack of objects that are not in the list
    standard_platform::mutex lock_;                        // guards the list below
    registered* first_ = nullptr;
    registered* last_ = nullptr;
    std::uint32_t era_ = 0;  // calls of `forget_all`; an object with another `era_` is no longer registered
};

inline bool registered::is_registered() const noexcept {
    return registry_ != nullptr && era_ == registry_->era_;
}

inline void registered::leave_registry() noexcept {
    if (is_registered()) registry_->remove(*this);
}

// The registry for all executors, except for those with a registry of their own, such as `virtual_time`.
inline constinit no_destroy<registry> the_registry;

// Called by a thread of the library that only reads the registry. Stores the registry in the thread's record
// as what the thread serves: watchdogs then ignore the thread.
inline void mark_registry_reader() noexcept {
    auto* const me = basic_thread_record<standard_platform>::acquire();
    if (me != nullptr) me->serve(&*the_registry);
}

// Resets, in the child, global objects that a thread of the parent may have been changing. All other locks
// belong to objects whose owners check `process_of_origin`, or that have a function of their own for
// `at_fork_in_child`.
inline const bool forks_are_counted = at_fork_in_child([] {
    forks.store(forks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    standard_platform::mend_after_fork();
    basic_thread_record<standard_platform>::forget_others();
    the_registry->forget_all();
});

}  // namespace weir::detail

#endif
