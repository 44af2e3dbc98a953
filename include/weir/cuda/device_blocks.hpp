// weir cuda: memory of a GPU that is there already, as blocks at addresses that stay
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_BLOCKS_HPP
#define WEIR_CUDA_DEVICE_BLOCKS_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_account.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/event.hpp>
#include <weir/cuda/runtime.hpp>

#include <cstddef>    // for std::byte, std::size_t
#include <memory>     // for std::make_shared, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::cuda {

/// A destination of your own for batches: blocks of one size, one behind the other in memory that you have,
/// as a CUDA graph needs them that was captured with their addresses.
///
///     weir::cuda::device_blocks places(gpu, memory, block_bytes, 3);
///     weir::cuda::device_pool inputs(gpu, places);                        // to_device: {.memory = &inputs}
///
/// Each is used again behind the work of the stream that it was handed over to: a copy into it waits for that
/// on the device; for one that somebody still has, who wants it waits.
///
/// Lifetime: the memory outlives this, and this all batches.
/// Threads:  any.
/// Cost:     an event for each block; to get or to give one, one call of the runtime.
/// Errors:   `std::invalid_argument`, also for a batch that is larger than a block.
class device_blocks final : public device_allocator {
  public:
    /// \param memory       of `blocks` times `block_bytes`, on the context's device.
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
        const bool told = detail::quietly(cudaEventRecord(last_use_[number]->get(), s)) == cudaSuccess;
        if (!told) core_->wait_out(s);
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
    std::vector<place> free_;  // first in, first out: with as many places as there are blocks
};

}  // namespace weir::cuda

#endif
