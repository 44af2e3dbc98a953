// weir cuda, internal: CUDA calls on another thread than the caller's, as they need a device or may block
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_OTHER_THREADS_HPP
#define WEIR_CUDA_OTHER_THREADS_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_thread.hpp>

#include <list>     // for std::list
#include <memory>   // for std::shared_ptr
#include <mutex>    // for std::mutex, std::scoped_lock
#include <utility>  // for std::move

namespace weir::cuda::detail {

// Makes a CUDA call that needs a current device on the context's thread, waits for its end, and returns its
// result. `call` must not throw. After the end of the context's thread, uses a new thread. Must not be called
// on the context's thread.
// Reason: streams and memory are created on the calling thread's current device: GPU 0, unless the thread has
// chosen another. To choose another GPU for a moment and then GPU 0 again would initialize GPU 0, which takes
// memory there. The context's thread has chosen its device for good.
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
    c.kept = std::shared_ptr<void>(std::shared_ptr<void>(), &mine);  // not owned: this function waits
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
