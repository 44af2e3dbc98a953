// weir cuda, internal: how a context finds its device, calls the runtime on other threads, and ends
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_CONTEXT_IPP
#define WEIR_CUDA_CONTEXT_IPP

#include <weir/cuda/context.hpp>

#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>

#include <cstdint>  // for std::uint64_t
#include <utility>  // for std::exchange

namespace weir::cuda {

namespace detail {

inline void blocking_threads::end() noexcept {
    std::list<one> last;
    {
        const std::scoped_lock held(lock_);
        ended_ = true;
        last.swap(all_);
    }
    for (one& t : last) t.thread.join();
}

// The same intervals, of a minute at most: an instant and an interval then have a sum.
inline context_options bounded(context_options how) noexcept {
    for (duration* const interval : {&how.spin, &how.period, &how.watchdog}) {
        *interval = weir::detail::smaller<duration>(*interval, std::chrono::minutes(1));
    }
    return how;
}

inline context_state::context_state(device d, const context_options& options)
    : device_((d.index)()), how_(options.how) {
    int found = 0;
    const cudaError_t code = cudaGetDeviceCount(&found);
    if (code == cudaSuccess && device_ >= 0 && device_ < found) return;
    without_last_error(code);
    if (!options.or_host) refuse(code, found);
    on_host_ = true;
}

inline context_state::~context_state() {
    if (pool_ == nullptr) return;
    const exempt_from_captures destroying;
    without_last_error(cudaMemPoolDestroy(pool_));
}

inline void context_state::check_not_captured(cudaStream_t stream, const char* call,
                                              const weir::detail::slot* measured) {
    const cudaError_t code = captured_or_not(stream);
    if (code == cudaSuccess) return;
    if (code != cudaErrorStreamCaptureUnsupported) fail(code, "cudaStreamIsCapturing", measured);
    throw error(code, call, measured == nullptr ? std::string() : measured->stage(),
                "the stream, or one that it waits for, is captured into a graph: what is put into it isn't "
                "done, and has no end; end the capture first, or use another stream");
}

inline cudaEvent_t context_state::take_event(event_pool& from) {
    check_process();
    cudaEvent_t event = from.take();
    if (event != nullptr) return event;
    const auto create = [&]() noexcept { return cudaEventCreateWithFlags(&event, from.flags()); };
    check_call(call_on_context_thread(create), "cudaEventCreateWithFlags");
    return event;
}

inline void context_state::wait_for_stream(cudaStream_t stream) noexcept {
    const exempt_from_captures waiting;
    while (const cudaError_t code = without_last_error(cudaStreamSynchronize(stream))) {
        if (ends_all_work(code)) return set_broken(code);
        // A borrowed stream that was destroyed: from now on no call succeeds that could tell the end of its
        // work.
        if (code == cudaErrorInvalidResourceHandle) return;
        if (!born_.is_here()) return;  // in a forked process no CUDA call works
        weir::detail::parker().wait(50'000);
    }
}

inline cudaError_t context_state::allocate(void*& memory, std::size_t bytes, cudaStream_t stream) {
    if (pool_ != nullptr) {
        const exempt_from_captures allocating;
        return cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
    }
    return call_on_context_thread([&]() noexcept { return cudaMalloc(&memory, bytes); });
}
inline void context_state::free(void* memory, cudaStream_t stream) noexcept {
    const exempt_from_captures freeing;
    // cudaFree needs no stream: it waits for all work of the device
    without_last_error(pool_ != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory));
}

inline void context_state::refuse(cudaError_t code, int found) const {
    if (code != cudaSuccess) {
        throw error(code, "cudaGetDeviceCount", {},
                    "weir::cuda needs an NVIDIA GPU and a driver at least as new as the toolkit; set "
                    "context_options::or_host to do without");
    }
    throw error(cudaErrorInvalidDevice, "weir::cuda::context", {},
                "there is no GPU " + std::to_string(device_) + ": this process sees " +
                    std::to_string(found) + ", counted from 0");
}

inline cudaError_t context_state::make_pool(const char*& call) noexcept {
    if (chosen_ != cudaSuccess) return chosen_;
    int has_pools = 0;
    call = "cudaDeviceGetAttribute";
    cudaError_t code = cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device_);
    if (code != cudaSuccess || has_pools == 0) return code;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device_;
    call = "cudaMemPoolCreate";
    code = cudaMemPoolCreate(&pool_, &properties);
    if (code != cudaSuccess) return code;
    // With the default threshold, 0, each synchronization returns the pool's free memory to the system,
    // and the next batch has to allocate it again.
    std::uint64_t keep = UINT64_MAX;
    call = "cudaMemPoolSetAttribute";
    code = cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
    if (code != cudaSuccess) without_last_error(cudaMemPoolDestroy(std::exchange(pool_, nullptr)));
    return code;
}

}  // namespace detail

inline context::context(device d, context_options options)
    : state_(std::make_shared<detail::context_state>(d, options)) {
    if (state_->on_host()) return;
    thread_.set(1, [state = state_.get(), options](unsigned) {
        state->choose_device();
        const detail::exempt_from_captures asking;
        detail::reactor(*state->box(), state->events, state->broken, detail::bounded(options)).run();
    });
    try {
        state_->make_ready();
    } catch (...) {
        end();
        throw;
    }
}

inline void context::end() noexcept {
    if (thread_.are_elsewhere()) return thread_.join();  // in a forked process
    state_->threads.end();
    state_->box()->ask_to_end();
    thread_.join();
}

}  // namespace weir::cuda

#endif
