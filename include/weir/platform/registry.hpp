// weir platform, internal: a registry of the wait sites and runs that a watchdog inspects
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_REGISTRY_HPP
#define WEIR_PLATFORM_REGISTRY_HPP

#include <weir/platform/globals.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t
#include <mutex>    // for std::lock_guard
#include <new>      // for placement new

namespace weir::detail {

class registry;

enum class registry_kind : bool { site, run };

// Base of objects that can be in a registry. The destructor of either unlinks the object.
class registered {
  public:
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;

  protected:
    explicit registered(registry_kind what) noexcept : what_(what) {}
    // Called by the destructor of the most derived class, as other threads may inspect the whole object until
    // then. The call in this class's destructor is for objects whose constructor throws.
    inline void leave_registry() noexcept;
    inline bool is_registered() const noexcept;
    ~registered() { leave_registry(); }

  private:
    friend registry;
    const registry_kind what_;
    std::uint32_t era_ = 0;
    registry* registry_ = nullptr;
    registered* next_ = nullptr;
    registered* previous_ = nullptr;
};

// A waiter adds its site while it holds the site's locks; a reader takes the registry's lock first and then
// those of each site. To avoid a deadlock, `add` takes no lock: new objects are pushed on a lock-free stack
// (R. K. Treiber, "Systems programming: coping with parallelism", 1986). The stack is only drained as a
// whole, so there is no ABA problem.
class registry {
  public:
    constexpr registry() noexcept = default;
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;
    ~registry() {
        const std::lock_guard guard(lock_);
        take_in();
        while (first_ != nullptr) unlink(*first_);
    }

    // `one` is in no registry.
    void add(registered& one) noexcept {
        one.registry_ = this;
        one.era_ = era_;
        one.next_ = new_.load(std::memory_order_relaxed);
        // release; pairs with the acquire in take_in()
        while (!new_.compare_exchange_weak(one.next_, &one, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
    }

    void remove(registered& one) noexcept {
        const std::lock_guard guard(lock_);
        take_in();
        unlink(one);
    }

    // Called after a fork by the child's only thread: forgets all objects, as threads that don't exist here
    // may hold their locks.
    void begin_anew() noexcept {
        new (&lock_) standard_platform::mutex;
        ++era_;
        new_.store(nullptr, std::memory_order_relaxed);
        first_ = last_ = nullptr;
    }

    // Visits all objects of type T in the order in which they were added. For objects that only one thread
    // uses.
    template <class T, class Function>
    void each(Function function) {
        if (new_.load(std::memory_order_relaxed) != nullptr) take_in();
        for (const registered* r = first_; r != nullptr; r = r->next_) {
            if (r->what_ == T::registered_as) function(static_cast<const T&>(*r));
        }
    }

    // The same for any thread. No object can be removed during the reader's lifetime.
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

    void take_in() noexcept {
        // acquire; pairs with the release in add()
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

    standard_platform::atomic<registered*> new_{nullptr};  // the stack of new objects
    standard_platform::mutex lock_;                        // guards the list below
    registered* first_ = nullptr;
    registered* last_ = nullptr;
    std::uint32_t era_ = 0;  // the number of forks between the program's first process and this one
};

inline bool registered::is_registered() const noexcept {
    return registry_ != nullptr && era_ == registry_->era_;
}
inline void registered::leave_registry() noexcept {
    if (is_registered()) registry_->remove(*this);
}

// The registry of all executors that are not exclusive.
inline constinit no_destroy<registry> the_registry;

}  // namespace weir::detail

#endif
