// weir cuda: a GPU in use: what awaits its work, and what is shared by all who use it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_CONTEXT_HPP
#define WEIR_CUDA_CONTEXT_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/errand.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/process.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::shared_ptr
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move

namespace weir::cuda {

namespace detail {

// What a context and everything made from it share. Goes with the last of them; never inside the driver.
class core {
  public:
    core(device d, const context_options& options) : device_(d.index()), how_(options.how) {
        int found = 0;
        const cudaError_t code = cudaGetDeviceCount(&found);
        if (code == cudaSuccess && device_ >= 0 && device_ < found) {
            return;
        }
        quietly(code);
        if (!options.or_host) refuse(code, found);
        on_host_ = true;
    }
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() {
        if (pool_ == nullptr) return;
        const beside_captures destroying;
        quietly(cudaMemPoolDestroy(pool_));
    }

    bool on_host() const noexcept { return on_host_; }
    int device_index() const noexcept { return device_; }
    const std::shared_ptr<mailbox>& box() const noexcept { return box_; }

    event_pool events{cudaEventDisableTiming};
    event_pool timed_events{cudaEventDefault};
    verdict broken;

    // Errors: what is wrong with the device for good.
    void check_device(const weir::detail::slot* measured = nullptr) const {
        if (broken.get() != cudaSuccess) throw_error(broken.get(), "an earlier call", measured);
    }
    void check(cudaError_t code, const char* call, const weir::detail::slot* measured = nullptr) {
        if (code != cudaSuccess) fail(code, call, measured);
    }
    [[noreturn]] void fail(cudaError_t code, const char* call, const weir::detail::slot* measured = nullptr) {
        quietly(code);
        if (ends_all_work(code)) breaks(code);
        throw_error(code, call, measured);
    }

    // Before anything is put into a stream.
    void check_not_captured(cudaStream_t stream, const char* call,
                            const weir::detail::slot* measured = nullptr) {
        const cudaError_t code = captured_or_not(stream);
        if (code == cudaSuccess) return;
        if (code != cudaErrorStreamCaptureUnsupported) fail(code, "cudaStreamIsCapturing", measured);
        throw error(
            code, call, measured == nullptr ? std::string() : measured->stage(),
            "the stream, or one that it waits for, is captured into a graph: what is put into it isn't "
            "done, and has no end; end the capture first, or use another stream");
    }

    // For calls that need a current device: see `errand`. Errors: `forked_error`.
    template <class Call>
    cudaError_t call_there(Call call) {
        if (!born_.is_here()) throw forked_error();
        return errand::run(box_, device_, std::move(call));
    }

    blocking_threads threads;

    // By the context's thread, of all that it is going to do first.
    void choose_device() noexcept { chosen_ = cudaSetDevice(device_); }

    // Once that thread runs. Errors: `weir::cuda::error`.
    void make_ready() {
        const char* call = "cudaSetDevice";
        const cudaError_t code = call_there([&]() noexcept { return make_pool(call); });
        check(code, call);
    }

    // All who wait are to hear of it.
    void breaks(cudaError_t code) noexcept {
        broken.set(code);
        box_->knock();
    }

    cudaEvent_t take_event(event_pool& from) {
        cudaEvent_t event = from.take();
        if (event != nullptr) return event;
        const auto create = [&]() noexcept { return cudaEventCreateWithFlags(&event, from.flags()); };
        check(call_there(create), "cudaEventCreateWithFlags");
        return event;
    }

    // Work was queued of whose end nothing will tell: returns when it is done, so that whoever queued it may
    // use the memory again. Blocks. Where the runtime can't wait, it is asked to again.
    void settle(cudaStream_t stream) noexcept {
        const beside_captures waiting;
        while (const cudaError_t code = quietly(cudaStreamSynchronize(stream))) {
            if (ends_all_work(code)) return breaks(code);
            if (!born_.is_here()) return;  // nothing of the device works in a forked process
            weir::detail::parker().wait(50'000);
        }
    }

    // From a pool where the device has such, so that it is free again in the stream's order; else it may only
    // be freed when all work on it is done.
    bool frees_in_order() const noexcept { return pool_ != nullptr; }
    cudaError_t allocate(void*& memory, std::size_t bytes, cudaStream_t stream) {
        if (pool_ != nullptr) {
            const beside_captures allocating;
            return cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
        }
        return call_there([&]() noexcept { return cudaMalloc(&memory, bytes); });
    }
    void free(void* memory, cudaStream_t stream) noexcept {
        const beside_captures freeing;
        // The second one waits for all that the device does.
        quietly(pool_ != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory));
    }

