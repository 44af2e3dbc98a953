// weir task, internal: the state that stop sources, tokens and callbacks share
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_STOP_STATE_HPP
#define WEIR_TASK_STOP_STATE_HPP

#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange, std::swap
#include <version>  // for __cpp_lib_jthread

#ifdef __cpp_lib_jthread
#include <stop_token>  // for std::stop_callback, std::stop_token
#endif

namespace weir::detail {

template <class Platform>
class basic_stop_state;

// One registered callback: a base of the object that holds the user's function.
//
// | state of the callback    | linked_ | done_ | destroyed_                      |
// |--------------------------|---------|-------|---------------------------------|
// | not added, or removed    | false   | unset | null                            |
// | in the list              | true    | unset | null                            |
// | being run by request()   | false   | unset | a flag on that thread's stack   |
// | was run                  | false   | set   | null                            |
template <class Platform = standard_platform>
class basic_stop_node {
  public:
    using function = void(basic_stop_node&) noexcept;

    explicit basic_stop_node(function* run) noexcept : run_(run) {}
    basic_stop_node(const basic_stop_node&) = delete;
    basic_stop_node& operator=(const basic_stop_node&) = delete;

  private:
    friend basic_stop_state<Platform>;

    function* run_;                    // calls the user's function
    basic_stop_node* next_ = nullptr;  // guarded by the state's lock, as `previous_` and `linked_`
    basic_stop_node* previous_ = nullptr;
    bool linked_ = false;
    bool* destroyed_ = nullptr;    // a flag on the stack of the requesting thread
    basic_parker<Platform> done_;  // see the table
};

// The state of one stop, which sources, tokens and callbacks own together. Counts its owners itself: an owner
// then needs one pointer, where a shared_ptr has two, and the counts use the platform's atomics.
template <class Platform = standard_platform>
class basic_stop_state {
    template <class T>
    using atomic = typename Platform::template atomic<T>;
    using node = basic_stop_node<Platform>;

    atomic<std::uint32_t> owners_{1};   // sources, tokens and callbacks
    atomic<std::uint32_t> sources_{1};  // 0: no stop can be requested any more
    atomic<std::uint32_t> requested_{0};
    basic_spin_lock<Platform> lock_;
    node* first_ = nullptr;                          // guarded by lock_
    decltype(Platform::this_thread()) requester_{};  // guarded by lock_; set once, before requested_

  public:
    basic_stop_state() noexcept = default;
    basic_stop_state(const basic_stop_state&) = delete;
    basic_stop_state& operator=(const basic_stop_state&) = delete;
    virtual ~basic_stop_state() = default;

    // relaxed: the caller is counted already, so the count can't become 0 during the call
    void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }

