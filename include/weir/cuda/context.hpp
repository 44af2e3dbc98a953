// weir cuda: a GPU that a program uses, and the thread that polls it while no executor's thread does
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_CONTEXT_HPP
#define WEIR_CUDA_CONTEXT_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_thread.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <exception>  // for std::terminate
#include <list>       // for std::list
#include <memory>     // for std::make_shared, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir::cuda {

namespace detail {

// Makes `call`, a CUDA call that needs a current device, on the context's thread; waits for its end, and
// returns its result. `call` must not throw. After the end of the context's thread, a new thread makes the
// call. Must not be called on the context's thread. `box`: the queue of operations for that thread.
// The caller's thread can't make the call: CUDA creates streams and memory on the thread's current device,
// which is GPU 0 unless the thread has chosen another. If that thread chose another GPU for a moment and then
// GPU 0 again, this would initialize GPU 0, which takes memory there. The context's thread has chosen its
// device for good.
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

// Threads for CUDA calls that block, one for each call: with fewer threads, a call might wait for ever for
// work that a call without a thread has yet to queue.
class blocking_threads {
  public:
    blocking_threads() noexcept = default;
    blocking_threads(const blocking_threads&) = delete;
    blocking_threads& operator=(const blocking_threads&) = delete;

    // Calls the function on a new thread. Returns false, and calls nothing, after end(). Errors:
    // std::bad_alloc; std::system_error if a thread can't be started.
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
    void end() noexcept;

  private:
    struct one {
        standard_platform::atomic<bool> over{false};
        weir::detail::system_thread thread;
    };

    std::mutex lock_;
    bool ended_ = false;  // end() was called
    std::list<one> all_;
};

// The executor of the channels inside of pools and stages: has a clock, and runs nothing. A channel that is
// given no executor measures by the clock of the first executor that uses the channel, and must not outlive
// that executor. But memory may come back to its pool after a run and its executor are gone.
class clock_executor final : public executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<>) noexcept override { std::terminate(); }
    void add(timer&) noexcept override { std::terminate(); }
    void cancel(timer&) noexcept override { std::terminate(); }
    bool drive(flag&, time_point) override { return false; }
};

// The state that a context shares with its streams, events and pools. Destroyed with the last of these
// objects; never in a callback of the driver.
class context_state {
  public:
    // Errors: `weir::cuda::error` if there is no such device, unless `context_options::or_host` is set.
    context_state(device d, const context_options& options);
    context_state(const context_state&) = delete;
    context_state& operator=(const context_state&) = delete;
    ~context_state();

    bool on_host() const noexcept { return on_host_; }
    int device_index() const noexcept { return device_; }
    const std::shared_ptr<mailbox>& box() const noexcept { return box_; }

    event_pool events{cudaEventDisableTiming};
    event_pool timed_events{cudaEventDefault};  // events that record times, for statistics
    device_status broken;                       // the error that broke the device, if any

    // False in a forked process, where no CUDA call works, and locks may be held for ever.
    bool is_here() const noexcept { return born_.is_here(); }
    // Errors: `forked_error`, except without a device.
    void check_process() const {
        if (!on_host_ && !is_here()) throw forked_error();
    }
    // Errors: those of check_process(); `weir::cuda::error` if an earlier error broke the device. `measured`,
    // here and below: the slot (worker of a stage) that makes the call, for the error's text; or null.
    void check_device(const weir::detail::slot* measured = nullptr) const {
        check_process();
        if (broken.get() != cudaSuccess) throw_error(broken.get(), "an earlier call", measured);
    }
    void check_call(cudaError_t code, const char* call, const weir::detail::slot* measured = nullptr) {
        if (code != cudaSuccess) fail(code, call, measured);
    }
    [[noreturn]] void fail(cudaError_t code, const char* call, const weir::detail::slot* measured = nullptr) {
        without_last_error(code);
        if (ends_all_work(code)) set_broken(code);
        throw_error(code, call, measured);
    }

    // Called before anything is queued on a stream. Errors: `weir::cuda::error` if the stream is captured
    // into a graph, or if the query fails.
    void check_not_captured(cudaStream_t stream, const char* call,
                            const weir::detail::slot* measured = nullptr);

    // The same as `run_on_context_thread`. Errors: also `forked_error` in a forked process.
    template <class Call>
    cudaError_t call_on_context_thread(Call call) {
        check_process();
        return run_on_context_thread(box_, device_, std::move(call));
    }

    blocking_threads threads;  // for copies that would block the caller's thread

    // Called first on the context's thread: makes the device current there.
    void choose_device() noexcept { chosen_ = cudaSetDevice(device_); }

    // Makes the memory pool, if the device has memory pools, on the context's thread, and waits. Errors:
    // `weir::cuda::error`, also that of choose_device(); those of `run_on_context_thread`.
    void make_ready() {
        const char* call = "cudaSetDevice";
        const cudaError_t code = call_on_context_thread([&]() noexcept { return make_pool(call); });
        check_call(code, call);
    }

