// weir cuda, internal: what a context and all that is made from it share
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_CORE_HPP
#define WEIR_CUDA_CORE_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/errand.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/errors.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/process.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::shared_ptr
#include <string>   // for std::string
#include <utility>  // for std::exchange, std::move

namespace weir::cuda::detail {

// Goes with the last of them; never inside the driver.
class core {
  public:
    core(device d, const context_options& options) : device_((d.index)()), how_(options.how) {
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
    void check_call(cudaError_t code, const char* call, const weir::detail::slot* measured = nullptr) {
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
        check_call(code, call);
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
        check_call(call_there(create), "cudaEventCreateWithFlags");
        return event;
    }

    // Work was queued of whose end nothing will tell: returns when it is done, so that whoever queued it may
    // use the memory again. Blocks. Where the runtime can't wait, it is asked to again.
    void wait_out(cudaStream_t stream) noexcept {
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

    const weir::detail::process_of_origin born_;
    const int device_;
    const completion_by how_;
    bool on_host_ = false;
    cudaError_t chosen_ = cudaSuccess;
    cudaMemPool_t pool_ = nullptr;
    const std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();
};

}  // namespace weir::cuda::detail

#endif
