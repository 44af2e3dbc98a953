// weir cuda, internal: pending operations on a device, their events, and the queue that the reactor reads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_COMPLETION_HPP
#define WEIR_CUDA_COMPLETION_HPP

#include <weir/cuda/runtime.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/task/external_wait.hpp>

#include <cstddef>   // for std::byte, std::size_t
#include <cstdint>   // for std::int64_t, std::uint32_t
#include <memory>    // for std::shared_ptr
#include <mutex>     // for std::mutex, std::scoped_lock
#include <new>       // for placement new
#include <optional>  // for std::optional
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir::cuda::detail {

using weir::detail::standard_platform;

// CUDA events of a `weir::cuda::context` that are free to be recorded again.
class event_pool {
  public:
    explicit event_pool(unsigned flags) noexcept : flags_(flags) {}
    event_pool(const event_pool&) = delete;
    event_pool& operator=(const event_pool&) = delete;
    ~event_pool() {
        if (free_.empty()) return;
        const exempt_from_captures destroying;
        for (cudaEvent_t e : free_) without_last_error(cudaEventDestroy(e));
    }

    // Returns null if the pool is empty: then the caller creates an event, and later passes it to give().
    // Errors: std::bad_alloc.
    cudaEvent_t take() {
        const std::scoped_lock held(lock_);
        if (free_.empty()) {
            free_.reserve(++num_made_);  // so that give() needs no memory
            return nullptr;
        }
        const cudaEvent_t event = free_.back();
        free_.pop_back();
        return event;
    }
    unsigned flags() const noexcept { return flags_; }  // for the caller that makes an event
    void give(cudaEvent_t event) noexcept {             // to be recorded again
        const std::scoped_lock held(lock_);
        free_.push_back(event);
    }

  private:
    const unsigned flags_;
    std::mutex lock_;
    std::vector<cudaEvent_t> free_;
    std::size_t num_made_ = 0;  // events made for the pool, free or not
};

class mailbox;

// The record of one pending operation: work on a device, a call for the context's thread, or the capture of a
// stream. The reactor (reactor.hpp), which finds out that the operation has ended, the waiting coroutine and
// the driver share a completion. After an error the driver may keep its pointer for ever. So the memory of
// completions is never freed, and is reused only after all owners have called disown().
class completion {
  public:
    // Called once, at the end of the operation, by the reactor: on the context's thread, or on an executor's
    // thread that polls.
    using reaction = void (*)(completion&) noexcept;

    // Errors: std::bad_alloc.
    static completion& make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then);

    // relaxed: the caller is an owner already
    void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void disown() noexcept;

    cudaEvent_t event = nullptr;                    // recorded after the operation; or null
    std::optional<cudaStream_t> captured;           // if set: the operation is the capture of this stream
    bool returns_event = true;                      // `event` goes back to the context's pool
    bool has_host_function = false;                 // the driver calls on_host_function() after success
    standard_platform::atomic<bool> called{false};  // set by the driver if the operation has succeeded
    cudaError_t result = cudaSuccess;
    reaction then;
    completion* next = nullptr;  // in the list of the mailbox or of the reactor
    // Whether only the context's thread (also called the guard of the mailbox) may finish the completion.
    // True for a call that needs a current device and for a blocking copy that failed (both without an
    // event), and for a capture.
    bool needs_context_thread() const noexcept { return event == nullptr || captured.has_value(); }

    // From the next members the reactor estimates when the operation ends (`usual_times`). Instants in ns of
    // the platform's clock.
    cudaStream_t on = nullptr;   // the operation's stream; null: unknown, or the default stream
    std::size_t bytes = 0;       // 0: no copy, or unknown
    std::int64_t submitted = 0;  // when the completion was put into the mailbox
    std::int64_t begun = 0;      // when the operation began; 0: an earlier operation of `on` is pending
    bool begun_late = false;     // the operation began at an unknown time before `begun`

    // Resumes the coroutine that awaits the operation; none: no coroutine does.
    std::optional<weir::detail::async_completion> waiting;
    // An object that `then` uses, released after `then`: for a page-locked block, its pool.
    std::shared_ptr<void> kept;
    std::byte* block = nullptr;             // the page-locked block that `then` puts back into its pool
    std::optional<external_wait> promised;  // tells deadlock detection that `then` may end other waits

    // The function for cudaLaunchHostFunc. Makes no CUDA call, and runs no code of the user.
    static void CUDART_CB on_host_function(void* self) noexcept;

    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

  private:
    friend class completion_pool;
    completion(std::shared_ptr<mailbox> box, cudaEvent_t e, reaction r) noexcept
        : event(e), then(r), box_(std::move(box)) {}
    ~completion() = default;

    std::shared_ptr<mailbox> box_;
    standard_platform::atomic<std::uint32_t> owners_{1};  // at first, its maker
};

// The memory of all completions of the process; never freed.
class completion_pool {
    union place {
        place* next;
        alignas(completion) std::byte memory[sizeof(completion)];
    };
    struct chunk {
        chunk* next;
        place places[64];
    };

  public:
    constexpr completion_pool() noexcept = default;

    // Errors: std::bad_alloc.
    completion& make(std::shared_ptr<mailbox> box, cudaEvent_t event, completion::reaction then) {
        return *new (take()) completion(std::move(box), event, then);
    }
    void destroy(completion& c) noexcept {
        c.~completion();
        give(&c);
    }

