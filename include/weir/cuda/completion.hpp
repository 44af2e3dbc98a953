// weir cuda, internal: operations that the context's thread finishes, and CUDA calls on other threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_COMPLETION_HPP
#define WEIR_CUDA_COMPLETION_HPP

#include <weir/cuda/runtime.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_thread.hpp>
#include <weir/task/external_wait.hpp>

#include <cstddef>   // for std::byte, std::size_t
#include <cstdint>   // for std::uint32_t
#include <list>      // for std::list
#include <memory>    // for std::shared_ptr
#include <mutex>     // for std::mutex, std::scoped_lock
#include <new>       // for placement new
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::cuda::detail {

using weir::detail::standard_platform;

class mailbox;

// The record of one pending operation on a device. The reactor (the loop of the context's thread), the
// waiting coroutine and the driver share a completion. After an error the driver may keep its pointer for
// ever. So completions lie in memory that is never freed; a completion is reused only after all owners have
// called disown().
class completion {
  public:
    // Called once, at the end of the operation, on the reactor's thread.
    using reaction = void (*)(completion&) noexcept;

    // Errors: std::bad_alloc.
    static completion& make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then);

    void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void disown() noexcept;

    cudaEvent_t event = nullptr;           // recorded after the operation
    std::optional<cudaStream_t> captured;  // if set: the operation ends when the capture of this stream ends
    bool returns_event = true;             // `event` goes back to the context's pool
    bool has_function = false;             // the driver calls on_host_function() after success
    standard_platform::atomic<bool> called{false};
    cudaError_t result = cudaSuccess;
    reaction then;
    completion* next = nullptr;  // in the list of the mailbox or of the reactor

    // If a coroutine awaits the operation: resumes the coroutine.
    std::optional<weir::detail::async_completion> waiting;
    // An object that `then` uses, kept until then. If `then` returns a page-locked block: the block's pool.
    std::shared_ptr<void> kept;
    std::byte* block = nullptr;             // the block
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
    standard_platform::atomic<std::uint32_t> owners_{1};
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

// The queue of new completions for the reactor; wakes the reactor's thread. The driver may release the last
// reference to the mailbox, and the driver's thread must not make a CUDA call: so the destructor makes none.
class mailbox {
  public:
    mailbox() noexcept = default;
    mailbox(const mailbox&) = delete;
    mailbox& operator=(const mailbox&) = delete;

    // Returns false if the mailbox is closed; then `c` was not put.
    bool put(completion& c) noexcept {
        completion* head = newest_.load(std::memory_order_relaxed);
        // release; pairs with take_all(), which reads the completion
        do {
            if (head == closed()) return false;
            c.next = head;
        } while (
            !newest_.compare_exchange_weak(head, &c, std::memory_order_release, std::memory_order_relaxed));
        parker_.poke();
        return true;
    }

    // Returns a list, the newest completion first. acquire; pairs with put()
    completion* take_all() noexcept { return newest_.exchange(nullptr, std::memory_order_acquire); }

    // Closes the mailbox if it is empty: from then on put() returns false. Returns whether it was closed.
    bool try_close() noexcept {
        completion* nothing = nullptr;
        // relaxed: no data is passed on
        return newest_.compare_exchange_strong(nothing, closed(), std::memory_order_relaxed);
    }

    void wake() noexcept { parker_.poke(); }
    void wait(std::int64_t ns) noexcept { static_cast<void>(parker_.wait(ns)); }

    // Asks the reactor to finish all completions in the mailbox, and then to end.
    void ask_to_end() noexcept {
        ending_.store(true, std::memory_order_release);  // pairs with is_ending()
        wake();
    }
    bool is_ending() const noexcept { return ending_.load(std::memory_order_acquire); }

  private:
    // The value of `newest_` after try_close(): an address that no completion has.
    completion* closed() const noexcept { return reinterpret_cast<completion*>(const_cast<mailbox*>(this)); }

    standard_platform::atomic<completion*> newest_{nullptr};
    standard_platform::atomic<bool> ending_{false};
    weir::detail::parker parker_;
};

inline completion& completion::make(std::shared_ptr<mailbox> box, cudaEvent_t event, reaction then) {
    return *completion_pool::construct(all_completions->take(), std::move(box), event, then);
}

inline void completion::disown() noexcept {
    // acq_rel; pairs with itself: the last owner sees the writes of all others
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    completion_pool::destroy(*this);
    all_completions->give(this);
}

inline void CUDART_CB completion::on_host_function(void* self) noexcept {
    auto& c = *static_cast<completion*>(self);
    const std::shared_ptr<mailbox> box = c.box_;      // before the store: then the reactor may disown `c`
    c.called.store(true, std::memory_order_release);  // pairs with reactor::is_over()
    box->wake();
    c.disown();
}

// Makes a CUDA call that needs a current device on the context's thread, waits for its end, and returns its
// result. `call` must not throw. After the end of the context's thread, uses a new thread. Must not be called
// on the context's thread.
// Reason: streams and memory are created on the current device of the calling thread. For a thread that never
// chose a device this is GPU 0; to choose another one for a moment, and then GPU 0 again, would begin to use
// GPU 0. The context's thread has chosen its device for good.
// Errors: std::bad_alloc; std::system_error if a thread can't be started.
template <class Call>
cudaError_t run_on_context_thread(const std::shared_ptr<mailbox>& box, int device, Call call) {
    struct pending_call {
        Call function;
        cudaError_t result = cudaSuccess;
        weir::detail::parker done{};
    };
    pending_call mine{std::move(call)};
    completion& c = completion::make(box, nullptr, [](completion& ended) noexcept {
        auto& its = *static_cast<pending_call*>(ended.kept.get());
        its.result = its.function();
        its.done.set();  // `its` may be destroyed from here on
    });
    c.returns_event = false;
    c.kept = std::shared_ptr<void>(std::shared_ptr<void>(), &mine);  // no owner: this function waits
    if (box->put(c)) {
        while (!mine.done.wait()) {
        }
        return mine.result;
    }
    c.disown();
    weir::detail::system_thread([&mine, device] {
        mine.result = cudaSetDevice(device);
        const exempt_from_captures calling;
        if (mine.result == cudaSuccess) mine.result = mine.function();
    }).join();
    return mine.result;
}

// Threads for CUDA calls that block, one for each call: with fewer threads, a call might wait for work that
// another call has not begun.
class blocking_threads {
  public:
    blocking_threads() noexcept = default;
    blocking_threads(const blocking_threads&) = delete;
    blocking_threads& operator=(const blocking_threads&) = delete;

    // Calls the function on a new thread. Returns false after end(). Errors: std::bad_alloc;
    // std::system_error if a thread can't be started.
    template <class Function>
    bool start(Function function) {
        const std::scoped_lock held(lock_);
        if (ended_) return false;
        std::erase_if(all_, [](one& t) {
            const bool over = t.over.load(std::memory_order_acquire);  // pairs with the store below
            if (over) t.thread.join();
            return over;
        });
        one& t = all_.emplace_back();
        try {
            t.thread = weir::detail::system_thread([function = std::move(function), &t] {
                function();
                t.over.store(true, std::memory_order_release);  // pairs with the load above
            });
        } catch (...) {
            all_.pop_back();
            throw;
        }
        return true;
    }

    // Waits for all threads; no more are started.
    void end() noexcept {
        std::list<one> last;
        {
            const std::scoped_lock held(lock_);
            ended_ = true;
            last.swap(all_);
        }
        for (one& t : last) t.thread.join();
    }

  private:
    struct one {
        standard_platform::atomic<bool> over{false};
        weir::detail::system_thread thread;
    };

    std::mutex lock_;
    bool ended_ = false;
    std::list<one> all_;
};

}  // namespace weir::cuda::detail

#endif
