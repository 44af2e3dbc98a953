// weir cuda, internal: CUDA calls on other threads: on the context's, or, if they block, on new ones
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_ERRAND_HPP
#define WEIR_CUDA_ERRAND_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_thread.hpp>

#include <list>     // for std::list
#include <memory>   // for std::shared_ptr
#include <mutex>    // for std::mutex, std::scoped_lock
#include <utility>  // for std::move

namespace weir::cuda::detail {

// A CUDA call that needs a current device, made on the context's thread. Streams and memory are created on
// the current device of the calling thread. For a thread that never chose a device this is GPU 0; to choose
// another one for a moment, and then GPU 0 again, would begin to use GPU 0. The context's thread has chosen
// its device for good.
class errand {
  public:
    // Calls `call`, which must not throw, on the context's thread, and returns its result. After the end of
    // that thread, uses a new thread. Blocks. Must not be called on the context's thread.
    // Errors: std::bad_alloc; std::system_error if a thread can't be started.
    template <class Call>
    static cudaError_t run(const std::shared_ptr<mailbox>& box, int device, Call call) {
        errand mine(&call, [](void* made) noexcept { return (*static_cast<Call*>(made))(); });
        completion& c = completion::make(box, nullptr, &finish);
        c.returns_event = false;
        c.kept = std::shared_ptr<void>(std::shared_ptr<void>(), &mine);  // no owner: this function waits
        if (box->put(c)) {
            while (!mine.done_.wait()) {
            }
            return mine.gave_;
        }
        c.disown();
        weir::detail::system_thread([&mine, device] {
            mine.gave_ = cudaSetDevice(device);
            const exempt_from_captures calling;
            if (mine.gave_ == cudaSuccess) mine.gave_ = mine.call_(mine.made_);
        }).join();
        return mine.gave_;
    }

  private:
    errand(void* made, cudaError_t (*call)(void*)) noexcept : made_(made), call_(call) {}

    static void finish(completion& c) noexcept {
        auto& mine = *static_cast<errand*>(c.kept.get());
        mine.gave_ = mine.call_(mine.made_);
        mine.done_.set();  // `mine` may be destroyed from here on
    }

    void* made_;
    cudaError_t (*call_)(void*);
    cudaError_t gave_ = cudaSuccess;
    weir::detail::parker done_;
};

// Threads for calls that block, one for each call: with fewer threads, a call might wait for work that
// another call has not begun.
class blocking_threads {
  public:
    blocking_threads() noexcept = default;
    blocking_threads(const blocking_threads&) = delete;
    blocking_threads& operator=(const blocking_threads&) = delete;

    // False after end(). Errors: std::bad_alloc; std::system_error if a thread can't be started.
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