    // Records the error that broke the device, if it is the first one, and wakes the reactor, which polls the
    // device. The reactor ends all waits with the recorded error.
    void set_broken(cudaError_t code) noexcept {
        broken.set(code);
        box_->wake();
    }

    // Takes an event from the pool, or creates one if the pool is empty. Errors: `weir::cuda::error`; those
    // of check_process() and call_on_context_thread().
    cudaEvent_t take_event(event_pool& from);

    // Blocks until all work on the stream is done, or never will be, so that the caller may reuse memory that
    // the work uses. For work whose end the reactor doesn't watch. Waits again after an error that says
    // nothing about the work. Returns at once in a forked process, and if the stream was destroyed.
    void wait_for_stream(cudaStream_t stream) noexcept;

    // Whether free() takes effect behind the work that is queued on the stream: true if the device has memory
    // pools. If false, the caller may call free() only when all work on the memory is done.
    bool frees_in_order() const noexcept { return pool_ != nullptr; }
    cudaError_t allocate(void*& memory, std::size_t bytes, cudaStream_t stream);  // sets `memory`
    void free(void* memory, cudaStream_t stream) noexcept;

    bool uses_host_functions() const noexcept { return how_ == completion_by::host_function; }

  private:
    [[noreturn]] static void throw_error(cudaError_t code, const char* call,
                                         const weir::detail::slot* measured) {
        throw error(code, call, measured == nullptr ? std::string() : measured->stage());
    }

    [[noreturn]] void refuse(cudaError_t code, int found) const;  // there is no such device

    // `call` is set to the name of the function that failed.
    cudaError_t make_pool(const char*& call) noexcept;

    const weir::detail::process_of_origin born_;  // the process that made the context
    const int device_;
    const completion_by how_;           // how ends of operations are found out
    bool on_host_ = false;              // there is no device
    cudaError_t chosen_ = cudaSuccess;  // the result of choose_device()
    cudaMemPool_t pool_ = nullptr;      // null: none yet, or none on this device
    const std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();  // pending operations, for the reactor
};

}  // namespace detail

/// A GPU that the program uses. A context resumes the coroutines that wait for work on the GPU. Streams,
/// events and pools are made from a context.
///
///     weir::cuda::context gpu;                     // the GPU of this process's local rank
///     weir::cuda::stream stream(gpu);
///     co_await weir::cuda::copy(stream, device_memory, host_memory, bytes);
///
/// Errors:   `weir::cuda::error` if there is no such device or no driver, unless `context_options::or_host`
///           is set; or if a device that exists can't be used. `std::system_error` if no thread can be
///           started.
/// Ends:     the destructor waits for all work that is awaited, and posts the waiting coroutines to their
///           executors. In a forked process, where no GPU works, the destructor returns at once; streams,
///           events and pools can't be made there, and waits throw: `forked_error`.
/// Lifetime: objects made from the context may outlive it, but can't be awaited then: `std::logic_error`.
/// Threads:  any.
/// Watchdog: each wait counts as an `external_wait`, so it isn't reported as a deadlock. Coroutines on a
///           simulated clock (`virtual_time`) can't wait for a GPU: such a clock has no events from outside.
/// Cost:     a thread, which sleeps while no work is awaited, and while idle threads of the `thread_pool` or
///           `run_loop` of the waiting coroutine poll the GPU.
///
/// After an error that breaks the device (`status`), each pending wait, and each wait that begins later,
/// throws that error.
///
/// While a thread captures a stream into a graph, the context continues, and does the capture no harm. All
/// functions of weir refuse the captured stream with an error, before they put anything into the graph. A
/// capture must not begin while another thread queues work on the stream.
class context {
  public:
    /// On the device of `device::from_environment()`. Errors: also those of that function.
    explicit context(context_options options = {}) : context(device::from_environment(), options) {}
    context(device d, context_options options = {});
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() { end(); }

    /// \returns true if there is no device, and the host does the work: streams then do all work at once, and
    ///          device memory is ordinary memory.
    [[nodiscard]] bool on_host() const noexcept { return state_->on_host(); }

    /// \returns `cudaSuccess`, or the error that broke the device: a sticky error, or one that says that the
    ///          device was reset or the process ends.
    [[nodiscard]] cudaError_t status() const noexcept { return state_->broken.get(); }

    /// \returns `cudaSuccess`, or the error of the last query whether work is done. After an error that says
    ///          nothing about the work, the waits continue, and the query is repeated.
    [[nodiscard]] cudaError_t refusal() const noexcept { return state_->broken.refusal(); }

    [[nodiscard]] int device_index() const noexcept { return state_->device_index(); }  ///< as given, from 0

    /// \returns the state that all objects made from the context share. For other headers of weir only.
    [[nodiscard]] const std::shared_ptr<detail::context_state>& shared() const noexcept { return state_; }

  private:
    void end() noexcept;

    std::shared_ptr<detail::context_state> state_;
    weir::detail::basic_pool_threads<> thread_{"weir cuda"};  // one, which runs the reactor
};

}  // namespace weir::cuda

#include <weir/cuda/context.ipp>

#endif