    // acq_rel; pairs with itself: the last owner sees all that the others did.
    void disown() noexcept {
        if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    // Adds an owner, unless no owner is left: then returns false, and the caller must not use the state. For
    // a caller that is not counted, and for whose return the destructor of the state waits. relaxed: passes
    // on no data
    bool try_own() noexcept {
        std::uint32_t owners = owners_.load(std::memory_order_relaxed);
        while (owners != 0 && !owners_.compare_exchange_weak(owners, owners + 1, std::memory_order_relaxed)) {
        }
        return owners != 0;
    }

    // relaxed: as own()
    void add_source() noexcept { sources_.fetch_add(1, std::memory_order_relaxed); }
    // release; pairs with possible()
    void remove_source() noexcept { sources_.fetch_sub(1, std::memory_order_release); }

    // acquire; pairs with the release in request(): the caller sees all that was done before the request.
    bool requested() const noexcept { return requested_.load(std::memory_order_acquire) != 0; }

    // Whether a request was made or can be made. acquire; pairs with remove_source(): a caller that finds the
    // last source gone then sees the request of that source
    bool possible() const noexcept {
        return requested() || sources_.load(std::memory_order_acquire) != 0 || possible_without_sources();
    }

    // Requests the stop: runs all callbacks on this thread, one after another, none under the lock. A
    // callback may destroy itself, others, and the source: so the caller must be an owner during the call.
    // False: a stop is requested already. relaxed, here and in add(): read and written under the lock
    bool request() noexcept {
        lock_.lock();
        if (requested_.load(std::memory_order_relaxed) != 0) {
            lock_.unlock();
            return false;
        }
        requester_ = Platform::this_thread();
        requested_.store(1, std::memory_order_release);  // pairs with requested()
        while (first_ != nullptr) {
            node& n = *first_;
            unlink(n);
            bool destroyed = false;
            n.destroyed_ = &destroyed;
            lock_.unlock();
            n.run_(n);
            if (!destroyed) {
                n.destroyed_ = nullptr;
                n.done_.set();  // another thread may wait for this to destroy the node
            }
            lock_.lock();
        }
        lock_.unlock();
        return true;
    }

    // False: a stop was requested before, and the caller has to run the callback.
    bool add(node& n) noexcept {
        const std::lock_guard hold(lock_);
        if (requested_.load(std::memory_order_relaxed) != 0) return false;
        n.linked_ = true;
        n.next_ = first_;
        if (first_ != nullptr) first_->previous_ = &n;
        first_ = &n;
        return true;
    }

    // Waits while another thread runs the callback. Afterwards the callback doesn't run, unless it has made
    // this call itself.
    void remove(node& n) noexcept {
        lock_.lock();
        const bool was_linked = n.linked_;
        if (was_linked) unlink(n);
        const bool here = requester_ == Platform::this_thread();
        lock_.unlock();
        if (was_linked) return;
        if (!here) {
            n.done_.wait();
        } else if (n.destroyed_ != nullptr) {
            *n.destroyed_ = true;
        }
    }

  private:
    virtual bool possible_without_sources() const noexcept { return requested(); }

    void unlink(node& n) noexcept {
        (n.previous_ == nullptr ? first_ : n.previous_->next_) = n.next_;
        if (n.next_ != nullptr) n.next_->previous_ = n.previous_;
        n.next_ = n.previous_ = nullptr;
        n.linked_ = false;
    }
};

// A counted pointer to a state; may be null.
template <class Platform = standard_platform>
class basic_stop_ref {
    using state = basic_stop_state<Platform>;
    state* state_ = nullptr;

  public:
    basic_stop_ref() noexcept = default;
    // Takes over the count of one owner.
    explicit basic_stop_ref(state* owned) noexcept : state_(owned) {}
    basic_stop_ref(const basic_stop_ref& other) noexcept : state_(other.state_) {
        if (state_ != nullptr) state_->own();
    }
    basic_stop_ref(basic_stop_ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    basic_stop_ref& operator=(basic_stop_ref other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~basic_stop_ref() {
        if (state_ != nullptr) state_->disown();
    }

    explicit operator bool() const noexcept { return state_ != nullptr; }
    state* operator->() const noexcept { return state_; }
    state& operator*() const noexcept { return *state_; }
    friend bool operator==(const basic_stop_ref&, const basic_stop_ref&) noexcept = default;
};

WEIR_COMPILED(class basic_stop_state<standard_platform>);

// Some standard libraries lack std::stop_token.
#ifdef __cpp_lib_jthread
using std_stop_token = std::stop_token;
template <class Callback>
using std_stop_callback = std::stop_callback<Callback>;
#else
// A placeholder type without objects.
class std_stop_token {
    std_stop_token() noexcept;

  public:
    static bool stop_possible() noexcept { return false; }
};
template <class Callback>
struct std_stop_callback {
    std_stop_callback(const std_stop_token&, const Callback&) noexcept {}
};
#endif

// The state of tokens that were made from a std::stop_token: requests a stop when a stop is requested there.
// Has no source of its own.
class forwarded_stop_state final : public basic_stop_state<> {
  public:
    explicit forwarded_stop_state(const std_stop_token& from) : from_(from), on_stop_(from, forward{this}) {
        this->remove_source();
    }

  private:
    bool possible_without_sources() const noexcept override { return from_.stop_possible(); }

    struct forward {  // called when a stop of `from_` is requested
        forwarded_stop_state* to;
        // The last token may be destroyed during the request, on this thread; or just now on another thread,
        // which then waits in the destructor of `on_stop_` until this returns.
        void operator()() const noexcept {
            if (!to->try_own()) return;
            const basic_stop_ref<> keep(to);
            to->request();
        }
    };
    const std_stop_token from_;
    const std_stop_callback<forward> on_stop_;
};

}  // namespace weir::detail

#endif