  private:
    void* take() {
        const std::scoped_lock held(lock_);
        if (free_ == nullptr) {
            all_ = new chunk{all_, {}};
            for (place& p : all_->places) {
                p.next = free_;
                free_ = &p;
            }
        }
        place* const taken = free_;
        free_ = taken->next;
        return taken;
    }
    void give(void* memory) noexcept {
        auto* const p = static_cast<place*>(memory);
        const std::scoped_lock held(lock_);
        p->next = free_;
        free_ = p;
    }

    weir::detail::spin_lock lock_;
    place* free_ = nullptr;
    chunk* all_ = nullptr;  // the list of all chunks, so that leak checkers find them
};

inline constinit weir::detail::no_destroy<completion_pool> all_completions;

// The queue of new completions. The reactor polls the queue: on the context's thread, or on an idle thread of
// the `thread_pool` or `run_loop` whose coroutine waits. The driver may release the last reference to the
// mailbox, and the driver's thread must not make a CUDA call: so the destructor makes none.
class mailbox final : public weir::detail::polled_source {
  public:
    // The object that takes the completions out of the mailbox and polls the device: the reactor.
    class reader {
      public:
        // Finishes completions. Called by one thread at a time; `by_guard`: by the context's thread. Returns
        // when to call look() again, in ns of the platform's clock; `never`: after the next put().
        virtual std::int64_t look(std::int64_t now, bool by_guard) noexcept = 0;

      protected:
        ~reader() = default;
    };

    mailbox() noexcept = default;

    // Sets the reader, before anything is put. `by` lives until the mailbox is closed.
    void read_by(reader& by) noexcept { reader_ = &by; }

    // Adds a completion, and makes a thread poll. Returns false, and adds nothing, if the mailbox is closed.
    bool put(completion& c) noexcept {
        const bool needs_context_thread = c.needs_context_thread();
        // The executor whose idle threads are to poll. Null: the context's thread is to poll. That thread is
        // enough for a completion with a host function: the driver's call of the function wakes the thread.
        executor* const poller =
            needs_context_thread || c.has_host_function ? nullptr : weir::detail::current_executor();
        c.submitted = standard_platform::now();
        // relaxed: expect() below publishes the addition, and wakes the context's thread, which then calls
        // has_work_for_guard()
        if (needs_context_thread) for_context_thread_.fetch_add(1, std::memory_order_relaxed);
        completion* head = newest_.load(std::memory_order_relaxed);
        do {
            if (head == end_of_all()) {
                if (needs_context_thread) finished_for_context_thread();
                return false;
            }
            c.next = head;
            // release; pairs with take_all(), which reads the completion. relaxed, above and on failure: only
            // the address is used
        } while (
            !newest_.compare_exchange_weak(head, &c, std::memory_order_release, std::memory_order_relaxed));
        expect(poller);
        return true;
    }

    // Takes all completions out; returns them as a list, the newest first; null: there is none. Not called
    // after try_close() has returned true. acquire; pairs with put(), whose caller wrote the completion
    completion* take_all() noexcept { return newest_.exchange(nullptr, std::memory_order_acquire); }

    // Whether some completion needs the context's thread, which calls this function. relaxed: put() wakes
    // that thread after the addition
    bool has_work_for_guard() const noexcept {
        return for_context_thread_.load(std::memory_order_relaxed) != 0;
    }
    // Counts one completion less for the context's thread: finished, or not put. relaxed: only a count
    void finished_for_context_thread() noexcept {
        for_context_thread_.fetch_sub(1, std::memory_order_relaxed);
    }

    // Calls the reader on the context's thread, which may finish all kinds of completions; returns when to
    // call the reader again. `is_last(instant)` gets this result, and returns true if it has closed the
    // mailbox: then no thread polls any more, and the result is `closed`.
    template <class IsLast>
    std::int64_t look_here(std::int64_t now, IsLast is_last) noexcept {
        return poll_here(now, is_last);
    }

    // Closes the mailbox if it is empty: from then on put() returns false. Returns whether it was closed.
    bool try_close() noexcept {
        completion* nothing = nullptr;
        // relaxed: no data is passed on
        return newest_.compare_exchange_strong(nothing, end_of_all(), std::memory_order_relaxed);
    }

    // Tells the reactor to finish all completions, and then to end. The reactor's try_close() sees each put()
    // before this call.
    void ask_to_end() noexcept {
        ending_.store(true, std::memory_order_release);  // pairs with is_ending()
        wake();
    }
    bool is_ending() const noexcept { return ending_.load(std::memory_order_acquire); }

  private:
    std::int64_t poll(std::int64_t now, bool by_guard) noexcept override {
        return reader_ == nullptr ? never : reader_->look(now, by_guard);
    }

    // The value of `newest_` after try_close(): an address that no completion has.
    completion* end_of_all() const noexcept {
        return reinterpret_cast<completion*>(const_cast<mailbox*>(this));
    }

    standard_platform::atomic<completion*> newest_{nullptr};          // the others follow by `next`
    standard_platform::atomic<bool> ending_{false};                   // ask_to_end() was called
    standard_platform::atomic<std::uint32_t> for_context_thread_{0};  // completions that need it
    reader* reader_ = nullptr;                                        // null: not set yet
};

inline completion& completion::make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then) {
    return all_completions->make(std::move(box), event, then);
}

inline void completion::disown() noexcept {
    // acq_rel; pairs with itself: the last owner sees the writes of all others
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_completions->destroy(*this);
}

inline void CUDART_CB completion::on_host_function(void* self) noexcept {
    auto& c = *static_cast<completion*>(self);
    const std::shared_ptr<mailbox> box = c.box_;      // kept for wake(): after the store the context may end
    c.called.store(true, std::memory_order_release);  // pairs with reactor::is_over()
    box->wake();
    c.disown();
}

}  // namespace weir::cuda::detail

#endif