    bool told_by_driver() const noexcept { return how_ == completion_by::host_function; }

  private:
    [[noreturn]] static void throw_error(cudaError_t code, const char* call,
                                         const weir::detail::slot* measured) {
        throw error(code, call, measured == nullptr ? std::string() : measured->stage());
    }

    [[noreturn]] void refuse(cudaError_t code, int found) const {
        if (code != cudaSuccess) {
            throw error(code, "cudaGetDeviceCount", {},
                        "weir::cuda needs an NVIDIA GPU and a driver at least as new as the toolkit; set "
                        "context_options::or_host to do without");
        }
        throw error(cudaErrorInvalidDevice, "weir::cuda::context", {},
                    "there is no GPU " + std::to_string(device_) + ": this process sees " +
                        std::to_string(found) + ", counted from 0");
    }

    // Says which call it was that failed.
    cudaError_t make_pool(const char*& call) noexcept {
        if (chosen_ != cudaSuccess) return chosen_;
        int has_pools = 0;
        call = "cudaDeviceGetAttribute";
        cudaError_t code = cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device_);
        if (code != cudaSuccess || has_pools == 0) return code;
        cudaMemPoolProps like{};
        like.allocType = cudaMemAllocationTypePinned;
        like.location.type = cudaMemLocationTypeDevice;
        like.location.id = device_;
        call = "cudaMemPoolCreate";
        code = cudaMemPoolCreate(&pool_, &like);
        if (code != cudaSuccess) return code;
        // Else each wait for the device would give the memory back, and the next batch would ask again.
        std::uint64_t keep = UINT64_MAX;
        call = "cudaMemPoolSetAttribute";
        code = cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
        if (code != cudaSuccess) quietly(cudaMemPoolDestroy(std::exchange(pool_, nullptr)));
        return code;
    }

    const weir::detail::birthplace born_;
    const int device_;
    const completion_by how_;
    bool on_host_ = false;
    cudaError_t chosen_ = cudaSuccess;
    cudaMemPool_t pool_ = nullptr;
    const std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();
};

// One piece of work that is about to be queued, or was.
class ticket {
  public:
    // Errors: those of the runtime, and std::bad_alloc. Nothing is queued yet.
    ticket(core& of, completion::reaction then) : core_(of) {
        cudaEvent_t const event = of.take_event(of.events);
        try {
            completion_ = &completion::make(of.box(), event, then);
        } catch (...) {
            of.events.give(event);
            throw;
        }
    }
    // Of another's event, which was recorded. Makes no call of the runtime, so that a reaction may do it.
    ticket(core& of, cudaEvent_t recorded, completion::reaction then)
        : core_(of), completion_(&completion::make(of.box(), recorded, then)) {
        completion_->returns_event = false;
    }
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    ~ticket() {
        if (completion_ == nullptr) return;
        if (!submitted_ && completion_->returns_event) core_.events.give(completion_->event);
        completion_->disown();
    }

    completion& get() const noexcept { return *completion_; }

    // Behind what is queued on the stream. If it throws, all of that is done.
    void submit(cudaStream_t stream, const weir::detail::slot* measured = nullptr) {
        const cudaError_t code = cudaEventRecord(completion_->event, stream);
        if (code != cudaSuccess) {
            core_.settle(stream);
            core_.fail(code, "cudaEventRecord", measured);
        }
        completion& c = *completion_;
        if (core_.told_by_driver()) {
            c.own();
            c.has_function =
                quietly(cudaLaunchHostFunc(stream, &completion::told_by_driver, &c)) == cudaSuccess;
            if (!c.has_function) c.disown();  // then it is polled
        }
        submit_recorded(stream);
    }

    // The event is another's and was recorded.
    void submit_recorded(cudaStream_t stream) {
        completion_->own();
        submitted_ = core_.box()->put(*completion_);
        if (submitted_) return;
        completion_->disown();
        core_.settle(stream);
        throw_gone();
    }

