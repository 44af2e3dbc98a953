// weir cuda, internal: one piece of work on a device, of whose end somebody is to hear
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_COMPLETION_HPP
#define WEIR_CUDA_COMPLETION_HPP

#include <weir/cuda/runtime.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/task/external_wait.hpp>

#include <cstddef>   // for std::byte, std::size_t
#include <cstdint>   // for std::uint32_t
#include <memory>    // for std::shared_ptr
#include <mutex>     // for std::scoped_lock
#include <new>       // for placement new
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::cuda::detail {

using weir::detail::standard_platform;

class mailbox;

// Shared by the reactor, by who waits, and by the driver as long as it may still call the host function:
// which can be for ever, after an error, and long after everything else is gone. So it lies in memory that
// is never given back, and is used again only when all three are done with it.
class completion {
  public:
    // What is done at the end, once, on the reactor's thread.
    using reaction = void (*)(completion&) noexcept;

    // Errors: std::bad_alloc.
    static completion& make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then);

    void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void disown() noexcept;

    cudaEvent_t event = nullptr;           // behind the work
    std::optional<cudaStream_t> captured;  // it is over when this stream isn't captured any more
    bool returns_event = true;             // it is the context's
    bool has_function = false;             // the driver tells, if all goes well
    standard_platform::atomic<bool> called{false};
    cudaError_t result = cudaSuccess;
    reaction then;
    completion* next = nullptr;  // in the mailbox, the reactor's row, or the pool

    // Of those for which a coroutine waits.
    std::optional<weir::detail::async_completion> waiting;
    // Of page-locked blocks that go back: where, and which. No deadlock as long as one is on its way.
    std::shared_ptr<void> kept;
    std::byte* block = nullptr;
    std::optional<external_wait> promised;

    // Given to the driver. It makes no call of the runtime and runs nobody's code.
    static void CUDART_CB told_by_driver(void* self) noexcept;

    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

  private:
    friend class completion_pool;
    completion(std::shared_ptr<mailbox> box, cudaEvent_t e, reaction r) noexcept
        : event(e), then(r), box_(std::move(box)) {}
    ~completion() = default;

    std::shared_ptr<mailbox> box_;
    standard_platform::atomic<std::uint32_t> owners_{1};
};

// All that there are in the process.
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

    template <class... As>
    static completion* construct(void* memory, As&&... as) noexcept {
        return new (memory) completion(std::forward<As>(as)...);
    }
    static void destroy(completion& c) noexcept { c.~completion(); }

  private:
    weir::detail::spin_lock lock_;
    place* free_ = nullptr;
    chunk* all_ = nullptr;
};

inline constinit weir::detail::no_destroy<completion_pool> all_completions;

// Where the reactor gets its work, and by which it is woken. Only memory: it may be the driver that lets go
// of it last.
class mailbox {
  public:
    mailbox() noexcept = default;
    mailbox(const mailbox&) = delete;
    mailbox& operator=(const mailbox&) = delete;

    // False: nobody reads it any more.
    bool put(completion& c) noexcept {
        completion* head = newest_.load(std::memory_order_relaxed);
        // release; pairs with take_all(): what it takes is whole
        do {
            if (head == closed()) return false;
            c.next = head;
        } while (
            !newest_.compare_exchange_weak(head, &c, std::memory_order_release, std::memory_order_relaxed));
        parker_.poke();
        return true;
    }

    // The newest first. acquire; pairs with put()
    completion* take_all() noexcept { return newest_.exchange(nullptr, std::memory_order_acquire); }

    // True if there was nothing inside: from then on nothing is taken in.
    bool try_close() noexcept {
        completion* nothing = nullptr;
        // relaxed: nothing is handed over
        return newest_.compare_exchange_strong(nothing, closed(), std::memory_order_relaxed);
    }

    void knock() noexcept { parker_.poke(); }
    void wait(std::int64_t ns) noexcept { static_cast<void>(parker_.wait(ns)); }

    // Everything that is there is to be finished, and then no more.
    void ask_to_end() noexcept {
        ending_.store(true, std::memory_order_release);  // pairs with is_ending()
        knock();
    }
    bool is_ending() const noexcept { return ending_.load(std::memory_order_acquire); }

  private:
    // An address that no completion has.
    completion* closed() const noexcept { return reinterpret_cast<completion*>(const_cast<mailbox*>(this)); }

    standard_platform::atomic<completion*> newest_{nullptr};
    standard_platform::atomic<bool> ending_{false};
    weir::detail::parker parker_;
};

inline completion& completion::make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then) {
    return *completion_pool::construct(all_completions->take(), std::move(box), event, then);
}

inline void completion::disown() noexcept {
    // acq_rel; pairs with itself: the last one sees what the others did
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    completion_pool::destroy(*this);
    all_completions->give(this);
}

inline void CUDART_CB completion::told_by_driver(void* self) noexcept {
    auto& c = *static_cast<completion*>(self);
    const std::shared_ptr<mailbox> box = c.box_;      // the reactor may let go of `c` at once
    c.called.store(true, std::memory_order_release);  // pairs with the reactor's look
    box->knock();
    c.disown();
}

}  // namespace weir::cuda::detail

#endif
