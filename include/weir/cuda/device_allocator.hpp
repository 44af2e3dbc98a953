// weir cuda: the interface of an allocator of device memory, and an allocator at fixed addresses
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ALLOCATOR_HPP
#define WEIR_CUDA_DEVICE_ALLOCATOR_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>    // for std::byte, std::size_t
#include <memory>     // for std::make_shared, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::cuda {

/// An allocator of device memory that a `device_pool` uses instead of the runtime: a framework's allocator,
/// or memory that exists already.
///
/// Threads:  several threads call the members at once.
/// Lifetime: outlives all memory allocated by it.
class device_allocator {
  public:
    device_allocator(const device_allocator&) = delete;
    device_allocator& operator=(const device_allocator&) = delete;

    /// \param bytes  at least 1.
    /// \returns memory for work that is queued on the stream from now on. Null: too little is free now; the
    ///          function is called again when memory was freed.
    /// Errors: an exception fails the batch.
    [[nodiscard]] virtual void* allocate(std::size_t bytes, cudaStream_t s) = 0;

    /// Frees memory behind the work that is queued on the stream `s`, which may be another one than at the
    /// allocation, and is not captured. May be called by the context's thread.
    virtual void free(void* memory, std::size_t bytes, cudaStream_t s) noexcept = 0;

  protected:
    device_allocator() = default;
    ~device_allocator() = default;
};

/// An allocator of blocks of one size, in memory that the user owns. For a CUDA graph that was captured with
/// the addresses of its inputs.
///
///     weir::cuda::device_blocks places(gpu, memory, block_bytes, 3);
///     weir::cuda::device_pool inputs(gpu, places);                        // to_device: {.memory = &inputs}
///
/// A block is reused behind the work of the stream that it was handed over to: the next copy into the block
/// waits for that work, on the device. While batches hold all blocks, `to_device` waits.
///
/// Lifetime: the memory outlives this object, and this object outlives all batches.
/// Threads:  any.
/// Cost:     an event for each block; one CUDA call to allocate or free a block.
/// Errors:   `std::invalid_argument`, also for a batch that is larger than a block.
class device_blocks final : public device_allocator {
  public:
    /// \param memory       `blocks` times `block_bytes` bytes, on the context's device.
    /// \param block_bytes  at least 1; a multiple of 256 keeps each block aligned as the runtime's own.
    /// \param blocks       at least 1.
    device_blocks(context& gpu, void* memory, std::size_t block_bytes, std::size_t blocks)
        : core_(gpu.shared()), first_(static_cast<std::byte*>(memory)), block_bytes_(block_bytes) {
        if (memory == nullptr || block_bytes == 0 || blocks == 0) {
            throw std::invalid_argument("weir: device_blocks of " + std::to_string(blocks) + " blocks of " +
                                        std::to_string(block_bytes) +
                                        " bytes have nothing to give; they need memory, and at least one");
        }
        free_.reserve(blocks);
        for (std::size_t i = 0; i < blocks; ++i) {
            free_.push_back({i, false});
            last_use_.push_back(std::make_shared<detail::pooled_event>(core_, false));
        }
    }

    [[nodiscard]] void* allocate(std::size_t bytes, cudaStream_t s) override {
        if (bytes > block_bytes_) {
            throw std::invalid_argument("weir: " + std::to_string(bytes) +
                                        " bytes don't fit into a block of " + std::to_string(block_bytes_) +
                                        "; make the device_blocks larger");
        }
        const std::scoped_lock held(lock_);
        if (free_.empty()) return nullptr;
        const place next = free_.front();
        if (next.was_used) {
            core_->check_call(cudaStreamWaitEvent(s, last_use_[next.number]->get(), 0),
                              "cudaStreamWaitEvent");
        }
        free_.erase(free_.begin());
        return first_ + next.number * block_bytes_;
    }

    void free(void* memory, std::size_t, cudaStream_t s) noexcept override {
        const auto number = static_cast<std::size_t>(static_cast<std::byte*>(memory) - first_) / block_bytes_;
        const bool told =
            detail::without_last_error(cudaEventRecord(last_use_[number]->get(), s)) == cudaSuccess;
        if (!told) core_->wait_for_stream(s);
        const std::scoped_lock held(lock_);
        free_.push_back({number, told});
    }

  private:
    struct place {
        std::size_t number;
        bool was_used;
    };

    std::shared_ptr<detail::core> core_;
    std::byte* first_;
    std::size_t block_bytes_;
    std::vector<std::shared_ptr<detail::pooled_event>> last_use_;
    std::mutex lock_;
    std::vector<place> free_;  // first in, first out; has capacity for all blocks
};

}  // namespace weir::cuda

#endif