    // What queues the work may block: a thread of its own calls it, behind what is queued on the stream by
    // then. Who waits is told if it failed; when nothing of it is under way any more.
    template <class Queue>
    void submit_blocking(cudaStream_t stream, Queue queue) {
        completion& c = *completion_;
        c.own();
        try {
            submitted_ = core_.threads.start([&of = core_, &c, stream, queue] {
                cudaError_t code = cudaSetDevice(of.device_index());
                const beside_captures copying;
                if (code == cudaSuccess) {
                    code = queue();
                    if (code == cudaSuccess) code = cudaEventRecord(c.event, stream);
                    if (code != cudaSuccess) of.settle(stream);
                }
                if (code != cudaSuccess) {
                    if (ends_all_work(code)) of.breaks(code);
                    of.events.give(std::exchange(c.event, nullptr));
                    c.returns_event = false;
                    c.result = code;
                }
                static_cast<void>(of.box()->put(c));  // the context waits for this thread before it ends
            });
        } catch (...) {
            c.disown();
            throw;
        }
        if (submitted_) return;
        c.disown();
        throw_gone();
    }

    // Who waits keeps it.
    completion* keep() noexcept { return std::exchange(completion_, nullptr); }

  private:
    [[noreturn]] static void throw_gone() {
        throw std::logic_error(
            "weir: the weir::cuda::context of this stream was destroyed: nothing awaits its work any more; "
            "keep the context until everything that uses the device has ended");
    }

    core& core_;
    completion* completion_;
    bool submitted_ = false;
};

}  // namespace detail

/// A GPU in use, and the thread that resumes those who wait for it. Streams, events and pools are made from
/// it.
///
///     weir::cuda::context gpu;                     // the one of this process's rank
///     weir::cuda::stream stream(gpu);
///     co_await weir::cuda::copy(stream, device_memory, host_memory, bytes);
///
/// Errors:   `weir::cuda::error` if there is no such device, or no driver; unless
///           `context_options::or_host` says that the host shall do the work. `std::system_error` if no
///           thread can be started.
/// Ends:     the destructor waits for all work that is awaited, and everybody is resumed. In a forked
///           process, where nothing of a GPU works, it returns at once, and what would wait throws
///           `forked_error`.
/// Lifetime: outlives all awaiting. What was made from it may outlive it, but nothing can be awaited then.
/// Threads:  any.
/// Watchdog: each wait counts as an `external_wait`. Virtual time knows of nothing outside: no waits there.
/// Cost:     a thread; it sleeps while nobody waits for the device.
///
/// After an error that breaks the device (`status`), everybody who waits gets that error, once, and so
/// does everybody who begins to.
///
/// While some thread captures a stream into a graph, all this goes on and does the capture no harm. That very
/// stream is refused by everything here, with an error and before anything is put into the graph; a capture
/// isn't to begin while another thread puts something into the stream.
class context {
  public:
    /// On the device of `device::from_environment()`.
    explicit context(context_options options = {}) : context(device::from_environment(), options) {}
    context(device d, context_options options = {}) : core_(std::make_shared<detail::core>(d, options)) {
        if (core_->on_host()) return;
        thread_.start([core = core_.get(), options] {
            core->choose_device();
            const detail::beside_captures asking;
            detail::reactor(*core->box(), core->events, core->broken, options).run();
        });
        try {
            core_->make_ready();
        } catch (...) {
            end();
            throw;
        }
    }
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() { end(); }

    /// \returns true if there is no device, and the host does the work: streams then do what they are told
    ///          at once, and what is on the device lies in ordinary memory.
    [[nodiscard]] bool on_host() const noexcept { return core_->on_host(); }

    /// \returns `cudaSuccess`, or the error that broke the device: a sticky one, or one that says that
    ///          somebody has reset it, or that the process ends.
    [[nodiscard]] cudaError_t status() const noexcept { return core_->broken.get(); }

    /// \returns `cudaSuccess`, or what the runtime said last instead of whether work is done. It is asked
    ///          again until it says; who waits goes on waiting, as nobody else can know.
    [[nodiscard]] cudaError_t refusal() const noexcept { return core_->broken.refusal(); }

    [[nodiscard]] int device_index() const noexcept { return core_->device_index(); }  ///< as it was given

    /// \returns what everything shares that is made from it: for what is built on it, and nobody else.
    [[nodiscard]] const std::shared_ptr<detail::core>& shared() const noexcept { return core_; }

  private:
    void end() noexcept {
        if (thread_.are_elsewhere()) return thread_.join();
        core_->threads.end();
        core_->box()->ask_to_end();
        thread_.join();
    }

    std::shared_ptr<detail::core> core_;
    weir::detail::basic_pool_threads<> thread_;
};

}  // namespace weir::cuda

#endif
