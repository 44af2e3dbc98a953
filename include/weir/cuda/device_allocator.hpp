// weir cuda: allocators of device memory, and the record of freed memory that queued work may still use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ALLOCATOR_HPP
#define WEIR_CUDA_DEVICE_ALLOCATOR_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>    // for std::byte, std::size_t
#include <deque>      // for std::deque
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
    ///          function is called again when memory of the pool was freed. If no memory of the pool is in
    ///          use, the pool reports an error instead.
    /// Errors: an exception fails the `device_pool::acquire`, or the batch of `to_device`.
    [[nodiscard]] virtual void* allocate(std::size_t bytes, cudaStream_t s) = 0;

    /// Frees memory behind the work that is queued on the stream `s`. `s` may be another stream than that of
    /// the allocation, and is not captured. May be called by the context's thread.
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
/// The next copy into a block waits, on the device, for work of the stream to which the block's last
/// `device_buffer` belonged: for all work queued there before the destruction of this buffer. While batches
/// hold all blocks, `to_device` waits.
///
/// Lifetime: the memory outlives this object, and this object outlives all batches.
/// Threads:  any.
/// Cost:     an event for each block; one CUDA call to allocate or free a block.
/// Errors:   `std::invalid_argument` if an argument is 0 or null, or if a batch is larger than a block;
///           `weir::cuda::error`.
class device_blocks final : public device_allocator {
  public:
    /// \param memory       `blocks` times `block_bytes` bytes, on the context's device.
    /// \param block_bytes  at least 1; a multiple of 256 keeps each block aligned as the runtime's own.
    /// \param blocks       at least 1.
    device_blocks(context& gpu, void* memory, std::size_t block_bytes, std::size_t blocks)
        : state_(gpu.shared()), first_(static_cast<std::byte*>(memory)), block_bytes_(block_bytes) {
        if (memory == nullptr || block_bytes == 0 || blocks == 0) {
            throw std::invalid_argument("weir: device_blocks of " + std::to_string(blocks) + " blocks of " +
                                        std::to_string(block_bytes) +
                                        " bytes have nothing to give; they need memory, and at least one");
        }
        free_.reserve(blocks);
        for (std::size_t i = 0; i < blocks; ++i) {
            free_.push_back({i, false});
            last_use_.push_back(std::make_shared<detail::pooled_event>(state_, false));
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
            state_->check_call(cudaStreamWaitEvent(s, last_use_[next.number]->get(), 0),
                               "cudaStreamWaitEvent");
        }
        free_.erase(free_.begin());
        return first_ + next.number * block_bytes_;
    }

    void free(void* memory, std::size_t, cudaStream_t s) noexcept override {
        const auto number = static_cast<std::size_t>(static_cast<std::byte*>(memory) - first_) / block_bytes_;
        const bool is_recorded =
            detail::without_last_error(cudaEventRecord(last_use_[number]->get(), s)) == cudaSuccess;
        if (!is_recorded) state_->wait_for_stream(s);
        const std::scoped_lock held(lock_);
        free_.push_back({number, is_recorded});
    }

  private:
    struct place {
        std::size_t number;
        bool was_used;  // the next work on the block has to wait for `last_use_`
    };

    std::shared_ptr<detail::context_state> state_;
    std::byte* first_;  // the user's memory
    std::size_t block_bytes_;
    std::vector<std::shared_ptr<detail::pooled_event>> last_use_;  // by block: recorded when it was freed
    std::mutex lock_;
    std::vector<place> free_;  // the free blocks, first in, first out; has capacity for all blocks
};

namespace detail {

// The record of device memory that was released, and that queued work may still use. Used by
// `device_account` (the state of a `device_pool`), whose lock protects the record. Pieces that are released
// behind the work of one stream become free in the order of their release. If a new stream has the handle of
// a destroyed stream, the new one's pieces wait behind those of the destroyed stream.
class freed_memory {
  public:
    struct piece {
        std::shared_ptr<pooled_event> behind;  // the piece is free when this event is over
        std::size_t bytes;
        void* memory;  // to be freed after the event; null: freed in stream order already
    };

    // Errors: std::bad_alloc; then the piece is not added.
    void add(cudaStream_t s, piece what) { row_of(s).pieces.push_back(std::move(what)); }

    // The number of all pieces: how much room `idle` of take_over() may need.
    std::size_t size() const noexcept {
        std::size_t all = 0;
        for (const row& r : rows_) all += r.pieces.size();
        return all;
    }

    // Removes, from the oldest piece of each stream on, the pieces whose event is over; returns whether there
    // were such pieces. Adds the sizes of the pieces to `bytes`, and to `idle` the memory that the caller has
    // to free. The caller has reserved room in `idle`.
    bool take_over(std::size_t& bytes, std::vector<void*>& idle) {
        bool found = false;
        for (row& r : rows_) {
            while (!r.pieces.empty() && r.pieces.front().behind->is_over()) {
                if (r.pieces.front().memory != nullptr) idle.push_back(r.pieces.front().memory);
                bytes += r.pieces.front().bytes;
                r.pieces.pop_front();
                r.subscribed = false;
                found = true;
            }
        }
        std::erase_if(rows_, [](const row& r) { return r.pieces.empty(); });
        return found;
    }

    // Calls `subscribe(stream, event)` with the event of the first piece of each stream, unless that event
    // has a callback already. If the call throws, the event counts as without a callback.
    template <class Subscribe>
    void each_first_unsubscribed(Subscribe subscribe) {
        for (row& r : rows_) {
            if (r.subscribed || r.pieces.empty()) continue;  // empty: add() threw
            subscribe(r.stream, r.pieces.front().behind);
            r.subscribed = true;
        }
    }

    // Calls `function(memory, event)` for each piece that the caller has to free.
    template <class Function>
    void each_to_free(Function function) {
        for (row& r : rows_) {
            for (piece& p : r.pieces) {
                if (p.memory != nullptr) function(p.memory, *p.behind);
            }
        }
    }

  private:
    // The pieces that were released behind the work of one stream.
    struct row {
        cudaStream_t stream;
        bool subscribed = false;   // the first piece's event has a callback
        std::deque<piece> pieces;  // in the order of their release
    };

    // Returns the row of the stream; adds one if there is none.
    row& row_of(cudaStream_t s) {
        for (row& r : rows_) {
            if (r.stream == s) return r;
        }
        rows_.push_back({s, false, {}});
        return rows_.back();
    }

    std::vector<row> rows_;  // one for each stream with pieces
};

}  // namespace detail

}  // namespace weir::cuda

#endif
